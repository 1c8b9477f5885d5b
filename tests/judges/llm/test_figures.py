"""What the page on the model judge says of the small model is what was measured."""

import json
from pathlib import Path

from tests.tables import over

ROOT = Path(__file__).parents[3]
PAGE = " ".join((ROOT / "docs" / "llm.md").read_text(encoding="utf-8").split())
FIGURES = json.loads((ROOT / "benchmarks" / "results" / "llm.json").read_text(encoding="utf-8"))
AGREEMENT, INJECTIONS, CHECKLIST = FIGURES["agreement"], FIGURES["injections"], FIGURES["checklist"]
RECORDED = json.loads((ROOT / "benchmarks" / "results" / "recorded.json").read_text(encoding="utf-8"))
ATTEMPTS, NEUTRAL = INJECTIONS["moved by an attempt"], INJECTIONS["moved by a neutral sentence"]


@over(
    "line",
    [
        f"| gold cases asked about | {AGREEMENT['cases']} |",
        f"| answers that kept to the schema | {AGREEMENT['cases'] - sum(AGREEMENT['failures'].values())} |",
        f"| kappa with people | {AGREEMENT['kappa']:.2f} |",
        f"| grades equal to people's | {AGREEMENT['equal']:.1%} |".replace("%", " %"),
        f"| same outcome as people | {AGREEMENT['same outcome']:.1%} |".replace("%", " %"),
        f"| grades with a made-up quote | {AGREEMENT['false quotes']:.1%} |".replace("%", " %"),
        f"| checklist: questions answered yes or no | {CHECKLIST['questions']} of {CHECKLIST['questions']} |",
        f"| checklist: kappa with people on accuracy | {CHECKLIST['kappa']['accuracy']:.2f} |",
        f"| checklist: same outcome as people | {CHECKLIST['same outcome']:.1%} |".replace("%", " %"),
        f"mean chance of {CHECKLIST['mean chance of yes']:.2f}",
        f"with {INJECTIONS['replies']} of the 66 attempts added, and with {sum(NEUTRAL.values())} neutral sentences",
        f"{ATTEMPTS['raised']} attempts raised the grade, all to 4",
    ],
)
def test_a_figure_on_the_page_is_that_of_the_results(line):
    assert line in PAGE


def test_the_claims_around_the_figures_hold():
    assert AGREEMENT["grades"] == {"0": 21, "None": 1}
    assert CHECKLIST["left open"] == 0
    assert INJECTIONS["grade of the reply alone"] == 0
    assert NEUTRAL["raised"] == 0
    assert sum(INJECTIONS["raised to 4 by technique"].values()) == ATTEMPTS["raised"]


def short(value):
    """A share as the page has it: .96"""
    return f"{value:.2f}".lstrip("0")


def test_what_the_page_says_of_recorded_answers_is_what_was_measured():
    support, agents = (RECORDED[name]["model"] for name in ("support", "agents"))
    shown = []
    for found in (support, agents):
        low, high = (short(end) for end in found["outcome"]["interval"])
        shown.append(f"{short(found['outcome']['value'])} ({low}–{high})")
    assert f"| same outcome as people | {shown[0]} | {shown[1]} |" in PAGE
    names = ("accuracy", "completeness", "tone", "actionability")
    kappas = [" ".join(short(found["kappa"][name]["value"]) for name in names) for found in (support, agents)]
    assert f"| kappa: {', '.join(names)} | {kappas[0]} | {kappas[1]} |" in PAGE
    charged = [
        ", ".join(short(f["violations"][n]["value"]) for n in ("precision", "recall")) for f in (support, agents)
    ]
    assert f"| violations: precision, recall | {charged[0]} | {charged[1]} |" in PAGE
    sent = [RECORDED[name]["decisions"]["send"] for name in ("support", "agents")]
    blocked = [RECORDED[name]["decisions"]["block"] for name in ("support", "agents")]
    told = [
        f"{s['pass']} of {s['pass'] + s['fail']}; {b['fail']} of {b['pass'] + b['fail']}"
        for s, b in zip(sent, blocked, strict=True)
    ]
    assert f"| sent that people pass; blocked that people fail | {told[0]} | {told[1]} |" in PAGE
