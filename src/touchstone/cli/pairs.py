"""`left=right` flags -> a mapping."""

from collections.abc import Iterable

from touchstone.core.errors import ConfigError


def pairs(flags: Iterable[str] | None, *, flag: str, at_last: bool = False) -> dict[str, str]:
    """The flags as a mapping; the first `=` parts them, or the last where the left side may hold one."""
    found: dict[str, str] = {}
    for text in flags or ():
        left, equals, right = (part.strip() for part in (text.rpartition("=") if at_last else text.partition("=")))
        if not (left and equals and right):
            raise ConfigError(f"{flag} {text} is not of the form left=right")
        found[left] = right
    return found
