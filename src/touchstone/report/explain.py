"""Case and Result -> Explanation: the reply cut where something was found, and evidence with the words around it.

Everything else that is shown of a case is read from the case and the result themselves.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from touchstone.core.case import Case
from touchstone.core.result import (
    Anchor,
    Dismissed,
    Evidence,
    Finding,
    Grading,
    Result,
    Score,
    Statement,
    Status,
    Waived,
)
from touchstone.report.figures import count, points, sentence, words
from touchstone.report.plain import excerpt, one_line, plain
from touchstone.runs.decision import explain_chance, explain_decision

T = TypeVar("T")
Spanned = TypeVar("Spanned", Anchor, Finding)
NOT_SCORED = "not scored"
# A page is read by people: what is longer than this is cut, and the page says so.
MOST_CHARS = 6_000
MOST_FINDINGS = 60
_BECOMES = {"send": "can be sent", "review": "needs a review", "block": "is blocked"}


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of the reply: the status of the innermost anchor it is in, whether it is part of a violation or of a
    suspicion, and the numbers of the anchors, violations and suspicions that end with it."""

    text: str
    status: Status | None = None
    ends: tuple[int, ...] = ()
    violates: bool = False
    violation_ends: tuple[int, ...] = ()
    suspected: bool = False
    suspicion_ends: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Proof:
    """A place in a source, with the words around it."""

    source: str
    before: str
    text: str
    after: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """A case, its result and its reply in segments. Unless it is whole, long texts and long lists are cut."""

    case: Case
    result: Result
    segments: tuple[Segment, ...]
    is_whole: bool = True

    @property
    def id(self) -> str:
        return one_line(self.result.id or self.case.id or "")

    @property
    def grading(self) -> Grading | None:
        return self.result.rubric

    @property
    def outcome(self) -> str:
        return (self.grading.outcome if self.grading else None) or NOT_SCORED

    @property
    def why(self) -> str:
        """The decision with its reason in one sentence."""
        return one_line(explain_decision(self.result))

    @property
    def sentence(self) -> str:
        """Whether it passes, what becomes of it and why, in one sentence."""
        decision, _, reason = self.why.partition(": ")
        if (grading := self.grading) is None or self.result.failures:
            return sentence(f"{reason} and {_BECOMES[decision]}")
        with_points = "" if grading.total is None else f" with {points(grading.total)} points"
        faults = " and ".join(map(words, grading.reasons))
        held = {"PASS": "it passes", "FAIL": f"it fails on {faults}" if faults else "it fails"}
        outcome = held.get(self.outcome, "it has no outcome")
        return one_line(sentence(f"{outcome}{with_points} and {_BECOMES[decision]}: {reason}"))

    @property
    def chance(self) -> str:
        """The pass probability, or why it is not known."""
        return one_line(explain_chance(self.result))

    @property
    def metrics(self) -> tuple[Score, ...]:
        return tuple((self.result.metrics or {}).values())

    @property
    def anchors(self) -> tuple[Anchor, ...]:
        return self._limited(_anchors(self.result))

    @property
    def reply(self) -> tuple[Segment, ...]:
        """The segments, as far as there is room for them."""
        length = 0
        kept: list[Segment] = []
        for segment in self.segments:
            if not self.is_whole and length + len(segment.text) > MOST_CHARS:
                return (*kept, Segment(segment.text[: MOST_CHARS - length] + " …"))
            kept.append(segment)
            length += len(segment.text)
        return tuple(kept)

    @property
    def cut(self) -> tuple[str, ...]:
        """What is left out, a sentence each."""
        if self.is_whole:
            return ()
        said, length = [], sum(len(segment.text) for segment in self.segments)
        if length > MOST_CHARS:
            said.append(f"The reply is cut here; it has {count(length, 'character')}.")
        if (more := len(_anchors(self.result)) - MOST_FINDINGS) > 0:
            said.append(f"{count(more, 'more anchor')} {'is' if more == 1 else 'are'} left out.")
        return tuple(said)

    @property
    def rubric_title(self) -> str:
        """The rubric, its judge, and how often the judge changed its mind where it was asked several times."""
        if (grading := self.grading) is None:
            return ""
        votes = "" if grading.flip_rate is None else f", whose outcome changes in {grading.flip_rate:.0%} of its votes"
        return one_line(f"{grading.rubric} {grading.version}, judge {grading.judge}{votes}")

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The sentences that claim something, as the verifier sees them."""
        found = self.result.verifier.statements if self.result.verifier else ()
        return self._limited([each for each in found if each.status != "no_claim"])

    @property
    def verifier_remark(self) -> str:
        """Which sentences the verifier did not have to read, or did not reach."""
        if (verifier := self.result.verifier) is None:
            return ""
        silent = sum(each.status == "no_claim" for each in verifier.statements)
        said = [f"{verifier.spared} of {len(verifier.statements)} sentences were clear without the model"]
        said += [f"{silent} claim nothing"] if silent else []
        said += [f"{verifier.unread} were not read"] if verifier.unread else []
        return ", ".join(said)

    def clipped(self, text: str) -> str:
        """A text, or as much of it as there is room for."""
        text = plain(text)
        if self.is_whole or len(text) <= MOST_CHARS:
            return text
        return f"{text[:MOST_CHARS]} … ({count(len(text), 'character')})"

    def proofs(self, evidence: Sequence[Evidence]) -> list[Proof]:
        """Where the sources speak of something, each place with the words around it."""
        return [_proof(each, self.case) for each in evidence]

    def _limited(self, found: Sequence[T]) -> tuple[T, ...]:
        return tuple(found if self.is_whole else found[:MOST_FINDINGS])


def explain(case: Case, result: Result, *, is_whole: bool = True) -> Explanation:
    """The explanation of a case; for a page that shows many, not whole."""
    grading = result.rubric
    found = (grading.violations, grading.suspicions) if grading else ((), ())
    return Explanation(case, result, tuple(_segments(case.response, _anchors(result), *found)), is_whole)


def waived_line(waived: Waived) -> str:
    """Who waived a violation, and why."""
    return one_line(f"waived by {waived.by} because {waived.reason}")


def dismissed_line(dismissed: Dismissed) -> str:
    """The finding with why the model rejects it, and the words that show it."""
    return one_line(f"{dismissed.finding.reason}. Dismissed: {dismissed.reason} It quotes '{dismissed.quote}'")


def source_text(case: Case, source: str) -> str | None:
    """The text an evidence's `source` names (input, input[0], context[2], expected_output), if there is one."""
    name, _, rest = source.partition("[")
    if not rest:
        whole = {"input": case.question, "expected_output": case.expected_output, "response": case.response}
        return whole.get(name)
    at = int(rest.rstrip("]")) if rest.rstrip("]").isdecimal() else -1
    texts: Sequence[str] = ()
    if name == "context":
        texts = [passage.text for passage in case.context or ()]
    elif name == "input" and not isinstance(case.input, str):
        texts = [turn.content for turn in case.input]
    return texts[at] if 0 <= at < len(texts) else None


def _anchors(result: Result) -> list[Anchor]:
    return [anchor for score in (result.metrics or {}).values() for anchor in score.anchors or ()]


def _segments(
    reply: str, anchors: Sequence[Anchor], violations: Sequence[Finding], suspicions: Sequence[Finding]
) -> Iterator[Segment]:
    """The reply cut wherever an anchor or a finding starts or ends; an erased reply has nothing to cut."""
    spans: tuple[Anchor | Finding, ...] = (*anchors, *violations, *suspicions)
    cuts = sorted({0, len(reply), *(place for span in spans for place in (span.start, span.end) if place < len(reply))})
    covered = (_covering(anchors, cuts), _covering(violations, cuts), _covering(suspicions, cuts))
    for (start, end), checked, broken, doubted in zip(pairwise(cuts), *covered, strict=True):
        innermost = min(checked, key=lambda numbered: numbered[1].end - numbered[1].start, default=None)
        yield Segment(
            text=plain(reply[start:end]),
            status=innermost[1].status if innermost else None,
            ends=tuple(number for number, anchor in checked if anchor.end == end),
            violates=bool(broken),
            violation_ends=tuple(number for number, violation in broken if violation.end == end),
            suspected=bool(doubted),
            suspicion_ends=tuple(number for number, suspicion in doubted if suspicion.end == end),
        )


def _covering(spans: Sequence[Spanned], cuts: Sequence[int]) -> Iterator[list[tuple[int, Spanned]]]:
    """For each piece between two cuts, the spans it is in, with their numbers."""
    waiting = deque(sorted(enumerate(spans, 1), key=lambda numbered: numbered[1].start))
    current: list[tuple[int, Spanned]] = []
    for start, _ in pairwise(cuts):
        while waiting and waiting[0][1].start <= start:
            current.append(waiting.popleft())
        current = [(number, span) for number, span in current if span.end > start]
        yield current


def _proof(evidence: Evidence, case: Case) -> Proof:
    text = source_text(case, evidence.source)
    where = one_line(f"{evidence.source} {evidence.path}" if evidence.path else evidence.source)
    if text is None:
        return Proof(where, "", one_line(evidence.text), "")
    return Proof(where, *excerpt(text, evidence.start, evidence.end))
