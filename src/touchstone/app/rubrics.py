"""A file or a packaged name -> Rubric, and what its last review calls for."""

from datetime import date
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from touchstone.core.errors import RubricError
from touchstone.rubric.model import Rubric
from touchstone.rubric.parse import packaged, parse_rubric

if TYPE_CHECKING:
    from touchstone.store.runs import Store

DEFAULT_RUBRIC = "supportai"
ENDINGS = (".yaml", ".yml")
# "Quarterly at minimum" (spec: supportai-rubric, Rubric Updates).
REVIEW_DAYS = 90


def load_rubric(name: str, *, beside: Path = Path()) -> Rubric:
    """The rubric that ships under this name, or the one in this YAML file, looked for from `beside`."""
    if name in packaged_names():
        return packaged(name)
    path = beside / name
    if not path.exists():
        raise RubricError(_unknown(name))
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise RubricError(f"{path} is not UTF-8: save it as UTF-8") from error
    except OSError as error:
        raise RubricError(f"{path} cannot be read ({error.strerror}): give a YAML file") from error
    return parse_rubric(text, name=str(path))


def rubric_of(store: "Store", run: str) -> Rubric:
    """The rubric the run was graded by, which its reviews are held to."""
    return parse_rubric(store.rubric(run), name=f"the rubric of run {run}")


def packaged_names() -> tuple[str, ...]:
    """The rubrics that ship with Touchstone."""
    files = resources.files("touchstone").joinpath("data/rubrics").iterdir()
    return tuple(sorted(file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml")))


def review_remark(rubric: Rubric, *, today: date) -> str | None:
    """What is to be done about the rubric's last review, if anything."""
    days = (today - rubric.reviewed).days
    if days < 0:
        return f"the last review, {rubric.reviewed}, is in the future: correct 'reviewed'"
    if days > REVIEW_DAYS:
        return (
            f"the last review, {rubric.reviewed}, is {days:,} days old, over {REVIEW_DAYS}: "
            "review the rubric and renew 'reviewed'"
        )
    return None


def _unknown(name: str) -> str:
    names = packaged_names()
    near = get_close_matches(name, names, n=1)
    if name.endswith(ENDINGS) or "/" in name:
        return f"rubric {name} does not exist: give a YAML file, or one that ships: {', '.join(names)}"
    hint = f"nearest is '{near[0]}'" if near else f"packaged are {', '.join(names)}"
    return f"rubric '{name}' is neither a file nor a packaged name; {hint}"
