"""Texts of 50 to 50,000 words -> time for one case, and the exponent of its growth.

The texts are made of the gold sets' own sentences. A sentence that would come a second time gets another word in it,
so that no parse is found ready.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from math import log
from statistics import median
from typing import Any

import touchstone
from benchmarks.cases import GOLD_SETS, gold_set
from benchmarks.clock import whole
from touchstone.core.case import Case
from touchstone.evidence import alignment
from touchstone.judges import address
from touchstone.safety.personal_data.recognise import recognise
from touchstone.safety.personal_data.sources import is_record, personal
from touchstone.text import reading

SIZES = (50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
FIXED = 100
# Below this the constant part of a call hides the slope.
FITTED_FROM = 1_000
REPEATS_UP_TO = 2_000
REPEATS = 5
TEXTS_KEPT = (*(recognise, is_record, personal, alignment._vectors, address._find),)


def curves() -> dict[str, Any]:
    """The curve of the reply's length and of the context's, the other held at a fixed length."""
    replies, passages = _material(lambda case: [case.response, case.expected_output or ""]), _material(_passages)
    return {
        "fixed_words": FIXED,
        "fitted_from_words": FITTED_FROM,
        "reply": _curve("reply", lambda words: (_text(replies, words), _text(passages, FIXED))),
        "context": _curve("context", lambda words: (_text(replies, FIXED), _text(passages, words))),
    }


def forget() -> None:
    """Empty the caches that hold whole texts and parses; single words' stems stay, like the parser's own vocabulary."""
    reading.forget()
    for kept in TEXTS_KEPT:
        kept.cache_clear()


def _curve(name: str, make: Callable[[int], tuple[str, str]]) -> dict[str, Any]:
    points = []
    for words in SIZES:
        reply, context = make(words)
        case = Case(input="What does it cost, and how long does it take?", response=reply, context=[context])
        spent = median(_time(case) for _ in range(REPEATS if words <= REPEATS_UP_TO else 1))
        points.append({"words": words, "ms": spent, "us_per_word": 1000 * spent / words})
        print(f"growth, {name} of {words:>6,} words: {spent:>9.1f} ms", flush=True)
    long = [(point["words"], point["ms"]) for point in points if point["words"] >= FITTED_FROM]
    exponent = slope(long)
    print(f"growth, {name}: time ~ words^{exponent:.2f} from {FITTED_FROM:,} words on", flush=True)
    return {"exponent": exponent, "points": points}


def _time(case: Case) -> float:
    forget()
    plan = replace(touchstone.Plan(), max_reply_chars=10**9)
    return whole(lambda: touchstone.score(case, plan=plan))


def slope(points: list[tuple[int, float]]) -> float:
    """Least-squares slope of log(time) over log(words)."""
    xs, ys = [log(words) for words, _ in points], [log(spent) for _, spent in points]
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True)) / sum((x - x_mean) ** 2 for x in xs)


def _passages(case: Case) -> list[str]:
    return [passage.text for passage in case.context or ()]


def _material(texts: Callable[[Case], list[str]]) -> list[str]:
    """All distinct sentences of one part of the gold sets, in order."""
    found: dict[str, None] = {}
    for name in GOLD_SETS:
        for case in gold_set(name):
            for text in texts(case):
                read = reading.read_text("material", text)
                found |= dict.fromkeys(text[sentence.start : sentence.end] for sentence in read.sentences)
    return list(found)


def _text(material: list[str], words: int) -> str:
    """That many words of the material, in paragraphs."""
    taken: list[str] = []
    for at, sentence in enumerate(_endless(material)):
        taken += [*sentence.split(), *(["\n\n"] if at % 5 == 4 else [])]
        if len(taken) >= words:
            return " ".join(taken[:words])
    raise AssertionError("the material is endless")


def _endless(material: list[str]) -> Iterator[str]:
    """The sentences over and over; from the second time on each opens with another word."""
    for turn in count():
        yield from material if turn == 0 else (f"{'Again' if turn == 1 else f'Again{turn}'}, {s}" for s in material)
