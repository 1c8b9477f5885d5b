"""What people see, kept as text under tests/snapshots and compared exactly; `pytest --renew-snapshots` rewrites it.

Look at the difference in version control before you commit a renewed snapshot.
"""

import difflib
import re
from html.parser import HTMLParser
from pathlib import Path

SNAPSHOTS = Path(__file__).parent / "snapshots"
# What differs from one run to the next, each replaced by a word of its own; run ids keep apart which run is meant.
PASSING = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:\+00:00|Z)"), "MOMENT"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?"), "MINUTE"),
    (re.compile(r"\b[0-9a-f]{12,64}\b"), "HASH"),
    (re.compile(r'(?<=time=")[\d.]+(?=")'), "SECONDS"),
    (re.compile(r"\b[\d.,]+ (?:ms|s)\b"), "SECONDS"),
    (re.compile(r"\b\d+ days ago"), "DAYS ago"),
)
RUN_ID = re.compile(r"\b\d{8}-\d{6}-[0-9a-f]{4}\b")
INLINE = {"a", "abbr", "b", "code", "em", "i", "mark", "small", "span", "strong", "sub", "sup", "time", "tspan", "wbr"}
UNSEEN = {"script", "style"}
SPOKEN = ("title", "aria-label", "alt", "placeholder")


class Snapshots:
    """Compares a text with what is kept under its name, or keeps it."""

    def __init__(self, *, renews: bool) -> None:
        self._renews = renews

    def check(self, name: str, text: str) -> None:
        """Fail with the difference unless the text, without times and ids, is the one kept."""
        path, text = SNAPSHOTS / name, lasting(text)
        if self._renews:
            path.write_text(text, encoding="utf-8")
            return
        kept = path.read_text(encoding="utf-8") if path.exists() else ""
        if kept != text:
            difference = difflib.unified_diff(kept.splitlines(), text.splitlines(), "kept", "now", lineterm="")
            raise AssertionError("\n".join([f"{path.name}, renewed by pytest --renew-snapshots:", *difference]))


def lasting(text: str) -> str:
    """The text as it would be at any other time on any other machine; lines end where their words do."""
    for at, id in enumerate(sorted(set(RUN_ID.findall(text))), 1):
        text = text.replace(id, f"RUN-{at}")
    for passing, word in PASSING:
        text = passing.sub(word, text)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def text_of(html: str) -> str:
    """What a page says, a block or a table's row on each line, with what is read out for its charts and fields."""
    page = _Text()
    page.feed(html)
    page.close()
    lines = (" ".join(line.split()) for line in "".join(page.parts).splitlines())
    return "\n".join(line for line in lines if line.strip(" |"))


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unseen += tag in UNSEEN
        self._part(tag)
        for name, value in attrs:
            if name in SPOKEN and value:
                self.parts.append(f" [{' '.join(value.split())}] ")

    def handle_endtag(self, tag: str) -> None:
        self._unseen -= tag in UNSEEN
        if tag not in {"td", "th"}:
            self._part(tag)

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.parts.append(re.sub(r"\s+", " ", data))

    def _part(self, tag: str) -> None:
        if tag not in INLINE:
            self.parts.append(" | " if tag in {"td", "th"} else "\n")
