"""Advice that can harm the customer, and problems the company leaves alone."""

from touchstone.safety.harm.advice import harmful_content

__all__ = ["harmful_content"]
