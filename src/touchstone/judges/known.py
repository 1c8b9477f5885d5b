"""Reading -> whether the offline judge knows cases like this one, and where it does not, why.

The ranges are those of the labelled sets that it grades better than the commonest grade would (data/pass.json). What
lies outside is graded only on the criteria where it was found to be of use there all the same.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from touchstone.core import resource
from touchstone.core.reading import Reading
from touchstone.judges.model import Way
from touchstone.judges.probability import FILE

# `"status": "delivered",`, `name({…}) ->`: text for machines.
STRUCTURE = re.compile(r"[{}\[\]]|\"\w+\":|->")
NOTES: Mapping[str, str] = {
    "turns": "the chat has {given:.0f} earlier messages, cases it was fitted on have at most {most:.0f}",
    "context_words": "the passages have {given:,.0f} words, cases it was fitted on have at most {most:,.0f}",
    "structure": "the passages are lookups rather than prose, and it learnt to grade by prose",
    "question_words": "the message has {given:.0f} words, cases it was fitted on have at most {most:.0f}",
    "reply_words": "the reply has {given:.0f} words, cases it was fitted on have at most {most:.0f}",
}


class Known(NamedTuple):
    """The most that each measure reaches among known cases, and the criteria that are not graded beyond."""

    most: Mapping[str, float]
    blind: Mapping[Way, tuple[str, ...]]


def measure(reading: Reading) -> dict[str, float]:
    """What tells kinds of cases apart, whatever the reply says."""
    raw = " ".join(text.raw for text in reading.contexts)
    words = sum(len(text.tokens) for text in reading.contexts)
    return {
        "turns": float(len(reading.earlier)),
        "context_words": float(words),
        "structure": len(STRUCTURE.findall(raw)) / max(50, words),
        "question_words": float(len(reading.question.tokens)) if reading.question else 0.0,
        "reply_words": float(len(reading.reply.tokens)),
    }


def unlike(reading: Reading) -> str | None:
    """Why the case is unlike all that the judge knows; None when it is not."""
    most = known().most
    for name, given in measure(reading).items():
        if given > most[name]:
            return NOTES[name].format(given=given, most=most[name])
    return None


@cache
def known() -> Known:
    """The packaged ranges."""
    content = json.loads(resource.text(FILE))["known"]
    return Known(content["most"], {way: tuple(names) for way, names in content["blind"].items()})
