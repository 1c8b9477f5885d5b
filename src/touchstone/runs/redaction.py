"""Case and Result -> the same without personal data: [name], [card] … stand where it stood.

A reply is scored as it was and redacted before it is kept, so that a leak is still found. Spans are moved along.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, TypeVar

from touchstone.core.case import Case
from touchstone.core.reading import Span
from touchstone.core.result import Evidence, Result
from touchstone.core.texts import Quotation, map_texts
from touchstone.runs.record import Record
from touchstone.safety.personal_data.recognise import recognise
from touchstone.text.normalise import normalise
from touchstone.text.tokens import tokenise

# Shorter than this, a text such as `Al` or `42` stands in too many places that are not personal.
MIN_SURFACE = 4
MIN_WORD = 2
MIN_JOINED = 7

_Said = TypeVar("_Said", Result, Record)


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


class Redactable(Protocol):
    """A row that is kept as any dataclass: `case` is None where it was no case."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def case(self) -> Case | None: ...
    @property
    def result(self) -> Result: ...
    @property
    def record(self) -> Record: ...


_Row = TypeVar("_Row", bound=Redactable)


def redact_case(case: Case) -> Case:
    """The case as it is kept: every text of it redacted."""
    return _Redaction(case).case


def redact_reply(reply: _Row) -> _Row:
    """The row as it is kept. What result and record quote of the case is replaced as it is there."""
    redaction = _Redaction(reply.case or Case(response=""))
    case = redaction.case if reply.case else None
    return replace(reply, case=case, result=redaction.kept(reply.result), record=redaction.kept(reply.record))


class _Redaction:
    """One case's texts, redacted; and what was taken out of any of them, to be taken out of what quotes them."""

    def __init__(self, case: Case) -> None:
        self._redacted: dict[str, Redacted] = {}
        reply = self._own(case.response)
        rest = map_texts(replace(case, response="", metadata={}), prose=self._own, quotation=lambda quoted: None)
        self.case = replace(rest, response=reply, metadata=self._value(case.metadata))
        self._sources = {name: self._redacted.get(text) or redact(text) for name, text in _sources(case).items()}
        self._reply = self._redacted[case.response]
        texts = self._redacted.values()
        found = {surface: label for each in texts for surface, label in each.surfaces}
        # Reasons write phone numbers and cards without their spaces and signs.
        joined = {"".join(filter(str.isalnum, surface)): label for surface, label in found.items()}
        wholes = {text: label for text, label in joined.items() if len(text) >= MIN_JOINED}
        whole = _replacing(wholes | {text: label for text, label in found.items() if len(text) >= MIN_SURFACE})
        # Keywords and the values of claims are single words of the texts, in the form they are compared in.
        kept = {word for each in texts for word in _words(each.text)}
        words = {word: label for surface, label in found.items() for word in _words(surface) if word not in kept}
        single = _replacing(words, whole_words=True)
        # Words last: an address that has lost its `com` is no longer recognised.
        self._said: Callable[[str], str] = lambda text: single(redact(whole(text)).text)

    def kept(self, value: _Said) -> _Said:
        """What Touchstone says of the case, which may quote any of its texts."""
        return map_texts(value, prose=self._said, quotation=self._moved)

    def _moved(self, quoted: Quotation) -> Quotation:
        source = self._sources.get(quoted.source) if isinstance(quoted, Evidence) else self._reply
        if source is None:
            return replace(quoted, text=self._said(quoted.text))
        start, end = source.moved(quoted.start, quoted.end)
        return replace(quoted, text=source.text[start:end], start=start, end=end)

    def _own(self, text: str) -> str:
        # Moved to the end when it is met again: where two texts name one surface differently, the later one counts.
        found = self._redacted.pop(text) if text in self._redacted else redact(text)
        self._redacted[text] = found
        return found.text

    def _value(self, value: Any) -> Any:
        """Metadata, in which a file may hold a card or a phone number as a number."""
        if isinstance(value, str):
            return self._own(value)
        if isinstance(value, Mapping):
            return {name: self._value(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [self._value(each) for each in value]
        if isinstance(value, int) and not isinstance(value, bool):
            text = self._own(str(value))
            return value if text == str(value) else text
        return value


def _sources(case: Case) -> dict[str, str]:
    """The texts of a case by the names that evidence has for them; `input` is the turn that is answered."""
    turns = () if isinstance(case.input, str) else case.input
    return {
        "input": case.question,
        **{f"input[{at}]": turn.content for at, turn in enumerate(turns)},
        **{f"context[{at}]": passage.text for at, passage in enumerate(case.context or ())},
        **({} if case.expected_output is None else {"expected_output": case.expected_output}),
    }


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
