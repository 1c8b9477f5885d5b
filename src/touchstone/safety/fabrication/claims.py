"""Claims that no source speaks of -> findings: a thing the context knows is or has what nobody mentioned."""

from collections.abc import Iterator
from functools import cache

from touchstone.core import resource
from touchstone.core.reading import Reading
from touchstone.core.result import Anchor
from touchstone.evidence.places import sentence_at
from touchstone.safety.fabrication.findings import Finding, Known, group, words_between
from touchstone.text.tokens import term

# New terms in what is said of a known thing; one may be a paraphrase.
MIN_NEW = 2


@cache
def _general() -> frozenset[str]:
    return frozenset(term(word) for word in group("general"))


def novelties(reading: Reading, anchors: tuple[Anchor, ...], known: Known) -> Iterator[Finding]:
    """One finding for each claim about something the context knows whose other terms stand nowhere."""
    unheld = {(a.start, a.end) for a in anchors if a.kind == "claim" and a.status == "unsupported"}
    seen: set[int] = set()
    context = {t for source in known.contexts for t in source.positions}
    for claim in reading.claims:
        sentence = sentence_at(reading.reply, claim.start)
        if (claim.start, claim.end) not in unheld or sentence is None or sentence.start in seen:
            continue
        words = set(words_between(reading.reply, sentence.start, sentence.end))
        if words & group("remark") or words & group("hedge") or words & resource.words("opinions.txt"):
            continue
        new = [t for t in claim.object if t not in known.terms and t not in group("everyday") | _general()]
        about = bool(claim.subject) and all(t in context for t in claim.subject)
        if about and len(new) >= MIN_NEW and len(new) == len([t for t in claim.object if t not in _general()]):
            seen.add(sentence.start)
            yield Finding(claim.start, claim.end, 1.0, f"no source speaks of {claim.shown(new)}")
