"""Sentences that are clear without a model -> statements: courtesies, questions, and what is copied from a source.

A rule speaks only where it can hardly be wrong; everything else is left to the model.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import chain

from touchstone.core import resource
from touchstone.core.reading import Sentence, Text
from touchstone.core.result import Anchor, Evidence, Statement
from touchstone.evidence.places import sentence_at
from touchstone.text.phrases import folded, pattern
from touchstone.text.tokens import WORD, term

MIN_WORDS = 3
# A longer question, or one with a figure in it, may state something on the way.
SHORT_QUESTION = 14
TELLING = re.compile(r"\b(?:know|as|since|because|that|which|given)\b")
KIND_PHRASES = ("apology", "thanks", "warmth", "courtesy")
# Words that come and go when a sentence is copied, without a change of sense.
LOOSE = frozenset("a an the this that your our please so also and then just yes well".split())
# What is left out of a copied sentence may not hold any of these: a condition dropped is another statement.
BINDING = frozenset(
    "not no never only except unless until if when without but however must cannot may before after than once provided "
    "excluding subject either or neither nor where while during least most".split()
)
# A term that stands everywhere in a long source needs no more looks than this.
MAX_PLACES = 64
# A copy shorter than this is a phrase that stands in many statements.
MIN_COPY = 4


def pass_sentence(
    reply: Text, sentence: Sentence, *, spelled: str, values: Iterable[Anchor], passages: Iterable[Text]
) -> Statement | None:
    """The statement of a clear sentence; None when the model has to read it.

    `spelled` is the sentence with its values as the sources spell them.
    """
    raw = reply.raw[sentence.start : sentence.end]
    if (kind := _no_claim(raw, sentence, has_figures=_has_figures(reply, sentence))) is not None:
        return Statement(raw, sentence.start, sentence.end, "no_claim", "rule", kind)
    if all(value.holds for value in values):
        copied = _copied(spelled, passages)
        if copied is not None:
            reason = f"copied from {copied.source}"
            return Statement(raw, sentence.start, sentence.end, "supported", "rule", reason, evidence=(copied,))
    return None


def _no_claim(raw: str, sentence: Sentence, *, has_figures: bool) -> str | None:
    """Why the sentence states nothing that could be checked, if that is plain."""
    if has_figures:
        return None
    words = sentence.last - sentence.first
    if words < MIN_WORDS:
        return "too short to claim anything"
    if raw.rstrip(" \n\"')").endswith("?") and words <= SHORT_QUESTION and not TELLING.search(folded(raw)):
        return "a question"
    return "a courtesy" if _is_courtesy(raw) else None


def _has_figures(reply: Text, sentence: Sentence) -> bool:
    starts = chain((value.start for value in reply.values), (contact.start for contact in reply.contacts))
    return any(sentence.start <= start < sentence.end for start in starts)


def _is_courtesy(raw: str) -> bool:
    """Whether nothing is left but function words and filler once kind phrases are taken out."""
    said = folded(raw)
    for name in KIND_PHRASES:
        said = pattern(name, table="manner.txt").sub(" ", said)
    light = resource.words("stopwords.txt") | resource.words("filler.txt") | resource.words("opinions.txt")
    return all(match[0] in light for match in WORD.finditer(said))


def _copied(spelled: str, passages: Iterable[Text]) -> Evidence | None:
    """The source sentence that says the same words in the same order, and adds nothing that binds them."""
    wanted = [match[0] for match in WORD.finditer(folded(spelled)) if match[0] not in LOOSE]
    if len(wanted) < MIN_COPY:
        return None
    lead = term(wanted[0])
    for passage in passages:
        places = passage.positions.get(lead, ())[:MAX_PLACES]
        for sentence in dict.fromkeys(sentence_at(passage, passage.tokens[at].start) for at in places):
            if sentence is None:
                continue
            found = [token.word for token in passage.tokens[sentence.first : sentence.last] if token.word not in LOOSE]
            if _holds(found, wanted) and not passage.raw[sentence.start : sentence.end].endswith("?"):
                text = passage.raw[sentence.start : sentence.end]
                return Evidence(passage.name, sentence.start, sentence.end, text)
    return None


def _holds(found: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether the wanted words stand together among those found, with nothing binding around them."""
    size = len(wanted)
    for at in range(len(found) - size + 1):
        if found[at] == wanted[0] and list(found[at : at + size]) == list(wanted):
            return not any(_binds(word) for word in chain(found[:at], found[at + size :]))
    return False


def _binds(word: str) -> bool:
    return word in BINDING or word.endswith("n't")
