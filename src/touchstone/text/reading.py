"""Case -> Reading: every text of the case read once."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from functools import lru_cache

from touchstone.core.case import Case, Passage, Speaker, Turn
from touchstone.core.reading import Fact, Reading, Text
from touchstone.text.asks import find_asks
from touchstone.text.claims import find_claims
from touchstone.text.clauses import find_clauses, kept_clauses, parse_ahead
from touchstone.text.contacts import find_contacts
from touchstone.text.dates import parse_reference
from touchstone.text.normalise import normalise
from touchstone.text.sentences import split
from touchstone.text.structure import find_structure
from touchstone.text.tokens import tokenise
from touchstone.text.values import MAX_VALUES, find_values, with_units

# `David Seville/Ross Bagdasarian` gives alternatives; a sentence with a slash in it does not.
MAX_ALTERNATIVE_WORDS = 8
# A long list of names may hold a motto or an abbreviation that looks like two sentences.
MOST = 0.7
# The slash in 24/7 or 03/12 parts nothing.
ALTERNATIVES = re.compile(r"(?<!\d)/|/(?!\d)")
LONGEST_ROLE = 40
COMMA = re.compile(r",(?=\d)")
REFERENCE_DATE_FIELDS = ("reference_date", "date", "today", "timestamp", "created_at")


def read(case: Case) -> Reading:
    """Question, reply and sources read; claims of the reply and asks of the customer found.

    A failed reply is read once more for what is wrong with it, so recent readings are kept.
    """
    return _read(
        case.question,
        response=case.response,
        earlier=case.earlier_turns,
        context=case.context,
        expected=case.expected_output,
        today=_today(case),
    )


@lru_cache(maxsize=64)
def _read(
    asked: str,
    *,
    response: str,
    earlier: tuple[tuple[int, Turn], ...],
    context: tuple[Passage, ...] | None,
    expected: str | None,
    today: date | None,
) -> Reading:
    question = read_text("input", asked, today=today, speaker="customer") if asked.strip() else None
    reply = read_text("response", response, today=today)
    turns = tuple(_turn(f"input[{at}]", turn, today) for at, turn in earlier)
    said = tuple(turn for turn in turns if turn.is_said)
    clauses = find_clauses(reply)
    return Reading(
        question=question,
        reply=reply,
        sources=_sources(context, expected, (*turns, *((question,) if question else ())), today),
        expected=_expected(expected, reply, today) if expected else None,
        asks=find_asks(question, said) if question else (),
        clauses=clauses,
        claims=find_claims(reply, clauses),
        earlier=said,
    )


def _turn(name: str, turn: Turn, today: date | None) -> Text:
    text = read_text(name, turn.content, today=today, speaker=turn.speaker)
    if turn.has_known_role:
        return text
    return replace(text, notes=(*text.notes, f"role '{turn.role[:LONGEST_ROLE]}' is not known and taken for an agent"))


def forget() -> None:
    """Drop all texts, readings and parses that are kept."""
    for kept in (_read, read_text, normalise, kept_clauses):
        kept.cache_clear()


def read_ahead(cases: Iterable[Case]) -> None:
    """Read the replies of several cases together; `read` then gives the same as without it, in less time."""
    parse_ahead([read_text("response", case.response, today=_today(case)) for case in cases])


@lru_cache(maxsize=1024)
def read_text(name: str, raw: str, *, today: date | None = None, speaker: Speaker | None = None) -> Text:
    """One string read; help-centre passages recur from case to case, so recent texts are kept."""
    structure = find_structure(raw)
    normal = normalise(_parted(raw, structure.facts))
    tokens = tokenise(normal)
    contacts = find_contacts(normal)
    positions: dict[str, list[int]] = defaultdict(list)
    for at, token in enumerate(tokens):
        positions[token.term].append(at)
    values = with_units(find_values(normal, contacts, today=today), raw, structure.facts)
    notes = list(structure.notes)
    if len(values) == MAX_VALUES:
        notes.append(f"more than {MAX_VALUES:,} values: those behind character {values[-1].end:,} are not read")
    return Text(
        name=name,
        raw=raw,
        tokens=tokens,
        sentences=split(normal, tokens),
        values=values,
        contacts=contacts,
        positions={term: tuple(places) for term, places in positions.items()},
        facts=structure.facts,
        lists=structure.lists,
        notes=tuple(notes),
        speaker=speaker,
    )


def _parted(raw: str, facts: tuple[Fact, ...]) -> str:
    """The text with line ends for the commas between the numbers of a list or row: `[10,20]` is no fraction."""
    commas = [fact.end for fact in facts if fact.is_cell and COMMA.match(raw, fact.end)]
    if not commas:
        return raw
    parted = list(raw)
    for at in commas:
        parted[at] = "\n"
    return "".join(parted)


def _sources(
    context: tuple[Passage, ...] | None, expected: str | None, chat: tuple[Text, ...], today: date | None
) -> tuple[Text, ...] | None:
    """What the reply is checked against: context, or without one the expected reply; then the chat."""
    if context is not None:
        named = [(f"context[{at}]", passage.text) for at, passage in enumerate(context)]
    elif expected is not None:
        named = [("expected_output", expected)]
    else:
        return None
    return (*(read_text(name, raw, today=today) for name, raw in named), *chat)


def _expected(raw: str, reply: Text, today: date | None) -> Text:
    """The expected reply; of short alternatives parted by `/` the one whose terms the reply has most of."""
    whole = read_text("expected_output", raw, today=today)
    parts = [part.strip() for part in ALTERNATIVES.split(raw) if part.strip()]
    short = [part for part in parts if len(part.split()) <= MAX_ALTERNATIVE_WORDS]
    texts = [text for part in short if len((text := read_text("expected_output", part, today=today)).sentences) == 1]
    # The slashes of a link part nothing either.
    if whole.contacts or len(parts) < 2 or len(texts) < MOST * len(parts):
        return whole
    return max(texts, key=lambda text: sum(t in reply.positions for t in text.terms) / max(1, len(text.terms)))


def _today(case: Case) -> date | None:
    given = (parse_reference(case.metadata.get(field)) for field in REFERENCE_DATE_FIELDS)
    return next((day for day in given if day), None)
