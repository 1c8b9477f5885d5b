"""Numbers -> the words they are shown as: terminal, Markdown and HTML all take them from here."""

import re
from datetime import UTC, datetime
from typing import Literal

from touchstone.report.plain import one_line
from touchstone.rubric.model import TOP
from touchstone.runs.targets import Target
from touchstone.stats.interval import Interval

Scale = Literal["share", "grade", "unit", "points"]
NONE = "–"
_MINUS = "−"
# No line breaks between a number and its sign.
_SPACE = "\u00a0"
_PERCENT = f"{_SPACE}%"
_HASH = re.compile(r" #?[0-9a-f]{8,}$")


def scale_of(measure: str) -> Scale:
    """How a headline figure is counted: a share of the replies, a mean grade, or a number from 0 to 1."""
    if measure == "average_confidence":
        return "unit"
    return "grade" if measure.startswith("average") else "share"


def top_of(scale: Scale) -> float:
    return {"grade": float(TOP), "points": 100.0}.get(scale, 1.0)


def figure(value: float | None, scale: Scale, *, target: Target | None = None) -> str:
    """One figure: 72.3 %, 3.12, 0.81 or, of points, 81.3; beside a target, on the right side of it."""
    if value is None:
        return NONE
    times, decimals, unit = (100, 1, _PERCENT) if scale == "share" else (1, 1 if scale == "points" else 2, "")
    text = f"{times * value:.{decimals}f}" if target is None else target.beside(value, times=times, decimals=decimals)
    return text.replace("-", _MINUS) + unit


def interval(found: Interval | None, scale: Scale) -> str:
    """Both ends of an interval, 46.0 to 62.9 %; nothing when there is none."""
    if found is None:
        return ""
    return f"{figure(found.low, scale).removesuffix(_PERCENT)} to {figure(found.high, scale)}"


def level(found: Interval | None) -> str:
    """What an interval is called: 95 % interval."""
    return "interval" if found is None else f"{found.level * 100:.0f}{_PERCENT} interval"


def change(value: float | None, scale: Scale) -> str:
    """A difference with its sign: +4.6 pp, −0.12."""
    if value is None:
        return NONE
    if scale == "share":
        text = f"{value * 100:+.1f}{_SPACE}pp"
    else:
        text = f"{value:+.1f}" if scale == "points" else f"{value:+.2f}"
    return text.replace("-", _MINUS)


def change_interval(found: Interval | None, scale: Scale) -> str:
    """Both ends of a difference's interval: −1.2 to +10.3 pp."""
    if found is None:
        return ""
    return f"{change(found.low, scale).removesuffix(f'{_SPACE}pp')} to {change(found.high, scale)}"


def points(value: float | None) -> str:
    """A total of points, as the rubric counts them: 86.25, 100."""
    return NONE if value is None else f"{value:.2f}".rstrip("0").rstrip(".")


def probability(value: float | None, *, letter: str = "p") -> str:
    """A p- or q-value: p = 0.031, p < 0.001."""
    if value is None:
        return ""
    return f"{letter} < 0.001" if value < 0.001 else f"{letter} = {value:.3f}"


def count(number: int, noun: str, plural: str | None = None) -> str:
    """1 reply, 1,204 replies."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def moment(text: str | None) -> str:
    """An ISO 8601 time to the minute, as given when it is none."""
    if text is None:
        return "not finished"
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return one_line(text)
    return f"{when.astimezone(UTC) if when.tzinfo else when:%Y-%m-%d %H:%M} UTC"


def seconds(value: float) -> str:
    """A duration: 4.2 s, 3 min 20 s."""
    if value < 60:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes:,} min {rest} s"


def sentence(text: str) -> str:
    """A remark as a sentence: with a capital and a full stop."""
    line = one_line(text).strip()
    return first_up(line) + ("" if not line or line.endswith((".", "!", "?", "…")) else ".")


def words(name: str) -> str:
    """A name from the code or the data as words: pass_rate -> pass rate."""
    return one_line(name).replace("_", " ")


def first_up(text: str) -> str:
    """The text with a capital first, the rest as it is."""
    return text[:1].upper() + text[1:]


def without_hash(name: str) -> str:
    """What a judge is called by people: its name without the hash of its version."""
    return _HASH.sub("", name)
