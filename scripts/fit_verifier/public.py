"""Public sets rated by people, kept outside the repository -> replies as sentences with evidence, and pairs to fit on.

A set says whether a whole reply is supported. All sentences of a supported reply are; an unsupported one has a sentence
to learn from only where it is known which: it is the only one, or the only one that no supported reply shares.
"""

import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from benchmarks.cases import public_rows
from scripts.fit_verifier.pairs import CLAIMS, SUPPORTED, UNSUPPORTED, Pair, find_evidence, read_passages, sentences_of

LICENCES = {
    "summedits": "Apache-2.0",
    "wice": "ODC-BY, CC-BY-SA",
    "begin": "CC-BY-4.0, CDLA",
    "dstc9": "Apache-2.0",
}
# Replies that the raters found right or wrong beyond doubt; those between are only measured on.
RIGHT_GRADE, WRONG_GRADE = 4.6, 2.4
# So many replies of a set are read, chosen at random: the others have like sources and would say the same.
MOST_REPLIES = {"summedits": 2_617, "wice": 349, "begin": 4_749, "dstc9": 2_600}
# Longer replies are measured by their first sentences.
MOST_SENTENCES = 12


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply of a public set: its sentences as pairs, what people said, and what it shares sources with."""

    pairs: tuple[Pair, ...]
    gold: Mapping[str, float]
    group: str
    words_absent: float


@cache
def replies_of(name: str, *, seed: int) -> tuple[Reply, ...]:
    """The replies of a set in the order of its file; nothing when the set is not there."""
    rows = public_rows(name) or []
    chosen = random.Random(seed).sample(range(len(rows)), min(MOST_REPLIES[name], len(rows)))
    return tuple(_replies(name, [rows[at] for at in sorted(chosen)]))


def _replies(name: str, rows: Sequence[dict[str, Any]]) -> Iterator[Reply]:
    passages = cache(lambda texts: read_passages(list(texts)))
    taught = _taught(name, rows)
    for at, row in enumerate(rows):
        group = group_of(row)
        found = passages(tuple(row["context"]))
        pairs = tuple(
            Pair(sentence, find_evidence(sentence, found), taught.get((at, place), ()), CLAIMS, name, group=group)
            for place, sentence in enumerate(sentences_of(row["response"])[:MOST_SENTENCES])
        )
        yield Reply(pairs, row["gold"], group, _words_absent(row))


def group_of(row: Mapping[str, Any]) -> str:
    """What may not be on both sides of a split: replies to the same sources."""
    return json.dumps(row["context"]) if row["context"] else str(row["id"])


def _taught(name: str, rows: Sequence[Mapping[str, Any]]) -> dict[tuple[int, int], tuple[int, ...]]:
    """(reply, sentence) -> its label, where it is known."""
    sound: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if _is_right(name, row["gold"]) is True:
            sound[group_of(row)].update(sentences_of(row["response"]))
    taught: dict[tuple[int, int], tuple[int, ...]] = {}
    for at, row in enumerate(rows):
        is_right = _is_right(name, row["gold"])
        sentences = [(place, text) for place, text in enumerate(sentences_of(row["response"])) if not _asks(name, text)]
        if is_right is True:
            taught |= {(at, place): (SUPPORTED,) for place, _ in sentences}
        elif is_right is False:
            suspects = [place for place, text in sentences if text not in sound[group_of(row)]]
            if len(suspects) == 1:
                taught[at, suspects[0]] = UNSUPPORTED
    return taught


def _is_right(name: str, gold: Mapping[str, float]) -> bool | None:
    if name == "dstc9":
        grade = gold["accuracy"]
        return True if grade >= RIGHT_GRADE else False if grade <= WRONG_GRADE else None
    return not gold["unsupported"]


def _asks(name: str, sentence: str) -> bool:
    """Replies of systems that book end in a question or an offer, which no source supports."""
    return name == "dstc9" and (sentence.endswith("?") or len(sentence.split()) < 4)


def _words_absent(row: Mapping[str, Any]) -> float:
    """The share of the reply's words that stand nowhere in its sources: what reading nothing gives."""
    known = set(" ".join(row["context"]).casefold().split())
    said = row["response"].casefold().split()
    return sum(word not in known for word in said) / len(said) if said else 0.0
