"""Reply -> its body: without greeting, thanks, closing and signature, so that content is judged by itself.

Manners count for tone and never against anything (decision 0030). What is blanked keeps its place: spans of the body
are spans of the reply.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from touchstone.core.reading import Reading, Sentence, Span, Text, Token
from touchstone.text.patterns import leading, pattern
from touchstone.text.sentences import GREETED

TABLE = "frame.txt"
# A courteous sentence is short, and at most one of its words is about something.
LONGEST = 24
SHORT = 6
MOST_ABOUT = 1
# Lines below a sign-off: name, role, team, company.
SIGNED_LINES = 5
SIGNED_WORDS = 7
NAMED_WORDS = 2


def frame(text: Text) -> tuple[Span, ...]:
    """The courteous opening and closing of a reply, as spans in order; either may be said twice."""
    sentences = text.sentences
    first, last = 0, len(sentences)
    while first < last and (_is_salutation(text, sentences[first]) or _is_courteous(text, sentences[first])):
        first += 1
    spans = [Span(one.start, one.end) for one in sentences[:first]]
    while last > first:
        before = _signature(text, first, last)
        if before == last and _is_courteous(text, sentences[last - 1]):
            before = last - 1
        if before == last:
            break
        last = before
    if last < len(sentences):
        spans.append(Span(text.tokens[sentences[last].first].start, len(text.raw)))
    return tuple(spans)


def body_of(reading: Reading) -> Reading:
    """The reading with the body of its reply alone."""
    spans = frame(reading.reply)
    if not spans:
        return reading
    claims = tuple([claim for claim in reading.claims if not is_in(claim.start, spans)])
    clauses = tuple([clause for clause in reading.clauses if not is_in(clause.verb.start, spans)])
    return replace(reading, reply=without(reading.reply, spans), clauses=clauses, claims=claims)


def without(text: Text, spans: Sequence[Span]) -> Text:
    """The text as it would be read if the spans were blank; a sentence of which words are left begins with them."""
    raw = list(text.raw)
    for start, end in spans:
        raw[start:end] = [character if character == "\n" else " " for character in raw[start:end]]
    tokens: list[Token] = []
    sentences: list[Sentence] = []
    positions: dict[str, list[int]] = defaultdict(list)
    for sentence in text.sentences:
        kept = [t for t in text.tokens[sentence.first : sentence.last] if not is_in(t.start, spans)]
        if kept:
            start = sentence.start if not is_in(sentence.start, spans) else kept[0].start
            sentences.append(Sentence(start, sentence.end, len(tokens), len(tokens) + len(kept)))
            tokens += kept
    for at, token in enumerate(tokens):
        positions[token.term].append(at)
    return replace(
        text,
        raw="".join(raw),
        tokens=tuple(tokens),
        sentences=tuple(sentences),
        values=tuple([value for value in text.values if not is_in(value.start, spans)]),
        contacts=tuple([contact for contact in text.contacts if not is_in(contact.start, spans)]),
        positions={term: tuple(places) for term, places in positions.items()},
    )


def is_in(place: int, spans: Sequence[Span]) -> bool:
    """Whether a place lies in one of the spans."""
    return any(start <= place < end for start, end in spans)


def _is_salutation(text: Text, sentence: Sentence) -> bool:
    """`Hi Sarah,`: a greeting and whom it is for."""
    words = text.tokens[sentence.first : sentence.last]
    size = leading([token.word for token in words], "greeting", table=TABLE)
    return size > 0 and len(words) <= size + GREETED


def _is_courteous(text: Text, sentence: Sentence) -> bool:
    """Whether a sentence only thanks, wishes, apologises or offers help."""
    tokens = text.tokens[sentence.first : sentence.last]
    start = tokens[0].start
    places = [*(value.start for value in text.values), *(contact.start for contact in text.contacts)]
    if len(tokens) > LONGEST or any(start <= place < sentence.end for place in places):
        return False
    if not any(pattern("cue", table=TABLE).fullmatch(token.word) for token in tokens):
        return False
    kind = pattern("words", table=TABLE)
    about = [t for t in tokens if not (t.is_stop or kind.fullmatch(t.word) or _is_name(text, t.start, start))]
    return len(about) <= (MOST_ABOUT if len(tokens) >= SHORT else 0)


def _is_name(text: Text, start: int, opening: int) -> bool:
    return start > opening and text.raw[start].isupper()


def _signature(text: Text, first: int, last: int) -> int:
    """Where the closing lines begin: a sign-off and the few short lines under it; else `last`."""
    sentences = text.sentences
    for at in range(max(first, last - SIGNED_LINES), last):
        tokens = text.tokens[sentences[at].first : sentences[at].last]
        size = leading([token.word for token in tokens], "sign_off", table=TABLE)
        below = sentences[at + 1 : last]
        is_signed = all(_is_signed(text, line) for line in below)
        if size and is_signed and all(_starts_big(text, token.start) for token in tokens[size:]):
            return at
    return last


def _is_signed(text: Text, line: Sentence) -> bool:
    """A line of names; one of a word or two may be in small letters."""
    tokens = text.tokens[line.first : line.last]
    is_written_big = all(token.is_stop or _starts_big(text, token.start) for token in tokens)
    return len(tokens) <= (SIGNED_WORDS if is_written_big else NAMED_WORDS)


def _starts_big(text: Text, start: int) -> bool:
    return text.raw[start].isupper() or not text.raw[start].isalpha()
