"""A run: a plan's results over a gold set, with everything that determined them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

# Replies to a gold set, or a batch of production replies that people review a sample of.
Kind = Literal["goldset", "production"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What determined a run. Two runs with equal receipts have equal results, unless a live bot varies.

    `data`, `rubric_hash`, `plan` and `policy` are content hashes; `code` and `parser` are versions. `redacted` replies
    are kept without the personal data they were scored with; `verifier` names the fitted model that read sentences.
    """

    goldset: str
    data: str
    rubric: str
    rubric_version: str
    rubric_hash: str
    plan: str
    policy: str
    judge: str
    code: str
    parser: str
    responses: str | None = None
    bot: str | None = None
    repeat: int = 1
    verifier: str | None = None
    redacted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a run was held to by the gate, besides its rubric's targets: how much is scored, and the baseline's id."""

    least_scored: float
    baseline: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run. Times are ISO 8601 in UTC; `finished` is None while it is under way or was interrupted.

    `revision` goes up whenever waivers or an erasure change what is said of its replies. `terms` are those of a run
    that was held by the gate.
    """

    id: str
    started: str
    receipt: Receipt
    finished: str | None = None
    seconds: float = 0.0
    labels: Mapping[str, str] = field(default_factory=dict)
    kind: Kind = "goldset"
    revision: int = 0
    terms: Terms | None = None
