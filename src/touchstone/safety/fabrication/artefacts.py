"""Statements of the reply -> findings: documents, channels, people, extras and devices that no source knows at all.

A paraphrase names what the source names by another word of the same family, `picture` for `photo`. A member of a family
of which the sources hold no word brings in something new.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from touchstone.core import resource
from touchstone.core.reading import Reading, Text
from touchstone.safety.fabrication.findings import Finding, Known, is_question, words_between

DATA = "artefacts.txt"
MAX_SENTENCES = 200
SPEAKER = frozenset({"i", "i'm", "i'll", "i'd", "i've", "me", "my"})
# `I'm afraid that …`, `I'm happy to confirm …` state what follows.
REPORTS = re.compile(
    r"\bI(?:'m|’m| am)(?: very| really| so| truly)? (?:afraid|sorry|happy|glad|pleased|delighted)"
    r"(?: to (?:say|tell|add|confirm|report|let|inform|share)|,| that\b| you\b| we\b| the\b)",
    re.IGNORECASE,
)
# What the customer may bring along, and what a thing is good for, is advice: `A photo is useful.`
ADVICE = re.compile(
    r"\bif (?:you|they) (?:have|want|like|wish|prefer|can)\b|\bwould help\b|\bmay (?:well )?have\b", re.IGNORECASE
)
BE = frozenset({"is", "are", "be", "it's", "that's"})
# Families of people and devices that customers have of their own: your solicitor, your laptop.
PERSONAL = frozenset({"law", "adviser", "assessor", "household", "computer"})
OWNERS = frozenset({"your", "their", "his", "her"})


class Families(NamedTuple):
    """Each word with the families it vouches for, and each plain name with the families it brings in."""

    vouching: dict[str, tuple[str, ...]]
    naming: dict[str, tuple[str, ...]]


def artefacts(reading: Reading, known: Known) -> Iterator[Finding]:
    """One finding for each statement that names something of a family that no source speaks of."""
    reply = reading.reply
    families = _families()
    if not known.has_context or families.naming.keys().isdisjoint(token.word for token in reply.tokens):
        return
    held = {name for source in known.sources for name in _vouched(source, families)}
    for sentence in reply.sentences[:MAX_SENTENCES]:
        words = words_between(reply, sentence.start, sentence.end)
        if is_question(reply, sentence) or not _is_statement(words, reply.raw[sentence.start : sentence.end]):
            continue
        new = [
            token
            for at, token in enumerate(reply.tokens[sentence.first : sentence.last])
            if token.word in families.naming
            and held.isdisjoint(families.naming[token.word])
            and token.term not in known.terms
            and not (at and words[at - 1] in OWNERS and PERSONAL.issuperset(families.naming[token.word]))
        ]
        if new:
            shown = ", ".join(dict.fromkeys(token.word for token in new[:3]))
            yield Finding(new[0].start, new[-1].end, 1.0, f"no source speaks of this: {shown}")


def _vouched(source: Text, families: Families) -> Iterator[str]:
    """The families that a source speaks of, by a word or by two in a row."""
    for token in source.tokens:
        yield from families.vouching.get(token.word, ())
    for token, after in pairwise(source.tokens):
        yield from families.vouching.get(f"{token.word} {after.word}", ())


def _is_statement(words: list[str], text: str) -> bool:
    """Not a wish, a request, advice, an offer, a guess, a denial or the customer's own words given back."""
    if (
        not words
        or "please" in words
        or "together" in words
        or not resource.group("fabrication.txt", "talk").isdisjoint(words)
    ):
        return False
    if any(word in ("no", "not", "never", "without", "instead") or word.endswith("n't") for word in words):
        return False
    if ADVICE.search(text) or _is_opinion(words):
        return False
    return SPEAKER.isdisjoint(words) or REPORTS.search(text) is not None


def _is_opinion(words: list[str]) -> bool:
    """`… is fine`, `… are good to have`: says what somebody thinks of a thing."""
    return any(word in BE and after in resource.words("opinions.txt") for word, after in pairwise(words))


@cache
def _families() -> Families:
    vouching: dict[str, list[str]] = {}
    naming: dict[str, list[str]] = {}
    for line in resource.lines(DATA):
        family, _, members = line.partition(":")
        plain, _, further = members.partition(" / ")
        for word in _listed(plain):
            naming.setdefault(word, []).append(family)
        for word in (*_listed(plain), *_listed(further)):
            vouching.setdefault(word, []).append(family)
    return Families(
        {word: tuple(names) for word, names in vouching.items()},
        {word: tuple(names) for word, names in naming.items()},
    )


def _listed(members: str) -> list[str]:
    return [word.strip() for word in members.split(",") if word.strip()]
