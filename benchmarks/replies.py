"""The shipped gold sets -> any number of replies, no two alike: figures, words and the order of sentences change.

The nth reply is the same in every run and does not depend on how many are made.
"""

import json
import random
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.cases import GOLD_SETS, gold_set
from touchstone.core.case import Case

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_WORD = re.compile(r"\b[a-z]{5,}\b")
_DIGIT = re.compile(r"\d")
# As in production, passages of a help centre recur more often than replies do.
_CHANGED_PASSAGES = 0.3


def write_replies(folder: Path, *, rows: int, files: int = 1, is_short: bool = False) -> None:
    """Cases number 0 to rows - 1 as JSON lines, in that many files of one partition each."""
    for number in range(files):
        first, last = rows * number // files, rows * (number + 1) // files
        path = folder / f"part={number:02}" / "cases.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as stream:
            for row in replies(first, last, is_short=is_short):
                stream.write(json.dumps(row, ensure_ascii=False) + "\n")


def replies(first: int, last: int, *, is_short: bool = False) -> Iterator[dict[str, Any]]:
    """The rows from one number to the one before another; short ones have two sentences and one passage of two."""
    cases, words = _material()
    for number in range(first, last):
        chance = random.Random(number)
        case = cases[number % len(cases)]
        passages = [passage.text for passage in case.context or ()]
        if is_short:
            yield _short(number, case, words, chance)
            continue
        yield {
            "id": f"{number:08}",
            "input": _digits(case.question, chance),
            "response": _varied(case.response, words, chance),
            "context": [_digits(p, chance) if chance.random() < _CHANGED_PASSAGES else p for p in passages],
        } | ({"expected_output": case.expected_output} if case.expected_output and chance.random() < 0.5 else {})


def _short(number: int, case: Case, words: tuple[str, ...], chance: random.Random) -> dict[str, Any]:
    sentences = _SENTENCE.split(case.response)
    at = chance.randrange(len(sentences))
    passages = [" ".join(_SENTENCE.split(passage.text)[:2]) for passage in case.context or ()]
    return {
        "id": f"{number:08}",
        "input": _digits(_SENTENCE.split(case.question)[0], chance),
        "response": " ".join(_swapped(_digits(s, chance), words, chance) for s in sentences[at : at + 2]),
        "context": passages[:1],
    }


def _varied(reply: str, words: tuple[str, ...], chance: random.Random) -> str:
    sentences = _SENTENCE.split(reply)
    middle = sentences[1:-1]
    chance.shuffle(middle)
    return " ".join(_swapped(_digits(s, chance), words, chance) for s in [*sentences[:1], *middle, *sentences[1:][-1:]])


def _swapped(sentence: str, words: tuple[str, ...], chance: random.Random) -> str:
    """One of its longer words replaced by another."""
    places = list(_WORD.finditer(sentence))
    if not places:
        return sentence
    place = chance.choice(places)
    return sentence[: place.start()] + chance.choice(words) + sentence[place.end() :]


def _digits(text: str, chance: random.Random) -> str:
    return _DIGIT.sub(lambda digit: digit[0] if chance.random() < 0.5 else str(chance.randint(1, 9)), text)


@cache
def _material() -> tuple[tuple[Case, ...], tuple[str, ...]]:
    cases = tuple(case for name in GOLD_SETS for case in gold_set(name))
    words = sorted({word for case in cases for word in _WORD.findall(case.response)})
    return cases, tuple(words)
