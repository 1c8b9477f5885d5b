"""A text's clauses -> claims: what it asserts as fact, as subject-verb-object triples with terms to check."""

from collections.abc import Iterable, Sequence

from touchstone.core import resource
from touchstone.core.reading import Claim, Clause, Text, Token, Word, holding
from touchstone.text.tokens import term

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


def find_claims(reply: Text, clauses: Iterable[Clause]) -> tuple[Claim, ...]:
    """What the clauses of a reply claim, in order; a claim made twice in a row is one."""
    claims: list[Claim] = []
    topic: tuple[str, ...] = ()
    for clause in clauses:
        subject = _subject(clause, reply)
        if clause.subject[0].text in PRONOUNS:
            subject = topic
        topic = subject or topic
        claim = _claim(clause, reply, subject)
        if claim is not None and (not claims or _key(claims[-1]) != _key(claim)):
            claims.append(claim)
    return tuple(claims)


def _subject(clause: Clause, reply: Text) -> tuple[str, ...]:
    """The subject's terms; persons have none, nor have pronouns, which stand for the topic."""
    head = clause.subject[0].text
    is_ourselves = head in OURSELVES and len(clause.subject) == 1
    return () if is_ourselves or head in PERSONS | PRONOUNS else _terms(clause.subject, reply)


def _claim(clause: Clause, reply: Text, subject: tuple[str, ...]) -> Claim | None:
    """A checkable fact, or None: courtesies, guesses about feelings, conditions and bare values are none."""
    if clause.conditional or clause.hedged or _is_remark(clause):
        return None
    object_ = tuple(t for t in _terms(clause.object, reply) if t not in subject)
    says_exists = clause.lemma == "be" and clause.object[0].text == "available"
    if (not object_ and not (subject and says_exists)) or _is_thin(clause, subject, object_):
        return None
    words = [*clause.subject, clause.verb, *clause.object]
    return Claim(
        start=min(word.start for word in words),
        end=max(word.end for word in words),
        subject=subject,
        verb=clause.lemma,
        verb_terms=tuple(dict.fromkeys((term(clause.lemma), term(clause.verb.text)))),
        object=object_,
        negated=clause.negated,
        surface={token.term: token.word for word in reversed(words) for token in _tokens(word, reply)},
    )


def _is_remark(clause: Clause) -> bool:
    """The speaker's own acts, feelings of either side, and opinions: `you're in good time`, `that is annoying`."""
    subject = clause.subject[0].text
    if subject in SPEAKER or not subject[0].isalnum():
        return True
    if clause.preposition and len(clause.object) == 1 and clause.object[0].text in OURSELVES:
        return True
    is_opinion = any(word.text in resource.words("opinions.txt") for word in clause.object[:2])
    if is_opinion and clause.lemma in ("be", "sound", "seem", "look", "feel"):
        return True
    if subject not in PERSONS:
        return False
    courtesies = resource.group("modality.txt", "courtesy_verb")
    return (clause.lemma == "be" and subject != "there") or clause.lemma in courtesies


def _is_thin(clause: Clause, subject: tuple[str, ...], object_: tuple[str, ...]) -> bool:
    """`It is due`, `you pay in total`: nothing is left to look for in a source."""
    if clause.preposition and clause.object[0].text in resource.group("modality.txt", "adverbial"):
        return True
    exists = clause.subject[0].text == "there"
    return clause.lemma == "be" and not subject and len(object_) == 1 and not exists


def _terms(words: tuple[Word, ...], reply: Text) -> tuple[str, ...]:
    """The content terms of a phrase; figures and words inside a typed value are counted there, not here."""
    stop, filler = resource.words("stopwords.txt"), resource.words("filler.txt")
    tokens = (token for word in words for token in _tokens(word, reply))
    said = (token for token in tokens if token.word not in stop and token.word not in filler)
    kept = (t.term for t in said if not (holding(reply.values, t.start) or holding(reply.contacts, t.start)))
    return tuple(dict.fromkeys(kept))


def _tokens(word: Word, reply: Text) -> Sequence[Token]:
    """The tokens a parsed word covers: the parser cuts words otherwise (U.S., onsite's)."""
    first, last = reply.token_range(word.start, word.end)
    return reply.tokens[first:last]


def _key(claim: Claim) -> tuple[object, ...]:
    return claim.subject, claim.verb_terms, claim.object, claim.negated
