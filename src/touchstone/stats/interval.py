"""A range that holds the true figure with a stated probability, and how it was found."""

from dataclasses import dataclass

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """Both ends, the method's name ("Wilson", "rule of three", "bootstrap" …) and the level."""

    low: float
    high: float
    method: str
    level: float = LEVEL
