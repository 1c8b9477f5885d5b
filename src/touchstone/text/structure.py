"""A text as given -> its facts: fields of records, cells of tables, labelled lines and what is under a heading.

A value then belongs to its key or header and to the thing its record, row or heading names, not to whatever words are
written beside it.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from touchstone.core.reading import Fact
from touchstone.text.normalise import normalise
from touchstone.text.records import JsonRecord, Leaf, find_records
from touchstone.text.tokens import term, tokenise

# Longer strings of a record are prose, and name nothing.
LONGEST_NAME = 60
LONGEST_CALL = 300
# What comes before the colon of a labelled line, in words.
LONGEST_LABEL = 6
LONGEST_HEADING = 12
# So much of a list item is shown in the paths of what is under it.
LONGEST_ITEM = 120
# A table has at most so many rules one below the other.
MOST_RULES = 4
# The level of a line that is a heading only by its look, below those that are marked.
CAPTION = 7
HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(\S.*)")
BOLD = re.compile(r"\s{0,3}(?:\*\*|__)([^*_\n]{2,120})(?:\*\*|__):?\s*$")
ITEM = re.compile(r"(\s{0,40})(?:[-*•·–]|\(?\d{1,2}[.)]|\(?[a-z]\))\s+(?=\S)")
LABELLED = re.compile(
    r"\s{0,40}(?:(?:\*\*|__)(?P<bold>[^*_\n]{1,80})(?:\*\*|__)\s{0,2}[:–—-]?|(?P<plain>[^\s:|=][^:|=\n.?!]{0,60}?)\s?(?::(?=\s)|\s[–—]\s)(?!//))\s{0,8}(?=\S)"
)
ASKED = re.compile(r"\s{0,3}(?:Q(?:uestion)?\s?\d{0,3}\s?[:.)-]\s{0,3}\S.*|[^\n|]{3,160}\?\s*)$")
ANSWER = re.compile(r"\s{0,3}A(?:nswer)?\s?\d{0,3}\s?[:.)-]\s{1,3}(?=\S)")
PAIR = re.compile(r"([\w .-]{1,40}?)\s?=\s?([^=;|,\n]{1,200})(?=[;|,\n]|$)")
RULED = re.compile(r"[\s|:+-]{3,}$")
PIPES = re.compile(r"(?<!\\)\|")
COMMAS = re.compile(r",(?! )")
TABS = re.compile(r"\t+|\s{3,}")
# Dates, times and sums name nothing.
FIGURES = re.compile(r"[\d\s.,:/TZ£$€%+-]*$")
# Keys whose strings name the whole object, and all that is in it.
NAMING = re.compile(
    r"(?:^|_)(?:id|name|title|label|type|kind|code|number|no|ref|reference|sku|model|product|plan|item|order|options?|"
    r"attributes?|details?|specs?|email|description)$|(?:Id|Name|Number|Code|Type|Ref)$",
    re.IGNORECASE,
)
CURRENCY_KEYS = frozenset({"currency", "ccy", "cur", "currency_code", "currencycode"})
WORD_JOINTS = re.compile(r"(?<=[a-z\d])(?=[A-Z])|[_.\-/]+")
# A label reaches to the end of its sentence.
SENTENCE_END = re.compile(r"(?<=[^\s.]{2})[.;!?](?=\s+\S)")
PROSE = re.compile(r"[.;!?]\s|,\s.*,\s|\b(?:and|or|but|if|is|are|you|your|we|our|them)\b", re.IGNORECASE)
MAX_FACTS = 20_000
UNIT_TERMS = frozenset(map(term, "usd eur gbp cents cent pence p days hours minutes min kg gb mb km".split()))


class Structure(NamedTuple):
    """The facts of a text in order, how many entries its lists have, and what could not be read."""

    facts: tuple[Fact, ...]
    lists: tuple[tuple[str, int], ...]
    notes: tuple[str, ...]


class TextLine(NamedTuple):
    """A line of a text without its end, or a part of one."""

    start: int
    end: int
    text: str

    def part(self, start: int, end: int | None = None) -> "TextLine":
        text = self.text[start:end]
        return TextLine(self.start + start, self.start + start + len(text), text)


class Outline:
    """The headings and list items that the line being read is under."""

    def __init__(self) -> None:
        self.headings: list[tuple[int, str]] = []
        self.items: list[tuple[int, str]] = []

    @property
    def terms(self) -> frozenset[str]:
        return terms_of(" ".join(text for _, text in (*self.headings, *self.items)))

    def path(self, *names: str) -> str:
        return " › ".join(filter(None, (*(text for _, text in (*self.headings, *self.items)), *names)))


def find_structure(raw: str) -> Structure:
    """The facts of a text; a text of plain prose has none."""
    records = list(find_records(raw)) if "{" in raw or "[" in raw else []
    written = _Written()
    written.read(raw, records)
    facts = [*(fact for record in records for fact in _fields(raw, record)), *written.facts]
    facts.sort(key=lambda fact: fact.start)
    lists = [*(entry for record in records for entry in record.lists), *written.lists]
    notes = [record.note for record in records if record.note]
    if len(facts) > MAX_FACTS:
        notes.append(
            f"more than {MAX_FACTS:,} fields: those after character {facts[MAX_FACTS].start:,} are read as prose"
        )
    return Structure(tuple(facts[:MAX_FACTS]), tuple(lists), tuple(notes))


@lru_cache(maxsize=8192)
def terms_of(text: str) -> frozenset[str]:
    """The content terms of a key, header or name."""
    tokens = tokenise(normalise(WORD_JOINTS.sub(" ", text)))
    telling = [token.term for token in tokens if not token.is_stop]
    return frozenset(telling or [token.term for token in tokens])


def _fields(raw: str, record: JsonRecord) -> Iterator[Fact]:
    """The leaves of a record; each belongs to the things that its objects name."""
    own, passed_on = _names(raw, record.leaves)
    none: frozenset[str] = frozenset()
    outer = terms_of(_call(raw, record.start))
    currencies = {
        leaf.owners[0]: raw[leaf.start : leaf.end].casefold()
        for leaf in record.leaves
        if leaf.is_text and leaf.keys and leaf.owners and leaf.keys[-1].casefold() in CURRENCY_KEYS
    }
    for leaf in record.leaves:
        inherited = (passed_on.get(owner, none) for owner in leaf.owners[1:])
        mine = own.get(leaf.owners[0], none) if leaf.owners else none
        thing = outer.union(mine, *inherited, *map(terms_of, leaf.keys[:-1]))
        key = leaf.keys[-1] if leaf.keys else ""
        currency = next((currencies[owner] for owner in leaf.owners if owner in currencies), "")
        yield Fact(leaf.start, leaf.end, leaf.path, key, _label_of(key), thing, is_cell=True, currency=currency)


def _label_of(key: str) -> frozenset[str]:
    """The terms of a key without its unit, which says nothing of what the field is."""
    return frozenset([each for each in terms_of(key) if each not in UNIT_TERMS]) or terms_of(key)


def _names(raw: str, leaves: Sequence[Leaf]) -> tuple[dict[int, frozenset[str]], dict[int, frozenset[str]]]:
    """What each object is called by its short strings, and which of these also name what is inside it.

    An object's options name it, too.
    """
    own: defaultdict[int, frozenset[str]] = defaultdict(frozenset)
    passed_on: defaultdict[int, frozenset[str]] = defaultdict(frozenset)
    for leaf in leaves:
        shown = raw[leaf.start : leaf.end]
        if not leaf.is_text or len(shown) > LONGEST_NAME or FIGURES.match(shown) or not leaf.owners:
            continue
        said = terms_of(shown)
        own[leaf.owners[0]] |= said
        if NAMING.search(leaf.keys[-1]):
            passed_on[leaf.owners[0]] |= said
        if len(leaf.owners) > 1 and len(leaf.keys) > 1 and NAMING.search(leaf.keys[-2]):
            own[leaf.owners[1]] |= said
            passed_on[leaf.owners[1]] |= said
    return own, passed_on


def _call(raw: str, start: int) -> str:
    """The name and arguments of `name({…}) ->`: what was looked up; "" for a record by itself."""
    before = raw[max(0, start - LONGEST_CALL) : start].rstrip()
    return before[:-2].rpartition("\n")[2] if before.endswith(("->", "=>")) else ""


def _lines(raw: str, records: Sequence[JsonRecord]) -> Iterator[TextLine]:
    """The lines of a text outside its records."""
    start = 0
    at = 0
    for text in raw.splitlines(keepends=True):
        end = start + len(text)
        while at < len(records) and records[at].end <= start:
            at += 1
        if at == len(records) or records[at].start >= end:
            yield TextLine(start, start + len(text.rstrip("\r\n")), text.rstrip("\r\n"))
        start = end


class _Written:
    """The facts of headings, lists, tables and labelled lines, gathered line by line."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self.lists: list[tuple[str, int]] = []
        self._outline = Outline()
        # The labelled lines of one record, from `facts[start]` on, and how many items the list being read has.
        self._record = 0
        self._items = 0

    def read(self, raw: str, records: Sequence[JsonRecord]) -> None:
        lines = list(_lines(raw, records))
        at = 0
        while at < len(lines):
            if rows := _table(lines, at):
                self._end_record()
                self.facts += _cells(rows, self._outline)
                self.lists.append((rows[0][0].text if rows[0] else "", sum(map(bool, rows)) - 1))
                at += len(rows)
                self._record = len(self.facts)
                continue
            line = lines[at]
            at += 1
            if not line.text.strip():
                self._end_record()
            elif heading := _heading(line.text, has_next=at < len(lines) and bool(lines[at].text.strip())):
                self._end_record()
                self._end_list()
                above = [(level, said) for level, said in self._outline.headings if level < heading[0]]
                self._outline.headings, self._outline.items = [*above, heading], []
            else:
                self._line(line)
        self._end_record()
        self._end_list()

    def _line(self, line: TextLine) -> None:
        item = ITEM.match(line.text)
        indent = len(item[1]) if item else len(line.text) - len(line.text.lstrip())
        outer = [(depth, text) for depth, text in self._outline.items if depth < indent]
        self._items += bool(item) and not outer
        self._outline.items = outer
        body = line.part(item.end()) if item else line
        if answer := ANSWER.match(body.text):
            body = body.part(answer.end())
        found = list(_labelled(body, self._outline))
        is_field = not item and len(found) == 1 and bool(found[0].label)
        if not is_field:
            self._end_record()
        self.facts += found
        if len(found) > 1:
            self._record = len(self.facts)
        if item:
            self._end_record()
            self._outline.items.append((indent, body.text.strip()[:LONGEST_ITEM]))

    def _end_record(self) -> None:
        """Labelled lines one after the other are fields of one thing, which their short texts name."""
        fields = self.facts[self._record :]
        if len(fields) > 1 and all(fact.label for fact in fields):
            names = frozenset[str]().union(*(fact.thing for fact in fields if fact.is_cell))
            self.facts[self._record :] = [replace(fact, thing=fact.thing | names) for fact in fields]
        self._record = len(self.facts)

    def _end_list(self) -> None:
        if self._items > 1 and self._outline.headings:
            self.lists.append((self._outline.headings[-1][1], self._items))
        self._items = 0


def _heading(text: str, *, has_next: bool) -> tuple[int, str] | None:
    """A heading's level and text: a marked one, a bold line, or a short one that only announces what follows."""
    if marked := HEADING.match(text):
        return len(marked[1]), marked[2].strip("# :*")
    if bold := BOLD.match(text):
        return CAPTION, bold[1].strip("# :*")
    announces = len(text.split()) <= LONGEST_HEADING and text.rstrip().endswith(":")
    is_caption = has_next and not ITEM.match(text) and (announces or ASKED.match(text))
    return (CAPTION, text.strip("# :*")) if is_caption else None


def _labelled(line: TextLine, outline: Outline) -> Iterator[Fact]:
    """`Key: value`, `key=value; key=value`, or sentences that are only under something."""
    pairs = list(PAIR.finditer(line.text)) if "=" in line.text else []
    if pairs and (len(pairs) > 1 or pairs[0].start() == 0):
        names = frozenset[str]().union(*(_named_by(pair[2]) for pair in pairs))
        for pair in pairs:
            key, named = pair[1].strip(), outline.terms | (names or _named_by(pair[2]))
            start, end = line.start + pair.start(2), line.start + pair.end(2)
            yield Fact(start, end, outline.path(key), key, terms_of(pair[1]), named, is_cell=True)
        return
    start = 0
    for end in [*(stop.end() for stop in SENTENCE_END.finditer(line.text)), len(line.text)]:
        yield from _sentence(line.part(start, end), outline)
        start = end


def _sentence(line: TextLine, outline: Outline) -> Iterator[Fact]:
    """A labelled sentence, or one that is only under something."""
    found = LABELLED.match(line.text)
    label = (found["bold"] or found["plain"]).strip(" :*") if found else ""
    thing = outline.terms
    if found and len(label.split()) <= LONGEST_LABEL:
        said = line.part(found.end())
        is_cell = len(said.text) <= LONGEST_NAME and not PROSE.search(said.text)
        named = thing | (_named_by(said.text) if is_cell else frozenset())
        yield Fact(said.start, line.end, outline.path(label), label, terms_of(label), named, is_cell=is_cell)
    elif thing:
        yield Fact(line.start, line.end, outline.path(), "", frozenset(), thing, is_cell=False)


def _named_by(text: str) -> frozenset[str]:
    """What a field's text adds to the names of its record: nothing, where it is a figure or prose."""
    return terms_of(text) if len(text) <= LONGEST_NAME and not FIGURES.match(text) else frozenset()


def _table(lines: Sequence[TextLine], at: int) -> list[list[TextLine]]:
    """The rows of cells of the table that starts at a line, if one does. A ruled line is a row of no cells."""
    for cut, least in ((PIPES, 2), (TABS, 2), (COMMAS, 3)):
        rows: list[list[TextLine]] = []
        for number in range(at, len(lines)):
            line = lines[number]
            if cut is PIPES and rows and RULED.match(line.text) and "|" in line.text:
                if not any(rows[-MOST_RULES:]):
                    break
                rows.append([])
                continue
            cells = _cut(line, cut)
            if len(cells) < 2 or (cut is not PIPES and rows and len(cells) != len(rows[0])):
                break
            rows.append(cells)
        if sum(map(bool, rows)) >= least:
            return rows
    return []


def _cut(line: TextLine, cut: re.Pattern[str]) -> list[TextLine]:
    """The cells of a line."""
    text = line.text
    if cut is not PIPES and (ITEM.match(text) or text != text.lstrip()):
        return []
    cells = []
    start = 0
    for end in [*(match.start() for match in cut.finditer(text)), len(text)]:
        # The sign itself, or the blanks that part two cells, are stripped with what surrounds a cell.
        cell = text[start:end]
        lead = start + len(cell) - len(cell.lstrip("|,\t "))
        cells.append(line.part(lead, lead + len(cell.strip("|,\t "))))
        start = end
    if cut is PIPES:
        cells = cells[text.lstrip().startswith("|") : len(cells) - text.rstrip().endswith("|")]
    return cells


def _cells(rows: Sequence[list[TextLine]], outline: Outline) -> Iterator[Fact]:
    """The cells of a table: a cell belongs to its header and to its row's first cell."""
    has_figures = any(character.isdigit() for cell in rows[0][1:] for character in cell.text)
    head = rows[0] if len(rows) > 1 and not (rows[1] and has_figures) else []
    for row in rows[1 if head else 0 :]:
        named = outline.terms.union(*(_named_by(cell.text) for cell in row))
        for at, cell in enumerate(row):
            header = head[at].text if at < len(head) else ""
            name = row[0].text if at else ""
            label = terms_of(header) | terms_of(name)
            yield Fact(cell.start, cell.end, outline.path(name, header), header, label, named, is_cell=True)
