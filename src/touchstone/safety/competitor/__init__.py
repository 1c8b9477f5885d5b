"""Steering the customer to another company."""

from touchstone.safety.competitor.recommendations import competitor_recommendation

__all__ = ["competitor_recommendation"]
