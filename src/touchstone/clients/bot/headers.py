"""Headers as the user gives them -> as they are sent: `${NAME}` stands for an environment variable.

So a secret is in the environment alone, and not in a command line, a configuration or a run. No message shows a value.
"""

import re
from collections.abc import Mapping

from touchstone.core.errors import ConfigError

_VARIABLE = re.compile(r"\$\{([^}]*)\}")
# RFC 9110: a token, and visible ASCII with blanks between.
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(r"[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?|")


def expand_headers(headers: Mapping[str, str], *, environment: Mapping[str, str]) -> dict[str, str]:
    """The headers with their variables filled in; a ConfigError that names the header and the variable otherwise."""
    return {_name(name): _value(value, header=name, environment=environment) for name, value in headers.items()}


def _name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{name[:60]!r} is no name of a header: write it like 'Authorization'")
    return name


def _value(value: str, *, header: str, environment: Mapping[str, str]) -> str:
    def variable(found: re.Match[str]) -> str:
        if (filled := environment.get(found[1])) is None:
            raise ConfigError(f"header '{header}' asks for the environment variable '{found[1]}', which is not set")
        return filled

    filled = _VARIABLE.sub(variable, value).strip()
    if not _VALUE.fullmatch(filled):
        raise ConfigError(f"header '{header}' holds a line break or another character that may not be sent: remove it")
    return filled
