"""Sentences -> propositions: who does what to what, from a dependency parse; each sentence is parsed once.

A proposition knows words and their places in its sentence, nothing about terms or sources.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from touchstone.core import resource

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

# Sentences recur: courtesies, policies, whole replies. Their propositions are small, so many are kept.
MAX_KEPT = 20_000
SUBJECTS = frozenset({"nsubj", "nsubjpass", "expl"})
OBJECTS = frozenset({"dobj", "attr", "acomp", "oprd", "dative", "obj"})
NOUN_PARTS = frozenset({"compound", "amod", "nmod", "poss", "advmod", "quantmod"})
NOUN_TAGS = ("NN", "PRP", "CD", "JJ", "VBG", "DT", "WP", "EX", "VBN", "RB", "FW", "$")
CONTRACTIONS = {
    "'s": "be",
    "'re": "be",
    "'m": "be",
    "'ve": "have",
    "'d": "have",
    "’s": "be",
    "’re": "be",
    "’m": "be",
    "’ve": "have",
}
RELATIVE_PRONOUNS = frozenset({"which", "that", "who"})


class Word(NamedTuple):
    """A word of the sentence as it is written, and where."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Proposition:
    """One statement: subject and object phrases (head first), the verb, and how it is meant."""

    subject: tuple[Word, ...]
    verb: Word
    lemma: str
    object: tuple[Word, ...]
    preposition: str
    negated: bool
    hedged: bool
    conditional: bool


# Half a surrogate pair cannot be encoded, which the parser has to do.
SURROGATE = re.compile("[\ud800-\udfff]")
_kept: dict[str, tuple[Proposition, ...]] = {}


def propositions(sentences: Sequence[str]) -> list[tuple[Proposition, ...]]:
    """The propositions of each sentence; new sentences are parsed together, which gives the same parses faster."""
    fresh = [sentence for sentence in dict.fromkeys(sentences) if sentence not in _kept]
    docs = resource.parser().pipe(SURROGATE.sub("\ufffd", sentence) for sentence in fresh) if fresh else ()
    parsed = dict(zip(fresh, map(_of_sentence, docs), strict=True))
    known = {sentence: parsed.get(sentence) or _kept.get(sentence, ()) for sentence in sentences}
    if len(_kept) + len(parsed) > MAX_KEPT:
        _kept.clear()
    _kept.update(parsed)
    return [known[sentence] for sentence in sentences]


def _of_sentence(doc: "Doc") -> tuple[Proposition, ...]:
    return tuple(proposition for verb in doc if verb.tag_[:2] in ("VB", "MD") for proposition in _of_verb(verb))


def _of_verb(verb: "Token") -> Iterator[Proposition]:
    subject = _subject(verb)
    if subject is None or verb.dep_ in ("aux", "auxpass"):
        return
    about = _phrase(subject)
    negated, hedged, conditional = _negated(verb), _hedged(verb), _conditional(verb)
    for found, preposition in _objects(verb):
        denied = negated != any(child.lower_ in ("no", "neither") for child in found.children)
        yield Proposition(about, _word(verb), _lemma(verb), _phrase(found), preposition, denied, hedged, conditional)


def _subject(verb: "Token") -> "Token | None":
    """The verb's own subject, or the one it shares with the verb it is joined to; `which` stands for its noun."""
    for _ in range(8):
        own = next((child for child in verb.children if child.dep_ in SUBJECTS), None)
        if own is not None:
            relative = own.lower_ in RELATIVE_PRONOUNS and verb.dep_ == "relcl"
            return verb.head if relative else own
        if verb.dep_ == "acl" and verb.tag_ in ("VBN", "VBG") and verb.head.tag_.startswith("NN"):
            return verb.head
        if (
            verb.dep_ not in ("conj", "xcomp", "ccomp")
            or verb.head is verb
            or verb.head.tag_[:2] not in ("VB", "MD", "JJ")
        ):
            return None
        verb = verb.head
    return None


def _objects(verb: "Token") -> Iterator[tuple["Token", str]]:
    for child in verb.children:
        if child.dep_ in OBJECTS:
            for item in _joined(child):
                yield item, ""
                yield from _attached(item)
        elif child.dep_ in ("prep", "agent"):
            for object_ in child.children:
                if object_.dep_ == "pobj":
                    for item in _joined(object_):
                        yield item, child.lower_


def _attached(noun: "Token") -> Iterator[tuple["Token", str]]:
    """What a preposition adds to an object: a framework `including a repurchase programme`."""
    for child in noun.children:
        if child.dep_ == "prep" and child.lower_ not in ("of", "for", "in", "on", "with"):
            for object_ in child.children:
                if object_.dep_ == "pobj":
                    for item in _joined(object_):
                        yield item, child.lower_


def _joined(noun: "Token") -> Iterator["Token"]:
    """A noun and those joined to it or put beside it by commas and `and`."""
    yield noun
    for child in noun.children:
        if child.dep_ in ("conj", "appos") and child.tag_.startswith(NOUN_TAGS):
            yield from _joined(child)


def _phrase(head: "Token") -> tuple[Word, ...]:
    """The head first, then what narrows it: `refund`, `full`, of `deposit`."""
    words = [_word(head)]
    for child in head.children:
        if child.dep_ in NOUN_PARTS:
            words.extend(_word(part) for part in child.subtree if part.dep_ in NOUN_PARTS or part is child)
        elif child.dep_ == "prep" and child.lower_ in ("of", "for", "in", "on", "with"):
            words.extend(_word(part) for object_ in child.children if object_.dep_ == "pobj" for part in _core(object_))
    return tuple(words)


def _core(noun: "Token") -> Iterator["Token"]:
    yield noun
    for child in noun.children:
        if child.dep_ in ("compound", "amod"):
            yield child


def _word(token: "Token") -> Word:
    return Word(token.lower_, token.idx, token.idx + len(token.text))


def _negated(verb: "Token") -> bool:
    words = _modal("negation")
    return any(
        child.dep_ == "neg" or (child.dep_ in ("advmod", "det") and child.lower_ in words) for child in verb.children
    )


def _hedged(verb: "Token") -> bool:
    for child in verb.children:
        if child.dep_ == "aux" and child.lower_ in _modal("hedge_modal"):
            return True
        if child.dep_ == "advmod" and child.lower_ in _modal("hedge_adverb"):
            return True
    if _lemma(verb) in _modal("hedge_verb"):
        return True
    governor = verb.head
    governed = verb.dep_ in ("ccomp", "xcomp") and governor is not verb and governor.tag_[:2] in ("VB", "MD")
    return governed and (_lemma(governor) in _modal("hedge_verb") or _hedged(governor))


def _conditional(verb: "Token") -> bool:
    """A clause opened by if, when, until …: it names a case, it does not assert one."""
    for _ in range(8):
        if (
            any(child.dep_ in ("mark", "advmod") and child.lower_ in _modal("condition") for child in verb.children)
            and verb.dep_ in ("advcl", "ccomp", "ROOT", "pcomp", "acl", "relcl")
            and verb.dep_ != "ROOT"
        ):
            return True
        if verb.dep_ not in ("conj", "xcomp", "ccomp"):
            return False
        verb = verb.head
    return False


def _lemma(verb: "Token") -> str:
    return _lemma_of(verb.lower_)


@cache
def _lemmatizer_tables() -> tuple[dict[str, list[str]], frozenset[str], tuple[tuple[str, str], ...]]:
    lookups = resource.parser().get_pipe("lemmatizer").lookups  # type: ignore[attr-defined]
    exceptions = dict(lookups.get_table("lemma_exc").get("verb", {}))
    index = frozenset(lookups.get_table("lemma_index").get("verb", ()))
    rules = tuple((old, new) for old, new in lookups.get_table("lemma_rules").get("verb", ()))
    return exceptions, index, rules


@lru_cache(maxsize=20_000)
def _lemma_of(word: str) -> str:
    """The verb's dictionary form, from the pipeline's own tables."""
    exceptions, index, rules = _lemmatizer_tables()
    if word in CONTRACTIONS:
        return CONTRACTIONS[word]
    if word in exceptions:
        return str(exceptions[word][0])
    forms = [word.removesuffix(old) + new for old, new in rules if word.endswith(old)]
    return next((form for form in forms if form in index), word)


def _modal(name: str) -> frozenset[str]:
    return resource.group("modality.txt", name)
