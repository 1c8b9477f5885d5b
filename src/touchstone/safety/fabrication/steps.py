"""The reply's instructions and names -> findings: menu paths, buttons, pages and offers that no source mentions."""

import re
from collections.abc import Iterator
from itertools import pairwise

from touchstone.core import resource
from touchstone.core.reading import Reading, Sentence, Text
from touchstone.evidence.places import in_value, token_range
from touchstone.safety.fabrication.findings import Finding, Known, group, is_question
from touchstone.text.dates import MONTHS, WEEKDAYS

WORD = re.compile(r"[^\W\d_][\w'’&+-]{0,40}|\d[\w.]{0,12}")
LETTERS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
# A path's joints; spaces on both sides keep comparisons and quotes out.
JOINT = re.compile(r"\s(?:>|→|›|»|->)\s")
QUOTED = re.compile(r"(?<!\w)[\"“‘']([^\"“”‘'’\n]{2,40})[\"”’'](?!\w)")
# Capitalised words in a row, joined by small words at most once: Exam Hotline, Download form pack is not one.
NAME = re.compile(r"(?<!\w)[A-Z][\w'’&+-]{1,30}(?: (?:of |and |& |for )?[A-Z][\w'’&+-]{1,30}){0,4}")
SEGMENT_WORDS = 4
ARTICLES = frozenset({"your", "the", "my", "a"})
TITLES = frozenset({"mr", "mrs", "ms", "mx", "miss", "dr", "sir", "madam"})
# What the customer is free to choose from is no term of the company.
OPEN = re.compile(r"\b(?:anything|whatever|what(?:ever)? you (?:have|can|like|want))\b", re.IGNORECASE)
ACT_REACH = 4
# How far back the signs of a list or of bold type are looked past.
MARKUP = 8
CLOSERS = ",.;:()[]!?\n*"


def steps(reading: Reading, known: Known) -> Iterator[Finding]:
    """Findings in the order of the reply; a question asks, it does not instruct."""
    reply = reading.reply
    for sentence in reply.sentences:
        if is_question(reply, sentence):
            continue
        yield from _paths(reply, sentence, known)
        yield from _controls(reply, sentence, known)
        yield from _offers(reply, sentence, known)


def _paths(reply: Text, sentence: Sentence, known: Known) -> Iterator[Finding]:
    joints = list(JOINT.finditer(reply.raw, sentence.start, sentence.end))
    if not joints:
        return
    edges = [_back(reply.raw, sentence.start, joints[0].start())]
    edges += [(a.end(), b.start()) for a, b in pairwise(joints)]
    edges.append(_ahead(reply.raw, joints[-1].end(), sentence.end))
    foreign = [edge for edge in edges if _is_foreign(reply.raw[edge[0] : edge[1]], known, everyday=False)]
    if not foreign:
        return
    start, end = edges[0][0], edges[-1][1]
    names = ", ".join(f"'{reply.raw[a:b].strip()}'" for a, b in foreign[:3])
    weight = 1.0 if len(foreign) > 1 or len(foreign) * 2 >= len(edges) else 0.8
    yield Finding(start, end, weight, f"no source mentions {names} of this menu path")


def _back(raw: str, low: int, end: int) -> tuple[int, int]:
    """The words in front of a path's first joint that name its first step: the capitalised ones."""
    words = list(WORD.finditer(raw, max(low, end - 60), end))
    start = end
    for word in reversed(words[-SEGMENT_WORDS:]):
        if any(mark in raw[word.end() : start] for mark in CLOSERS):
            break
        if not word[0][0].isupper() and start != end:
            break
        start = word.start()
        if not word[0][0].isupper():
            break
    return start, end


def _ahead(raw: str, start: int, high: int) -> tuple[int, int]:
    """The words behind a path's last joint that name its last step."""
    end = start
    for at, word in enumerate(WORD.finditer(raw, start, min(high, start + 80))):
        if at and (any(mark in raw[end : word.start()] for mark in CLOSERS) or not word[0][0].isupper()):
            break
        end = word.end()
        if at + 1 >= SEGMENT_WORDS:
            break
    return start, end


def _controls(reply: Text, sentence: Sentence, known: Known) -> Iterator[Finding]:
    """Quoted or capitalised names of things to press, open or choose."""
    raw = reply.raw
    acts = [t for t in reply.tokens[sentence.first : sentence.last] if t.word in group("act")]
    for act in acts:
        reach = raw[act.end : min(sentence.end, act.end + 60)]
        stop = min((at for mark in CLOSERS if (at := reach.find(mark)) >= 0), default=len(reach))
        high = min(sentence.end, act.end + 70)
        for match in (QUOTED.search(raw, act.end, high), NAME.search(raw, act.end, act.end + stop)):
            if match is None or len(raw[act.end : match.start()].split()) > ACT_REACH:
                continue
            if JOINT.search(raw, match.start(), min(sentence.end, match.end() + 4)):
                break
            named = match.re is QUOTED or act.word in group("press") or _is_screen(raw, match.end())
            if named and _is_foreign(match[0], known, everyday=True):
                yield Finding(match.start(), match.end(), 1.0, f"no source mentions {match[0]}")
                break
        else:
            yield from _parts(reply, act.end, sentence, known)


def _is_screen(raw: str, end: int) -> bool:
    """Whether the word behind a name says that it is part of a screen."""
    after = WORD.match(raw, end + 1)
    return after is not None and after[0].casefold() in group("screen")


def _parts(reply: Text, start: int, sentence: Sentence, known: Known) -> Iterator[Finding]:
    """`tap the paw icon`: a described part of a screen or device that no source knows."""
    first, last = token_range(reply, start, sentence.end)
    words = reply.tokens[first : min(last, first + ACT_REACH + 2)]
    for at, token in enumerate(words):
        if token.word in group("screen") and at:
            described = [t for t in words[:at] if not t.is_stop]
            if described and not known.holds(token.word) and not any(known.holds(t.word) for t in described):
                first = described[0].start
                yield Finding(first, token.end, 0.6, f"no source mentions {reply.raw[first : token.end]}")
            return


def _offers(reply: Text, sentence: Sentence, known: Known) -> Iterator[Finding]:
    """A named plan, page, place or body that no source knows, in a statement of fact."""
    raw = reply.raw
    if _is_remark(reply, sentence):
        return
    for match in NAME.finditer(raw, sentence.start, sentence.end):
        if in_value(reply, match.start()) or not _is_name(reply, sentence, match.start()):
            continue
        words = [word for word in match[0].split() if word.casefold() not in TITLES]
        if _is_calendar(words) or JOINT.search(raw, match.end(), match.end() + 3):
            continue
        if not all(_is_foreign(word, known, everyday=True) for word in words if word[0].isupper()):
            continue
        after = WORD.match(raw, match.end() + 1)
        head = after[0].casefold() if after else ""
        offered = head in group("offering")
        if len(words) == 1 and not offered and words[0].casefold() in resource.words("common_words.txt"):
            continue
        end = after.end() if after and offered else match.end()
        yield Finding(match.start(), end, 1.0, f"no source mentions {raw[match.start() : end]}")


def _is_name(reply: Text, sentence: Sentence, start: int) -> bool:
    """Not the first word of a sentence, line, list item or quotation, whose capital says nothing."""
    before = reply.raw[max(sentence.start, start - MARKUP) : start].rstrip(" *_")
    return bool(before) and (before[-1].isalnum() or before[-1] in ",&/")


def _is_calendar(words: list[str]) -> bool:
    names = (re.split("['’]", word)[0].casefold() for word in words)
    return all(name in MONTHS or name in WEEKDAYS for name in names)


def _is_remark(reply: Text, sentence: Sentence) -> bool:
    """Good wishes, thanks, greetings and signatures name people and places freely; hedged advice names others."""
    words = {t.word for t in reply.tokens[sentence.first : sentence.last]}
    short = sentence.last - sentence.first < 4
    if OPEN.search(reply.raw, sentence.start, sentence.end):
        return True
    return short or bool(words & group("remark")) or bool(words & group("hedge"))


def _is_foreign(text: str, known: Known, *, everyday: bool) -> bool:
    """Whether most content words of a name stand in no source."""
    words = [word[0].casefold().replace("’", "'") for word in WORD.finditer(text)]
    pieces = [piece for word in words for piece in LETTERS.findall(word.removesuffix("'s"))]
    shared = group("everyday") | ARTICLES if everyday else ARTICLES
    counted = [piece for piece in pieces if piece not in shared]
    missing = [piece for piece in counted if not known.holds(piece)]
    return bool(counted) and 2 * len(missing) > len(counted)
