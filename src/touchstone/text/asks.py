"""The customer's message -> asks: each question or request, several to a sentence if need be, punctuated or not."""

from collections.abc import Iterator, Sequence
from functools import cache

from touchstone.core import resource
from touchstone.core.reading import Ask, Sentence, Text

LONGEST_PHRASE = 6
# An interrogative this close to its piece's start already governs the verb that follows: "what time is it".
INTERROGATIVE_REACH = 4
# So many joints may stand before or after an ask: `ok so and also`.
MAX_JOINTS = 6
Piece = tuple[int, int]


def find_asks(question: Text, earlier: Sequence[Text] = ()) -> tuple[Ask, ...]:
    """The asks in order; a message that only states a problem asks for that problem to be solved.

    In a chat, a message that asks nothing itself leaves open what the customer asked last.
    """
    if not _asked(question):
        for text in reversed(earlier):
            if text.speaker == "customer" and (pieces := _asked(text)):
                return tuple(_ask(text, piece) for piece in pieces)
    return tuple(_ask(question, piece) for piece in _asked(question) or _problem(question))


def asks_outright(text: Text) -> bool:
    """Whether the text has a question or request, and does not only state something."""
    return bool(_asked(text))


def _asked(question: Text) -> list[Piece]:
    pieces = [piece for sentence in question.sentences for piece in _pieces(question, sentence)]
    return [piece for piece in pieces if _asks(question, piece)]


def _pieces(question: Text, sentence: Sentence) -> Iterator[Piece]:
    """A sentence cut where another ask opens."""
    start = sentence.first
    for at in range(sentence.first + 1, sentence.last):
        if _cuts(question, (start, at), sentence.last):
            yield start, at
            start = at
    yield start, sentence.last


def _cuts(question: Text, head: Piece, end: int) -> bool:
    """Whether an ask of its own opens after `head`."""
    at = head[1]
    words = _words(question, at, min(end, at + LONGEST_PHRASE))
    first, last = _trim(question, head)
    led = _words(question, first, min(last, first + LONGEST_PHRASE))
    before = question.tokens[at - 1].word
    if not led:
        return _is_inverted(words) or words[0] in _group("imperative")
    if (led[0] in _group("interrogative") and len(led) < INTERROGATIVE_REACH) or _starts_with(led, "condition"):
        return False
    if len(led) <= 2 and _is_inverted(led):
        return False  # "could you | tell me"
    if not _is_parted(question, at):
        inverted = len(words) > 1 and words[0] in _group("inverting") and words[1] in _group("pronoun")
        return _starts_with(words, "wish") or (inverted and before not in _group("interrogative"))
    if _is_inverted(words) or _starts_with(words, "wish") or words[0] in _group("interrogative"):
        return True
    commands = led[0] in _group("imperative") | _group("please")
    return (commands and words[0] in _group("imperative")) or (words[0] in _group("please") and len(words) > 1)


def _is_parted(question: Text, at: int) -> bool:
    """Whether a comma, dash or joint stands before the token."""
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
    return (
        "'" in words[0] or words[0] in ("whats", "wheres", "hows") or bool(_group("auxiliary").intersection(words[1:4]))
    )


def _asks(question: Text, piece: Piece) -> bool:
    first, last = _trim(question, piece)
    words = _words(question, first, last)
    if not words or (_content(question, first, last) == 0 and not _is_inverted(words)):
        return False
    if _starts_with(words, "courtesy") or _starts_with(words, "rhetorical"):
        return False
    marked = question.raw[question.tokens[last - 1].end :][:3].lstrip("\"') ").startswith("?")
    if marked or _is_inverted(words) or words[0] in _group("interrogative"):
        return True
    if words[0] in _group("imperative") and len(words) > 1:
        return True
    return bool(_group("please").intersection(words)) or any(
        _starts_with(words[at : at + LONGEST_PHRASE], "wish") for at in range(len(words))
    )


def _problem(question: Text) -> list[Piece]:
    """The sentence that tells what is wrong, or has most to say; thanks and greetings ask nothing."""
    told = [(s.first, s.last) for s in question.sentences if not question.raw[s.start : s.end].endswith("?")]
    troubled = [piece for piece in told if _group("problem").intersection(_words(question, *piece))]
    thanked = any(token.word in _group("thanks") for token in question.tokens)
    best = max(troubled or ([] if thanked else told), key=lambda piece: _content(question, *piece), default=None)
    return [best] if best and not (thanked and best[1] - best[0] < 4) and _content(question, *best) > 1 else []


def _trim(question: Text, piece: Piece) -> Piece:
    """Without the joint in front (`and also …`, `hi`, `if so`) or behind (`… and`)."""
    first, last = piece
    most = min(last, first + MAX_JOINTS)
    while first < most:
        words = _words(question, first, min(first + 2, last))
        size = 2 if " ".join(words) in _group("joint") else 1
        if size == 1 and words[0] not in _group("joint"):
            break
        first += size
    least = max(first, last - MAX_JOINTS)
    while last > least and question.tokens[last - 1].word in ("and", "also", "or", "but", "plus"):
        last -= 1
    return first, last


def _ask(question: Text, piece: Piece) -> Ask:
    first, last = _trim(question, piece)
    start, end = question.tokens[first].start, question.tokens[last - 1].end
    end += question.raw[end : end + 1] == "?"
    filler = resource.words("filler.txt")
    terms = (t.term for t in question.tokens[first:last] if not t.is_stop and t.word not in filler)
    return Ask(start, end, question.raw[start:end], tuple(dict.fromkeys(terms)), question.name)


def _content(question: Text, first: int, last: int) -> int:
    filler = resource.words("filler.txt")
    return sum(not token.is_stop and token.word not in filler for token in question.tokens[first:last])


def _words(question: Text, first: int, last: int) -> list[str]:
    return [token.word for token in question.tokens[first:last]]


def _starts_with(words: Sequence[str], group: str) -> bool:
    # Most pieces begin with no word that a phrase of the group begins with.
    if not words or words[0] not in _openings(group):
        return False
    phrases = _group(group)
    return any(" ".join(words[:size]) in phrases for size in range(1, min(len(words), LONGEST_PHRASE) + 1))


@cache
def _openings(group: str) -> frozenset[str]:
    return frozenset(phrase.partition(" ")[0] for phrase in _group(group))


def _group(name: str) -> frozenset[str]:
    return resource.group("asks.txt", name)
