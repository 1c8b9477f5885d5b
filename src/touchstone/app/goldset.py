"""Gold sets by file or packaged name: found, read, checked, described and sampled."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
from typing import Any

from touchstone.app.config import Settings
from touchstone.core.case import Case
from touchstone.core.errors import ConfigError, InputError
from touchstone.core.result import Failure
from touchstone.goldset.check import Findings, Rules, check_goldset
from touchstone.goldset.problems import PlacedCase, Unread
from touchstone.goldset.stats import GoldsetStats, summarise_goldset
from touchstone.goldset.strata import StratifiedSample, draw
from touchstone.io.cases import Entry, read_cases
from touchstone.io.columns import ALIASES, SeenColumns
from touchstone.io.files import STDIN, open_mapped, open_rows
from touchstone.io.formats import Format
from touchstone.io.row_files import check_rows_target, write_rows
from touchstone.io.rows import Row

_REPEATED = "DuplicateId"


@dataclass(frozen=True, slots=True)
class Sampled:
    """What was drawn and written, which rows could not be read, and how many cells a spreadsheet might run."""

    sample: StratifiedSample
    unread: tuple[Unread, ...]
    formulas: int


def locate(name: str) -> str:
    """The path of a gold set: a file of that name, or the set that ships under it; `-` is stdin."""
    if name == STDIN or Path(name).is_file():
        return name
    if name in packaged_goldsets():
        return str(resources.files("touchstone").joinpath(f"data/goldsets/{name}.jsonl"))
    if "/" in name or Path(name).suffix or Path(name).exists():
        return name
    near = get_close_matches(name, packaged_goldsets(), n=1)
    hint = f"nearest is '{near[0]}'" if near else f"packaged are {', '.join(packaged_goldsets())}"
    raise InputError(f"gold set '{name}' is neither a file nor a packaged name; {hint}")


def is_goldset(name: str) -> bool:
    """Whether there is a file of that name, or a set that ships under it."""
    return name == STDIN or Path(name).is_file() or name in packaged_goldsets()


def packaged_goldsets() -> tuple[str, ...]:
    """The gold sets that ship with Touchstone."""
    files = resources.files("touchstone").joinpath("data/goldsets").iterdir()
    return tuple(sorted(file.name.removesuffix(".jsonl") for file in files if file.name.endswith(".jsonl")))


def read_goldset(name: str, *, columns: Mapping[str, str] | None = None, format: Format | None = None) -> list[Entry]:
    """Every row of a gold set; a case may still be without a reply."""
    with open_rows(locate(name), format=format) as rows:
        return list(read_cases(rows, file=name, columns=columns, replies="optional"))


def check_file(
    name: str,
    *,
    settings: Settings,
    against: str | None = None,
    near: float,
    thin: int,
    skip: Collection[str] = (),
    format: Format | None = None,
) -> Findings:
    """What is wrong with a gold set, by the settings' rubric; `against` is another that must share no inputs."""
    if against is not None and _is_same(name, against):
        raise ConfigError(f"--against {against} is the file that is checked: give another")
    seen = SeenColumns(settings.mapped)
    items, unread = _items(name, columns=settings.columns, seen=seen, format=format)
    others = _items(against, columns=settings.columns, seen=seen)[0] if against is not None else []
    seen.check_mapped(file=name)
    rules = Rules(rubric=settings.rubric, plan=settings.plan, near=near, thin=thin, skip=skip)
    return check_goldset(items, unread, rules=rules, against=others, other=against or "")


def describe_file(name: str, *, settings: Settings, format: Format | None = None) -> GoldsetStats:
    """What a gold set holds."""
    seen = SeenColumns(settings.mapped)
    items, unread = _items(name, columns=settings.columns, seen=seen, format=format)
    seen.check_mapped(file=name)
    return summarise_goldset([item.case for item in items], rubric=settings.rubric, unread=len(unread))


def sample_file(
    name: str,
    *,
    target: str,
    n: int,
    by: tuple[str, ...],
    seed: int,
    columns: Mapping[str, str] | None = None,
    format: Format | None = None,
) -> Sampled:
    """Draw rows and write them as they are; rows that cannot be read are never drawn."""
    source = locate(name)
    check_rows_target(target, source=source)
    with open_mapped(source, mapped=columns or {}, format=format) as reader:
        rows = list(reader)
    if not rows:
        raise InputError(f"{name} has no cases: there is nothing to sample")
    readable = [row for row in rows if not isinstance(row.content, Failure)]
    unread = tuple(Unread(row.line, row.content) for row in rows if isinstance(row.content, Failure))
    sample = draw([_fields(row, columns=columns or {}) for row in readable], n=n, by=by, seed=seed)
    formulas = write_rows([readable[at] for at in sample.drawn], target)
    return Sampled(sample, unread, formulas)


def _items(
    name: str, *, columns: Mapping[str, str], seen: SeenColumns, format: Format | None = None
) -> tuple[list[PlacedCase], list[Unread]]:
    """The cases with their lines, and the rows that are none. A repeated id costs a case its place only elsewhere."""
    with open_rows(locate(name), format=format) as reader:
        rows = list(seen.watch(reader))
    items, unread = [], []
    for row, entry in zip(rows, read_cases(rows, file=name, columns=columns, replies="optional"), strict=True):
        case = entry.case
        if isinstance(case, Failure) and case.error == _REPEATED:
            case = next(read_cases([row], file=name, columns=columns, replies="optional")).case
        if isinstance(case, Case):
            items.append(PlacedCase(entry.line, case))
        else:
            unread.append(Unread(entry.line, case))
    return items, unread


def _fields(row: Row, *, columns: Mapping[str, str]) -> dict[str, Any]:
    """A row's columns, by our names as well where it uses others."""
    content = {} if isinstance(row.content, Failure) else row.content
    ours = {field: content[name] for name, field in {**ALIASES, **columns}.items() if name in content}
    return {**ours, **content}


def _is_same(name: str, other: str) -> bool:
    ours, theirs = Path(locate(name)), Path(locate(other))
    return ours.exists() and theirs.exists() and ours.samefile(theirs)
