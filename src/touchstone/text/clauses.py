"""Text -> its clauses: who does what to what and how it is meant, from a dependency parse; a sentence is parsed once.

A clause knows words and their places in the text, nothing about terms or sources.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from touchstone.core import resource
from touchstone.core.reading import Clause, Sentence, Text, Word
from touchstone.text.normalise import Normal, normalise
from touchstone.text.sentences import cut

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

MIN_WORDS = 3
# Longer "sentences" are parsed in pieces.
MAX_WORDS = 120
# Sentences recur: courtesies, policies, whole replies. Their clauses are small, so many are kept.
MAX_KEPT = 20_000
# A verb shares subject and condition with at most so many that it is joined to.
MAX_JOINED = 8
SUBJECTS = frozenset({"nsubj", "nsubjpass", "expl"})
OBJECTS = frozenset({"dobj", "attr", "acomp", "oprd", "dative", "obj"})
NOUN_PARTS = frozenset({"compound", "amod", "nmod", "poss", "advmod", "quantmod"})
NOUN_TAGS = ("NN", "PRP", "CD", "JJ", "VBG", "DT", "WP", "EX", "VBN", "RB", "FW", "$")
JOINED = frozenset({"conj", "xcomp", "ccomp"})
CONDITIONED = frozenset({"advcl", "ccomp", "pcomp", "acl", "relcl"})
# Prepositions that narrow a noun: `refund of the deposit`. Others add something of their own.
NARROWING = frozenset({"of", "for", "in", "on", "with"})
CONTRACTIONS = {"'s": "be", "'re": "be", "'m": "be", "'ve": "have", "'d": "have"}
RELATIVE_PRONOUNS = frozenset({"which", "that", "who"})
# Half a surrogate pair cannot be encoded, which the parser has to do.
SURROGATE = re.compile("[\ud800-\udfff]")


class _Piece(NamedTuple):
    """A stretch of a text as it is parsed, in one spelling, and where it starts there."""

    normal: Normal
    start: int
    text: str

    def placed(self, word: Word) -> Word:
        return Word(word.text, *self.normal.span(self.start + word.start, self.start + word.end))


def find_clauses(text: Text) -> tuple[Clause, ...]:
    """The clauses of a text in order; sentences that can assert nothing are not parsed."""
    pieces = _pieces(text)
    parsed = zip(pieces, _clauses_of([piece.text for piece in pieces]), strict=True)
    return tuple([_placed(clause, piece) for piece, clauses in parsed for clause in clauses])


def parse_ahead(texts: Iterable[Text]) -> None:
    """Parse the sentences of several texts together, so that `find_clauses` finds them ready: the same, but faster."""
    _clauses_of([piece.text for text in texts for piece in _pieces(text)])


def _placed(clause: Clause, piece: _Piece) -> Clause:
    about, object_ = (tuple([piece.placed(word) for word in words]) for words in (clause.subject, clause.object))
    return replace(clause, subject=about, verb=piece.placed(clause.verb), object=object_)


def _pieces(text: Text) -> list[_Piece]:
    normal = normalise(text.raw)
    telling = (sentence for sentence in text.sentences if _may_assert(text, sentence))
    pieces = (piece for sentence in telling for piece in cut(text, sentence, most=MAX_WORDS))
    spans = ((normal.at(piece.start), normal.at(piece.end)) for piece in pieces)
    return [_Piece(normal, start, normal.text[start:end]) for start, end in spans]


def _may_assert(text: Text, sentence: Sentence) -> bool:
    """Not a question, not too short, and about something: a sentence of courtesy and function words asserts nothing."""
    tokens = text.tokens[sentence.first : sentence.last]
    if len(tokens) < MIN_WORDS or text.raw[sentence.start : sentence.end].rstrip().endswith("?"):
        return False
    filler = resource.words("filler.txt")
    return any(not token.is_stop and token.word not in filler for token in tokens)


@cache
def kept_clauses() -> dict[str, tuple[Clause, ...]]:
    """The clauses of sentences parsed before."""
    return {}


def _clauses_of(sentences: Sequence[str]) -> list[tuple[Clause, ...]]:
    """The clauses of each sentence; new sentences are parsed together, which gives the same parses faster."""
    kept = kept_clauses()
    fresh = [sentence for sentence in dict.fromkeys(sentences) if sentence not in kept]
    docs = resource.parser().pipe(SURROGATE.sub("\ufffd", sentence) for sentence in fresh) if fresh else ()
    parsed = dict(zip(fresh, map(_of_sentence, docs), strict=True))
    found = [parsed[sentence] if sentence in parsed else kept[sentence] for sentence in sentences]
    if len(kept) + len(parsed) > MAX_KEPT:
        kept.clear()
    kept.update(parsed)
    return found


def _of_sentence(doc: "Doc") -> tuple[Clause, ...]:
    return tuple([clause for verb in doc if verb.tag_[:2] in ("VB", "MD") for clause in _of_verb(verb)])


def _of_verb(verb: "Token") -> Iterator[Clause]:
    subject = _subject(verb)
    if subject is None or verb.dep_ in ("aux", "auxpass"):
        return
    about = _phrase(subject)
    negated, hedged, conditional = _negated(verb), _hedged(verb), _conditional(verb)
    for found, preposition in _objects(verb):
        denied = negated != any(child.lower_ in ("no", "neither") for child in found.children)
        lemma = _lemma(verb.lower_)
        yield Clause(about, _word(verb), lemma, _phrase(found), preposition, denied, hedged, conditional)


def _joined_verbs(verb: "Token") -> Iterator["Token"]:
    """The verb, the one it is joined to, the one that is joined to …"""
    for _ in range(MAX_JOINED):
        yield verb
        if verb.dep_ not in JOINED:
            return
        verb = verb.head


def _subject(verb: "Token") -> "Token | None":
    """The verb's own subject, or the one it shares with the verb it is joined to; `which` means its noun."""
    for each in _joined_verbs(verb):
        if each is not verb and each.tag_[:2] not in ("VB", "MD", "JJ"):
            return None
        own = next((child for child in each.children if child.dep_ in SUBJECTS), None)
        if own is not None:
            return each.head if own.lower_ in RELATIVE_PRONOUNS and each.dep_ == "relcl" else own
        if each.dep_ == "acl" and each.tag_ in ("VBN", "VBG") and each.head.tag_.startswith("NN"):
            return each.head
    return None


def _objects(verb: "Token") -> Iterator[tuple["Token", str]]:
    for child in verb.children:
        if child.dep_ in OBJECTS:
            for item in _joined_nouns(child):
                yield item, ""
                # What a preposition adds to an object: a framework `including a repurchase programme`.
                for added in item.children:
                    if added.dep_ == "prep" and added.lower_ not in NARROWING:
                        yield from _governed(added)
        elif child.dep_ in ("prep", "agent"):
            yield from _governed(child)


def _governed(preposition: "Token") -> Iterator[tuple["Token", str]]:
    for object_ in preposition.children:
        if object_.dep_ == "pobj":
            for item in _joined_nouns(object_):
                yield item, preposition.lower_


def _joined_nouns(noun: "Token") -> Iterator["Token"]:
    """A noun and those joined to it or put beside it by commas and `and`."""
    yield noun
    for child in noun.children:
        if child.dep_ in ("conj", "appos") and child.tag_.startswith(NOUN_TAGS):
            yield from _joined_nouns(child)


def _phrase(head: "Token") -> tuple[Word, ...]:
    """The head first, then what narrows it: `refund`, `full`, of `deposit`."""
    words = [head]
    for child in head.children:
        if child.dep_ in NOUN_PARTS:
            words += [part for part in child.subtree if part.dep_ in NOUN_PARTS or part is child]
        elif child.dep_ == "prep" and child.lower_ in NARROWING:
            for noun in (object_ for object_ in child.children if object_.dep_ == "pobj"):
                words += [noun, *(part for part in noun.children if part.dep_ in ("compound", "amod"))]
    return tuple([_word(word) for word in words])


def _word(token: "Token") -> Word:
    return Word(token.lower_, token.idx, token.idx + len(token.text))


def _negated(verb: "Token") -> bool:
    denying = _modal("negation")
    return any(
        child.dep_ == "neg" or (child.dep_ in ("advmod", "det") and child.lower_ in denying) for child in verb.children
    )


def _hedged(verb: "Token") -> bool:
    hedges = {"aux": _modal("hedge_modal"), "advmod": _modal("hedge_adverb")}
    if any(child.lower_ in hedges.get(child.dep_, ()) for child in verb.children):
        return True
    if _lemma(verb.lower_) in _modal("hedge_verb"):
        return True
    governor = verb.head
    governed = verb.dep_ in ("ccomp", "xcomp") and governor is not verb and governor.tag_[:2] in ("VB", "MD")
    return governed and (_lemma(governor.lower_) in _modal("hedge_verb") or _hedged(governor))


def _conditional(verb: "Token") -> bool:
    """A clause opened by if, when, until …: it names a case, it does not assert one."""
    return any(
        each.dep_ in CONDITIONED
        and any(c.dep_ in ("mark", "advmod") and c.lower_ in _modal("condition") for c in each.children)
        for each in _joined_verbs(verb)
    )


@cache
def _lemmatizer_tables() -> tuple[dict[str, list[str]], frozenset[str], tuple[tuple[str, str], ...]]:
    lookups = resource.parser().get_pipe("lemmatizer").lookups  # type: ignore[attr-defined]
    exceptions = dict(lookups.get_table("lemma_exc").get("verb", {}))
    index = frozenset(lookups.get_table("lemma_index").get("verb", ()))
    rules = tuple((old, new) for old, new in lookups.get_table("lemma_rules").get("verb", ()))
    return exceptions, index, rules


@lru_cache(maxsize=20_000)
def _lemma(word: str) -> str:
    """The verb's dictionary form, from the pipeline's own tables."""
    if contracted := CONTRACTIONS.get(word.replace("’", "'")):
        return contracted
    exceptions, index, rules = _lemmatizer_tables()
    if word in exceptions:
        return str(exceptions[word][0])
    forms = [word.removesuffix(old) + new for old, new in rules if word.endswith(old)]
    return next((form for form in forms if form in index), word)


def _modal(name: str) -> frozenset[str]:
    return resource.group("modality.txt", name)
