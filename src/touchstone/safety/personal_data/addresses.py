"""Pieces of a text -> postal addresses: a street with its number, and what belongs to it on either side."""

import re
from collections.abc import Iterator

from touchstone.core import resource
from touchstone.safety.personal_data.datum import Datum
from touchstone.safety.personal_data.lexicon import PLAIN_TYPES, Piece, is_common
from touchstone.text.dates import MONTHS, WEEKDAYS

BOX = re.compile(
    r"\b(?:P\.? ?O\.? Box|Postfach|Boîte postale|Apartado) \d{1,7}\b"
    r"|\b(?:PSC|Unit|USS|CMR) \w{1,12},? Box \d{1,6}\b(?:\s{1,3}(?:APO|FPO|DPO) [A-Z]{2}(?: \d{5})?)?"
    r"|\b(?:USNV|USNS|USCGC|USS) [A-Z]\w{1,20}\s{1,3}(?:APO|FPO|DPO) [A-Z]{2}(?: \d{5})?",
    re.IGNORECASE,
)
# UK postcodes, Royal Mail's format; the space tells them from product codes.
OUTWARD = re.compile(r"[A-Z]\d[A-Z\d]? \d")
POSTCODE = re.compile(r"\b[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}\b")
CORNER = re.compile(r"\bcorner of (?:[A-Z][\w'.-]{1,25} ){1,4}and (?:[A-Z][\w'.-]{1,25} ?){1,4}")
HOUSE_NUMBER = re.compile(r"\d{1,6}(?:[a-zA-Z]|(?:[/-]\d{1,4}){1,2}[a-zA-Z]?)?$")
ORDINAL = re.compile(r"\d{1,3}(?:st|nd|rd|th)$", re.IGNORECASE)
MAX_STREET_WORDS = 5
MAX_TAIL = 24


def find_addresses(text: str, parts: list[Piece]) -> list[Datum]:
    """All addresses in order; a lone postcode or box counts as one."""
    spans = sorted(_boxes(text))
    reached = 0
    for first, last in _streets(parts):
        if first < reached:
            continue
        end = _tail(parts, last)
        spans.append((parts[_head(parts, first)].start, parts[end - 1].end))
        reached = end
    found: list[Datum] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not found or start >= found[-1].end:
            found.append(Datum("address", start, end, " ".join(re.findall(r"\w+", text[start:end].casefold()))))
    return found


def _boxes(text: str) -> Iterator[tuple[int, int]]:
    if " Box " in text or " box " in text or "PO " in text or "Postfach" in text or "Apartado" in text:
        yield from (match.span() for match in BOX.finditer(text))
    # Half of it first: a search that begins with a boundary takes several times as long.
    if OUTWARD.search(text):
        yield from (match.span() for match in POSTCODE.finditer(text))
    if "corner of" in text:
        yield from ((m.start(), m.start() + len(m[0].rstrip(" ."))) for m in CORNER.finditer(text))


def _streets(parts: list[Piece]) -> Iterator[tuple[int, int]]:
    """Positions (half-open) of each street with its house number."""
    figures = [at for at, part in enumerate(parts) if part.kind == "figure"]
    near = {at - back for at in figures for back in range(1, MAX_STREET_WORDS + 4)}
    typed = any(part.low in PLAIN_TYPES for part in parts)
    before = _group("before")
    for at, part in enumerate(parts):
        if part.kind == "figure":
            end = _number_first(parts, at)
        elif part.capital or (at in near and part.low in before and (part.dotted or len(part.low) > 2)):
            end = _number_last(parts, at) if at in near else None
            end = end or (_unnumbered(parts, at) if typed else None)
        else:
            continue
        if end:
            yield at, end


def _number_first(parts: list[Piece], at: int) -> int | None:
    """123 Main Street · 39 Rue Ibn El-Jazzar · 5366 Pivovarská 276."""
    if not HOUSE_NUMBER.match(parts[at].low):
        return None
    words = _words(parts, at + 1)
    for size in range(len(words), 0, -1):
        last = parts[words[size - 1]]
        if size > 1 and last.capital and last.low in _group("after") and parts[words[0]].capital:
            return words[size - 1] + 1
    if not words:
        return None
    after = words[-1] + 1
    numbered = after < len(parts) and parts[after].kind == "figure" and HOUSE_NUMBER.match(parts[after].low)
    if parts[words[0]].low in _group("before") and len(words) > 1 and parts[words[-1]].capital:
        return after + 1 if numbered else after
    if numbered and len(parts[at].low) >= 3 and _is_proper(parts, words):
        return after + 1
    if len(words) == 1 and _has_street_ending(parts[words[0]]) and len(parts[words[0]].low) > 7:
        return after
    return after if _is_proper(parts, words) and _reaches_postcode(parts, after) else None


def _reaches_postcode(parts: list[Piece], at: int) -> bool:
    """`…, Naka-ku, Nagoya 460-0003`: towns between commas, then figures."""
    commas = towns = 0
    for part in parts[at : at + 10]:
        if part.low == ",":
            commas += 1
        elif part.kind == "word" and part.capital and not is_common(part.low):
            towns += 1
        else:
            return part.kind == "figure" and len(part.low) >= 4 and bool(commas and towns)
    return False


def _unnumbered(parts: list[Piece], at: int) -> int | None:
    """Rose Cottage, Mill Lane, Ballina · Baner Road, Pune 411045: a street that a town follows."""
    if at and parts[at - 1].kind == "word" and parts[at - 1].capital:
        return None
    words = _words(parts, at)
    if len(words) < 2 or parts[words[-1]].low not in PLAIN_TYPES or not parts[words[-1]].capital:
        return None
    after = words[-1] + 1
    town = after + 1 < len(parts) and parts[after].low == "," and parts[after + 1].capital
    if (
        town
        and not is_common(parts[after + 1].low)
        and (_is_cued(parts, at, reach=9) or _reaches_postcode(parts, after) or _ends_list(parts, at, after))
    ):
        return after
    return None


def _ends_list(parts: list[Piece], at: int, after: int) -> bool:
    """`…, Church Lane, Much Wenlock.`: the last of a list is a town, and no further street."""
    end = after + 1
    while end < len(parts) and parts[end].kind == "word" and parts[end].capital:
        end += 1
    closed = end >= len(parts) or parts[end].kind == "mark"
    return at > 0 and parts[at - 1].low == "," and closed and parts[end - 1].low not in _group("after")


def _number_last(parts: list[Piece], at: int) -> int | None:
    """Rosenweg 8 · Rua Mina 50 · Kálmán Imre utca 12 · lives at Slovenčeva 51."""
    if at and parts[at - 1].kind == "word" and parts[at - 1].capital and not is_common(parts[at - 1].low):
        return None
    words = _words(parts, at)
    if not words:
        return None
    after = words[-1] + 1
    if after < len(parts) and parts[after].low in (".", ","):
        after += 1
    if after >= len(parts) or not HOUSE_NUMBER.match(parts[after].low) or len(parts[after].low) > 5:
        return None
    first, last = parts[words[0]], parts[words[-1]]
    if last.low in _group("own_word") and len(words) > 1:
        return after + 1
    if _has_street_ending(last) and not is_common(last.low):
        return after + 1
    if first.low in _group("before") and len(words) > 1 and (len(first.low) > 2 or first.dotted):
        return after + 1
    if parts[after - 1].low != "," and _is_proper(parts, words) and _is_cued(parts, at):
        return after + 1
    return None


def _words(parts: list[Piece], at: int) -> list[int]:
    """The run of words from here that could name a street: capitals, and particles between them."""
    run: list[int] = []
    end = at
    while end < len(parts) and len(run) < MAX_STREET_WORDS:
        part = parts[end]
        if part.low == "." and run and parts[end - 1].dotted and len(parts[end - 1].low) <= 4:
            end += 1
            continue
        lower = ("particle", "own_word") if run else ("before", "particle")
        fits = part.kind == "word" and (part.capital or any(part.low in _group(head) for head in lower))
        fits = fits or ORDINAL.match(part.low) is not None
        if not fits or part.low in MONTHS or part.low in WEEKDAYS or (run and part.opens):
            break
        run.append(end)
        end += 1
    while run and parts[run[-1]].low in _group("particle") and not parts[run[-1]].capital:
        run.pop()
    return run


def _is_proper(parts: list[Piece], words: list[int]) -> bool:
    names = [parts[at] for at in words if parts[at].capital and parts[at].low not in _group("particle")]
    return bool(names) and not any(
        is_common(name.low) or name.low in _group("numbered") or len(name.low) < 3 for name in names
    )


def _is_cued(parts: list[Piece], at: int, *, reach: int = 6) -> bool:
    """Speaks the sentence of living, sending or an address just before?"""
    before = [part.low for part in parts[max(0, at - reach) : at]]
    if reach > 6 and before[-1:] == [","]:
        return any(word in _group("cue") for word in before)
    return any(word in _group("cue") for word in before) and bool(before) and before[-1] in (
        "at", "on", "in", "to", ":", "is", "address", "with", ">"
    )  # fmt: skip


def _has_street_ending(part: Piece) -> bool:
    low = part.low
    return part.capital and any(low.endswith(ending) and len(low) >= len(ending) + 3 for ending in _endings(low[-2:]))


def _endings(last_two: str) -> tuple[str, ...]:
    return tuple(ending for ending in _group("ending") if ending.endswith(last_two))


def _head(parts: list[Piece], first: int) -> int:
    """Where the address starts: a flat or a further number may stand before the street."""
    at = first
    for _ in range(3):
        before = at - 1
        while before >= 0 and parts[before].low in (",", "\n", ".") and at - before <= 2:
            before -= 1
        if before >= 1 and parts[before].kind == "figure" and parts[before - 1].low in _group("unit"):
            at = before - 1
        elif before >= 2 and parts[before].kind == "figure" and parts[before - 2].low in _group("unit"):
            at = before - 2
        elif (
            before == at - 1
            and before >= 0
            and parts[before].kind == "figure"
            and HOUSE_NUMBER.match(parts[before].low)
        ):
            at = before
        else:
            return at
    return at


def _tail(parts: list[Piece], last: int) -> int:
    """Where the address ends: flat, town, region, country and postcode may follow the street."""
    end = at = last
    while at < len(parts) and at < last + MAX_TAIL:
        part = parts[at]
        following = parts[at + 1] if at + 1 < len(parts) else None
        if part.low in (",", "\n", ">", "?") or (part.low == "." and _joins(parts, at)):
            at += 1
        elif part.low in _group("particle") and at == end and following and following.capital:
            at += 1
        elif (
            part.low == "in"
            and following
            and following.capital
            and following.low not in resource.words("stopwords.txt")
        ):
            at += 1
        elif part.kind == "word" and part.low in _group("unit") and following:
            at += 3 if following.low == "." else 2
            end = min(at, len(parts))
        elif part.kind == "figure" and at <= end + 1 and _is_postcode(parts, at, last):
            at += 1
            end = at
        elif part.kind == "word" and part.capital and not _starts_sentence(parts, at):
            at += 1
            end = at
        else:
            break
    return end


def _is_postcode(parts: list[Piece], at: int, last: int) -> bool:
    """Figures of a postcode, not the first of a phone number on the next line."""
    following = parts[at + 1] if at + 1 < len(parts) else None
    if parts[at - 1].low == "\n" and following and (following.kind == "figure" or following.low == "-"):
        return False
    return len(parts[at].low) <= 9 and (at > last or len(parts[at].low) >= 3)


def _joins(parts: list[Piece], at: int) -> bool:
    """The dot of `utca 76. Apt. 289` or `Wicker St., Leeds`: what follows still belongs to the address."""
    following = parts[at + 1] if at + 1 < len(parts) else None
    return following is not None and (following.low in _group("unit") or following.low in (",", "\n"))


def _starts_sentence(parts: list[Piece], at: int) -> bool:
    low = parts[at].low
    if low in _group("country"):
        return False
    alone = at + 1 >= len(parts) or (parts[at + 1].kind == "word" and not parts[at + 1].capital)
    return low in resource.words("stopwords.txt") or (is_common(low) and (alone or parts[at].opens))


def _group(head: str) -> frozenset[str]:
    return resource.group("street_words.txt", head)
