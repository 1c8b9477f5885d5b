"""What a case is made of, and a case as a row or JSON and back."""

from touchstone.core.case import Case, Label, Passage, Turn
from touchstone.core.codec import case_from_dict, case_to_dict

__all__ = ["Case", "Label", "Passage", "Turn", "case_from_dict", "case_to_dict"]
