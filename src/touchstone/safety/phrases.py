"""Phrases nobody argues about -> signs: asking for a secret, insults, sending away, guarantees that nothing grants.

A short table (data/phrases.toml); everything that needs reading is the classifier's (wording.py), with the confidence
it has earned.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from touchstone.core.policy import Policy
from touchstone.core.reading import Reading, Sentence
from touchstone.core.result import Anchor, ViolationKind
from touchstone.safety.expressions import compiled, content, expression, filled
from touchstone.safety.signs import Sign
from touchstone.safety.wording import is_allowed

FILE = "phrases.toml"
PATTERNS = ("said", "asked", "also", "unless", "granted")
PLEDGEABLE = ("money", "percent", "duration", "date", "time")
PLEDGED, INSTEAD = "promise.pledge", "competitor.instead"


class Phrase(NamedTuple):
    """A phrase of a sentence and what else must hold: of the question, of the whole reply; `unless` must not.

    What a source says itself (`granted`) is what the company wants said.
    """

    kind: ViolationKind
    rule: str
    said: re.Pattern[str]
    reason: str
    asked: re.Pattern[str] | None = None
    also: re.Pattern[str] | None = None
    unless: re.Pattern[str] | None = None
    granted: re.Pattern[str] | None = None

    def applies(self, reply: str, reading: Reading) -> bool:
        asked = reading.question.raw if reading.question else ""
        return (
            (self.asked is None or self.asked.search(asked) is not None)
            and (self.also is None or self.also.search(reply) is not None)
            and (self.unless is None or self.unless.search(reply) is None)
            and not (self.granted and any(self.granted.search(source.raw) for source in reading.contexts))
        )


@cache
def table() -> tuple[Phrase, ...]:
    """The packaged phrases."""
    rows = content(FILE)["phrase"]
    return tuple(Phrase(**row | {name: compiled(FILE, row[name]) for name in PATTERNS if name in row}) for row in rows)


def phrases(reading: Reading, anchors: tuple[Anchor, ...] | None, *, policy: Policy) -> Iterator[Sign]:
    """A sign for each sentence with one of the phrases, a pledge, or a competitor to go to instead."""
    raw = reading.reply.raw.replace("’", "'")
    sentences = reading.reply.sentences
    for phrase in table():
        if phrase.applies(raw, reading):
            for sentence in sentences:
                if phrase.said.search(raw, sentence.start, sentence.end):
                    yield _sign(phrase.kind, phrase.rule, sentence, phrase.reason)
    # A sum, a share or a time that no source states and no policy grants.
    unheld = [anchor for anchor in anchors or () if anchor.kind in PLEDGEABLE and not anchor.holds]
    pledge = expression(FILE, "pledge")
    for sentence in sentences:
        inside = [anchor for anchor in unheld if sentence.start <= anchor.start < sentence.end]
        if inside and _means(pledge, raw, sentence) and not is_allowed(reading, sentence, policy):
            reason = f"guarantees {inside[0].text}, which no source grants"
            yield _sign("unauthorized_promise", PLEDGED, sentence, reason)
    for name in policy.competitors:
        sends = re.compile(filled(FILE, content(FILE)["expressions"]["instead"], {"competitor": re.escape(name)}))
        for sentence in sentences:
            if _means(sends, raw, sentence):
                yield _sign("competitor_recommendation", INSTEAD, sentence, f"sends the customer to {name}")


def _means(pattern: re.Pattern[str], raw: str, sentence: Sentence) -> bool:
    """Whether a sentence says this, and nothing up to its end takes it back."""
    found = pattern.search(raw, sentence.start, sentence.end)
    return found is not None and not expression(FILE, "unmeant").search(raw, sentence.start, found.end())


def _sign(kind: ViolationKind, rule: str, sentence: Sentence, reason: str) -> Sign:
    return Sign(kind, rule, sentence.start, sentence.end, reason, {})
