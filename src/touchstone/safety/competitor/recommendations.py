"""Sentences of the reply that send the customer to another company -> competitor recommendations."""

from itertools import pairwise
from typing import NamedTuple

from touchstone.core import resource
from touchstone.core.policy import Policy
from touchstone.core.reading import Reading, Sentence, Text
from touchstone.core.result import Anchor, Violation
from touchstone.safety.competitor.outsiders import TABLE, Outsider, company_name, familiar_words, find_outsiders
from touchstone.safety.phrasebook import Hit, book, find, sentences, stems

# Words between a lead and the name it leads to: "get a cheap … SIM", "switch to a provider like".
LEAD_REACH = 4
SOFT_REACH = 2
ACQUIRE_REACH = 9
NEGATION_REACH = 5
PLACES = frozenset("from at on with through via off".split())
NEGATIONS = frozenset(
    "not no never can't cannot don't doesn't won't wouldn't couldn't shouldn't isn't aren't unable without "
    "avoid whether neither nobody before".split()
)
# "Import from", "unlike", "than": the name is where the customer comes from or what is compared against.
ORIGINS = frozenset("from than unlike versus vs against".split())
STRANGERS = frozenset({"volunteered", "listed", "guess"})
UNNAMED = frozenset({"roam", "rival", "any", "other"})
# What one also does with another company to settle the matter at hand: "contact the other carrier".
DEALINGS = frozenset("contact call ring see use using visit check".split())
# Words around a place that make it advice: "you'd earn more at …", "I'd look on …".
FRAMES = frozenset(
    "you'd you'll i'd could should would might maybe perhaps just simply honestly can better more less try".split()
)
# A name as far as this from what the customer did before, or who made a thing, belongs to that.
HISTORY_REACH = 7
# "… does it", "… has some": what the customer came for, had from another.
SUBSTITUTES = frozenset("it this that them these those one ones some something plenty what same you".split())
RELATIVES = frozenset("that who which".split())
# Verbs that offer the customer nothing.
MODALS = frozenset("would will can could were charges takes take".split())
SERVING_REACH = 4
PROPOSALS = frozenset({("why", "not"), ("how", "about"), ("what", "about"), ("have", "you")})


# "I can't predict whether …": no verdict is given.
DECLINES = frozenset("can't cannot couldn't won't wouldn't not don't".split())
VERDICTS = frozenset("tell say predict judge compare vouch speak comment know advise".split())
CONDITIONS = frozenset("if whether whatever wherever unless".split())


class Signals(NamedTuple):
    """What around an outsider speaks for a recommendation."""

    lead: Hit | None
    cues: frozenset[str]
    serves: bool
    back: Sentence | None


class Steer(NamedTuple):
    """Where a recommendation stands and whom it names."""

    first: int
    last: int
    name: str


def competitor_recommendation(
    reading: Reading, anchors: tuple[Anchor, ...] | None, *, policy: Policy
) -> tuple[Violation, ...]:
    """Steering the customer to another company's product or service; naming or comparing one is none."""
    reply = reading.reply
    familiar = familiar_words(reading, policy)
    guarded = not familiar.knows_company
    found: list[Steer] = []
    pieces = list(sentences(reply))
    for at, sentence in enumerate(pieces):
        if reply.raw[sentence.start : sentence.end].endswith("?") and not _proposes(reply, sentence):
            continue
        following = pieces[at + 1] if at + 1 < len(pieces) else None
        for outsider in find_outsiders(reply, sentence, familiar=familiar, policy=policy):
            signals = _signals(reply, sentence, following, outsider)
            screens = _is_walkthrough(reply, sentence)
            if _recommends(reply, sentence, outsider, signals, guarded=guarded, screens=screens):
                found.append(_steer(reply, sentence, outsider, signals))
                break
    company = company_name(reading, policy)
    return tuple(_violation(reply, steer, company) for steer in found)


def _recommends(
    reply: Text, sentence: Sentence, outsider: Outsider, signals: Signals, *, guarded: bool, screens: bool
) -> bool:
    """Whether the signals suffice for an outsider of this standing; more of them where any name is strange."""
    cues, lead, standing = signals.cues, signals.lead, outsider.standing
    firm = lead is not None and lead.head == "firm"
    liked = bool(cues & {"better", "praise"})
    against_us = "contrast" in cues
    if "advice" in cues:
        return True
    if standing == "volunteered" and screens:
        praised = liked and bool(signals.back or cues & {"contrast", "personal"})
        return praised or (firm and bool(cues)) or (lead is not None and _describes(reply, sentence, outsider))
    if standing == "volunteered" and guarded:
        praised = liked and bool(signals.back or lead or signals.serves or "personal" in cues)
        return against_us or praised or firm or (lead is not None and _describes(reply, sentence, outsider))
    if standing in ("volunteered", "listed"):
        return bool(lead or signals.back or cues or signals.serves)
    if standing == "guess":
        return firm or bool(signals.back or cues & {"better", "praise", "contrast", "personal"})
    if standing in UNNAMED:
        return _sends_to_unnamed(reply, sentence, outsider, signals)
    return firm or bool(lead and (liked or against_us)) or (signals.back is not None and liked)


def _sends_to_unnamed(reply: Text, sentence: Sentence, outsider: Outsider, signals: Signals) -> bool:
    """Whether others without a name are recommended: a rival by any clear sign, another place by more than one."""
    cues, lead = signals.cues, signals.lead
    liked = bool(cues & {"better", "praise"})
    against_us = "contrast" in cues
    if outsider.standing == "roam":
        return not _negated(reply, sentence, outsider.first)
    if outsider.standing == "rival":
        sends = lead is not None and reply.tokens[lead.first].word not in DEALINGS
        return bool(sends or "better" in cues or against_us or signals.serves or signals.back)
    if outsider.standing == "any" and (against_us or "better" in cues):
        return True
    return bool(
        (signals.back and (liked or against_us or _is_subject(reply, sentence, outsider)))
        or (lead and (against_us or "better" in cues))
        or (against_us and liked)
        or ("better" in cues and bool(find(book(TABLE, "elsewhere"), reply.tokens, outsider.first, outsider.last)))
    )


def _proposes(reply: Text, sentence: Sentence) -> bool:
    """ "Why not try …?" asks nothing."""
    words = [token.word for token in reply.tokens[sentence.first : sentence.first + 2]]
    return tuple(words) in PROPOSALS


def _signals(reply: Text, sentence: Sentence, following: Sentence | None, outsider: Outsider) -> Signals:
    if _is_history(reply, sentence, outsider) or _is_disclaimed(reply, sentence, outsider):
        return Signals(None, frozenset(), serves=False, back=None)
    lead = _lead(reply, sentence, outsider)
    cues = set(_cues(reply, sentence, outsider))
    if following is not None and outsider.standing in STRANGERS | {"other"}:
        cues |= _cues(reply, following, None) & {"better", "advice", "contrast", "personal"}
    if _is_condition(reply, sentence, outsider) and not (lead and lead.head == "firm" and "better" in cues):
        return Signals(None, frozenset(), serves=False, back=None)
    if lead is None and _is_origin(reply, sentence, outsider):
        return Signals(None, frozenset(), serves=False, back=None)
    back = _points_back(reply, sentence, following, outsider)
    return Signals(lead, frozenset(cues), _serves(reply, sentence, outsider), back)


def _is_origin(reply: Text, sentence: Sentence, outsider: Outsider) -> bool:
    """Whether the name follows "from", "than" or "unlike", also after a place or as the second of two."""
    tokens, at = reply.tokens, outsider.first - 1
    after = tokens[outsider.last].word if outsider.last < sentence.last else ""
    if at > sentence.first and tokens[at].word in ("or", "and"):
        at -= 1
        while at > sentence.first and tokens[at].word not in ORIGINS and outsider.first - at < LEAD_REACH:
            at -= 1
    if at > sentence.first and tokens[at].word in ("the", "a", "an"):
        at -= 1
    if at > sentence.first and tokens[at].word in PLACES and tokens[at - 1].word in ORIGINS | {"as"}:
        return True
    return at >= sentence.first and tokens[at].word in ORIGINS and after not in ("would", "might", "could")


def _serves(reply: Text, sentence: Sentence, outsider: Outsider) -> bool:
    """Whether the outsider is said to have or do something; one without a name must do what the customer came for."""
    tokens, last = reply.tokens, outsider.last
    serves = resource.group(TABLE, "serves")
    if outsider.standing not in UNNAMED:
        near = find(book(TABLE, "nearby"), tokens, last, min(last + SERVING_REACH, sentence.last))
        if near and near[0].first == last:
            return True
        while last < sentence.last and tokens[last].word in resource.group(TABLE, "adverb"):
            last += 1
        return last < sentence.last and tokens[last].word in serves
    if _negated(reply, sentence, outsider.first):
        return False
    words = [token.word for token in tokens[last : min(last + 2 * SERVING_REACH, sentence.last)]]
    at = next((i for i, word in enumerate(words) if word in serves and word not in MODALS), None)
    if at is None:
        return False
    return not SUBSTITUTES.isdisjoint(words[at + 1 : at + 1 + SERVING_REACH]) or not RELATIVES.isdisjoint(words[:at])


def _is_history(reply: Text, sentence: Sentence, outsider: Outsider) -> bool:
    """Whether the name is where the customer was before, who made a thing, or what the customer spoke of."""
    tokens = reply.tokens
    first = max(sentence.first, outsider.first - HISTORY_REACH)
    return any(
        not any(mark in reply.raw[tokens[hit.last - 1].end : tokens[outsider.first].start] for mark in ";:.!?")
        for hit in find(book(TABLE, "history", exact=True), tokens, first, outsider.first)
    )


def _is_disclaimed(reply: Text, sentence: Sentence, outsider: Outsider) -> bool:
    """ "I can't tell you how … would do": what the speaker declines to say of the other."""
    words = [token.word for token in reply.tokens[sentence.first : outsider.first]]
    return any(
        before in DECLINES and bool(VERDICTS.intersection(words[at + 1 : at + 3])) for at, before in enumerate(words)
    )


def _is_condition(reply: Text, sentence: Sentence, outsider: Outsider) -> bool:
    """ "If you have a quote from …", "should you be listed on …": what may be so already, and nobody is sent there."""
    tokens = reply.tokens
    for at in range(outsider.first - 1, sentence.first - 1, -1):
        if any(mark in reply.raw[tokens[at].end : tokens[at + 1].start] for mark in ",;:("):
            return False
        if tokens[at].word in CONDITIONS or (tokens[at].word == "should" and tokens[at + 1].word == "you"):
            return True
    return False


def _is_walkthrough(reply: Text, sentence: Sentence) -> bool:
    """Whether the sentence leads through screens, where buttons and pages are written like names."""
    screens = resource.group(TABLE, "screen")
    words = [token.word for token in reply.tokens[sentence.first : sentence.last]]
    opening = any(word == "open" and after in ("a", "an") for word, after in pairwise(words))
    return not opening and any(word in screens or (word == "log" and "in" in words) for word in words)


def _lead(reply: Text, sentence: Sentence, outsider: Outsider) -> Hit | None:
    """The words of recommendation that lead to the name, the firmest first."""
    tokens = reply.tokens
    before = tokens[outsider.first - 1].word if outsider.first > sentence.first else ""
    first = max(sentence.first, outsider.first - LEAD_REACH - 4)
    hits = [
        hit
        for hit in find(book(TABLE, "firm", "soft"), tokens, first, outsider.first)
        if outsider.first - hit.last <= (LEAD_REACH if hit.head == "firm" else SOFT_REACH) and before not in ORIGINS
    ]
    if before in PLACES or _is_any_place(reply, sentence, outsider):
        acquire = stems(TABLE, "acquire")
        first = max(sentence.first, outsider.first - ACQUIRE_REACH)
        hits += [Hit("soft", at, at + 1) for at in range(first, outsider.first - 1) if tokens[at].term in acquire]
        if before not in ORIGINS and outsider.standing in ("volunteered", "listed"):
            hits += [Hit("soft", at, at + 1) for at in range(first, outsider.first - 1) if tokens[at].word in FRAMES]
    open_ = [
        hit for hit in hits if not _breaks(reply, hit.last, outsider.first) and not _negated(reply, sentence, hit.first)
    ]
    return min(open_, key=lambda hit: (hit.head != "firm", -hit.first), default=None)


def _is_any_place(reply: Text, sentence: Sentence, outsider: Outsider) -> bool:
    """ "In any other chemist's": the place stands before the words for others."""
    before = [
        token.word for token in reply.tokens[max(sentence.first, outsider.first - SERVING_REACH) : outsider.first]
    ]
    if outsider.standing == "rival":
        return not (PLACES | {"in"}).isdisjoint(before)
    return outsider.standing in UNNAMED and before[-1:] == ["in"]


def _cues(reply: Text, sentence: Sentence, outsider: Outsider | None) -> frozenset[str]:
    hits = find(
        book(TABLE, "praise", "better", "contrast", "personal", "advice"), reply.tokens, sentence.first, sentence.last
    )
    return frozenset(
        hit.head
        for hit in hits
        if not (outsider and outsider.first <= hit.first < outsider.last) and not _negated(reply, sentence, hit.first)
    )


def _points_back(reply: Text, sentence: Sentence, following: Sentence | None, outsider: Outsider) -> Sentence | None:
    """The sentence, this or the next, that sends the customer "there" or "to them"."""
    steering = stems(TABLE, "steer")
    for place in filter(None, (sentence, following)):
        begin = outsider.last if place is sentence else place.first
        for hit in find(book(TABLE, "there"), reply.tokens, begin, place.last):
            window = reply.tokens[max(begin, hit.first - LEAD_REACH - 1) : hit.first]
            if any(token.term in steering for token in window) and not _negated(reply, place, hit.first):
                return place
    return None


def _describes(reply: Text, sentence: Sentence, outsider: Outsider) -> bool:
    """Whether the sentence goes on to say what they have."""
    after = {token.word for token in reply.tokens[outsider.last : sentence.last]}
    return not after.isdisjoint({"their", "they", "they've", "they're", "theirs", "they'll"})


def _is_subject(reply: Text, sentence: Sentence, outsider: Outsider) -> bool:
    """Whether the other is who or where the sentence is about: "the kiosk will do it"."""
    return bool(find(book(TABLE, "nearby"), reply.tokens, outsider.first, sentence.last))


def _negated(reply: Text, sentence: Sentence, at: int) -> bool:
    tokens = reply.tokens
    for near in range(at - 1, max(sentence.first, at - NEGATION_REACH) - 1, -1):
        if any(mark in reply.raw[tokens[near].end : tokens[near + 1].start] for mark in ".!?;:"):
            return False
        if tokens[near].word in NEGATIONS and tokens[max(near - 1, 0)].word != "why":
            return True
    return False


def _breaks(reply: Text, first: int, last: int) -> bool:
    """Whether a comma, colon or bracket stands between two tokens."""
    gaps = (reply.raw[reply.tokens[at - 1].end : reply.tokens[at].start] for at in range(first, last + 1))
    return any(mark in gap for gap in gaps for mark in ",;:(>")


def _steer(reply: Text, sentence: Sentence, outsider: Outsider, signals: Signals) -> Steer:
    name = reply.raw[reply.tokens[outsider.first].start : reply.tokens[outsider.last - 1].end]
    return Steer(sentence.first, (signals.back or sentence).last, name)


def _violation(reply: Text, steer: Steer, company: str | None) -> Violation:
    start, end = reply.tokens[steer.first].start, reply.tokens[steer.last - 1].end
    reason = f"steers the customer to '{steer.name}'" + (f" instead of {company}" if company else "")
    return Violation("competitor_recommendation", reply.raw[start:end], start, end, reason)
