"""The reply -> claims: what it asserts as fact, as subject-verb-object triples with the terms to check them by."""

from collections.abc import Iterator

from touchstone.core import resource
from touchstone.core.reading import Claim, Sentence, Text
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


def find_claims(reply: Text) -> tuple[Claim, ...]:
    """The reply's claims in order; sentences that cannot hold one are not parsed."""
    pieces = [
        piece for sentence in reply.sentences if _may_claim(reply, sentence) for piece in _pieces(reply, sentence)
    ]
    parsed = propositions([reply.raw[start:end] for start, end in pieces])
    claims: list[Claim] = []
    topic: tuple[str, ...] = ()
    for (start, _), found in zip(pieces, parsed, strict=True):
        for proposition in found:
            subject, is_pronoun = _subject(proposition, reply, start)
            if subject and not is_pronoun:
                topic = subject
            claim = _claim(proposition, reply, start, topic if is_pronoun else subject)
            if claim is not None and (not claims or _key(claims[-1]) != _key(claim)):
                claims.append(claim)
    return tuple(claims)


def _may_claim(reply: Text, sentence: Sentence) -> bool:
    """Not a question, not too short, and about something: a sentence of courtesy and function words asserts nothing."""
    tokens = reply.tokens[sentence.first : sentence.last]
    if len(tokens) < MIN_WORDS or reply.raw[sentence.start : sentence.end].rstrip().endswith("?"):
        return False
    filler = resource.words("filler.txt")
    return sum(not token.is_stop and token.word not in filler for token in tokens) >= 1


def _pieces(reply: Text, sentence: Sentence) -> Iterator[tuple[int, int]]:
    if sentence.last - sentence.first <= MAX_WORDS:
        yield sentence.start, sentence.end
        return
    for first in range(sentence.first, sentence.last, MAX_WORDS):
        last = min(first + MAX_WORDS, sentence.last)
        yield reply.tokens[first].start, reply.tokens[last - 1].end


def _subject(proposition: Proposition, reply: Text, offset: int) -> tuple[tuple[str, ...], bool]:
    """The subject's terms, and whether it is a pronoun that stands for the topic; persons have no terms."""
    head = proposition.subject[0].text
    if head in PERSONS or (head in OURSELVES and len(proposition.subject) == 1):
        return (), False
    if head in PRONOUNS:
        return (), True
    return _terms(proposition.subject, reply, offset), False


def _claim(proposition: Proposition, reply: Text, offset: int, subject: tuple[str, ...]) -> Claim | None:
    """A checkable fact, or None: courtesies, guesses about feelings, conditions and bare values are none."""
    if proposition.conditional or proposition.hedged or _is_remark(proposition):
        return None
    object_ = tuple(t for t in _terms(proposition.object, reply, offset) if t not in subject)
    if not object_ and not (subject and _says_exists(proposition)):
        return None
    words = [*proposition.subject, proposition.verb, *proposition.object]
    return Claim(
        start=offset + min(word.start for word in words),
        end=offset + max(word.end for word in words),
        subject=subject,
        verb=proposition.lemma,
        verb_term=term(proposition.lemma),
        object=object_,
        negated=proposition.negated,
        surface={term(word.text): word.text for word in reversed(words)},
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


def _says_exists(proposition: Proposition) -> bool:
    return proposition.lemma == "be" and proposition.object[0].text == "available"


def _is_opinion(words: tuple[Word, ...]) -> bool:
    opinions = resource.words("opinions.txt")
    return words[0].text in opinions or (len(words) > 1 and words[1].text in opinions)


def _terms(words: tuple[Word, ...], reply: Text, offset: int) -> tuple[str, ...]:
    """The content terms of a phrase; figures and words inside a typed value are counted there, not here."""
    stop = resource.words("stopwords.txt") | resource.words("filler.txt")
    spans = [(v.start, v.end) for v in reply.values] + [(c.start, c.end) for c in reply.contacts]
    kept = (
        term(word.text)
        for word in words
        if word.text not in stop
        and word.text[0].isalnum()
        and not any(start <= offset + word.start < end for start, end in spans)
    )
    return tuple(dict.fromkeys(kept))


def _key(claim: Claim) -> tuple[object, ...]:
    return claim.subject, claim.verb_term, claim.object, claim.negated
