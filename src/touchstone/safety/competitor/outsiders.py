"""A sentence of the reply -> those it speaks of who are not the speaker: named organisations and unnamed others."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Literal, NamedTuple

from touchstone.core import resource
from touchstone.core.policy import Policy
from touchstone.core.reading import Reading, Sentence, Text, Token
from touchstone.safety.personal_data.lexicon import is_given_name
from touchstone.safety.phrasebook import Book, book, find, stems
from touchstone.text.normalise import normalise
from touchstone.text.tokens import term, tokenise

TABLE = "competitors.txt"
# "Returns (Odette Lane): …", the way help passages name whose they are.
TITLE = re.compile(r"\(([A-Z][^()\n]{1,40})\)\s{0,2}:")
# Monday.com, Booking.com: a site, whatever the words before mean.
DOMAIN = re.compile(r"\.(?:com|co|net|org|io|app)\b(?![/@])")
MAX_NAME = 4
MENU = frozenset('>›→"“”»«`[]')
QUOTES = MENU | frozenset("'‘")
SENTENCE_MARKS = frozenset(".!?:;\n•-–—*")
# Endings of common nouns: "Membership", "Deliveries" at a sentence's start are no names.
NOUN_ENDINGS = tuple("tion ment ing ship ness ity ance ence ies ed ly ers als ions ments".split())

ARTICLES = frozenset("the a an your".split())
OURS = frozenset("our my we this".split())
YOURS = frozenset("your you're you've".split())
ONE = frozenset("a an".split())
MANY = frozenset("any most many some plenty".split())
IFS = frozenset("if whether".split())
OTHER_REACH = 4
UNIT = 3
THANKS = frozenset("thank thanks".split())
THANKS_REACH = 5
LINKS = frozenset("to with at out".split())
SPEAKERS = frozenset("i i'd i'm i've i'll".split())

# volunteered: nobody but the agent names it · guess: perhaps a name · asked: the customer named it ·
# listed: the policy calls it a competitor · known: listed, and a passage or the customer names it · unnamed are
# roam: looking around as such · rival: another of the trade · any: whoever is of it · other: some shop or site
Standing = Literal["volunteered", "guess", "asked", "listed", "known", "roam", "rival", "any", "other"]


class Outsider(NamedTuple):
    """Somebody who is not the speaker: the tokens of the name, and how they come into the reply."""

    first: int
    last: int
    standing: Standing


class Familiar(NamedTuple):
    """Words that name no stranger: the company's and its passages', the customer's, and those also written small."""

    own: frozenset[str]
    asked: frozenset[str]
    plain: frozenset[str]
    capitals: frozenset[int]

    @property
    def knows_company(self) -> bool:
        """Whether anything is known of the company; otherwise every name is strange."""
        return bool(self.own)


def familiar_words(reading: Reading, policy: Policy) -> Familiar:
    """What the company, the customer and the reply itself show to be no stranger's name."""
    own = {token.word for token in tokenise(normalise(policy.company or ""))}
    own |= {token.word for domain in policy.domains for token in tokenise(normalise(domain))}
    asked: set[str] = set()
    for source in reading.sources or ():
        (asked if source.name.startswith("input") else own).update([token.word for token in source.tokens])
    if reading.question:
        asked.update([token.word for token in reading.question.tokens])
    reply = reading.reply
    capitals = frozenset([at for at, token in enumerate(reply.tokens) if _has_capital(reply, token)])
    plain = frozenset([token.word for at, token in enumerate(reply.tokens) if at not in capitals])
    return Familiar(frozenset(map(_bare, own)), frozenset(map(_bare, asked)), plain, capitals)


def find_outsiders(reply: Text, sentence: Sentence, *, familiar: Familiar, policy: Policy) -> list[Outsider]:
    """The outsiders a sentence speaks of, in order."""
    listed = [
        Outsider(hit.first, hit.last, _listed_standing(reply, hit.first, familiar))
        for hit in find(_listed(policy.competitors), reply.tokens, sentence.first, sentence.last)
        if not _is_screen(reply, hit.first, hit.last)
    ]
    taken = {at for outsider in listed for at in range(outsider.first, outsider.last)}
    named = [o for o in _names(reply, sentence, familiar) if taken.isdisjoint(range(o.first, o.last))]
    return sorted([*listed, *named, *_others(reply, sentence, familiar)])


def company_name(reading: Reading, policy: Policy) -> str | None:
    """What the speaker is called, as far as policy or passages say."""
    if policy.company:
        return policy.company
    titles = (TITLE.search(source.raw) for source in reading.sources or () if source.name.startswith("context"))
    return next((title[1] for title in titles if title), None)


def _listed_standing(reply: Text, first: int, familiar: Familiar) -> Standing:
    word = _bare(reply.tokens[first].word)
    return "known" if word in familiar.own or word in familiar.asked else "listed"


@cache
def _listed(competitors: tuple[str, ...]) -> Book:
    entries: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for name in competitors:
        words = tuple(token.term for token in tokenise(normalise(name)))
        if words:
            entries.setdefault(words[0], []).append((words, "listed"))
    return Book({first: tuple(sorted(found, key=lambda e: -len(e[0]))) for first, found in entries.items()}, 1)


def _names(reply: Text, sentence: Sentence, familiar: Familiar) -> Iterator[Outsider]:
    """Runs of capitalised words nobody at the company uses."""
    institutions = stems(TABLE, "institution")
    if not institutions.isdisjoint([token.term for token in reply.tokens[sentence.first : sentence.last]]):
        return
    at = sentence.first
    while at < sentence.last:
        end = _run(reply, at, sentence.last, familiar.capitals)
        if end - at > 1 and at == sentence.first and reply.tokens[at].term in stems(TABLE, "screen", "soft"):
            at += 1  # "Type EXTEND", "Try Acme": the verb is capitalised by its place
        if end > at:
            standing = _standing(reply, sentence, at, end, familiar)
            if standing is not None:
                is_domain = end < sentence.last and DOMAIN.match(reply.raw, reply.tokens[end - 1].end)
                yield Outsider(at, end + 1 if is_domain else end, standing)
        at = max(end, at + 1)


def _run(reply: Text, at: int, last: int, capitals: frozenset[int]) -> int:
    end = at
    while end in capitals and end < last and end - at < MAX_NAME:
        if end > at and reply.raw[reply.tokens[end - 1].end : reply.tokens[end].start] not in (" ", "&", " & ", "-"):
            break
        end += 1
    return end


def _standing(reply: Text, sentence: Sentence, first: int, last: int, familiar: Familiar) -> Standing | None:
    tokens = reply.tokens
    words = [_bare(token.word) for token in tokens[first:last]]
    idle = _idle_words()
    if DOMAIN.match(reply.raw, tokens[last - 1].end) and not familiar.own.issuperset(words):
        return "asked" if familiar.asked.issuperset(words) else "volunteered"
    strange = [w for w in words if not {w, w.removesuffix("s")} & familiar.own and w not in idle and len(w) > 1]
    if not strange or _is_screen(reply, first, last) or _is_own(reply, sentence, first, last):
        return None
    covered = sum(hit.last - hit.first for hit in find(book(TABLE, "allowed", exact=True), tokens, first, last))
    if covered == last - first:
        return None
    if all(word in familiar.asked for word in strange):
        return "asked"
    if _opens(reply, sentence, first) and not _is_brandlike(reply, first, last):
        plain = any(word in familiar.plain or word.endswith(NOUN_ENDINGS) for word in strange)
        following = tokens[last].word if last < sentence.last else ""
        if plain:
            return None
        if any(map(_is_ordinary, strange)):
            return "guess" if following in resource.group(TABLE, "serves") else None
        acts = following in resource.group(TABLE, "serves") or following in resource.group(TABLE, "states")
        return "volunteered" if acts or tokens[last - 1].word.endswith("'s") else None
    if all(word in familiar.plain for word in strange):
        return None
    return "guess" if last - first == 1 and is_given_name(words[0]) else "volunteered"


def _is_ordinary(word: str) -> bool:
    """Whether a word at a sentence's start may be English, or a person's name."""
    return term(word) in _ordinary_terms() or word in resource.words("given_names.txt")


@cache
def _ordinary_terms() -> frozenset[str]:
    return frozenset(term(word) for word in resource.words("common_words.txt"))


def _is_own(reply: Text, sentence: Sentence, first: int, last: int) -> bool:
    """Whether the words around make the name a person's or a thing of the company's: "our …", "Mr …", "… plan"."""
    following = reply.tokens[last].term if last < sentence.last else ""
    words = {token.word for token in reply.tokens[sentence.first : first]}
    preceding = reply.tokens[first - 1].word if first > sentence.first else ""
    return (
        following in stems(TABLE, "own", "amenity")
        or reply.tokens[last - 1].term in stems(TABLE, "own")
        or preceding in resource.group(TABLE, "screen")
        or reply.tokens[first].word in ("my", "our", "your")
        or (preceding in ("choose", "pick") and not words.isdisjoint(resource.group(TABLE, "screen")))
        or _is_thanked_for(reply, sentence, first)
        or preceding in ("in", "our", "mr", "mrs", "ms", "dr", "dear", "hi", "hello", "regards", "sincerely", "under")
    )


def _is_thanked_for(reply: Text, sentence: Sentence, first: int) -> bool:
    """ "Thanks for contacting …", "thank you for booking with …", "welcome to …": whom the customer turned to."""
    at = first - 1
    while at > sentence.first and reply.tokens[at].word in LINKS:
        at -= 1
    before = [token.word for token in reply.tokens[max(sentence.first, at - THANKS_REACH) : at + 1]]
    if not before or any(mark in reply.raw[reply.tokens[at].end : reply.tokens[first].start] for mark in ",;:"):
        return False
    return before[-1] == "welcome" or (before[-1].endswith("ing") and not THANKS.isdisjoint(before))


def _opens(reply: Text, sentence: Sentence, first: int) -> bool:
    """Whether the word stands where any word is capitalised."""
    if first == sentence.first:
        return True
    gap = reply.raw[reply.tokens[first - 1].end : reply.tokens[first].start].strip()
    return gap[-1:] in SENTENCE_MARKS if gap else False


def _is_brandlike(reply: Text, first: int, last: int) -> bool:
    """At a sentence's start only two capitals in a row, or one inside a word, show a name."""
    tokens = reply.tokens
    words = [reply.raw[token.start : token.end] for token in tokens[first:last]]
    return last - first > 1 or (any(char.isupper() for char in words[0][1:]) and not words[0].isupper())


def _is_screen(reply: Text, first: int, last: int) -> bool:
    """Whether the words stand in a menu path or in quotes."""
    start, end = reply.tokens[first].start, reply.tokens[last - 1].end
    before, after = reply.raw[max(0, start - 2) : start].strip(), reply.raw[end : end + 2].strip()
    return (before[-1:] in QUOTES and before != "") or (after[:1] in MENU and after != "")


def _others(reply: Text, sentence: Sentence, familiar: Familiar) -> Iterator[Outsider]:
    """ "Elsewhere", "another provider", "any chemist", "the kiosk in the station": others without a name."""
    tokens = reply.tokens
    for hit in find(book(TABLE, "elsewhere", "roam"), tokens, sentence.first, sentence.last):
        yield Outsider(hit.first, hit.last, "roam" if hit.head == "roam" else "other")
    trades, compounds = stems(TABLE, "trade"), stems(TABLE, "compound")
    for at in range(sentence.first, sentence.last):
        following = tokens[at + 1].term if at + 1 < sentence.last else ""
        if (tokens[at].term in trades or term(_bare(tokens[at].word)) in trades) and following not in compounds:
            first = max(sentence.first, at - OTHER_REACH)
            standing = _unnamed(reply, sentence, first, at, familiar)
            if standing is not None:
                article = (i for i in range(first, at) if tokens[i].word in ARTICLES)
                yield Outsider(next(article, at), at + 1, standing)


def _unnamed(reply: Text, sentence: Sentence, first: int, at: int, familiar: Familiar) -> Standing | None:
    """What a trade without a name is to the company: a rival of its kind, some other place, or nobody."""
    tokens = reply.tokens
    before = tokens[first:at]
    words = {token.word for token in before}
    if words & OURS or words & IFS:
        return None
    amenity = tokens[at].term in stems(TABLE, "amenity")
    one = any(token.word in ONE for token in before[-2:])
    if any(token.term in stems(TABLE, "other") for token in before[-2:]) and not (amenity or words & YOURS):
        return "rival"
    if words & MANY:
        return "any"
    near = bool(find(book(TABLE, "nearby"), tokens, at, min(at + 6, sentence.last)))
    placed = bool(words & ARTICLES) and tokens[at].word not in familiar.own
    if placed and near and not amenity:
        return "rival"
    if placed and (near or tokens[at].word not in familiar.asked):
        return "any" if one else "other"
    return "any" if one else None


def _has_capital(reply: Text, token: Token) -> bool:
    """Boots, but also pCloud and easyJet; not I, nor kWh."""
    if reply.raw[token.start].isupper():
        return token.word not in SPEAKERS
    written = reply.raw[token.start : token.end]
    return len(written) > UNIT and written.lower() != written


def _bare(word: str) -> str:
    return word.partition("'")[0] if "'" in word else word


@cache
def _idle_words() -> frozenset[str]:
    allowed = frozenset(phrase for phrase in resource.group(TABLE, "allowed") if " " not in phrase)
    return resource.words("stopwords.txt") | resource.words("filler.txt") | allowed
