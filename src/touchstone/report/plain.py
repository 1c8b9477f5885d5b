"""Text from outside -> text that is safe to show in a terminal or as Markdown: it is shown, and does nothing else."""

import re

# ECMA-48: CSI and OSC sequences whole, so that no "[31m" is left behind.
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|\x9b[0-?]*[ -/]*[@-~]")
# Control characters but tab and line feed; Unicode's bidirectional controls and separators (UAX 9); lone surrogates.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
# Every ASCII punctuation mark may be escaped (CommonMark 2.4); these are the ones that can begin something in a line.
_SPECIAL = re.compile(r"[\\`*_\[\]<>&|~$]")
# At the start of a line these make a list or a heading.
_STARTS = re.compile(r"^(\s*\d*)([-+=#.)])(?=[\s=+#-]|$)")
# GitHub links mentions, issue numbers and addresses after Markdown is read, when no backslash is left to stop it.
_LINKED = re.compile(r"([@#]|://|www|\bGH-)", re.IGNORECASE)
_NOTHING = "\u200b"
_SPACES = re.compile("[^\\S\u00a0]+")


def plain(text: str) -> str:
    """The text without escape sequences, control characters and direction overrides."""
    return _CONTROLS.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n")))


def plain_places(text: str) -> list[int]:
    """For each character of `plain(text)` its place in the text, so that a span chosen there can be found here."""
    places = [at for at in range(len(text)) if text[at : at + 2] != "\r\n"]
    for pattern in (_ESCAPES, _CONTROLS):
        shown = "".join(text[at] for at in places)
        gone = {at for found in pattern.finditer(shown) for at in range(*found.span())}
        places = [place for at, place in enumerate(places) if at not in gone]
    return places


def excerpt(text: str, start: int, end: int, *, around: int = 40) -> tuple[str, str, str]:
    """The text before, in and after a span, each on one line and cut where it is far from it."""
    before, after = text[max(0, start - around) : start], text[end : end + around]
    return (
        ("…" if start > around else "") + one_line(before).lstrip(),
        one_line(text[start:end]),
        one_line(after).rstrip() + ("…" if end + around < len(text) else ""),
    )


def one_line(text: str) -> str:
    """The text with white space, line breaks included, as one space; spaces that must not break stay."""
    return _SPACES.sub(" ", plain(text))


def prose(text: str) -> str:
    """A text to stand in a paragraph, a list or a table."""
    line = one_line(text).replace("\u00a0", " ")
    escaped = _STARTS.sub(r"\1\\\2", _SPECIAL.sub(r"\\\g<0>", line))
    return _LINKED.sub(rf"\1{_NOTHING}", escaped)


def literal(text: str) -> str:
    """An id or another name as code, in which nothing is linked; also fit for a table."""
    line = one_line(text).strip() or " "
    longest = max((len(run) for run in re.findall("`+", line)), default=0)
    fence, pad = "`" * (longest + 1), " " if "`" in line else ""
    return f"{fence}{pad}{line.replace('|', '¦')}{pad}{fence}"
