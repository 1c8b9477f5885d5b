"""Rubric versions -> what each says, and what changed from one to another."""

from dataclasses import dataclass
from datetime import date
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from touchstone.app.rubrics import review_remark
from touchstone.core.codec import content_hash
from touchstone.core.errors import RubricError
from touchstone.report.plain import one_line
from touchstone.rubric.card import card, conventions, differences, level_texts, rubric_to_dict
from touchstone.rubric.model import Rubric
from touchstone.rubric.parse import parse_rubric
from touchstone.service.context import Caller, Viewer

pages = APIRouter(include_in_schema=False)
_Hash = Annotated[str, Query(max_length=128)]


@dataclass(frozen=True, slots=True)
class _Version:
    hash: str
    title: str
    since: str
    rubric: Rubric
    is_current: bool


@pages.get("/rubrics")
def rubrics(caller: Viewer, *, shown: _Hash = "", before: _Hash = "") -> Response:
    """A version of the rubric, the one in use unless another is named; with `before`, what changed since that one."""
    versions = _versions(caller)
    chosen = next((each for each in versions if each.hash == shown), versions[0])
    earlier = next((each for each in versions if each.hash == before), None)
    return caller.show(
        "rubrics.html",
        versions=versions,
        chosen=chosen,
        earlier=earlier,
        changes=differences(earlier.rubric, chosen.rubric) if earlier else (),
        card=card(chosen.rubric),
        levels=level_texts(chosen.rubric),
        conventions=conventions(chosen.rubric),
        remark=review_remark(chosen.rubric, today=date.today()) if chosen.is_current else None,
    )


def _versions(caller: Caller) -> list[_Version]:
    """The one in use first, then those of the store, the newest first."""
    current = caller.service.settings.rubric
    in_use = _hash(current)
    found = [_Version(in_use, _title(current), "in use", current, is_current=True)]
    for kept in caller.store.rubrics.list():
        try:
            rubric = parse_rubric(kept.text, name=f"rubric {kept.name}")
        except RubricError:
            # Written by another version of Touchstone: its text cannot be read here.
            continue
        if (hash := _hash(rubric)) != in_use and all(each.hash != hash for each in found):
            found.append(_Version(hash, _title(rubric), kept.made, rubric, is_current=False))
    return found


def _hash(rubric: Rubric) -> str:
    return content_hash(rubric_to_dict(rubric))


def _title(rubric: Rubric) -> str:
    return one_line(f"{rubric.name} {rubric.version}")
