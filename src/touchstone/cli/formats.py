"""`--format` -> what a file is taken for."""

from typing import TYPE_CHECKING

from touchstone.core.errors import ConfigError

if TYPE_CHECKING:
    from touchstone.io.files import Format


def chosen_format(name: str | None) -> "Format | None":
    """The format that the flag names; ConfigError for one that is not known."""
    from touchstone.io.files import FORMATS

    if name is None:
        return None
    for known in FORMATS:
        if known == name.lower():
            return known
    raise ConfigError(f"--format {name} is not known: allowed are {', '.join(FORMATS)}")
