"""Pieces of a text -> names of persons, by given names, surnames, titles and what is said around them."""

from collections.abc import Iterator

from touchstone.core import resource
from touchstone.safety.personal_data.datum import Datum
from touchstone.safety.personal_data.lexicon import PLAIN_TYPES, Piece, is_common
from touchstone.text.dates import MONTHS, WEEKDAYS

ENDINGS = tuple(sorted(resource.group("personal_cues.txt", "surname_ending")))
PARTICLES = resource.group("personal_cues.txt", "surname_particle")
MIN_ENDED = 6
MAX_WORDS = 5
MAX_RUN = 12


def find_names(text: str, parts: list[Piece]) -> list[Datum]:
    """All names in order; `partial` where only a first name or only a surname stands."""
    found: list[Datum] = []
    for first, last in _runs(parts):
        found += _in_run(parts, first, last)
    return found


def _runs(parts: list[Piece]) -> Iterator[tuple[int, int]]:
    """Stretches of capitalised words, initials and the particles between them, on one line."""
    at = 0
    while at < len(parts):
        if parts[at].kind != "word" or not parts[at].capital:
            at += 1
            continue
        end = at + 1
        while end < min(len(parts), at + MAX_RUN):
            part = parts[end]
            near = part.start - parts[end - 1].end <= 1
            if part.low == "." and len(parts[end - 1].low) == 1 and part.start == parts[end - 1].end:
                end += 1
            elif near and part.kind == "word" and part.capital and not _possessive(parts, end - 1):
                end += 1
            elif (
                near
                and part.low in PARTICLES
                and end + 1 < len(parts)
                and (parts[end + 1].capital or parts[end + 1].low in PARTICLES)
            ):
                end += 1
            else:
                break
        yield at, end
        at = end


def _possessive(parts: list[Piece], at: int) -> bool:
    return at + 1 < len(parts) and parts[at + 1].start - parts[at].end > 1 and parts[at].kind == "word"


def _in_run(parts: list[Piece], first: int, last: int) -> Iterator[Datum]:
    at = first
    while at < last:
        size = _name_at(parts, at, last, run=first)
        if size:
            start, end = at, at + size
            words = [part for part in parts[start:end] if part.kind == "word" and part.low not in _cues("title")]
            if words:
                stop = parts[end - 1].end
                full = [word for word in words if len(word.low) > 1]
                yield Datum(
                    "name",
                    words[0].start,
                    stop,
                    " ".join(word.low for word in words),
                    partial=len(words) < 2 or not full,
                )
            at = end
        else:
            at += 1


def _name_at(parts: list[Piece], at: int, last: int, *, run: int) -> int:
    """How many pieces from here make one name; 0 when none starts here."""
    part = parts[at]
    if part.kind != "word" or not part.capital:
        return 0
    if part.low in _cues("title") and len(part.low) > 1:
        after = at + 1
        if after < len(parts) and parts[after].low == ".":
            after += 1
        size = _extent(parts, after, _run_end(parts, after)) if after < len(parts) and parts[after].capital else 0
        lead = parts[after].low if size else ""
        proper = size and (len(lead) == 1 or not is_common(lead) or lead in _names())
        return after - at + size if proper else 0
    if part.low in MONTHS or part.low in WEEKDAYS:
        return 0
    size = _extent(parts, at, last)
    if not size or _is_organisation(parts, at, at + size, run_end=last):
        return 0
    words = [piece for piece in parts[at : at + size] if piece.kind == "word"]
    if _is_name(parts, at, words):
        return size
    return 0


def _run_end(parts: list[Piece], at: int) -> int:
    """Where the capitalised words and initials end that start here."""
    end = at
    while end < min(len(parts), at + MAX_RUN) and (end == at or _adjacent(parts, end)):
        initial_dot = parts[end].low == "." and end > at and len(parts[end - 1].low) == 1
        if not initial_dot and not (parts[end].kind == "word" and parts[end].capital):
            break
        end += 1
    return end


def _adjacent(parts: list[Piece], at: int) -> bool:
    return parts[at].start - parts[at - 1].end <= 1


def _extent(parts: list[Piece], at: int, last: int) -> int:
    """The pieces from here that can belong to one name: it ends before an ordinary word."""
    end = at
    while end < last and end < at + MAX_WORDS:
        part = parts[end]
        if part.kind == "word" and end > at and part.capital and _is_plain(part) and len(part.low) > 1:
            break
        end += 1
    while end > at + 1 and (parts[end - 1].low in PARTICLES or (parts[end - 1].low == "." and end == last)):
        if parts[end - 1].low == ".":
            # `Maria S.` keeps its initial, the full stop after it may end the sentence.
            break
        end -= 1
    return end - at


def _is_plain(part: Piece) -> bool:
    """An English word that is no surname either."""
    if part.low in resource.group("street_words.txt", "unit"):
        return True
    return is_common(part.low) and part.low not in _surnames() and part.low not in resource.words("given_names.txt")


def _is_organisation(parts: list[Piece], at: int, end: int, *, run_end: int) -> bool:
    organisations = _cues("organisation")
    if any(part.low in organisations for part in parts[at:run_end] if part.kind == "word" and part.capital):
        tail = [part.low for part in parts[end:run_end] if part.kind == "word"]
        inner = [part.low for part in parts[at + 1 : end] if part.kind == "word"]
        if len(inner) == 1 and not tail and _is_either(inner[0]) and _is_sure_given(parts[at].low):
            return False  # Linda Park, unlike Victoria Park
        return bool(tail[:1] and tail[0] in organisations) or not organisations.isdisjoint(inner)
    return end < len(parts) and parts[end].low == "&"


def _is_name(parts: list[Piece], at: int, words: list[Piece]) -> bool:
    first = words[0].low
    rest = [word.low for word in words[1:] if len(word.low) > 1 and word.low not in PARTICLES]
    given = first in resource.words("given_names.txt")
    doubtful = first in resource.words("name_lookalikes.txt") or is_common(first)
    if given and not doubtful:
        return True
    if given or first in _surnames():
        sure_rest = any(_is_surname(low) for low in rest)
        if sure_rest and not (is_common(first) and words[0].opens and first not in resource.words("given_names.txt")):
            return not (is_common(first) and words[0].opens and not all(_is_surname(low) for low in rest))
        if not doubtful and (rest or _is_cued(parts, at) or not words[0].opens):
            return True
        return doubtful and not words[0].opens and _is_cued(parts, at, strict=True)
    if is_common(first):
        return False
    if _ended(first) and not doubtful:
        return True
    if rest and any(_is_surname(low) for low in rest):
        return True
    return len(first) > 1 and _is_cued(parts, at, strict=not rest)


def _is_sure_given(low: str) -> bool:
    return low in _names() and low not in resource.words("name_lookalikes.txt") and not is_common(low)


def _is_surname(low: str) -> bool:
    known = low in _surnames() or low in resource.words("given_names.txt")
    return (known and not is_common(low)) or _ended(low) or ("-" in low and any(_is_surname(p) for p in low.split("-")))


def _ended(low: str) -> bool:
    return len(low) >= MIN_ENDED and low.endswith(ENDINGS) and not is_common(low)


def _is_cued(parts: list[Piece], at: int, *, strict: bool = False) -> bool:
    """Stands a word before it that announces a person: a role, `named`, `in the name of`, `my name is`?"""
    before = [part.low for part in parts[max(0, at - 4) : at] if part.low not in ("\n", '"', "(")]
    if not before:
        return False
    nearest = before[-1]
    if strict and parts[at - 1].capital and parts[at].start - parts[at - 1].end == 1:
        return False  # `Customer Relations` is one name of a thing
    if nearest in _cues("role") or nearest in ("named", "called"):
        return True
    if nearest in (":", "is", "was", "of", "to", "under", "as", "'", "by", "?"):
        near = before[-4:-1]
        if any(word in ("name", "names", "holder", "belongs", "registered", "placed", "named") for word in near):
            return True
        if any(word in _cues("role") for word in near) and nearest in (":", "is", "was"):
            return True
    return not strict and nearest in ("by", "under", "from", "with", "starring", "contact", "ask")


def _names() -> frozenset[str]:
    return resource.words("given_names.txt")


def _is_either(low: str) -> bool:
    """A given name or a surname that is no type of street."""
    return (low in _names() or low in _surnames()) and low not in PLAIN_TYPES


def _surnames() -> frozenset[str]:
    return resource.words("surnames.txt")


def _cues(head: str) -> frozenset[str]:
    return resource.group("personal_cues.txt", head)
