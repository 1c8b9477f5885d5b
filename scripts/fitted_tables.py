"""Figures of the fit (judge.json, pass.json, rules.json) -> the marked tables of docs/judge.md and docs/safety.md.

python -m scripts.fitted_tables
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from scripts.labelled import DATA, ROOT

SHOWN = {"expected": "expected reply", "open": "sources only", "bare": "neither"}
NATURAL, CHANGED, WRITTEN = "replies", "figures made wrong", "second tables"


def agreement() -> Iterator[list[str]]:
    """Kappa with people: a row for each mode and criterion, a column for each labelled set."""
    fitted = _read("judge.json")
    sets = list(fitted["fitted_on"])
    yield ["held against", "criterion", *sets]
    for mode, shown in SHOWN.items():
        for criterion, by_set in fitted["agreement"][mode].items():
            yield [shown, criterion, *(_share(by_set[name]) for name in sets)]


def calibration() -> Iterator[list[str]]:
    """How many replies of each band of the pass probability pass."""
    modes = _read("pass.json")["ways"]
    measured = {mode: modes[mode]["left_out"] for mode in SHOWN}
    yield ["pass probability", *(f"{shown}: pass" for shown in SHOWN.values())]
    for low in measured["expected"]["share_passing_and_n"]:
        cells = [measured[mode]["share_passing_and_n"].get(low, [0.0, 0]) for mode in SHOWN]
        yield [f"{_share(float(low))} to {_share(float(low) + 0.1)}", *(f"{_share(s)} of {n}" for s, n in cells)]
    yield ["Brier score", *(f"{measured[mode]['brier']:.3f}".removeprefix("0") for mode in SHOWN)]


def decisions() -> Iterator[list[str]]:
    """What is sent and blocked of each labelled set, and how often that is right."""
    every = _read("pass.json")["decisions"]
    apart = ["AUC", "sent", "blocked"]
    yield ["held against", "set", "replies", *apart, "not graded", *(f"set left out: {head}" for head in apart)]
    for mode in ("expected", "open"):
        for name, row in every[mode]["domains_left_out"].items():
            whole = every[mode]["sets_left_out"][name]
            yield [SHOWN[mode], name, str(row["replies"]), *_decided(row), str(row["abstained"]), *_decided(whole)]


def passing() -> Iterator[list[str]]:
    """How often a decision is right where more or fewer replies pass."""
    every = _read("pass.json")["decisions"]
    modes = ("expected", "open")
    yield [
        "of all replies pass",
        *(f"{SHOWN[mode]}: {what}" for mode in modes for what in ("sent pass", "blocked fail")),
    ]
    for share in every["open"]["where_so_many_pass"]:
        rows = [every[mode]["where_so_many_pass"][share] for mode in modes]
        cells = [_share(row[name]) for row in rows for name in ("sent_that_pass", "blocked_that_fail")]
        yield [share.replace("%", " %"), *cells]


def rules() -> Iterator[list[str]]:
    """How often each rule was right on domains left out, from either cut on; figures made wrong: how many it found."""
    fitted = _read("rules.json")
    groups = (NATURAL, CHANGED, WRITTEN)
    yield ["rule", *(f"{group}: from {cut}" for group in groups for cut in (".9", ".3"))]
    for rule in fitted["rules"]:
        if found := fitted["left_out"].get(rule):
            cells = [_right(found, group, cut) for group in groups for cut in ("from_0.9", "from_0.3")]
            yield [f"`{rule}`", *cells]


TABLES: Mapping[str, Sequence[Callable[[], Iterable[list[str]]]]] = {
    "docs/judge.md": (agreement, calibration, decisions, passing),
    "docs/safety.md": (rules,),
}


def filled(text: str, tables: Sequence[Callable[[], Iterable[list[str]]]]) -> str:
    """A page with its marked tables made anew."""
    for table in tables:
        heads, *rows = table()
        lines = [heads, ["---"] * len(heads), *rows]
        shown = "".join(f"| {' | '.join(row)} |\n" for row in lines)
        before, mark, rest = text.partition(f"<!-- {table.__name__} -->\n")
        _, end, after = rest.partition("<!-- end -->")
        assert end, f"no mark for {table.__name__}"
        text = f"{before}{mark}{shown}{end}{after}"
    return text


def _decided(row: Mapping[str, Any]) -> list[str]:
    sent, blocked = f"{row['sent']}, {row['sent_right']} pass", f"{row['blocked']}, {row['blocked_right']} fail"
    return [_share(row["pass_auc"]), sent if row["sent"] else "0", blocked if row["blocked"] else "0"]


def _right(found: Mapping[str, Any], group: str, cut: str) -> str:
    rows = [row for name, row in found.items() if _group(name) == group]
    right = sum(row[cut][0] for row in rows)
    every = sum(row["signs"] if group == CHANGED else row[cut][1] for row in rows)
    return f"{right} of {every}" if every else "–"


def _group(name: str) -> str:
    if name.endswith(", made wrong"):
        return CHANGED
    return WRITTEN if name.startswith("detector_") else NATURAL


def _share(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


def _read(name: str) -> Any:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


if __name__ == "__main__":
    for name, tables in TABLES.items():
        page = ROOT / name
        page.write_text(filled(page.read_text(encoding="utf-8"), tables), encoding="utf-8")
