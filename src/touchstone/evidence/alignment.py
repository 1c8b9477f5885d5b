"""Two texts -> how much of one's content the other says in these or similar words, by static embeddings.

A figure is said or it is not: none is like another.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from touchstone.core import resource
from touchstone.core.reading import Token

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Words less alike than this say different things; likeness below counts as none.
FLOOR = 0.35


class Said(NamedTuple):
    """What is there to say something: all terms, the content words in order, and the likenesses asked for so far."""

    terms: frozenset[str]
    words: tuple[str, ...]
    found: dict[str, float]


def said_in(tokens: Sequence[Token]) -> Said:
    """The words of a text, ready to be held against what is wanted of it."""
    words = {token.word for token in tokens if not token.is_stop and not token.word[0].isdecimal()}
    return Said(frozenset([token.term for token in tokens]), tuple(sorted(words)), {})


def coverage(wanted: Sequence[Token], said: Said) -> float:
    """Mean over the wanted content words of their best likeness to any word said; 1 when nothing is wanted."""
    best = best_likeness(wanted, said)
    return sum(best) / len(best) if best else 1.0


def best_likeness(wanted: Sequence[Token], said: Said) -> list[float]:
    """For each wanted content word, how like the nearest word said is: 1 for the same term, else by embedding."""
    sought = [token for token in wanted if not token.is_stop]
    terms, found = said.terms, said.found
    if unknown := {token.word for token in sought if token.term not in terms} - found.keys():
        figures = {word for word in unknown if word[0].isdecimal()}
        found.update(dict.fromkeys(figures, 0.0) | _nearest(sorted(unknown - figures), said.words))
    return [1.0 if token.term in terms else found[token.word] for token in sought]


def _nearest(sought: Sequence[str], words: tuple[str, ...]) -> dict[str, float]:
    if not words or not sought:
        return dict.fromkeys(sought, 0.0)
    best = _alike(sought, words).max(axis=1).tolist()
    return {word: round(each, 6) if each >= FLOOR else 0.0 for word, each in zip(sought, best, strict=True)}


def likeness(sought: Sequence[str], words: tuple[str, ...]) -> "NDArray[np.float64]":
    """How like each sought word (row) is to each of the words (column), 0 below the floor."""
    import numpy as np

    found = np.round(_alike(sought, words).astype(np.float64), 6)
    return np.where(found >= FLOOR, found, 0.0)


def _alike(sought: Sequence[str], words: tuple[str, ...]) -> "NDArray[np.float32]":
    return _stacked(sought) @ _vectors(words).T


@lru_cache(maxsize=64)
def _vectors(words: tuple[str, ...]) -> "NDArray[np.float32]":
    """What is said; every ask and point of a case is held against the same reply."""
    return _stacked(words)


def _stacked(words: Sequence[str]) -> "NDArray[np.float32]":
    """The words' vectors, one below the other."""
    import numpy as np

    return np.concatenate([_vector(word) for word in words]).reshape(len(words), -1)


@lru_cache(maxsize=20_000)
def _vector(word: str) -> "NDArray[np.float32]":
    import numpy as np

    tokenizer, weights = resource.embeddings()
    pieces = tokenizer.encode(word[:40], add_special_tokens=False).ids
    mean = weights[pieces].mean(axis=0) if pieces else np.zeros(weights.shape[1], dtype=np.float32)
    size = float(np.linalg.norm(mean))
    return mean / size if size else mean
