"""data/verifier and a knowledge base -> pairs in support language, and typed changes of sentences that are right."""

import json
import random
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Any

from benchmarks.cases import DATA, ROOT, rows
from scripts.fit_verifier.changes import CHANGES, borrow
from scripts.fit_verifier.pairs import (
    CLAIMS,
    CONTRADICTED,
    EVERY,
    NO_CLAIM,
    NOT_STATED,
    SUPPORTED,
    Pair,
    find_evidence,
    read_passages,
    sentences_of,
)

FOLDER = ROOT / "data" / "verifier"
KNOWLEDGE_BASE = DATA.parent / "kb" / "banking.jsonl"
RIGHT = {"supported": SUPPORTED, "contradicted": CONTRADICTED, "invented": NOT_STATED, "no_claim": NO_CLAIM}
# The knowledge base is about what these rows are about, so it is left out where they are.
BANKING = "retail banking & cards"
# A sentence shorter or longer than this makes no good claim.
SHORTEST, LONGEST = 6, 32
# A sentence is changed in so many ways at most.
MOST_CHANGES = 1
# Changes are cheap to make and less natural than written rows; they count less.
CHANGE_WEIGHT = 0.5


@cache
def support_pairs() -> tuple[Pair, ...]:
    """Every written row with its evidence; `group` starts with the industry."""
    return tuple(pair for number, group in enumerate(_groups()) for pair in _written(group, number))


@cache
def changed_pairs(*, seed: int) -> tuple[Pair, ...]:
    """A typed change of each supported sentence that has room for one."""
    order = random.Random(seed)
    found = []
    for pair in support_pairs():
        if pair.right == (SUPPORTED,):
            changed = _changed(pair.sentence, pair.evidence, order)
            found += [_wrong(text, pair.evidence, kind, "changes", pair.group) for kind, text in changed]
    return tuple(found)


@cache
def knowledge_pairs(*, documents: int, seed: int) -> tuple[Pair, ...]:
    """Sentences of help-centre documents as they stand, and with a typed change in sentence, evidence or both.

    So no word of a change tells by itself what is right.
    """
    order = random.Random(seed)
    found: list[Pair] = []
    for row in order.sample(rows(KNOWLEDGE_BASE), documents):
        passages = read_passages([row["text"]])
        claims = [text for text in sentences_of(row["text"]) if SHORTEST <= len(text.split()) <= LONGEST]
        claims = [text for text in claims if text.endswith(".") and "_" not in text and text[0].isalpha()]
        for claim in order.sample(claims, min(2, len(claims))):
            group = f"{BANKING}/{row['id']}"
            evidence = find_evidence(claim, passages)
            for kind, changed in islice(_changed(claim, evidence, order), 1):
                other = evidence.replace(claim, changed)
                if other != evidence:
                    right = [(claim, evidence), (changed, other)]
                    wrong = [(changed, evidence), (claim, other)]
                    found += [Pair(*each, (SUPPORTED,), CLAIMS, "kb", "close", group, CHANGE_WEIGHT) for each in right]
                    found += [_wrong(*each, kind, "kb", group) for each in wrong]
    return tuple(found)


def industry(pair: Pair) -> str:
    """The industry a support pair is about."""
    return pair.group.partition("/")[0]


def _groups() -> list[dict[str, Any]]:
    paths = sorted(FOLDER.glob("batch-*.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines() if line]


def _written(group: dict[str, Any], number: int) -> Iterator[Pair]:
    passages = read_passages(group["passages"])
    for label, kind, sentence in group["rows"]:
        name = f"{group['industry']}/{number}"
        yield Pair(sentence, find_evidence(sentence, passages), (RIGHT[label],), EVERY, "support", kind, name)


def _changed(sentence: str, evidence: str, order: random.Random) -> Iterator[tuple[str, str]]:
    """(kind, the sentence changed), a few times."""
    changes = {**CHANGES, "borrowed": lambda text, order: borrow(text, evidence, order)}
    kinds = list(changes)
    order.shuffle(kinds)
    found = ((kind, changes[kind](sentence, order)) for kind in kinds)
    good = ((kind, text) for kind, text in found if text is not None and text not in (sentence, evidence))
    yield from islice(good, MOST_CHANGES)


def _wrong(sentence: str, evidence: str, kind: str, set_: str, group: str) -> Pair:
    return Pair(sentence, evidence, (CONTRADICTED,), CLAIMS, set_, kind, group, CHANGE_WEIGHT)
