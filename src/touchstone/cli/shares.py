"""A share as people write it, 5pp, 5% or 0.05 -> a number from 0 to 1."""

import math
import re

from touchstone.core.errors import ConfigError

_WRITTEN = re.compile(r"\s*(\d{1,9}(?:[.,]\d{1,9})?|[.,]\d{1,9})\s*(pp|points?|percent|%)?\s*", re.IGNORECASE)


def share(text: str, *, flag: str, example: str) -> float:
    """The share; ConfigError that says how to write it, when it cannot be read or is not within 0 and 1."""
    match = _WRITTEN.fullmatch(text)
    if match is None:
        raise ConfigError(f"{flag} {text} is not a share: write it like {example} or 0.05")
    number, unit = float(match[1].replace(",", ".")), match[2]
    if unit is None and number > 1:
        raise ConfigError(f"{flag} {text} is above 1: write {number:g}% or {number / 100:g}")
    value = number / 100 if unit else number
    if not math.isfinite(value) or value > 1:
        raise ConfigError(f"{flag} {text} is more than all: write a share of at most 100%, like {example}")
    return value
