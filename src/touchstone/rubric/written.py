"""Rubric -> the YAML text that `parse_rubric` reads back as the same rubric."""

from collections.abc import Mapping
from typing import Any

import yaml

from touchstone.rubric.card import rubric_to_dict
from touchstone.rubric.model import Criterion, Rubric


def write_rubric(rubric: Rubric) -> str:
    """The rubric as YAML, in the order of its fields."""
    rows = rubric_to_dict(rubric)["criteria"]
    content = rubric_to_dict(rubric) | {
        "reviewed": rubric.reviewed,
        "criteria": [_criterion(row, each) for row, each in zip(rows, rubric.criteria, strict=True)],
    }
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def _criterion(row: Mapping[str, Any], criterion: Criterion) -> dict[str, Any]:
    # An empty text is one that was not given; JSON has no numbers for keys, YAML has.
    given = {name: value for name, value in row.items() if value != ""}
    return given | {"levels": dict(criterion.levels)}
