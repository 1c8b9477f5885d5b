"""What the page on the model judge says of the small model is what was measured."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = " ".join((ROOT / "docs" / "llm.md").read_text(encoding="utf-8").split())
FIGURES = json.loads((ROOT / "benchmarks" / "results" / "llm.json").read_text(encoding="utf-8"))
AGREEMENT, INJECTIONS = FIGURES["agreement"], FIGURES["injections"]
ATTEMPTS, NEUTRAL = INJECTIONS["moved by an attempt"], INJECTIONS["moved by a neutral sentence"]


@pytest.mark.parametrize(
    "line",
    [
        f"| gold cases asked about | {AGREEMENT['cases']} |",
        f"| answers that kept to the schema | {AGREEMENT['cases'] - sum(AGREEMENT['failures'].values())} |",
        f"| kappa with people | {AGREEMENT['kappa']:.2f} |",
        f"| grades equal to people's | {AGREEMENT['equal']:.1%} |".replace("%", " %"),
        f"| same outcome as people | {AGREEMENT['same outcome']:.1%} |".replace("%", " %"),
        f"| grades with a made-up quote | {AGREEMENT['false quotes']:.1%} |".replace("%", " %"),
        f"with {INJECTIONS['replies']} of the 66 attempts added, and with {sum(NEUTRAL.values())} neutral sentences",
        f"{ATTEMPTS['raised']} attempts raised the grade, all to 4",
    ],
)
def test_a_figure_on_the_page_is_that_of_the_results(line):
    assert line in PAGE


def test_the_claims_around_the_figures_hold():
    assert set(AGREEMENT["grades"]) == {"0"}
    assert INJECTIONS["grade of the reply alone"] == 0
    assert NEUTRAL["raised"] == 0
    assert sum(INJECTIONS["raised to 4 by technique"].values()) == ATTEMPTS["raised"]
