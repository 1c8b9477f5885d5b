"""Expected reply, reply and sources -> what the reply leaves out, and who could have prevented it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from touchstone.core import resource
from touchstone.core.case import Case
from touchstone.core.reading import Ask, Reading, Sentence, Text
from touchstone.evidence.alignment import coverage, said_in
from touchstone.evidence.claims import check_claims
from touchstone.evidence.values import check_values
from touchstone.judges.coverage import MADE, SAME_POINT, facts_of, path_steps, point_coverage
from touchstone.judges.reasons import MENTIONED
from touchstone.judges.tone import TABLE, count_acts, count_steps
from touchstone.text.claims import find_claims
from touchstone.text.clauses import find_clauses
from touchstone.text.patterns import count
from touchstone.text.reading import read_text

Owner = Literal["retrieval", "prompt", "policy", "tone guide", "bot safety"]

COURTESIES = ("apology", "empathy", "thanks", "warmth", "courtesy")
# A sentence with fewer content words makes no point.
MIN_CONTENT = 3
# As far apart as the words of a claim may be in a source for the hallucination metric.
PROXIMITY = 24
# Passages that say less than this of an ask do not hold its answer.
HELD = 0.4


@dataclass(frozen=True, slots=True)
class Omission:
    """A sentence of the expected reply that the reply does not make up for: the facts left out, if it has any.

    `given` is False when the context lacks what it takes to say it.
    """

    text: str
    facts: tuple[str, ...]
    given: bool

    @property
    def shown(self) -> str:
        return f"{', '.join(self.facts)} of '{self.text}'" if self.facts else f"'{self.text}'"


def find_omissions(case: Case, reading: Reading) -> tuple[Omission, ...]:
    """The points and hard facts of the expected reply that the reply leaves out."""
    expected = reading.expected
    if expected is None:
        return ()
    sources = tuple(s for s in reading.sources or () if s.name.startswith(("context", "input")))
    unsaid, held = _unsaid_facts(reading, expected), _held_facts(expected, sources)
    omissions = []
    for sentence in expected.sentences:
        raw = expected.raw[sentence.start : sentence.end]
        if _is_courtesy(raw):
            continue
        facts = tuple(fact for fact in unsaid if fact in raw)
        if facts or _is_missed(expected, sentence, reading.reply):
            given = case.context is None or _is_given(expected, raw, held, sources)
            omissions.append(Omission(" ".join(raw.split()), facts, given))
    return tuple(omissions)


def owner_of_gap(omissions: Sequence[Omission], case: Case) -> Owner:
    """Who could have prevented a reply that says too little or makes things up: retrieval if something was lacking."""
    if omissions or case.expected_output:
        return "prompt" if all(each.given for each in omissions) else "retrieval"
    return "retrieval" if case.context == () else "prompt"


def owner_of_ask(ask: Ask, omissions: Sequence[Omission], case: Case, reading: Reading) -> Owner:
    """Who could have prevented that an ask is not answered: by the left-out sentence that says most of it."""
    if reading.question is None or case.context is None:
        return "prompt"
    tokens = [t for t in reading.message_of(ask).tokens if ask.start <= t.start < ask.end and t.term in ask.terms]
    if case.expected_output is None:
        context = [t for source in reading.sources or () if source.name.startswith("context") for t in source.tokens]
        return "retrieval" if coverage(tokens, said_in(context)) < HELD else "prompt"
    texts = {each: read_text("expected_output", each.text).tokens for each in omissions}
    nearest = max(omissions, key=lambda each: coverage(tokens, said_in(texts[each])), default=None)
    return "retrieval" if nearest and not nearest.given else "prompt"


def _is_courtesy(raw: str) -> bool:
    """Whether a sentence is only polite: kind words, and nothing to do."""
    if not any(count(raw, group, table=TABLE) for group in COURTESIES):
        return False
    said = read_text("expected_output", raw)
    return not count_steps(said) and not count_acts(said)


def _is_missed(expected: Text, sentence: Sentence, reply: Text) -> bool:
    """Whether a sentence makes a point and the reply does not."""
    tokens, filler = expected.tokens[sentence.first : sentence.last], resource.words("filler.txt")
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
    """The menu steps of which one of the texts has the last word and most others: `turn on Settings` is Settings."""
    steps = {step: read_text("expected_output", step).terms for step in path_steps(expected.raw)}
    return {
        step
        for step, terms in steps.items()
        for text in texts
        if terms and terms[-1] in text.positions and 2 * sum(term in text.positions for term in terms) >= len(terms)
    }


def _is_given(expected: Text, raw: str, held: frozenset[str], sources: tuple[Text, ...]) -> bool:
    """Whether the sources hold most of a sentence's facts; of one without any, what it claims or tells to do.

    What the company does next and what it asks the customer for need no source.
    """
    if facts := [fact.text for fact in facts_of(expected, expected) if fact.text in raw]:
        return 2 * len(held.intersection(facts)) >= len(set(facts))
    text = read_text("expected_output", raw)
    said = coverage(text.tokens, said_in([token for source in sources for token in source.tokens]))
    if said >= MADE or count_acts(text) or count(raw, "ask_back", table=TABLE):
        return True
    claims = check_claims(find_claims(text, find_clauses(text)), text, sources, proximity=PROXIMITY)
    if claims:
        return all(claim.status != "unsupported" for claim in claims)
    return said >= SAME_POINT or not count_steps(text)
