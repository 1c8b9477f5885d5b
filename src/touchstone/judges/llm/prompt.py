"""A prompt's YAML text -> Prompt: the versioned words that a rubric and a case are put into."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import yaml

from touchstone.core import resource
from touchstone.core.errors import ConfigError

DEFAULT_PROMPT = "judge"
# Where each text may have which gaps; the first tuple must all be there, or the judge would be told too little.
GAPS: Mapping[str, tuple[str, ...]] = {
    "system": ("task", "examples", "form"),
    "criteria": ("criteria",),
    "criterion": ("criteria",),
    "violations": ("kinds",),
    "values": (),
    "questions": (),
    "examples": ("examples",),
    "user": ("data", "fence", "asked"),
}
WORKED = "worked"
_GAP = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """A worked example: what was asked, the reply, and what was said of it in the prompt's own words."""

    customer: str
    reply: str
    grades: Mapping[str, str]
    violations: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The texts of one version; `{{name}}` is a gap. `worked` examples are shown where they grade what is asked."""

    name: str
    version: str
    system: str
    criteria: str
    criterion: str
    violations: str
    values: str
    questions: str
    examples: str
    user: str
    worked: tuple[WorkedExample, ...] = ()


@cache
def packaged_prompt(name: str = DEFAULT_PROMPT) -> Prompt:
    """A prompt that ships with Touchstone."""
    return parse_prompt(resource.text(f"prompts/{name}.yaml"), name=f"{name}.yaml")


def parse_prompt(text: str, *, name: str) -> Prompt:
    """The prompt a YAML text describes; `name` is what errors call the file."""
    known = tuple(field.name for field in fields(Prompt) if field.name != WORKED)
    try:
        content = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ConfigError(f"{name}: the prompt is not YAML ({type(error).__name__})") from None
    worked = _examples(content.pop(WORKED, []), name=name) if isinstance(content, dict) else ()
    if not isinstance(content, dict) or set(content) != set(known):
        raise ConfigError(f"{name}: a prompt has exactly the fields {', '.join(known)}, and may have {WORKED}")
    for field, value in content.items():
        if not isinstance(value, str) or not value.strip():
            raise ConfigError(f"{name}: '{field}' is no text: put it in quotes, or after a |")
    for field, gaps in GAPS.items():
        found = set(_GAP.findall(content[field]))
        if unknown := sorted(found - set(gaps)):
            allowed = ", ".join(f"{{{{{gap}}}}}" for gap in gaps)
            raise ConfigError(f"{name}: '{field}' has a gap {{{{{unknown[0]}}}}}, allowed are {allowed}")
        if missing := sorted(set(gaps) - found):
            raise ConfigError(f"{name}: '{field}' lacks the gap {{{{{missing[0]}}}}}")
    return Prompt(**{field: value.strip() for field, value in content.items()}, worked=worked)


def _examples(rows: Any, *, name: str) -> tuple[WorkedExample, ...]:
    """The worked examples: each with what the customer says, the reply, a text for each grade, and the violations."""
    needed = tuple(field.name for field in fields(WorkedExample))

    def is_example(row: Any) -> bool:
        if not isinstance(row, dict) or set(row) != set(needed) or not isinstance(row["grades"], dict):
            return False
        texts = (*row["grades"].values(), *(row[field] for field in needed if field != "grades"))
        return all(isinstance(text, str) for text in texts)

    if not isinstance(rows, list) or not all(map(is_example, rows)):
        raise ConfigError(f"{name}: '{WORKED}' is a list of mappings with {', '.join(needed)}, all of them texts")
    return tuple(WorkedExample(**row) for row in rows)


def fill(text: str, **values: str) -> str:
    """The text with its gaps filled, all in one pass: what is put in is never read for gaps itself."""
    return _GAP.sub(lambda gap: values[gap[1]], text)
