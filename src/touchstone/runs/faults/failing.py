"""Case and Result -> a failed reply as the rules for tags see it: read, with its grades, anchors and omissions."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from touchstone.core import resource
from touchstone.core.case import Case
from touchstone.core.reading import Ask, Reading, Sentence, Text
from touchstone.core.result import Anchor, Finding, Result, Score
from touchstone.evidence.alignment import coverage, said_in
from touchstone.evidence.claims import check_claims
from touchstone.evidence.values import check_values
from touchstone.judges.coverage import MADE, SAME_POINT, facts_of, path_steps, point_coverage
from touchstone.judges.reasons import MENTIONED
from touchstone.judges.tone import TABLE, count_acts, count_steps
from touchstone.runs.record import Owner
from touchstone.text.claims import find_claims
from touchstone.text.patterns import count
from touchstone.text.reading import read, read_text

COURTESIES = ("apology", "empathy", "thanks", "warmth", "courtesy")
# A sentence with fewer content words makes no point.
MIN_CONTENT = 3
# As far apart as the hallucination metric lets a claim's words stand in a source.
PROXIMITY = 24
# Passages that say less than this of an ask do not hold its answer.
HELD = 0.4
LONGEST_DETAIL = 200


@dataclass(frozen=True, slots=True)
class Need:
    """A sentence of the expected reply that the reply does not make up for: the facts left out, if it has any.

    `given` is False when the context lacks what it takes to say it.
    """

    text: str
    facts: tuple[str, ...]
    given: bool

    @property
    def shown(self) -> str:
        return f"{', '.join(self.facts)} of '{self.text}'" if self.facts else f"'{self.text}'"


def find_needs(case: Case, reading: Reading) -> tuple[Need, ...]:
    """The points and hard facts of the expected reply that the reply leaves out."""
    expected = reading.expected
    if expected is None:
        return ()
    sources = tuple(s for s in reading.sources or () if s.name.startswith(("context", "input")))
    unsaid = _unsaid_facts(reading, expected)
    held = _held_facts(expected, sources)
    needs = []
    for sentence in expected.sentences:
        raw = expected.raw[sentence.start : sentence.end]
        if _is_courtesy(raw):
            continue
        facts = tuple(fact for fact in unsaid if fact in raw)
        if facts or _is_missed(expected, sentence, reading.reply):
            given = case.context is None or _is_given(expected, sentence, held, sources)
            needs.append(Need(" ".join(raw.split()), facts, given))
    return tuple(needs)


def owner_of_gap(needs: tuple[Need, ...], case: Case) -> Owner:
    """Who could have prevented a reply that says too little or makes things up: retrieval if something was lacking."""
    if needs or case.expected_output:
        return "prompt" if all(need.given for need in needs) else "retrieval"
    return "retrieval" if case.context == () else "prompt"


def owner_of_ask(ask: Ask, needs: tuple[Need, ...], case: Case, reading: Reading) -> Owner:
    """Who could have prevented that an ask is not answered: by the left-out sentence that speaks most of it."""
    if reading.question is None or case.context is None:
        return "prompt"
    tokens = [t for t in reading.message_of(ask).tokens if ask.start <= t.start < ask.end and t.term in ask.terms]
    if case.expected_output is None:
        context = [t for source in reading.sources or () if source.name.startswith("context") for t in source.tokens]
        return "retrieval" if coverage(tokens, said_in(context)) < HELD else "prompt"
    nearest = max(
        needs, key=lambda need: coverage(tokens, said_in(read_text("expected_output", need.text).tokens)), default=None
    )
    return "retrieval" if nearest and not nearest.given else "prompt"


def _is_courtesy(raw: str) -> bool:
    """Whether a sentence only shows manners: kind words, and nothing to do."""
    if not any(count(raw, g, table=TABLE) for g in COURTESIES):
        return False
    said = read_text("expected_output", raw)
    return not count_steps(said) and not count_acts(said)


def _is_missed(expected: Text, sentence: Sentence, reply: Text) -> bool:
    """Whether a sentence makes a point and the reply does not."""
    tokens = expected.tokens[sentence.first : sentence.last]
    filler = resource.words("filler.txt")
    content = sum(not token.is_stop and token.word not in filler for token in tokens)
    return content >= MIN_CONTENT and point_coverage(expected, sentence, said_in(reply.tokens)) < MENTIONED


def _unsaid_facts(reading: Reading, expected: Text) -> tuple[str, ...]:
    """The hard facts that the reply does not state; what the customer wrote needs no repeating."""
    known = {fact.text for fact in facts_of(expected, reading.question) if fact.said} if reading.question else set()
    known |= _steps_in(expected, (reading.reply,))
    unsaid = (fact.text for fact in facts_of(expected, reading.reply) if not fact.said)
    return tuple(dict.fromkeys(fact for fact in unsaid if fact not in known))


def _held_facts(expected: Text, sources: tuple[Text, ...]) -> frozenset[str]:
    """The hard facts of the expected reply that a source states, or that follow from one."""
    stated = {fact.text for source in sources for fact in facts_of(expected, source) if fact.said}
    derived = {anchor.text for anchor in check_values(expected, sources) if anchor.holds}
    return frozenset(stated | derived | _steps_in(expected, sources))


def _steps_in(expected: Text, texts: tuple[Text, ...]) -> set[str]:
    """The menu steps whose last word and most others stand in one of the texts: `turn on Settings` is Settings."""
    steps = {step: read_text("expected_output", step).terms for step in path_steps(expected.raw)}
    return {step for step, terms in steps.items() if any(_is_step_of(terms, text) for text in texts)}


def _is_step_of(terms: tuple[str, ...], text: Text) -> bool:
    return bool(terms) and terms[-1] in text.positions and 2 * sum(t in text.positions for t in terms) >= len(terms)


def _is_given(expected: Text, sentence: Sentence, held: frozenset[str], sources: tuple[Text, ...]) -> bool:
    """Whether the sources hold most of a sentence's facts; of one without any, what it claims or tells to do.

    What the company does next and what it asks the customer for need no source.
    """
    raw = expected.raw[sentence.start : sentence.end]
    if facts := [fact.text for fact in facts_of(expected, expected) if fact.text in raw]:
        return 2 * len(held.intersection(facts)) >= len(set(facts))
    text = read_text("expected_output", raw)
    said = coverage(text.tokens, said_in([token for source in sources for token in source.tokens]))
    if said >= MADE or count_acts(text) or count(raw, "ask_back", table=TABLE):
        return True
    claims = check_claims(find_claims(text), text, sources, proximity=PROXIMITY)
    if claims:
        return all(claim.status != "unsupported" for claim in claims)
    return said >= SAME_POINT or not count_steps(text)


class FaultSign(NamedTuple):
    """That a tag applies: who could cure it, and the evidence."""

    owner: Owner
    detail: str


@dataclass(frozen=True, slots=True)
class Failing:
    """A failed reply."""

    case: Case
    result: Result
    reading: Reading
    grades: Mapping[str, int | None]
    anchors: tuple[Anchor, ...]
    violations: tuple[Finding, ...]
    needs: tuple[Need, ...]

    def is_low(self, criterion: str, *, at_most: int) -> bool:
        """Whether a criterion is graded so low; one without a grade speaks neither for nor against the reply."""
        grade = self.grades.get(criterion)
        return grade is None or grade <= at_most

    def score(self, metric: str) -> Score | None:
        return (self.result.metrics or {}).get(metric)

    def is_flagged(self, metric: str) -> bool:
        score = self.score(metric)
        return score is not None and score.flag == "FAIL"

    @property
    def is_ungrounded(self) -> bool:
        """Whether the verdict is FAIL for what the reply states: only two metrics can fail it."""
        return self.is_flagged("hallucination") or (self.result.verdict == "FAIL" and not self.is_flagged("relevance"))

    @property
    def gap_owner(self) -> Owner:
        return owner_of_gap(self.needs, self.case)


def find_failing(case: Case, result: Result) -> Failing:
    """The reply read again; its texts were read a moment ago and are kept."""
    reading = read(case)
    scores = (result.metrics or {}).values()
    grading = result.rubric
    return Failing(
        case=case,
        result=result,
        reading=reading,
        grades={grade.criterion: grade.grade for grade in grading.grades} if grading else {},
        anchors=tuple(anchor for score in scores for anchor in score.anchors or ()),
        violations=grading.violations if grading else (),
        needs=find_needs(case, reading),
    )


def quote(text: str) -> str:
    """A text on one line, cut where it gets long."""
    flat = " ".join(text.split())
    return f"{flat[: LONGEST_DETAIL - 1]}…" if len(flat) > LONGEST_DETAIL else flat
