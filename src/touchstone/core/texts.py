"""A Case, Result or Record -> the same with other texts: the one walk that redaction and erasure share."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar

from touchstone.core.result import Anchor, Evidence, Finding, Statement

# A text with its place: in the reply, or for evidence in a source.
Quotation = Anchor | Evidence | Finding | Statement

# What Touchstone, the rubric, a file's columns or an account names. Every other text, so also that of a field to come,
# may quote the customer, the bot or a source.
OWN_WORDS = frozenset(
    """
    Case.id Case.category Turn.role Label.rater Label.violations
    Result.id Result.decision Result.verdict Failure.stage Failure.error Score.metric Score.flag
    Anchor.kind Anchor.status Evidence.source Finding.kind Finding.rule Waived.by Waived.made
    Grading.rubric Grading.version Grading.judge Grading.outcome Grading.reasons Grade.criterion
    Verification.name Verification.version Verification.hash Statement.status Statement.by Statement.chances
    Record.id Record.category Record.decision Record.verdict Record.outcome Record.violations Tag.name Tag.owner
    """.split()
)
# The `quotation` function decides on these.
_QUOTED = frozenset({"Anchor.text", "Evidence.text", "Finding.text", "Statement.text"})

_Value = TypeVar("_Value")


def map_texts(
    value: _Value,
    *,
    prose: Callable[[str], str],
    quotation: Callable[[Any], Quotation | None],
    listed: Callable[[str], str | None] | None = None,
) -> _Value:
    """The value with each text as `prose` makes it, and each quotation, its other texts done, as `quotation` makes it.

    `listed` is `prose` for the entries of lists. An entry that becomes None is left out of its list.
    """

    def entry(each: Any) -> Any:
        return listed(each) if listed and isinstance(each, str) else walk(each)

    def walk(each: Any) -> Any:
        if isinstance(each, str):
            return prose(each)
        if isinstance(each, Mapping):
            return {name: walk(value) for name, value in each.items()}
        if isinstance(each, tuple | list):
            entries = [new for old in each if (new := entry(old)) is not None or old is None]
            return entries if isinstance(each, list) else tuple(entries)
        if not is_dataclass(each) or isinstance(each, type):
            return each
        done = replace(each, **{name: walk(getattr(each, name)) for name in _walked(type(each))})
        return quotation(done) if isinstance(each, Quotation) else done

    mapped: _Value = walk(value)
    return mapped


@cache
def _walked(kind: type[Any]) -> tuple[str, ...]:
    """The fields of a dataclass that may hold text of others."""
    kept = OWN_WORDS | _QUOTED
    return tuple(field.name for field in fields(kind) if f"{kind.__name__}.{field.name}" not in kept)
