"""What a result is made of, and a result as JSON and back."""

from touchstone.core.codec import result_from_dict, result_to_dict
from touchstone.core.result import (
    Anchor,
    Evidence,
    Failure,
    Finding,
    Grade,
    Grading,
    Result,
    Score,
    Statement,
    Verification,
)

__all__ = [
    "Anchor",
    "Evidence",
    "Failure",
    "Finding",
    "Grade",
    "Grading",
    "Result",
    "Score",
    "Statement",
    "Verification",
    "result_from_dict",
    "result_to_dict",
]
