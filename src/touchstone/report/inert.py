"""Text from outside -> Markdown that shows it and does nothing else: no HTML, no link, no mention, no heading."""

import re

from touchstone.report.plain import one_line

# Every ASCII punctuation mark may be escaped (CommonMark 2.4); these are the ones that can begin something in a line.
_SPECIAL = re.compile(r"[\\`*_\[\]<>&|~$]")
# At the start of a line these make a list or a heading.
_STARTS = re.compile(r"^(\s*\d*)([-+=#.)])(?=[\s=+#-]|$)")
# GitHub links mentions, issue numbers and addresses after Markdown is read, when no backslash is left to stop it.
_LINKED = re.compile(r"([@#]|://|www|\bGH-)", re.IGNORECASE)
_NOTHING = "\u200b"


def prose(text: str) -> str:
    """A text to stand in a paragraph, a list or a table."""
    escaped = _STARTS.sub(r"\1\\\2", _SPECIAL.sub(r"\\\g<0>", one_line(text)))
    return _LINKED.sub(rf"\1{_NOTHING}", escaped)


def literal(text: str) -> str:
    """An id or another name as code, in which nothing is linked; also fit for a table."""
    line = one_line(text).strip() or " "
    longest = max((len(run) for run in re.findall("`+", line)), default=0)
    fence, pad = "`" * (longest + 1), " " if "`" in line else ""
    return f"{fence}{pad}{line.replace('|', '¦')}{pad}{fence}"
