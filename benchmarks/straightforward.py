"""The same scores the straightforward way, to measure against: a fresh vectoriser and two full parses for every case.

Case -> relevance, completeness, hallucination as one would first write them from the specification: one
`TfidfVectorizer().fit([question, reply])`, the pipeline's default components on the reply and on the joined context,
regular expressions for numbers and dates, subject and object looked up near each other. Nothing is cached.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import spacy
from sklearn.feature_extraction.text import TfidfVectorizer

from touchstone.core.case import Case
from touchstone.core.resource import PARSER

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
NUMBER = re.compile(r"[$£€]?\d[\d,.]*\d%?|[$£€]?\d%?")
DATE = re.compile(
    rf"\d{{1,4}}[/-]\d{{1,2}}[/-]\d{{1,4}}|(?:{MONTHS})\s+\d{{1,2}}|\d{{1,2}}\s+(?:{MONTHS})", re.IGNORECASE
)
WORD = re.compile(r"\w+")
HEDGES = frozenset("may might could would should suggest seem think believe".split())
NEAR = 24
DRIFT_OVERLAP = DRIFT_PENALTY = 0.2


@dataclass(frozen=True, slots=True)
class Scores:
    """The three metrics."""

    relevance: float
    completeness: float
    hallucination: float


@cache
def pipeline() -> "Language":
    """The English pipeline with its default components."""
    return spacy.load(PARSER)


def score(case: Case) -> Scores:
    """All three metrics of one case."""
    question, reply = case.question, case.response
    context = "\n".join(passage.text for passage in case.context or ())
    said, known = pipeline()(reply), pipeline()(context)
    asked, told = set(WORD.findall(question.lower())), set(WORD.findall(reply.lower()))
    keywords = {word for word in asked if not pipeline().vocab[word].is_stop}
    return Scores(
        relevance=(_cosine(question, reply) + _ratio(len(asked & told), len(asked | told))) / 2,
        completeness=len(keywords & told) / len(keywords) if keywords else 1.0,
        hallucination=max(_unsupported(said, known), _drift(told, context)),
    )


def _cosine(question: str, reply: str) -> float:
    if not WORD.search(question) or not WORD.search(reply):
        return 0.0
    vectors = TfidfVectorizer().fit([question, reply]).transform([question, reply])
    return float((vectors[0] @ vectors[1].T).toarray()[0, 0])


def _unsupported(said: "Doc", known: "Doc") -> float:
    """The share of numbers, dates and triples of the reply that the context does not hold."""
    source = known.text.lower()
    figures = [match[0].lower() for pattern in (NUMBER, DATE) for match in pattern.finditer(said.text)]
    lemmas = [token.lemma_.lower() for token in known]
    checks = [figure in source for figure in figures]
    checks += [_near(subject.lemma_.lower(), object_.lemma_.lower(), lemmas) for subject, object_ in _triples(said)]
    return _ratio(checks.count(False), len(checks))


def _triples(doc: "Doc") -> list[tuple["Token", "Token"]]:
    """Subject and object of every asserted verb."""
    found = []
    for verb in doc:
        if verb.pos_ not in ("VERB", "AUX") or any(child.lemma_ in HEDGES for child in (verb, *verb.children)):
            continue
        subjects = [child for child in verb.children if child.dep_ in ("nsubj", "nsubjpass")]
        objects = [child for child in verb.children if child.dep_ in ("dobj", "attr", "acomp")]
        found += [(subject, object_) for subject in subjects for object_ in objects]
    return found


def _near(subject: str, object_: str, lemmas: list[str]) -> bool:
    subjects = [at for at, lemma in enumerate(lemmas) if lemma == subject]
    objects = [at for at, lemma in enumerate(lemmas) if lemma == object_]
    return any(abs(one - other) <= NEAR for one in subjects for other in objects)


def _drift(told: set[str], context: str) -> float:
    shared = _ratio(len(told & set(WORD.findall(context.lower()))), len(told))
    return DRIFT_PENALTY if told and shared < DRIFT_OVERLAP else 0.0


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
