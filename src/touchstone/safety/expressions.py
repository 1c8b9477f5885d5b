"""A data file of regular expressions -> compiled ones. What several have in common is a part with a name.

`{name}` stands for a part of the file, `{table:group}` for the members of a group of one of its tables.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Any

from touchstone.core import resource

PART = re.compile(r"\{([a-z_]+)(?::([a-z_]+))?\}")


@cache
def content(file: str) -> Mapping[str, Any]:
    """The file's tables, parts and expressions as they are written."""
    return tomllib.loads(resource.text(file))


@cache
def expression(file: str, name: str) -> re.Pattern[str]:
    """One of the file's named expressions."""
    return compiled(file, content(file)["expressions"][name])


@cache
def compiled(file: str, text: str) -> re.Pattern[str]:
    return re.compile(filled(file, text))


def filled(file: str, text: str, given: Mapping[str, str] | None = None) -> str:
    """An expression with its parts in their places, those `given` first; a group's longest members come first."""

    def part(found: re.Match[str]) -> str:
        name, group = found.groups()
        if group is not None:
            members = resource.group(content(file)["tables"][name], group)
            return "|".join(sorted(members, key=lambda member: (-len(member), member)))
        return given[name] if given and name in given else filled(file, content(file)["parts"][name], given)

    return PART.sub(part, text)
