"""What a check noticed -> a Finding with the chance that people call it a violation (fitted, data/rules.json).

A sign is a fact of this reply: a rule's id, a place, the reason for people, and the few numbers that tell how far such
a sign can be trusted. No check decides by itself; no code compares a reason.
"""

import json
from collections.abc import Mapping
from functools import cache
from math import exp
from typing import NamedTuple

from touchstone.core import resource
from touchstone.core.reading import Reading
from touchstone.core.result import Evidence, Finding, ViolationKind

FILE = "rules.json"
LONGEST_QUOTE = 90


class Sign(NamedTuple):
    """One thing noticed. `inputs` are what the rule's confidence is computed from, each 0..1 or a small count."""

    kind: ViolationKind
    rule: str
    start: int
    end: int
    reason: str
    inputs: Mapping[str, float]
    evidence: tuple[Evidence, ...] = ()


class Logistic(NamedTuple):
    """A chance as a logistic function of weighted inputs, and never less than `least`."""

    base: float
    weights: Mapping[str, float]
    least: float = 0.0

    def of(self, inputs: Mapping[str, float]) -> float:
        total = self.base + sum(weight * inputs.get(name, 0.0) for name, weight in self.weights.items())
        return max(self.least, 1 / (1 + exp(-total)) if total > -30 else 0.0)


def confidence(sign: Sign) -> float:
    """The chance that people call the sign a violation of its kind."""
    rule = rules().get(sign.rule)
    return rule.of(sign.inputs) if rule else 0.0


def same_place(one: Finding, other: Finding) -> bool:
    """Whether two findings of one kind overlap."""
    return one.kind == other.kind and one.start < other.end and other.start < one.end


def finding(sign: Sign, reading: Reading) -> Finding:
    """The sign as it is shown, with its confidence."""
    return Finding(
        kind=sign.kind,
        text=reading.reply.raw[sign.start : sign.end],
        start=sign.start,
        end=sign.end,
        reason=sign.reason,
        evidence=sign.evidence,
        rule=sign.rule,
        confidence=round(confidence(sign), 4),
    )


@cache
def rules() -> Mapping[str, Logistic]:
    """The packaged rules; one that is not among them has earned no confidence."""
    return resource.parsed(FILE, _rules)


def _rules(text: str) -> dict[str, Logistic]:
    rows = json.loads(text)["rules"].items()
    return {name: Logistic(row["base"], row["weights"], row.get("least", 0.0)) for name, row in rows}


def shortened(text: str, longest: int = LONGEST_QUOTE) -> str:
    """A text in one line, its beginning where it is longer."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def is_chat(reading: Reading) -> bool:
    """Whether there are turns before the customer's message."""
    return bool(reading.earlier)


def has_context(reading: Reading) -> bool:
    """Whether a passage or an expected reply was given that holds anything."""
    return any(source.tokens and not source.is_said for source in reading.sources or ())
