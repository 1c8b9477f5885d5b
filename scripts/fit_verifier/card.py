"""Figures of verifier.json -> the tables of verifier/README.md."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

MARK = "<!-- figures -->"
END = "<!-- end of figures -->"


def write_card(path: Path, card: Mapping[str, Any]) -> None:
    """Put the tables where the card has them."""
    before, _, rest = path.read_text(encoding="utf-8").partition(MARK)
    after = rest.partition(END)[2] if END in rest else rest
    path.write_text(f"{before}{MARK}\n{tables(card)}\n{END}{after}", encoding="utf-8")


def tables(card: Mapping[str, Any]) -> str:
    """The tables of a card."""
    found = card["figures"]
    support, public, parity = (found[part] for part in ("support", "public", "parity"))
    lines = [
        f"Support sentences, {support['rows']} rows, industries left out:",
        "",
        "| | model | wanted | word share |",
        "|---|---|---|---|",
        f"| AUC, supported against contradicted or invented | {_auc(support['auc'])} | .90 "
        f"| {_short(support['auc_word_share'][0])} |",
        f"| – against contradicted | {_auc(support['auc_contradicted'])} | | |",
        f"| – against invented | {_auc(support['auc_invented'])} | | |",
        f"| F1 of no claim | {_short(support['no_claim']['f1'])} | .90 | |",
        f"| right label of four | {_short(support['right_label'])} | | |",
        f"| calibration error | {_short(support['calibration_error'])} | | |",
        "",
        "| kind of wrong sentence | rows | taken for wrong | AUC | doubted at the cut |",
        "|---|---|---|---|---|",
        *[
            f"| {name} | {row['rows']} | {' | '.join(_short(row[key]) for key in ('right', 'auc', 'doubted_at_cut'))} |"
            for name, row in support["kinds"].items()
            if "auc" in row
        ],
        "",
        "| public set | figure | model | wanted | first trial | word share |",
        "|---|---|---|---|---|---|",
        *[_public(name, row) for name, row in public.items()],
        "",
        f"At the cut of {card['cuts']['hallucination']}, {_short(support['false_alarms_at_cut'])} of sound sentences "
        f"are doubted. Eight bits against the fitted network on {parity['rows']} rows: the same label for "
        f"{parity['same_label']:.1%}, mean difference of a probability {parity['mean_difference']:.3f}, "
        f"largest {parity['largest_difference']:.2f}.",
    ]
    return "\n".join(lines)


def _public(name: str, row: Mapping[str, Any]) -> str:
    kind = "spearman" if "spearman" in row else "auc" if name == "begin" else "balanced_accuracy"
    value, words = (item[0] if isinstance(item, list) else item for item in (row[kind], row[f"{kind}_word_share"]))
    cells = (
        name,
        kind.replace("_", " "),
        _short(value),
        _short(row["wanted"]),
        _short(row.get("trial")),
        _short(words),
    )
    return f"| {' | '.join(cells)} |"


def _auc(value: list[float]) -> str:
    return f"{_short(value[0])} ({_short(value[1])}–{_short(value[2])})"


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}".removeprefix("0") if value < 1 else f"{value:.2f}"
