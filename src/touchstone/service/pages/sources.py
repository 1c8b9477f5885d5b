"""Case and Result -> everything the reply was checked against, with the places that speak for or against it marked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from touchstone.core.case import Case
from touchstone.core.result import Anchor, Evidence, Finding, Result
from touchstone.report.figures import count
from touchstone.report.plain import one_line, plain

# A page stays far below 100 KB: what is longer is cut, said to be, and shown whole on request.
MOST_CHARS = 4_000
MOST_IN_ALL = 24_000
# A reply is graded whole; what is longer than this is cut until it is asked for.
MOST_REPLY = 20_000


@dataclass(frozen=True, slots=True)
class Mark:
    """A place that an anchor (f), violation (b) or suspicion (d) of that number rests on; links lead to the first."""

    kind: str
    number: int
    is_first: bool = True


@dataclass(frozen=True, slots=True)
class SourcePiece:
    """A stretch of a source, whether it is marked, and the marks that end with it."""

    text: str
    is_marked: bool = False
    ends: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceView:
    """One text: its name as evidence names it, what people call it, and what was left out of it."""

    name: str
    title: str
    kind: str
    pieces: tuple[SourcePiece, ...]
    cut: str


def sources_of(case: Case, result: Result | None, *, is_whole: bool = False) -> tuple[SourceView, ...]:
    """The conversation, what the bot was given, and the expected reply. Without a result nothing is marked."""
    marks = _marks(result) if result else {}
    room = MOST_IN_ALL
    seen: set[Mark] = set()
    found = []
    for name, title, kind, text in _texts(case):
        most = len(text) if is_whole else min(MOST_CHARS, room)
        room -= min(len(text), most)
        cut = "" if len(text) <= most else f"{count(len(text) - most, 'more character')}"
        found.append(SourceView(name, title, kind, tuple(_pieces(text[:most], marks.get(name, []), seen)), cut))
    return tuple(found)


def cut_reply(reply: str, *, is_whole: bool) -> dict[str, object]:
    """A reply as a form that grades it shows it, and whether it was cut."""
    most = len(reply) if is_whole else MOST_REPLY
    return {"reply": plain(reply[:most]), "is_cut": len(reply) > most}


def _texts(case: Case) -> Iterator[tuple[str, str, str, str]]:
    if isinstance(case.input, str):
        yield "input", "Customer", "customer", case.input
    else:
        earlier = {at for at, _ in case.earlier_turns}
        for at, turn in enumerate(case.input):
            name = f"input[{at}]" if at in earlier else "input"
            yield name, one_line(turn.role).capitalize(), "customer" if turn.by_customer else "agent", turn.content
    for at, passage in enumerate(case.context or ()):
        title = f"Passage {at + 1}" + (f" · {one_line(passage.id)}" if passage.id else "")
        yield f"context[{at}]", title, "context", passage.text
    if case.expected_output is not None:
        yield "expected_output", "Expected reply", "expected", case.expected_output


def _marks(result: Result) -> dict[str, list[tuple[Mark, Evidence]]]:
    anchors = [anchor for score in (result.metrics or {}).values() for anchor in score.anchors or ()]
    violations, suspicions = (result.rubric.violations, result.rubric.suspicions) if result.rubric else ((), ())
    marks: dict[str, list[tuple[Mark, Evidence]]] = {}
    found: tuple[tuple[str, Sequence[Anchor | Finding]], ...] = (("f", anchors), ("b", violations), ("d", suspicions))
    for kind, findings in found:
        for number, finding in enumerate(findings, 1):
            for evidence in finding.evidence:
                marks.setdefault(evidence.source, []).append((Mark(kind, number), evidence))
    return marks


def _pieces(text: str, marks: list[tuple[Mark, Evidence]], seen: set[Mark]) -> Iterator[SourcePiece]:
    """The text cut wherever a mark starts or ends; one text names each mark once. `seen` were named before."""
    inside = [(mark, place.start, min(place.end, len(text))) for mark, place in marks if place.start < len(text)]
    cuts = sorted({0, len(text), *(start for _, start, _ in inside), *(end for _, _, end in inside)})
    named: set[Mark] = set()
    for start, end in pairwise(cuts):
        covering = [(mark, stop) for mark, begin, stop in inside if begin <= start < stop]
        ends = tuple(dict.fromkeys(mark for mark, stop in covering if stop == end and mark not in named))
        named.update(ends)
        yield SourcePiece(
            plain(text[start:end]), bool(covering), tuple(replace(m, is_first=m not in seen) for m in ends)
        )
        seen.update(ends)
