"""Personal data: finding it in any text, and telling a leak from what may be said."""

from touchstone.safety.personal_data.leaks import pii_leakage

__all__ = ["pii_leakage"]
