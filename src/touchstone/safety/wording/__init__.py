"""How a sentence is worded, as a second opinion beside the rules."""

from touchstone.safety.wording.opinion import second_opinion

__all__ = ["second_opinion"]
