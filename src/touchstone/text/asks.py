"""The customer's message -> asks: each question or request, several to a sentence if need be, punctuated or not."""

from collections.abc import Iterator, Sequence

from touchstone.core import resource
from touchstone.core.reading import Ask, Sentence, Text
from touchstone.text.patterns import leading

FILE = "asks.txt"
LONGEST_PHRASE = 6
# An interrogative this close to its piece's start already governs the verb that follows: "what time is it".
INTERROGATIVE_REACH = 4
# So many joints may come before or after an ask: `ok so and also`.
MAX_JOINTS = 6
BEHIND = frozenset({"and", "also", "or", "but", "plus"})
# A piece of a message: its tokens, half-open.
Piece = tuple[int, int]


def find_asks(question: Text, earlier: Sequence[Text] = ()) -> tuple[Ask, ...]:
    """The asks in order; a message that only states a problem asks for that problem to be solved.

    In a chat, a message that asks nothing itself leaves open what the customer asked last.
    """
    if asked := _asked(question):
        return tuple(_ask(question, piece) for piece in asked)
    for text in reversed(earlier):
        if text.speaker == "customer" and (asked := _asked(text)):
            return tuple(_ask(text, piece) for piece in asked)
    return tuple(_ask(question, piece) for piece in _problem(question))


def asks_outright(text: Text) -> bool:
    """Whether the text has a question or request, and does not only state something."""
    return bool(_asked(text))


def _asked(question: Text) -> list[Piece]:
    words = [token.word for token in question.tokens]
    pieces = [piece for sentence in question.sentences for piece in _pieces(question, words, sentence)]
    return [piece for piece in pieces if _asks(question, words, piece)]


def _pieces(question: Text, words: Sequence[str], sentence: Sentence) -> Iterator[Piece]:
    """A sentence cut where another ask opens."""
    start = sentence.first
    for at in range(sentence.first + 1, sentence.last):
        if _cuts(question, words, start, at, sentence.last):
            yield start, at
            start = at
    yield start, sentence.last


def _cuts(question: Text, words: Sequence[str], start: int, at: int, end: int) -> bool:
    """Whether an ask of its own opens at a token, after the piece that goes from `start` to there."""
    opening = words[at : min(end, at + LONGEST_PHRASE)]
    first, last = _trim(words, (start, at))
    led = words[first : min(last, first + LONGEST_PHRASE)]
    if not led:
        return _is_inverted(opening) or opening[0] in _group("imperative")
    if (led[0] in _group("interrogative") and len(led) < INTERROGATIVE_REACH) or _opens(led, "condition"):
        return False
    if len(led) <= 2 and _is_inverted(led):
        return False  # "could you | tell me"
    if not _is_parted(question, at):
        inverted = len(opening) > 1 and opening[0] in _group("inverting") and opening[1] in _group("pronoun")
        return _opens(opening, "wish") or (inverted and words[at - 1] not in _group("interrogative"))
    if _is_inverted(opening) or _opens(opening, "wish") or opening[0] in _group("interrogative"):
        return True
    commands = led[0] in _group("imperative") | _group("please")
    return (commands and opening[0] in _group("imperative")) or (opening[0] in _group("please") and len(opening) > 1)


def _is_parted(question: Text, at: int) -> bool:
    """Whether a comma, dash or joint comes before the token."""
    before = question.tokens[at - 1]
    gap = question.raw[before.end : question.tokens[at].start]
    joined = before.word in _group("joint") or (before.word in ("so", "not") and question.tokens[at - 2].word == "if")
    return joined or any(mark in gap for mark in ",;:-–—/(")


def _is_inverted(words: Sequence[str]) -> bool:
    """`can I`, `is breakfast`, `how do I`, `what time is`: a question's word order at the start of a piece."""
    if len(words) < 2:
        return False
    if words[0] in _group("auxiliary"):
        return words[0] not in ("have", "has") or words[1] in _group("pronoun")
    if words[0] not in _group("interrogative"):
        return False
    contracted = "'" in words[0] or words[0] in ("whats", "wheres", "hows")
    return contracted or not _group("auxiliary").isdisjoint(words[1:4])


def _asks(question: Text, words: Sequence[str], piece: Piece) -> bool:
    first, last = _trim(words, piece)
    said = words[first:last]
    if not said or (_content(question, first, last) == 0 and not _is_inverted(said)):
        return False
    if _opens(said, "courtesy") or _opens(said, "rhetorical"):
        return False
    marked = question.raw[question.tokens[last - 1].end :][:3].lstrip("\"') ").startswith("?")
    if marked or _is_inverted(said) or said[0] in _group("interrogative"):
        return True
    if said[0] in _group("imperative") and len(said) > 1:
        return True
    wishes = any(_opens(said[at : at + LONGEST_PHRASE], "wish") for at in range(len(said)))
    return wishes or not _group("please").isdisjoint(said)


def _problem(question: Text) -> list[Piece]:
    """The sentence that tells what is wrong, or has most to say; thanks and greetings ask nothing."""
    words = [token.word for token in question.tokens]
    told = [(s.first, s.last) for s in question.sentences if not question.raw[s.start : s.end].endswith("?")]
    troubled = [(first, last) for first, last in told if not _group("problem").isdisjoint(words[first:last])]
    thanked = not _group("thanks").isdisjoint(words)
    best = max(troubled or ([] if thanked else told), key=lambda piece: _content(question, *piece), default=None)
    return [best] if best and not (thanked and best[1] - best[0] < 4) and _content(question, *best) > 1 else []


def _trim(words: Sequence[str], piece: Piece) -> Piece:
    """Without the joint in front (`and also …`, `hi`, `if so`) or behind (`… and`)."""
    first, last = piece
    most = min(last, first + MAX_JOINTS)
    while first < most and (size := leading(words[first : min(first + 2, last)], "joint", table=FILE)):
        first += size
    least = max(first, last - MAX_JOINTS)
    while last > least and words[last - 1] in BEHIND:
        last -= 1
    return first, last


def _ask(question: Text, piece: Piece) -> Ask:
    first, last = _trim([token.word for token in question.tokens], piece)
    start, end = question.tokens[first].start, question.tokens[last - 1].end
    end += question.raw[end : end + 1] == "?"
    filler = resource.words("filler.txt")
    terms = (t.term for t in question.tokens[first:last] if not t.is_stop and t.word not in filler)
    return Ask(start, end, question.raw[start:end], tuple(dict.fromkeys(terms)), question.name)


def _content(question: Text, first: int, last: int) -> int:
    filler = resource.words("filler.txt")
    return sum(not token.is_stop and token.word not in filler for token in question.tokens[first:last])


def _opens(words: Sequence[str], group: str) -> bool:
    return leading(words, group, table=FILE) > 0


def _group(name: str) -> frozenset[str]:
    return resource.group(FILE, name)
