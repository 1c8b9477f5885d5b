"""Case -> Reading: every text of the case read once."""

import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import date
from functools import lru_cache

from touchstone.core.case import Case
from touchstone.core.reading import Ask, Claim, Reading, Text
from touchstone.text.asks import find_asks
from touchstone.text.claims import find_claims, parse_ahead
from touchstone.text.contacts import find_contacts
from touchstone.text.dates import parse_reference
from touchstone.text.normalise import normalise
from touchstone.text.sentences import split
from touchstone.text.tokens import tokenise
from touchstone.text.values import find_values

# `David Seville/Ross Bagdasarian` gives alternatives; a sentence with a slash in it does not.
MAX_ALTERNATIVE_WORDS = 8
# A long list of names may hold a motto or an abbreviation that looks like two sentences.
MOST = 0.7
# The slash in 24/7 or 03/12 parts nothing.
ALTERNATIVES = re.compile(r"(?<!\d)/|/(?!\d)")
REFERENCE_DATE_FIELDS = ("reference_date", "date", "today", "timestamp", "created_at")


def read(case: Case) -> Reading:
    """Question, reply and sources read; claims of the reply and asks of the customer found."""
    today = _today(case)
    question = read_text("input", case.question, today=today) if case.question.strip() else None
    reply = read_text("response", case.response, today=today)
    earlier = tuple(read_text(f"input[{at}]", turn.content, today=today) for at, turn in case.earlier_turns)
    return Reading(
        question=question,
        reply=reply,
        sources=_sources(case, earlier, question, today),
        expected=_expected(case.expected_output, reply, today) if case.expected_output else None,
        asks=asks_in(case.question, today=today) if question else (),
        claims=claims_in(case.response, today=today),
        earlier=earlier,
    )


def read_ahead(cases: Iterable[Case]) -> None:
    """Read the replies of several cases together; `read` then gives the same as without it, in less time."""
    parse_ahead([read_text("response", case.response, today=_today(case)) for case in cases])


@lru_cache(maxsize=1024)
def read_text(name: str, raw: str, *, today: date | None = None) -> Text:
    """One string read; help-centre passages recur from case to case, so recent texts are kept."""
    normal = normalise(raw)
    tokens = tokenise(normal)
    contacts = find_contacts(normal)
    positions: dict[str, list[int]] = defaultdict(list)
    for at, token in enumerate(tokens):
        positions[token.term].append(at)
    return Text(
        name=name,
        raw=raw,
        tokens=tokens,
        sentences=split(normal, tokens),
        values=find_values(normal, contacts, today=today),
        contacts=contacts,
        positions={term: tuple(places) for term, places in positions.items()},
    )


@lru_cache(maxsize=256)
def asks_in(question: str, *, today: date | None = None) -> tuple[Ask, ...]:
    """The asks of a message; a failed reply is read once more for what is wrong with it, so recent ones are kept."""
    return find_asks(read_text("input", question, today=today))


@lru_cache(maxsize=256)
def claims_in(reply: str, *, today: date | None = None) -> tuple[Claim, ...]:
    """The claims of a reply, kept likewise."""
    return find_claims(read_text("response", reply, today=today))


def _sources(
    case: Case, earlier: tuple[Text, ...], question: Text | None, today: date | None
) -> tuple[Text, ...] | None:
    """What the reply is checked against: context, or without one the expected reply; then the chat."""
    if case.context is not None:
        named = [(f"context[{at}]", passage.text) for at, passage in enumerate(case.context)]
    elif case.expected_output is not None:
        named = [("expected_output", case.expected_output)]
    else:
        return None
    given = tuple(read_text(name, raw, today=today) for name, raw in named)
    return (*given, *earlier, *((question,) if question else ()))


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
