"""The reply -> claims: what it asserts as fact, as subject-verb-object triples with the terms to check them by."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from touchstone.core import resource
from touchstone.core.reading import Claim, Contact, Sentence, Span, Text, Token, Value
from touchstone.text.normalise import Normal, normalise
from touchstone.text.parse import Proposition, Word, propositions
from touchstone.text.tokens import term

MIN_WORDS = 3
# Longer "sentences" are no prose; they are parsed in pieces so that the cost stays linear.
MAX_WORDS = 120
# What the agent does or feels is an act or a courtesy; what `we` and `you` do or may do is policy.
SPEAKER = frozenset({"i", "me", "let"})
PERSONS = frozenset(
    "we you us one there people someone anyone everyone nobody somebody anybody everybody nothing".split()
)
PRONOUNS = frozenset("it they this that these those he she them which who".split())
# "The hotel", "this shop": the company speaking of itself.
OURSELVES = frozenset(
    "company hotel restaurant store shop place location establishment business property site venue".split()
)


class ParsedStretch:
    """A stretch of the reply as it is parsed, in one spelling, with the way back to the reply's own offsets."""

    __slots__ = ("_normal", "_start", "text")

    def __init__(self, normal: Normal, start: int, end: int) -> None:
        self._normal = normal
        self._start = normal.at(start)
        self.text = normal.text[self._start : normal.at(end)]

    def span(self, word: Word) -> Span:
        return self._normal.span(self._start + word.start, self._start + word.end)


def find_claims(reply: Text) -> tuple[Claim, ...]:
    """The reply's claims in order; sentences that cannot hold one are not parsed."""
    pieces = _pieces(reply)
    parsed = propositions([piece.text for piece in pieces])
    claims: list[Claim] = []
    topic: tuple[str, ...] = ()
    for piece, found in zip(pieces, parsed, strict=True):
        for proposition in found:
            subject, is_pronoun = _subject(proposition, reply, piece)
            if subject and not is_pronoun:
                topic = subject
            claim = _claim(proposition, reply, piece, topic if is_pronoun else subject)
            if claim is not None and (not claims or _key(claims[-1]) != _key(claim)):
                claims.append(claim)
    return tuple(claims)


def parse_ahead(replies: Iterable[Text]) -> None:
    """Parse the sentences of several replies together, so that `find_claims` finds them ready: the same, but faster."""
    propositions([piece.text for reply in replies for piece in _pieces(reply)])


def _pieces(reply: Text) -> list[ParsedStretch]:
    normal = normalise(reply.raw)
    return [
        ParsedStretch(normal, *span)
        for sentence in reply.sentences
        if _may_claim(reply, sentence)
        for span in _spans(reply, sentence)
    ]


def _may_claim(reply: Text, sentence: Sentence) -> bool:
    """Not a question, not too short, and about something: a sentence of courtesy and function words asserts nothing."""
    tokens = reply.tokens[sentence.first : sentence.last]
    if len(tokens) < MIN_WORDS or reply.raw[sentence.start : sentence.end].rstrip().endswith("?"):
        return False
    filler = resource.words("filler.txt")
    return sum(not token.is_stop and token.word not in filler for token in tokens) >= 1


def _spans(reply: Text, sentence: Sentence) -> Iterator[Span]:
    if sentence.last - sentence.first <= MAX_WORDS:
        yield Span(sentence.start, sentence.end)
        return
    for first in range(sentence.first, sentence.last, MAX_WORDS):
        last = min(first + MAX_WORDS, sentence.last)
        yield Span(reply.tokens[first].start, reply.tokens[last - 1].end)


def _subject(proposition: Proposition, reply: Text, piece: ParsedStretch) -> tuple[tuple[str, ...], bool]:
    """The subject's terms, and whether it is a pronoun that stands for the topic; persons have no terms."""
    head = proposition.subject[0].text
    if head in PERSONS or (head in OURSELVES and len(proposition.subject) == 1):
        return (), False
    if head in PRONOUNS:
        return (), True
    return _terms(proposition.subject, reply, piece), False


def _claim(proposition: Proposition, reply: Text, piece: ParsedStretch, subject: tuple[str, ...]) -> Claim | None:
    """A checkable fact, or None: courtesies, guesses about feelings, conditions and bare values are none."""
    if proposition.conditional or proposition.hedged or _is_remark(proposition):
        return None
    object_ = tuple(t for t in _terms(proposition.object, reply, piece) if t not in subject)
    if not object_ and not (subject and _says_exists(proposition)):
        return None
    if _is_thin(proposition, subject, object_):
        return None
    words = [*proposition.subject, proposition.verb, *proposition.object]
    return Claim(
        start=min(piece.span(word).start for word in words),
        end=max(piece.span(word).end for word in words),
        subject=subject,
        verb=proposition.lemma,
        verb_terms=tuple(dict.fromkeys((term(proposition.lemma), term(proposition.verb.text)))),
        object=object_,
        negated=proposition.negated,
        surface={token.term: token.word for word in reversed(words) for token in _tokens(word, reply, piece)},
    )


def _is_remark(proposition: Proposition) -> bool:
    """The speaker's own acts, feelings of either side, and opinions: `you're in good time`, `that is annoying`."""
    subject = proposition.subject[0].text
    if subject in SPEAKER or not subject[0].isalnum():
        return True
    if proposition.preposition and len(proposition.object) == 1 and proposition.object[0].text in OURSELVES:
        return True
    if proposition.lemma in ("be", "sound", "seem", "look", "feel") and _is_opinion(proposition.object):
        return True
    if subject not in PERSONS:
        return False
    return (proposition.lemma == "be" and subject != "there") or proposition.lemma in resource.group(
        "modality.txt", "courtesy_verb"
    )


def _is_thin(proposition: Proposition, subject: tuple[str, ...], object_: tuple[str, ...]) -> bool:
    """`It is due`, `you pay in total`: nothing is left to look for in a source."""
    if proposition.preposition and proposition.object[0].text in resource.group("modality.txt", "adverbial"):
        return True
    exists = proposition.subject[0].text == "there"
    return proposition.lemma == "be" and not subject and len(object_) == 1 and not exists


def _says_exists(proposition: Proposition) -> bool:
    return proposition.lemma == "be" and proposition.object[0].text == "available"


def _is_opinion(words: tuple[Word, ...]) -> bool:
    opinions = resource.words("opinions.txt")
    return words[0].text in opinions or (len(words) > 1 and words[1].text in opinions)


def _terms(words: tuple[Word, ...], reply: Text, piece: ParsedStretch) -> tuple[str, ...]:
    """The content terms of a phrase; figures and words inside a typed value are counted there, not here."""
    stop, filler = resource.words("stopwords.txt"), resource.words("filler.txt")
    tokens = (token for word in words for token in _tokens(word, reply, piece))
    kept = (t.term for t in tokens if t.word not in stop and t.word not in filler and not _is_taken(t, reply))
    return tuple(dict.fromkeys(kept))


def _tokens(word: Word, reply: Text, piece: ParsedStretch) -> Sequence[Token]:
    """The tokens a parsed word covers: the parser cuts words otherwise (U.S., onsite's)."""
    start, end = piece.span(word)
    first = bisect_left(reply.tokens, start, key=lambda token: token.start)
    last = bisect_left(reply.tokens, end, lo=first, key=lambda token: token.start)
    return reply.tokens[first:last]


def _is_taken(token: Token, reply: Text) -> bool:
    """Whether a typed value or contact holds the token."""
    return _holds(reply.values, token.start) or _holds(reply.contacts, token.start)


def _holds(spans: Sequence[Value] | Sequence[Contact], start: int) -> bool:
    at = bisect_right(spans, start, key=lambda span: span.start) - 1
    return at >= 0 and start < spans[at].end


def _key(claim: Claim) -> tuple[object, ...]:
    return claim.subject, claim.verb_terms, claim.object, claim.negated
