"""A prompt's YAML text -> Prompt: the versioned words that a rubric and a case are put into."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache

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
_GAP = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """The texts of one version; `{{name}}` is a gap."""

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


@cache
def packaged_prompt(name: str = DEFAULT_PROMPT) -> Prompt:
    """A prompt that ships with Touchstone."""
    return parse_prompt(resource.text(f"prompts/{name}.yaml"), name=f"{name}.yaml")


def parse_prompt(text: str, *, name: str) -> Prompt:
    """The prompt a YAML text describes; `name` is what errors call the file."""
    known = tuple(field.name for field in fields(Prompt))
    try:
        content = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ConfigError(f"{name}: the prompt is not YAML ({type(error).__name__})") from None
    if not isinstance(content, dict) or set(content) != set(known):
        raise ConfigError(f"{name}: a prompt has exactly the fields {', '.join(known)}")
    for field, value in content.items():
        if not isinstance(value, str) or not value.strip():
            raise ConfigError(f"{name}: '{field}' is no text: put it in quotes, or after a |")
    for field, gaps in GAPS.items():
        _check_gaps(content[field], field, gaps, name=name)
    return Prompt(**{field: value.strip() for field, value in content.items()})


def fill(text: str, **values: str) -> str:
    """The text with its gaps filled, all in one pass: what is put in is never read for gaps itself."""
    return _GAP.sub(lambda gap: values[gap[1]], text)


def _check_gaps(text: str, field: str, gaps: tuple[str, ...], *, name: str) -> None:
    found = set(_GAP.findall(text))
    if unknown := sorted(found - set(gaps)):
        allowed = ", ".join(f"{{{{{gap}}}}}" for gap in gaps)
        raise ConfigError(f"{name}: '{field}' has a gap {{{{{unknown[0]}}}}}, allowed are {allowed}")
    if missing := sorted(set(gaps) - found):
        raise ConfigError(f"{name}: '{field}' lacks the gap {{{{{missing[0]}}}}}")
