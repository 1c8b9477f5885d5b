"""Reading and checked anchors -> the part of the reply that can earn accuracy: all but sentences with an unheld price.

A price that no source holds makes its sentence worth nothing, however well the rest of it fits: so adding such a
sentence never makes a reply look more accurate.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from touchstone.core.reading import Reading, Sentence, Span
from touchstone.core.result import Anchor
from touchstone.text.part import without


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
    spans = [Span(sentence.start, sentence.end) for sentence in left_out]
    return Sound(replace(reading, reply=without(reading.reply, spans)), kept)


def _meet(sentence: Sentence, anchor: Anchor) -> bool:
    return sentence.start < anchor.end and anchor.start < sentence.end
