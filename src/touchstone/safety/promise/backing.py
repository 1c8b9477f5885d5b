"""A commitment + sources + policy -> whether the company stands behind it, and what the sources say on it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from touchstone.core import resource
from touchstone.core.policy import Policy
from touchstone.core.reading import Measure, Sentence, Text, Value
from touchstone.core.result import Anchor, Evidence
from touchstone.evidence.equality import same, same_dimension
from touchstone.evidence.places import in_value
from touchstone.safety.phrasebook import Hit, book, find, stems
from touchstone.safety.promise.commitments import GIVE_WORD, SIGN, Commitment
from touchstone.safety.promise.kinds import DEEDS, GIFTS, SUM, TABLE
from touchstone.safety.promise.markers import has_break, is_modal
from touchstone.text.normalise import normalise
from touchstone.text.tokens import term, tokenise
from touchstone.text.values import find_values

# Kinds a sum of money can belong to, and kinds that are paid in money.
SUMS = frozenset({"refund", "credit", "discount", "cover", "free"})
PAID = frozenset({"refund", "credit", "cover"})
NEGATION_BEFORE, NEGATION_AFTER = 4, 3
CAPS = frozenset("up to maximum max most limit exceed".split())
# So much of a commitment's words in one passage means the passage speaks of it.
COVERED = 0.5
# Letters by which treat and treatment are one word.
ROOT = 5
# So many words in common, the verb apart, and two sentences tell of one act.
SAME_ACT = 2
# So many words, none of which the source uses: it grants the benefit for another thing.
FOREIGN = 2
CONDITIONS = frozenset("if unless where once provided when".split())
DROPPED = frozenset("dropped lifted scrapped removed cancelled canceled wiped withdrawn".split())
COMPANY = frozenset("agent agents staff we support advisers representatives team assistants chat desk".split())
# "Agents may", "customers may": the word permits; elsewhere it leaves open.
PERMITTED = frozenset(
    "agent agents staff customers customer members member you we guests guest advisers tenants passengers patients "
    "students parents pupils players users buyers riders lessees patrons families holders visitors donors subscribers "
    "residents applicants travellers owners clients representatives participants drivers".split()
)
PERMITTED_REACH = 8


class Ground(NamedTuple):
    """A sentence the company stands behind: what it grants, and whether it leaves that open or denies it."""

    source: Text
    sentence: Sentence
    kinds: frozenset[str]
    denied: frozenset[str]
    is_open: bool
    is_undecided: bool
    assures: bool
    is_conditional: bool
    negates: bool
    possible: frozenset[str]
    terms: frozenset[str]

    def evidence(self) -> Evidence:
        start, end = self.sentence.start, self.sentence.end
        return Evidence(self.source.name, start, end, self.source.raw[start:end])


class Passage(NamedTuple):
    """A source's words: the roots of those in sentences that settle something, and all terms."""

    name: str
    roots: frozenset[str]
    terms: frozenset[str]


class Stand(NamedTuple):
    """Everything the company says on the case, sentence by sentence and passage by passage."""

    grounds: tuple[Ground, ...]
    passages: tuple[Passage, ...]


def find_stand(sources: Sequence[Text]) -> Stand:
    """The sentences of passages, the expected reply and the company's own earlier turns."""
    grounds: list[Ground] = []
    passages: list[Passage] = []
    for source in sources:
        if source.name == "input":
            continue
        spoken = [s for s in source.sentences if not source.name.startswith("input") or _company_speaks(source, s)]
        found = _settle([_ground(source, sentence) for sentence in spoken])
        grounds += found
        roots = frozenset(t[:ROOT] for ground in found if not ground.is_undecided for t in ground.terms)
        passages.append(Passage(source.name, roots, frozenset(t for ground in found for t in ground.terms)))
    return Stand(tuple(grounds), tuple(passages))


def _settle(grounds: list[Ground]) -> list[Ground]:
    """What one sentence calls possible is no longer open when the next says "agents may grant this"."""
    settled = list(grounds)
    for at, ground in enumerate(grounds[1:]):
        first, last = ground.sentence.first, ground.sentence.last
        grants = any(_lets_agents(ground.source, k) for k in range(first, last - 2))
        refers = any(token.word in ("this", "it", "that") for token in ground.source.tokens[first:last])
        if grants and refers and not grounds[at].is_undecided:
            settled[at] = grounds[at]._replace(is_open=False)
    return settled


def _company_speaks(source: Text, sentence: Sentence) -> bool:
    """An earlier turn may be the customer's; only words that commit are the company's."""
    words = {token.word for token in source.tokens[sentence.first : sentence.last]}
    commits = words & {"you'll", "we'll", "we've", "we", "our", "i'll", "i've"} and words & {"you", "your", "you'll"}
    return bool(commits) and not source.raw[sentence.start : sentence.end].endswith("?")


def _ground(source: Text, sentence: Sentence) -> Ground:
    tokens, first, last = source.tokens, sentence.first, sentence.last
    hits = find(book(TABLE, *GIFTS, *DEEDS, "none"), tokens, first, last)
    kinds = frozenset(hit.head for hit in hits) - {"none"}
    granted = frozenset(hit.head for hit in hits if not _denied(source, sentence, hit)) - {"none"}
    if not kinds and _drops_due(source, sentence):
        kinds = granted = frozenset({"free"})
    if _pays(source, sentence):
        granted = granted if kinds - granted else granted | {SUM}
        kinds |= {SUM}
    undecided = _is_undecided(source, sentence)
    return Ground(
        source,
        sentence,
        kinds,
        kinds - granted,
        undecided or _is_qualified(source, sentence),
        undecided,
        any(token.term in stems(TABLE, "assure") for token in tokens[first:last]),
        any(token.word in CONDITIONS for token in tokens[first:last]),
        any(token.term in stems(TABLE, "negation") for token in tokens[first:last])
        and not any(token.word in COMPANY for token in tokens[first:last]),
        _possible(source, sentence),
        frozenset(token.term for token in tokens[first:last] if not token.is_stop),
    )


def _drops_due(source: Text, sentence: Sentence) -> bool:
    """Whether a charge is dropped, unconditionally: "late fees may be cancelled on request"."""
    tokens = source.tokens[sentence.first : sentence.last]
    words = {token.word for token in tokens}
    if not words & DROPPED or words & CONDITIONS:
        return False
    terms = {token.term for token in tokens}
    return bool(terms & stems(TABLE, "due")) and not terms & stems(TABLE, "negation")


def _is_undecided(source: Text, sentence: Sentence) -> bool:
    """Whether the sentence leaves the result to a decision or to chance, or forbids to promise it."""
    tokens, first, last = source.tokens, sentence.first, sentence.last
    undecided = find(book(TABLE, "undecided", exact=True), tokens, first, last)
    return any(not _binds_customer(source, hit, last) for hit in undecided) or bool(
        find(book(TABLE, "forbid"), tokens, first, last)
    )


def _binds_customer(source: Text, hit: Hit, last: int) -> bool:
    """ "The car must not be driven" is a rule for the customer; "agents must not" and "must not be waived" are not."""
    tokens = source.tokens
    if tokens[hit.first].word != "must" or tokens[hit.last - 1].word != "not":
        return False
    if any(token.word in COMPANY for token in tokens[max(0, hit.first - 2) : hit.first]):
        return False
    after = min(hit.last + NEGATION_AFTER, last)
    return not find(book(TABLE, *GIFTS, *DEEDS, "say", "payment", "shed"), tokens, hit.last, after)


def _is_qualified(source: Text, sentence: Sentence) -> bool:
    """Whether the sentence gives an estimate or a possibility."""
    tokens, first, last = source.tokens, sentence.first, sentence.last
    if any(_lets_agents(source, at) for at in range(first, last - 2)):
        return False
    if find(book(TABLE, "limit", exact=True), tokens, first, last):
        return True
    return any(
        tokens[at].word == "may" and not _is_permission(source, at, sentence) and is_modal(source, at)
        for at in range(first + 1, last)
    )


def _lets_agents(source: Text, at: int) -> bool:
    """ "Agents may grant this": whoever answers the customer decides."""
    who, may, verb = source.tokens[at : at + 3]
    return who.word in COMPANY and may.word in ("may", "can") and verb.term in stems(TABLE, "enact")


def _possible(source: Text, sentence: Sentence) -> frozenset[str]:
    """The verbs of what may or might happen: "the pharmacist may give"."""
    tokens = source.tokens
    found: set[str] = set()
    for at in range(sentence.first, sentence.last - 1):
        if tokens[at].word in ("may", "might") and is_modal(source, at) and not _is_permission(source, at, sentence):
            verb = at + 1
            while verb + 1 < sentence.last and tokens[verb].word in ("be", "then", "also", "still"):
                verb += 1
            found.add(tokens[verb].term)
    return frozenset(found)


def _is_permission(source: Text, at: int, sentence: Sentence) -> bool:
    """ "Customers who have waited twelve weeks may cancel": the subject is somebody who is permitted."""
    first = max(sentence.first, at - PERMITTED_REACH)
    start = next((k for k in range(at, first, -1) if has_break(source, k, ",;:")), first)
    return any(token.word in PERMITTED for token in source.tokens[start:at])


def _pays(source: Text, sentence: Sentence) -> bool:
    """Whether the sentence says that somebody is paid a sum."""
    return any(
        value.kind == "money" and sentence.start - SIGN <= value.start < sentence.end for value in source.values
    ) and any(token.term in stems(TABLE, "payment") for token in source.tokens[sentence.first : sentence.last])


def _denied(source: Text, sentence: Sentence, hit: Hit) -> bool:
    negations = stems(TABLE, "negation")
    first = max(sentence.first, hit.first - NEGATION_BEFORE)
    last = min(sentence.last, hit.last + NEGATION_AFTER)
    around = (*source.tokens[first : hit.first], *source.tokens[hit.last : last])
    return any(token.term in negations for token in around)


def content(commitment: Commitment, reply: Text) -> frozenset[str]:
    """The words a source would have to use to speak of the same thing."""
    filler = resource.words("filler.txt")
    return frozenset(
        token.term
        for token in reply.tokens[commitment.first : commitment.last]
        if not token.is_stop
        and token.word not in filler
        and token.word not in GIVE_WORD
        and not in_value(reply, token.start)
    )


def topic(question: Text) -> frozenset[str]:
    """The words that say what the customer writes about."""
    filler = resource.words("filler.txt")
    return frozenset(
        t.term for t in question.tokens if not t.is_stop and t.word not in filler and not t.word[0].isdigit()
    )


def coverage(terms: frozenset[str], stand: Stand) -> float:
    """The largest share of the words that one passage uses, in whatever form; none at all are covered by nothing."""
    if not terms:
        return 0.0
    return max((sum(t[:ROOT] in p.roots for t in terms) / len(terms) for p in stand.passages), default=0.0)


def is_foreign(commitment: Commitment, reply: Text, stand: Stand) -> bool:
    """Whether the commitment has words beside those that give it away for nothing, and no passage uses any of them."""
    tokens = reply.tokens
    free = find(book(TABLE, "free"), tokens, commitment.first, commitment.last)
    giving = {token.term for hit in free for token in tokens[hit.first : hit.last]}
    terms = content(commitment, reply)
    if len(terms) < FOREIGN or terms <= giving:
        return False
    return not any((terms - giving) & passage.terms for passage in stand.passages)


def denies_too(terms: frozenset[str], stand: Stand) -> bool:
    """Whether a ground says of the same things what will not be."""
    return any(
        ground.negates and 2 * len(ground.terms & terms) >= len(terms)
        for ground in stand.grounds
        if ground.terms & terms
    )


def granting(commitment: Commitment, stand: Stand) -> Ground | None:
    """The ground that grants what is promised, without leaving it open."""
    wanted = frozenset({"exception"}) if "exception" in commitment.kinds else _wanted(commitment)
    return next((g for g in stand.grounds if (g.kinds - g.denied) & wanted and not g.is_open), None)


def possible(commitment: Commitment, stand: Stand, *, terms: frozenset[str]) -> Ground | None:
    """The ground that says of the same act that it may be."""
    return next((g for g in stand.grounds if commitment.verb in g.possible and len(g.terms & terms) >= SAME_ACT), None)


def limiting(commitment: Commitment, stand: Stand, *, topic: frozenset[str]) -> Ground | None:
    """The ground that denies what is promised or leaves it open: of the same kind, or of the same topic."""
    wanted = _wanted(commitment)
    open_ = [ground for ground in stand.grounds if ground.is_open or ground.denied & wanted]
    same_kind = next((ground for ground in open_ if ground.kinds & wanted), None)
    return same_kind or max(
        (ground for ground in open_ if ground.terms & topic), key=lambda g: len(g.terms & topic), default=None
    )


def undecided(stand: Stand, *, topic: frozenset[str]) -> Ground | None:
    """The ground that leaves a matter of this topic to somebody's decision or to chance, by its passage's words."""
    near = {passage.name: len(passage.terms & topic) for passage in stand.passages}
    if not any(near.values()):  # other words for the same thing: what was retrieved is the topic
        near = dict.fromkeys(near, 1)
    return max(
        (ground for ground in stand.grounds if ground.is_undecided and near[ground.source.name]),
        key=lambda ground: (near[ground.source.name], len(ground.terms & topic)),
        default=None,
    )


def place_of(anchor: Anchor, stand: Stand) -> Ground | None:
    """The ground that states an anchor's value."""
    for evidence in anchor.evidence:
        for ground in stand.grounds:
            start = ground.sentence.start - SIGN
            if ground.source.name == evidence.source and start <= evidence.start < ground.sentence.end:
                return ground
    return None


def stated(value: Value, anchors: Mapping[int, Anchor]) -> Anchor | None:
    """The anchor of a value of the reply when the company, not only the customer, states it."""
    anchor = anchors.get(value.start)
    if anchor is None or not anchor.holds:
        return None
    return anchor if any(evidence.source != "input" for evidence in anchor.evidence) else None


def within_cap(value: Value, ground: Ground) -> bool:
    """Whether the ground names a limit that the amount stays under."""
    for limit in ground.source.values:
        if ground.sentence.start <= limit.start < ground.sentence.end:
            before = ground.source.raw[max(0, limit.start - 16) : limit.start].casefold().split()
            if CAPS & set(before) and _at_most(value, limit):
                return True
    return False


def allowed(commitment: Commitment, reply: Text, policy: Policy) -> bool:
    """Whether the policy lets agents promise this much of this."""
    terms = {token.term for token in reply.tokens[commitment.first : commitment.last]}
    for allowance in policy.promises:
        what = tokenise(normalise(allowance.what))
        kinds = {hit.head for hit in find(book(TABLE, *GIFTS, *DEEDS, "none"), what, 0, len(what))} - {"none"}
        named = {token.term for token in what if not token.is_stop}
        if not kinds & _wanted(commitment) and 2 * len(named & terms) < len(named):
            continue
        if allowance.up_to is None:
            return True
        limits = find_values(normalise(allowance.up_to), ())
        if all(any(_at_most(value, limit) for limit in limits) for value in commitment.amounts):
            return True
    return False


def names(hit: Hit, reply: Text, stand: Stand) -> bool:
    """Whether any ground uses the same words for a time; tomorrow is the next day."""
    words = {term(token.word) for token in reply.tokens[hit.first : hit.last] if not token.is_stop}
    if "tomorrow" in words and any({"next", term("day")} <= ground.terms for ground in stand.grounds):
        return True
    if hit.head == "now" and any(_is_prompt(ground) for ground in stand.grounds):
        return True
    return any(words <= ground.terms for ground in stand.grounds) if words else True


def _is_prompt(ground: Ground) -> bool:
    """Whether the ground speaks of the same day or of at once."""
    tokens, first, last = ground.source.tokens, ground.sentence.first, ground.sentence.last
    return bool(find(book(TABLE, "prompt"), tokens, first, last))


def _wanted(commitment: Commitment) -> frozenset[str]:
    if SUM in commitment.kinds:
        return commitment.kinds | SUMS
    return commitment.kinds | {SUM} if commitment.kinds & PAID else commitment.kinds


def _at_most(value: Value, limit: Value) -> bool:
    return same(value, limit) or any(
        isinstance(a, Measure) and isinstance(b, Measure) and same_dimension(a, b) and a.high <= b.high
        for a in value.readings
        for b in limit.readings
    )
