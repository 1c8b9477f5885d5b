"""Sources that say `this, not that` -> findings: the reply says that.

`Assembly is paid to the shop, not the crew` rules the crew out. A reply that speaks of paying for assembly and names
the crew, but not the shop, says what was ruled out; so does `the crew, not the shop`.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from touchstone.core.reading import Reading, Sentence, Text
from touchstone.core.result import Evidence
from touchstone.evidence.places import sentence_at, token_range
from touchstone.safety.fabrication.findings import Finding, Known, content, is_question
from touchstone.text.tokens import term

# What sets one thing against another; `is not`, `will not` deny a verb instead.
AGAINST = re.compile(r"(?:[,;(]|\s[-–—])\s?(?:and |but )?(?:not|never)\b|\brather than\b|\binstead of\b", re.IGNORECASE)
AGAINST_CUES = frozenset(map(term, ("not", "never", "rather", "instead")))
CUT = re.compile(r"[,;()\n]|[.!?:](?=\s|$)|\s[-–—]\s|\s(?:but|and|so|because|unless)\s")
DENIAL = re.compile(r"\b(?:not|never|no|cannot|without|rather than|instead of)\b|n['’]t\b", re.IGNORECASE)
MAX_CONTRASTS = 40
LOOK_BACK = 28
SPAN = 200
# Words of the rule itself that the reply must share.
MIN_SHARED = 2


class Contrast(NamedTuple):
    """What a source holds, what it sets against it, and the words of the rule that both are about."""

    source: Text
    kept: frozenset[str]
    ruled_out: frozenset[str]
    rule: frozenset[str]
    start: int
    end: int


def contrasts(reading: Reading, known: Known) -> Iterator[Finding]:
    """One finding for each sentence that names what a source rules out, in the place of what it holds."""
    found = [contrast for source in known.contexts for contrast in _contrasts(source)]
    if not found:
        return
    reply = reading.reply
    for sentence in reply.sentences:
        if is_question(reply, sentence):
            continue
        said = content(reply, sentence.start, sentence.end)
        for contrast in found:
            if not contrast.ruled_out <= said or len(contrast.rule & said) < min(MIN_SHARED, len(contrast.rule)):
                continue
            if _affirms(reply, sentence, contrast.ruled_out) and not _affirms(reply, sentence, contrast.kept):
                shown = contrast.source.raw[contrast.start : contrast.end].strip()
                evidence = Evidence(contrast.source.name, contrast.start, contrast.end, shown)
                reason = f"the source says otherwise (not): {shown}"
                yield Finding(sentence.start, sentence.end, 1.0, reason, (evidence,))
                break


def _contrasts(source: Text) -> Iterator[Contrast]:
    found = AGAINST.finditer(source.raw) if AGAINST_CUES & source.positions.keys() else ()
    for match in islice(found, MAX_CONTRASTS):
        sentence = sentence_at(source, match.start())
        if sentence is None:
            continue
        cut = CUT.search(source.raw, match.end(), min(sentence.end, match.end() + SPAN))
        end = cut.start() if cut else min(sentence.end, match.end() + SPAN)
        before = max(sentence.start, match.start() - SPAN)
        whole, other = content(source, before, match.start()), content(source, match.end(), end)
        near = content(source, max(before, match.start() - LOOK_BACK), match.start())
        kept, ruled_out = near - other, other - whole
        if kept and ruled_out and whole:
            yield Contrast(source, kept, ruled_out, whole - kept or whole, before, end)


def _affirms(text: Text, sentence: Sentence, terms: frozenset[str]) -> bool:
    """Whether one of the terms stands in the sentence without a denial shortly before it."""
    first, last = token_range(text, sentence.start, sentence.end)
    for token in text.tokens[first:last]:
        if token.term in terms:
            before = text.raw[max(sentence.start, token.start - LOOK_BACK) : token.start]
            if not DENIAL.search(before[max((m.end() for m in CUT.finditer(before)), default=0) :]):
                return True
    return False
