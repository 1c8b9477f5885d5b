"""Case and Result -> the same without personal data: [name], [card] … stand where it stood.

A reply is scored as it was and redacted before it is kept, so that a leak is still found. Spans are moved along.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from touchstone.core.case import Case, Passage, Turn
from touchstone.core.reading import Span
from touchstone.core.result import (
    Anchor,
    Dismissed,
    Evidence,
    Finding,
    Grade,
    Result,
    Score,
    Statement,
    Verification,
)
from touchstone.runs.record import Record
from touchstone.safety.personal_data.recognise import recognise
from touchstone.text.normalise import normalise
from touchstone.text.tokens import tokenise

# Shorter than this, a text such as `Al` or `42` stands in too many places that are not personal.
MIN_SURFACE = 4
MIN_WORD = 2


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without personal data: what was cut where, so that offsets into the original can be moved."""

    text: str
    cuts: tuple[tuple[Span, str], ...]
    surfaces: tuple[tuple[str, str], ...]

    def moved(self, start: int, end: int) -> Span:
        """A span of the original -> where it stands now; one that cuts into a redacted part takes all of it."""
        return Span(self._place(start, at_end=False), self._place(end, at_end=True))

    def _place(self, offset: int, *, at_end: bool) -> int:
        shift = 0
        for cut, label in self.cuts:
            if offset <= cut.start:
                break
            if offset < cut.end:
                return cut.start + shift + (len(label) if at_end else 0)
            shift += len(label) - (cut.end - cut.start)
        return offset + shift


def redact(text: str) -> Redacted:
    """The text with every recognised piece of personal data replaced by its kind."""
    normal = normalise(text)
    cuts, surfaces, parts, after = [], [], [], 0
    for datum in recognise(normal.text):
        start, end = normal.span(datum.start, datum.end)
        if start < after:
            continue
        label = f"[{datum.kind}]"
        parts += [text[after:start], label]
        cuts.append((Span(start, end), label))
        surfaces.append((text[start:end], label))
        after = end
    return Redacted("".join([*parts, text[after:]]), tuple(cuts), tuple(surfaces))


@dataclass(frozen=True, slots=True)
class RedactedFailure:
    """A row that was no case as it is kept."""

    result: Result
    record: Record


def redact_failure(result: Result, record: Record) -> RedactedFailure:
    """Both as they are kept: what is said of the row may quote it."""
    failures = tuple(replace(each, message=redact(each.message).text) for each in result.failures)
    problem = None if record.problem is None else redact(record.problem).text
    return RedactedFailure(replace(result, failures=failures), replace(record, problem=problem))


def redact_case(case: Case) -> Case:
    """The case as it is kept: every text of it redacted."""
    return _Redaction(case).case


@dataclass(frozen=True, slots=True)
class RedactedReply:
    """A reply as it is kept."""

    case: Case
    result: Result
    record: Record


def redact_reply(case: Case, result: Result, record: Record) -> RedactedReply:
    """All three as they are kept. What result and record quote of the case is replaced as it is there."""
    redaction = _Redaction(case)
    return RedactedReply(redaction.case, redaction.result(result), redaction.record(record))


class _Redaction:
    """One case's texts, redacted; and what was taken out of any of them, to be taken out of what quotes them."""

    def __init__(self, case: Case) -> None:
        self.reply = redact(case.response)
        self._sources: dict[str, Redacted] = {}
        self._texts: list[Redacted] = [self.reply]
        self.case = Case(
            id=case.id,
            input=self._input(case),
            response=self.reply.text,
            context=self._context(case),
            expected_output=self._named("expected_output", case.expected_output),
            category=case.category,
            confidence=case.confidence,
            labels=tuple(replace(label, reason=self._plain(label.reason)) for label in case.labels),
            metadata={name: self._value(value) for name, value in case.metadata.items()},
        )
        found = {surface: label for each in self._texts for surface, label in each.surfaces}
        whole = _replacing({s: label for s, label in found.items() if len(s) >= MIN_SURFACE})
        # Keywords and the values of claims are single words of the texts, in the form they are compared in.
        kept = {word for each in self._texts for word in _words(each.text)}
        words = {word: label for surface, label in found.items() for word in _words(surface) if word not in kept}
        single = _replacing(words, whole_words=True)
        self._quotes: Callable[[str], str] = lambda text: single(whole(text))

    def result(self, result: Result) -> Result:
        rubric = result.rubric
        return replace(
            result,
            reasons=tuple(map(self._said, result.reasons)),
            metrics=None if result.metrics is None else {n: self._score(s) for n, s in result.metrics.items()},
            failures=tuple(replace(failure, message=self._said(failure.message)) for failure in result.failures),
            rubric=None
            if rubric is None
            else replace(
                rubric,
                grades=tuple(map(self._grade, rubric.grades)),
                violations=tuple(map(self._violation, rubric.violations)),
                suspicions=tuple(map(self._violation, rubric.suspicions)),
                dismissed=tuple(map(self._dismissed, rubric.dismissed)),
                issues=tuple(map(self._said, rubric.issues)),
            ),
            verifier=None if result.verifier is None else self._verification(result.verifier),
        )

    def record(self, record: Record) -> Record:
        tags = tuple(replace(tag, detail=self._said(tag.detail)) for tag in record.tags)
        why = tuple(map(self._said, record.why))
        return replace(record, tags=tags, problem=record.problem and self._said(record.problem), why=why)

    def _input(self, case: Case) -> str | tuple[Turn, ...]:
        if isinstance(case.input, str):
            return self._named("input", case.input) or ""
        # Evidence calls the turn that is answered `input`.
        self._sources["input"] = redact(case.question)
        return tuple(
            Turn(turn.role, self._named(f"input[{at}]", turn.content) or "") for at, turn in enumerate(case.input)
        )

    def _context(self, case: Case) -> tuple[Passage, ...] | None:
        if case.context is None:
            return None
        return tuple(
            Passage(self._named(f"context[{at}]", passage.text) or "", passage.id and self._plain(passage.id))
            for at, passage in enumerate(case.context)
        )

    def _named(self, source: str, text: str | None) -> str | None:
        if text is None:
            return None
        self._sources[source] = redact(text)
        self._texts.append(self._sources[source])
        return self._sources[source].text

    def _plain(self, text: str) -> str:
        found = redact(text)
        self._texts.append(found)
        return found.text

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._plain(value)
        if isinstance(value, Mapping):
            return {name: self._value(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [self._value(each) for each in value]
        if isinstance(value, int) and not isinstance(value, bool):
            # A card or a phone number that a file holds as a number.
            text = self._plain(str(value))
            return value if text == str(value) else text
        return value

    def _said(self, text: str) -> str:
        """What Touchstone says, which may quote any of the texts."""
        return redact(self._quotes(text)).text

    def _score(self, score: Score) -> Score:
        anchors = None if score.anchors is None else tuple(map(self._anchor, score.anchors))
        parts = {name: self._part(value) for name, value in score.parts.items()}
        return replace(score, reason=self._said(score.reason), parts=parts, anchors=anchors)

    def _part(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._said(value)
        return [self._part(each) for each in value] if isinstance(value, list | tuple) else value

    def _anchor(self, anchor: Anchor) -> Anchor:
        start, end = self.reply.moved(anchor.start, anchor.end)
        return replace(
            anchor,
            text=self.reply.text[start:end],
            start=start,
            end=end,
            value=self._said(anchor.value),
            reason=self._said(anchor.reason),
            evidence=tuple(map(self._evidence, anchor.evidence)),
        )

    def _violation(self, violation: Finding) -> Finding:
        start, end = self.reply.moved(violation.start, violation.end)
        return replace(
            violation,
            text=self.reply.text[start:end],
            start=start,
            end=end,
            reason=self._said(violation.reason),
            evidence=tuple(map(self._evidence, violation.evidence)),
        )

    def _dismissed(self, dismissed: Dismissed) -> Dismissed:
        said, quote = self._said(dismissed.reason), self._said(dismissed.quote)
        return Dismissed(self._violation(dismissed.finding), said, quote)

    def _verification(self, verification: Verification) -> Verification:
        return replace(verification, statements=tuple(map(self._statement, verification.statements)))

    def _statement(self, statement: Statement) -> Statement:
        start, end = self.reply.moved(statement.start, statement.end)
        return replace(
            statement,
            text=self.reply.text[start:end],
            start=start,
            end=end,
            reason=self._said(statement.reason),
            evidence=tuple(map(self._evidence, statement.evidence)),
        )

    def _evidence(self, evidence: Evidence) -> Evidence:
        source = self._sources.get(evidence.source)
        path = None if evidence.path is None else self._said(evidence.path)
        if source is None:
            return replace(evidence, text=self._said(evidence.text), path=path)
        start, end = source.moved(evidence.start, evidence.end)
        return Evidence(evidence.source, start, end, source.text[start:end], path)

    def _grade(self, grade: Grade) -> Grade:
        return replace(grade, reason=self._said(grade.reason))


def _words(text: str) -> Iterator[str]:
    """Every word of the text as it stands and as it is compared; stop words and short figures tell nothing."""
    for token in tokenise(normalise(text)):
        for word in dict.fromkeys((token.word, token.term)):
            if len(word) >= (MIN_SURFACE if word[0].isdecimal() else MIN_WORD) and not token.is_stop:
                yield word


def _replacing(labels: Mapping[str, str], *, whole_words: bool = False) -> Callable[[str], str]:
    """A function that puts labels in place of their texts, the longest first; whole words in capitals or not."""
    if not labels:
        return lambda text: text
    longest_first: Iterable[str] = sorted(labels, key=len, reverse=True)
    choice = "|".join(map(re.escape, longest_first))
    if not whole_words:
        pattern = re.compile(choice)
        return lambda text: pattern.sub(lambda match: labels[match[0]], text)
    # Not within the brackets of a label that stands there already.
    words = re.compile(rf"(?<![\w\[])(?:{choice})(?![\w\]])", re.IGNORECASE)
    return lambda text: words.sub(lambda match: labels.get(match[0].casefold(), "[…]"), text)
