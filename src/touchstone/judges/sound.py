"""Reading and checked anchors -> the part of the reply that can earn accuracy: all but sentences with an unheld price.

A price that no source holds makes its sentence worth nothing, however well the rest of it fits: so adding such a
sentence never makes a reply look more accurate.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from touchstone.core.reading import Reading, Sentence, Text, Token
from touchstone.core.result import Anchor


class Sound(NamedTuple):
    """The reading with the sound part of its reply, and that part's anchors."""

    reading: Reading
    anchors: tuple[Anchor, ...]


def sound_part(reading: Reading, anchors: Sequence[Anchor]) -> Sound | None:
    """The sound part; None when that is the whole reply."""
    prices = [anchor for anchor in anchors if anchor.kind == "money" and not anchor.holds]
    left_out = [s for s in reading.reply.sentences if any(_meet(s, price) for price in prices)]
    if not left_out:
        return None
    kept = tuple([anchor for anchor in anchors if not any(_meet(sentence, anchor) for sentence in left_out)])
    return Sound(replace(reading, reply=_without(reading.reply, left_out)), kept)


def _meet(sentence: Sentence, anchor: Anchor) -> bool:
    return sentence.start < anchor.end and anchor.start < sentence.end


def _without(text: Text, left_out: Sequence[Sentence]) -> Text:
    """The text less some sentences; what is kept stays in its place, blanks stand for the rest."""
    raw = list(text.raw)
    for sentence in left_out:
        raw[sentence.start : sentence.end] = " " * (sentence.end - sentence.start)
    tokens: list[Token] = []
    sentences: list[Sentence] = []
    positions: dict[str, list[int]] = defaultdict(list)
    for sentence in text.sentences:
        if sentence in left_out:
            continue
        first = len(tokens)
        tokens += text.tokens[sentence.first : sentence.last]
        sentences.append(sentence._replace(first=first, last=len(tokens)))
    for at, token in enumerate(tokens):
        positions[token.term].append(at)
    return replace(
        text,
        raw="".join(raw),
        tokens=tuple(tokens),
        sentences=tuple(sentences),
        values=tuple([v for v in text.values if not any(s.start <= v.start < s.end for s in left_out)]),
        contacts=tuple([c for c in text.contacts if not any(s.start <= c.start < s.end for s in left_out)]),
        positions={term: tuple(places) for term, places in positions.items()},
    )
