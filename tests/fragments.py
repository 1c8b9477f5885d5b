"""Stretches of texts that may not be found where the texts were erased or redacted."""

import json

LEAST = 12


def pieces(texts):
    """Every stretch of twelve characters, of a shorter text all, as it stands and as JSON writes it, in bytes."""
    found = {text[at : at + LEAST] for text in texts for at in range(max(1, len(text) - LEAST + 1))}
    return {each.encode() for piece in found for each in (piece, json.dumps(piece, ensure_ascii=False)[1:-1])}


def left_of(texts, content):
    """The pieces of the texts that the content holds."""
    wanted = pieces(texts)
    lengths = {len(piece) for piece in wanted}
    windows = (content[at : at + length] for length in lengths for at in range(len(content) - length + 1))
    return sorted({window for window in windows if window in wanted})
