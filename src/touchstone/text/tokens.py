"""Normalised text -> tokens: words and numbers with the terms they count as."""

import re
from functools import lru_cache

import Stemmer

from touchstone.core import resource
from touchstone.core.reading import Token
from touchstone.text.normalise import Normal

# Words may hold inner apostrophes, figures inner separators; letters and figures part, so that 25MB equals 25 MB.
WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+(?:[.,']\d+)*")
# DVDs: the stemmer takes no s from a word without a vowel.
PLURAL_INITIALS = re.compile(r"[^\W\daeiouy]{2,5}s")
CLITICS = ("'s", "'ll", "'re", "'ve", "'d", "'m")

_stemmer = Stemmer.Stemmer("english")


def tokenise(normal: Normal) -> tuple[Token, ...]:
    """Every word and number of the text, in order."""
    stop = resource.words("stopwords.txt")
    tokens = []
    moved = normal.starts is not None
    for match in WORD.finditer(normal.text):
        word = match[0].casefold()
        start, end = normal.span(*match.span()) if moved else match.span()
        tokens.append(Token(word, term(word), start, end, word in stop))
    return tuple(tokens)


@lru_cache(maxsize=65_536)
def term(word: str) -> str:
    """What a case-folded word counts as: its stem, or the head of its synonym group; a figure without grouping."""
    if word[0].isdecimal():
        return _figure(word)
    for clitic in CLITICS:
        word = word.removesuffix(clitic)
    synonyms = _synonym_stems()
    return synonyms.get(stem := _stem(word), stem)


def _stem(word: str) -> str:
    if PLURAL_INITIALS.fullmatch(word):
        return word[:-1]
    # A word longer than any real one is noise; the stemmer's time must not depend on it.
    return str(_stemmer.stemWord(word)) if len(word) <= 40 else word


def _figure(word: str) -> str:
    plain = re.sub(r"[,'](?=\d{3}(?:\D|$))", "", word)
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return plain


@lru_cache(maxsize=1)
def _synonym_stems() -> dict[str, str]:
    return {_stem(member): _stem(head) for member, head in resource.groups("synonyms.txt").items()}
