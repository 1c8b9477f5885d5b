"""A text less some of its spans: what is kept stays in its place, blanks stand for the rest."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from touchstone.core.reading import Sentence, Span, Text, Token


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
