"""`touchstone goldset`: what is printed, what is written, and how it ends."""

import csv
import json
import re
from pathlib import Path

import pytest
from tests.tables import over

from touchstone.app.goldset import read_goldset
from touchstone.cli.goldset import share
from touchstone.core.case import Case
from touchstone.core.errors import ConfigError
from touchstone.goldset.problems import KINDS


@pytest.fixture(autouse=True)
def _plain(monkeypatch):
    for variable in ("FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def gold(tmp_path):
    """Writes gold.jsonl: rows as given, or texts that are no JSON."""

    def write(*rows, name="gold.jsonl"):
        lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return name

    return write


def row(topic, **changes):
    fields = {"id": topic, "input": f"My {topic} is late, where did that {topic} go?", "response": f"See {topic}."}
    return fields | {"expected_output": f"The {topic}.", "context": [topic], "category": "late"} | changes


PARCEL, ROUTER = row("parcel"), row("router", input="Why is the red light on since the storm?")


def test_check_groups_problems_with_examples_and_remedies(run, gold):
    ended = run("goldset", "check", gold(PARCEL, {**PARCEL, "id": "2"}, ROUTER))
    assert ended.out.splitlines() == [
        "gold.jsonl: 3 cases, 1 error · 2 warnings · 0 notes",
        "",
        "error duplicate 1: the same case counts twice in every figure",
        "  lines 1 (parcel), 2 (2): 2 cases have the same input and reply",
        "  → keep one of them",
        "",
        "warning thin-category 1: a category's figures rest on too few cases",
        "  lines 1 (parcel), 2 (2), 3 (router): category 'late' has 3 cases, fewer than 5",
        "  → add cases, or merge it",
        "",
        "warning too-small 1: small changes cannot be distinguished from chance",
        "  3 cases, recommended are 100 to 150; add 97 or more",
        "  → add cases until there are 100",
    ]
    assert (ended.code, ended.err) == (1, "")


SMALL = ["--skip", "too-small", "--skip", "thin-category"]


@pytest.mark.parametrize(
    ("rows", "flags", "code"),
    [
        ([PARCEL, ROUTER], SMALL, 0),
        ([PARCEL, ROUTER], [], 0),
        ([PARCEL, ROUTER], ["--strict"], 1),
        ([PARCEL, ROUTER], ["--strict", *SMALL], 0),
        ([PARCEL, ROUTER, '{"id": '], [], 3),
        ([PARCEL, PARCEL, '{"id": '], [], 1),
        ([PARCEL, {**PARCEL, "id": "2"}], [], 1),
        ([PARCEL, {**PARCEL, "id": "2"}], ["--skip", "duplicate"], 0),
    ],
)
def test_the_exit_code_of_check_says_how_bad_it_is(run, gold, rows, flags, code):
    name = gold(*rows)
    assert run("goldset", "check", name, *flags).code == code
    assert run("goldset", "check", name, *flags, "--json").code == code


def test_a_set_without_problems_is_said_to_have_none(run, gold):
    ended = run("goldset", "check", gold(PARCEL, ROUTER), *SMALL)
    assert ended.out == "gold.jsonl: 2 cases, no problems found\nnot checked: thin-category, too-small\n"


def test_check_as_json_has_every_problem_whole(run, gold):
    other = gold(PARCEL, name="other.jsonl")
    shown = json.loads(run("goldset", "check", gold(PARCEL, ROUTER), "--against", other, "--json").out)
    assert (shown["rows"], shown["cases"], shown["errors"], shown["warnings"]) == (2, 2, 1, 2)
    assert shown["problems"][0] == {
        "severity": "error",
        "code": "leakage",
        "lines": [1],
        "ids": ["parcel"],
        "message": "the input is that of other.jsonl:1",
        "remedy": "keep it in one file only",
        "against": [1],
    }


def test_the_options_of_check_change_what_is_a_problem(run, gold):
    name = gold(PARCEL, row("parcel", id="2", input=PARCEL["input"].replace("late", "lost")))
    assert "near-duplicate" not in run("goldset", "check", name, "--near", "95%").out
    assert "near-duplicate 1" in run("goldset", "check", name, "--near", "0.5").out
    assert "thin-category" not in run("goldset", "check", name, "--thin", "2").out
    bare = gold(*({"input": f"q{at}"} for at in range(9)))
    assert "lines 1 (" in run("goldset", "check", bare, "--show", "1").out
    assert "→" in run("goldset", "check", bare, "--show", "0").out


def test_only_the_first_examples_are_shown(run, gold):
    name = gold(*('{"broken"' for _ in range(5)), PARCEL)
    ended = run("goldset", "check", name)
    assert ended.out.count("not valid JSON") == 3
    assert "  … and 2 more" in ended.out


def test_what_a_file_says_moves_no_cursor_and_sets_no_colour(run, gold):
    ended = run("goldset", "check", gold(row("a", id="\x1b[31mred[/]", category="[bold]x\x1b[2J")), "--thin", "9")
    assert "\x1b" not in ended.out
    assert "[bold]x" in ended.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "suport"], "gold set 'suport' is neither a file nor a packaged name; nearest is 'support'"),
        (["check", "none.jsonl"], "none.jsonl does not exist"),
        (["check", "support", "--skip", "duplicates"], "--skip duplicates is not a known check; nearest"),
        (["check", "support", "--near", "70"], "--near 70 is above 1: write 70% or 0.7"),
        (["check", "support", "--near", "0"], "--near 0 would match any two texts"),
        (["check", "support", "--against", "support"], "--against support is the file that is checked"),
        (["stats", "support", "--format", "xml"], "--format xml is not known"),
        (["sample", "support", "--n", "3"], "--n 3 is fewer than the 10 strata by category: give at least 10"),
        (["sample", "support", "--n", "30", "--by", "intnt"], "--by intnt: no row has that field; nearest is 'intent'"),
        (["sample", "support", "--n", "30", "-o", "x.parquet"], "-o x.parquet does not end in one of .jsonl"),
        (["size", "--detect", "5"], "--detect 5 is above 1: write 5% or 0.05"),
        (["size", "--detect", "0pp"], "--detect 0pp is no change"),
        (["size", "--detect", "60pp", "--rate", "50%"], "a pass rate of 0.5 can neither rise nor fall by 0.6"),
        (["size", "--detect", "5pp", "--power", "20%"], "power 0.2 is not within 0.5..1"),
        (["size", "--detect", "5pp", "--discordant", "2%"], "--discordant 2% is below --detect 5pp"),
    ],
)
def test_what_cannot_be_done_is_one_line_that_says_what_to_do(run, arguments, message):
    ended = run("goldset", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"touchstone: {message}")
    assert ended.err.count("\n") == 1


def test_stats_of_a_shipped_set(run):
    ended = run("goldset", "stats", "support")
    assert ended.code == 0
    assert ended.out.startswith(
        "support: 130 cases\nwith 130 cases a pass rate of 75 % is known to ±7 points (67 to 82 %)\n"
    )
    assert "130 labelled cases, 260 labels: A 130, B 130" in ended.out
    shown = json.loads(run("goldset", "stats", "support", "--json").out)
    assert (shown["cases"], shown["fields"]["labels"], shown["agreement"][0]["on"]) == (130, 130, "accuracy")
    assert shown["precision"]["margin"] == pytest.approx(0.074, abs=0.002)


def test_stats_of_a_set_with_little_in_it(run, gold):
    ended = run("goldset", "stats", gold({"input": "Hi"}, "[]"))
    assert ended.code == 3
    assert ended.out.startswith("gold.jsonl: 1 case, 1 unreadable row\n")


def test_a_sample_is_written_as_it_was_read_and_the_same_each_time(run, tmp_path):
    flags = ["--n", "40", "--by", "category", "--by", "domain", "--seed", "7"]
    ended = run("goldset", "sample", "support", *flags, "-o", "a.jsonl")
    assert (ended.code, ended.out) == (0, "")
    assert ended.err.startswith("40 of 130 rows drawn with seed 7, written to a.jsonl\ncategory · domain")
    assert run("goldset", "sample", "support", *flags, "-q").out == (tmp_path / "a.jsonl").read_text(encoding="utf-8")
    every = {entry.case.id: entry.case for entry in read_goldset("support")}
    drawn = [entry.case for entry in read_goldset("a.jsonl")]
    assert drawn == [case for id, case in every.items() if id in {each.id for each in drawn}]
    assert {case.category for case in drawn} == {case.category for case in every.values()}
    assert run("goldset", "sample", "support", *flags, "-o", "a.csv").code == 0
    assert [entry.case for entry in read_goldset("a.csv")] == drawn


def test_a_sample_says_what_is_odd(run, gold, tmp_path):
    name = gold(PARCEL, row("x", category=None, response="=1+1"), "nonsense")
    ended = run("goldset", "sample", name, "--n", "9", "-o", "out.csv")
    assert ended.code == 3
    assert ended.err.splitlines()[:5] == [
        "gold.jsonl:3: not valid JSON: expecting value (line 3, column 1); write each case as one JSON object",
        "2 of 2 rows drawn with seed 0, written to out.csv",
        "--n 9 is more than there are: all rows are drawn",
        "rows without category: 1, the stratum (none)",
        "cells that start like a formula: 1; they are written as they are, so open the file as text or write .jsonl",
    ]
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as table:
        assert [each["response"] for each in csv.DictReader(table)] == ["See parcel.", "=1+1"]


def test_the_allocation_can_be_had_as_json(run, gold):
    ended = run("goldset", "sample", gold(PARCEL, ROUTER), "--n", "1", "--json")
    assert json.loads(ended.err) == {
        "goldset": "gold.jsonl",
        "rows": 2,
        "drawn": 1,
        "seed": 0,
        "strata": [{"category": "late", "rows": 2, "drawn": 1}],
        "lacking": {},
    }


def test_a_mapped_column_can_be_stratified_by_under_either_name(run, gold):
    name = gold({"topic": "a", "output": "x"}, {"topic": "b", "output": "y"})
    for field in ("topic", "category"):
        assert run("goldset", "sample", name, "--n", "2", "--by", field, "--map", "topic=category").code == 0


def test_size_says_how_many_cases_are_needed(run):
    shown = json.loads(run("goldset", "size", "--detect", "5pp", "--json").out)
    assert shown["paired"] == max(shown["rises"], shown["falls"]) > shown["single"]
    assert shown == json.loads(run("goldset", "size", "--detect", "0.05", "--rate", "75 %", "--json").out)
    told = run("goldset", "size", "--detect", "5%", "--discordant", "10%").out
    assert "taking 10 % of the cases to flip" in " ".join(told.split())


@over(
    ("text", "value"),
    [
        *[("5pp", 0.05), ("5 pp", 0.05), ("5%", 0.05), ("5 %", 0.05), ("0.05", 0.05), (".05", 0.05), ("0,05", 0.05)],
        *[("2.5PP", 0.025), ("3 points", 0.03), ("100%", 1.0), ("1", 1.0), ("0", 0.0), ("1 point", 0.01)],
    ],
)
def test_a_share_is_read_however_it_is_written(text, value):
    assert share(text, flag="--detect", example="5pp") == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5", "--detect 5 is above 1: write 5% or 0.05"),
        ("five", "--detect five is not a share: write it like 5pp or 0.05"),
        ("-5%", "--detect -5% is not a share"),
        ("", "--detect  is not a share"),
        ("nan", "--detect nan is not a share"),
        ("120%", "--detect 120% is more than all: write a share of at most 100%, like 5pp"),
    ],
)
def test_what_is_no_share_is_refused_with_how_to_write_it(text, message):
    with pytest.raises(ConfigError) as raised:
        share(text, flag="--detect", example="5pp")
    assert str(raised.value).startswith(message)


@pytest.mark.slow
def test_the_shipped_sets_have_nothing_that_fails_a_check(run):
    for name, other in (("support", "industries"), ("industries", "support")):
        assert run("goldset", "check", name, "--against", other).code == 0
        assert all(isinstance(entry.case, Case) for entry in read_goldset(name))


def test_every_problem_is_documented_with_its_severity():
    page = (Path(__file__).parents[2] / "docs/goldsets.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| `([\w-]+)` \| (\w+) \|", page, re.MULTILINE)
    assert shown == [(kind.code, kind.severity) for kind in KINDS]
