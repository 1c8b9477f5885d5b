"""Clauses of reply and sources -> findings: where the reply turns round what a source says of the same thing.

Each clause takes stances: something must or need not be done, may or may not, costs or is free; or it denies a verb.
Two clauses about the same thing with opposite stances contradict each other, unless another clause agrees.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from touchstone.core.reading import Reading, Text
from touchstone.core.result import Evidence
from touchstone.safety.fabrication.clauses import AXES, COST_AXIS, Clause, clauses, clauses_of
from touchstone.safety.fabrication.findings import Finding, Known
from touchstone.safety.fabrication.listing import Segment

# Share of each clause that the other's sentence must speak of, and the least number of terms both sentences share.
ALIKE = 0.4
MIN_SHARED = 2
# A clause without a stance is compared by its denial alone: then it must be nearly the same.
NEAR_COPY = 0.8
# How much nearer the opposing clause must be than one that agrees.
MARGIN = 0.25
MAX_SAID = 600
MAX_KEPT = 512
MAX_CASES = 40

Said = tuple[Text, Clause]
DENIAL = "denial"
COSTS = frozenset({"cost", "gratis"})


class Opposition(NamedTuple):
    """A source clause that says the opposite, on which point, and how surely it speaks of the same."""

    source: Text
    clause: Clause
    what: str
    likeness: float


# Source text -> number of a sentence -> its clauses.
_kept: dict[str, dict[int, tuple[Clause, ...]]] = {}


def reversals(reading: Reading, known: Known) -> Iterator[Finding]:
    """One finding for each clause of the reply that its nearest source clause opposes."""
    replied = clauses(reading.reply)
    sources = [source for source in known.sources if _states(source)]
    said = [(source, clause) for source in sources for clause in _near_clauses(source, replied)][:MAX_SAID]
    rarity = _rarity(sources)
    for clause in replied:
        if (
            not clause.asks
            and not clause.premise
            and (found := _opposed(clause, _of_case(clause, said, known.cases), rarity))
        ):
            source, other = found.source, found.clause
            if found.what in COSTS and (
                _is_priced(reading.reply, clause, replied, known) or _is_nothing(source, other)
            ):
                continue
            evidence = Evidence(source.name, other.start, other.end, source.raw[other.start : other.end])
            reason = f"the source says otherwise ({found.what}): {evidence.text}"
            yield Finding(clause.start, clause.end, 1.0, reason, (evidence,))


def _of_case(clause: Clause, said: Sequence[Said], cases: Sequence[Segment]) -> Sequence[Said]:
    """What is said of the cases that the clause's sentence names, where a source lists cases by name."""
    others = [case for case in cases[:MAX_CASES] if not case.name <= clause.around]
    if len(others) in (0, min(len(cases), MAX_CASES)):
        return said
    return [(s, c) for s, c in said if not any(o.source is s and o.start <= c.start < o.end for o in others)]


def _is_priced(reply: Text, clause: Clause, replied: Sequence[Clause], known: Known) -> bool:
    """A cost stands beside its `free`, or a price that a source gives: each holds for a case of its own."""
    beside = [other for other in replied if other.around is clause.around]
    if any(other.stances[COST_AXIS] * clause.stances[COST_AXIS] < 0 for other in beside):
        return True
    inside = (v for v in reply.values if v.kind == "money" and beside[0].start <= v.start < beside[-1].end)
    return any(v.canonical != "free" and known.homes(v) for v in inside)


def _is_nothing(source: Text, clause: Clause) -> bool:
    """`The fee is $0.00` costs nothing."""
    inside = (v for v in source.values if v.kind == "money" and clause.start <= v.start < clause.end)
    return any(getattr(reading, "high", 1) == 0 for v in inside for reading in v.readings[:1])


def _states(source: Text) -> bool:
    """The customer asks and complains; what they say backs or opposes no policy."""
    return not source.name.startswith("input")


def _opposed(clause: Clause, said: Sequence[Said], rarity: Mapping[str, float]) -> Opposition | None:
    """The nearest clause that says the opposite, unless one about as near agrees."""
    best: Opposition | None = None
    # Clauses without a term in common are not alike at all; most are none.
    said = [(s, c) for s, c in said if not (clause.terms and c.terms and clause.terms.isdisjoint(c.terms))]
    for source, other in said:
        what = None if source.name.startswith("expected") or other.asks else _conflict(clause, other)
        if what is None:
            continue
        likeness = _likeness(clause, other, rarity)
        if likeness >= (NEAR_COPY if what == DENIAL else ALIKE) and (best is None or likeness > best.likeness):
            best = Opposition(source, other, what, likeness)
    if best is None:
        return None
    agreeing = (other for _, other in said if _agrees(clause, other) and _conflict(clause, other) is None)
    near = max((_likeness(clause, other, rarity) for other in agreeing), default=0.0)
    return best if near < max(ALIKE, best.likeness - MARGIN) else None


def _likeness(clause: Clause, other: Clause, rarity: Mapping[str, float]) -> float:
    """How much of either clause the other's sentence speaks of; the clauses themselves must share a term."""
    if clause.terms and other.terms and clause.terms.isdisjoint(other.terms):
        return 0.0
    shared = clause.terms & other.terms
    if len(clause.around & other.around) < MIN_SHARED:
        return 0.0
    ours = _share(clause.terms or clause.around, other.around, rarity)
    if clause.governed and clause.governed == other.grants:
        return ours
    if clause.universal and other.restricted and len(shared) >= (1 if other.exclusive else MIN_SHARED):
        return ours
    return min(ours, _share(other.terms or other.around, clause.around, rarity))


def _share(terms: frozenset[str], among: frozenset[str], rarity: Mapping[str, float]) -> float:
    total = sum(rarity.get(t, 1.0) for t in terms)
    return sum(rarity.get(t, 1.0) for t in terms & among) / total if total else 0.0


def _conflict(clause: Clause, other: Clause) -> str | None:
    """What the other says where the clause says the opposite, if they speak of the same thing."""
    if turned := _turned(clause, other):
        return turned
    if clause.payer and other.payer and clause.payer != other.payer:
        return "payer"
    if clause.governed and clause.governed == other.grants and clause.stances[0] > 0:
        return "waiver"
    if clause.stances[0] > 0 and other.lacks and other.lacks in clause.terms and not any(other.stances):
        return "waiver"
    if clause.without and clause.lacks in other.terms and not other.lacks and not other.denied:
        return None if clause.conditional or other.conditional or clause.narrow else "requirement"
    if _is_limit_lifted(clause, other):
        return "limit"
    if any(clause.stances) or any(other.stances) or clause.conditional or other.conditional:
        return None
    if clause.urges:
        return None
    denied = clause.denied or other.denied
    if not denied or (clause.narrow and other.narrow) or denied not in clause.terms or denied not in other.terms:
        return None
    return DENIAL if len(clause.terms & other.terms) >= MIN_SHARED else None


def _turned(clause: Clause, other: Clause) -> str:
    """The other's stance where the clause takes the opposite one; what holds for one case only fails for the rest."""
    for (plus, minus), ours, theirs in zip(AXES, clause.stances, other.stances, strict=True):
        if ours * theirs >= 0 or (clause.excepted and other.excepted):
            continue
        if plus == "cost" and theirs > 0 and other.payer == "we":
            continue
        if ours < 0 and other.exclusive and (clause.universal or other.sole not in clause.terms):
            continue
        return plus if theirs > 0 else minus
    return ""


def _is_limit_lifted(clause: Clause, other: Clause) -> bool:
    """All, says the clause and limits nothing itself; the other says `only`, or denies what the clause does."""
    limits = clause.restricted or clause.narrow or clause.urges or other.universal
    return clause.universal and not limits and (other.exclusive or other.denied in clause.terms)


def _agrees(clause: Clause, other: Clause) -> bool:
    if clause.payer and clause.payer == other.payer:
        return True
    if clause.stances[0] < 0 and other.lacks and other.lacks in clause.around:
        return True
    if any(clause.stances):
        return any(a * b > 0 for a, b in zip(clause.stances, other.stances, strict=True))
    return bool(clause.denied) == bool(other.denied)


def _rarity(sources: Sequence[Text]) -> dict[str, float]:
    """Terms that stand in many places tell clauses apart less."""
    counts: Counter[str] = Counter()
    for source in sources:
        counts.update({term: len(places) for term, places in source.positions.items()})
    return {term: 1.0 / (1.0 + 0.3 * (count - 1)) for term, count in counts.items()}


def _near_clauses(source: Text, replied: Sequence[Clause]) -> Iterator[Clause]:
    """The clauses of the sentences that share enough terms with one of the reply's to be about the same.

    Passages recur from case to case, and clauses follow from the text alone: they are kept.
    """
    kept = _kept.get(source.raw)
    if kept is None:
        if len(_kept) >= MAX_KEPT:
            _kept.clear()
        kept = _kept[source.raw] = {}
    told = {clause.around for clause in replied}
    spoken = frozenset[str]().union(*told)
    for at, sentence in enumerate(source.sentences):
        shared = spoken.intersection([token.term for token in source.tokens[sentence.first : sentence.last]])
        if len(shared) >= MIN_SHARED and any(len(around & shared) >= MIN_SHARED for around in told):
            if at not in kept:
                kept[at] = clauses_of(source, sentence)
            yield from kept[at]
