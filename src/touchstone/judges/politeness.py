"""Reply -> how polite its wording is, by a packaged list of words and phrases with weights (politeness.json).

The weights were fitted on requests that people rated, so they know `would you mind` and `why did you`, not support.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from itertools import pairwise

from touchstone.core import resource
from touchstone.text.patterns import folded

FILE = "politeness.json"
WORD = re.compile(r"[a-z]+(?:'[a-z]+)*|[?!]")
# Stands before the first word, so that a phrase can say that it opens the reply.
OPENING = "^"
LEAST_POLITE, MOST_POLITE = -2.0, 3.0


def politeness(raw: str) -> float:
    """The sum of the weights of the phrases the text has; a phrase counts once. 0 is as polite as most."""
    weights = _weights()
    return sum(weights[phrase] for phrase in sorted(phrases(raw) & weights.keys()))


def limited_politeness(raw: str) -> float:
    """The same within bounds: long texts have many phrases, and what lies beyond says no more."""
    return round(min(MOST_POLITE, max(LEAST_POLITE, politeness(raw))), 3)


def phrases(raw: str) -> set[str]:
    """Every run of one to three words of the text, marks included."""
    words = [OPENING, *WORD.findall(folded(raw))]
    pairs = [f"{one} {other}" for one, other in pairwise(words)]
    return {*words, *pairs, *(f"{pair} {word}" for pair, word in zip(pairs, words[2:], strict=False))}


@cache
def _weights() -> Mapping[str, float]:
    weights: Mapping[str, float] = json.loads(resource.text(FILE))["weights"]
    return weights
