"""Commitments that neither sources nor policy back."""

from touchstone.safety.promise.guarantees import unauthorized_promise

__all__ = ["unauthorized_promise"]
