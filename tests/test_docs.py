"""The documentation says what the code does: commands, settings, examples, numbers and links."""

import doctest
import importlib
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
import typer
from scripts import fitted_tables, house
from tests.tables import over

import touchstone as ts
import touchstone.safety
from touchstone import results
from touchstone.app.config_model import JudgeSection, config_text
from touchstone.app.scaffold import EXAMPLES
from touchstone.cli.main import COMMANDS, app, load, main
from touchstone.core import resource
from touchstone.core.case import CASE_FIELDS
from touchstone.core.codec import case_from_dict, result_to_dict
from touchstone.core.plan import Plan
from touchstone.core.result import VIOLATION_KINDS
from touchstone.engines.crew import MEGABYTES
from touchstone.evidence.check import check
from touchstone.io.columns import ALIASES
from touchstone.judges.features import features, see
from touchstone.judges.model import pass_model
from touchstone.safety import detectors
from touchstone.safety.signs import rules
from touchstone.text.reading import read

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
SOURCES = [path for path in (ROOT / "src").rglob("*") if path.suffix in {".py", ".html", ".js", ".yaml"}]
# A command as a message, a page or a document names it, up to where the sentence or the quotation goes on.
ADVISED = re.compile(r"(?<![\w./-])touchstone (?!as\b|import\b)([a-z][^`\"'<\n;|),:#]*)")
FENCE = re.compile(r"^```(\w+) ?(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ARITHMETIC = {"ln": math.log, "sqrt": math.sqrt, "max": max, "min": min}
PARTS = {
    "s_rel": ("relevance", "score"),
    "s_cosine": ("relevance", "s_cosine"),
    "s_jaccard": ("relevance", "s_jaccard"),
    "s_comp": ("completeness", "score"),
    "s_hall": ("hallucination", "score"),
    "s_claims": ("hallucination", "s_claims"),
    "p_drift": ("hallucination", "p_drift"),
    "ngram_overlap": ("hallucination", "ngram_overlap"),
}


def page(name):
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(text, language):
    """(argument, content) of each fenced block in the language."""
    return [(argument, content) for found, argument, content in FENCE.findall(text) if found == language]


def section(text, heading):
    """What stands under a second-level heading."""
    start = text.index(f"\n## {heading}\n") + 1
    return text[start : (text.find("\n## ", start) + 1) or None]


def run_examples(name):
    """Run the `>>>` blocks of a page in one namespace and return it; what differs is printed."""
    source = "\n".join(content for _, content in blocks(page(name), "pycon"))
    examples = doctest.DocTestParser().get_doctest(source, {}, name, name, 0)
    differences = []
    namespace = examples.globs
    outcome = doctest.DocTestRunner(verbose=False).run(examples, out=differences.append, clear_globs=False)
    assert outcome.attempted, f"{name} has no examples"
    assert not outcome.failed, "".join(differences)
    return namespace


def commands():
    """(name, its click command) of the program and each of its commands."""
    found = {"touchstone": typer.main.get_command(app)} | {f"touchstone {name}": load(name) for name in COMMANDS}
    groups = {name: getattr(each, "commands", {}) for name, each in found.items() if name != "touchstone"}
    inner = {f"{name} {last}": each for name, commands in groups.items() for last, each in commands.items()}
    return list((found | inner).items())


@over(("name", "command"), commands())
def test_every_option_of_every_command_is_documented_and_no_other(name, command):
    documented = section(page("docs/cli.md"), f"`{name}`")
    listed = {option for line in documented.splitlines() if line.startswith("| `-") for option in options_of(line)}
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = {opt for p in command.params if p not in arguments for opt in (*p.opts, *p.secondary_opts)} | {"--help"}
    assert listed == options
    names = [(argument.metavar or argument.name).upper() for argument in arguments]
    shown = [given if argument.required else f"[{given}]" for given, argument in zip(names, arguments, strict=True)]
    assert " ".join([name, *shown]) in documented


def options_of(line):
    """The options in the first cell of a table's row."""
    return re.findall(r"`(--?[\w-]+)`", line.split("|")[1])


def test_every_command_that_is_advised_exists_with_its_options():
    known = dict(commands())
    advised = [found for path in (*PAGES, *SOURCES) for found in ADVISED.findall(path.read_text(encoding="utf-8"))]
    assert len(advised) > 100
    assert [each for each in advised if not exists(each, known)] == []


def exists(advised, known):
    """Whether words after `touchstone` begin with a command, and all their options are options of it."""
    name, words = "touchstone", advised.split()
    while words and f"{name} {words[0]}" in known:
        name = f"{name} {words.pop(0)}"
    command = known[name]
    options = {opt for param in command.params for opt in (*param.opts, *param.secondary_opts)} | {"--help"}
    is_whole = not getattr(command, "commands", {}) or (name != "touchstone" and not words)
    return is_whole and {word for word in words if re.fullmatch(r"--?[a-z][\w-]*", word)} <= options


@over("field", fields(ts.Plan), ids=lambda field: field.name)
def test_every_setting_is_documented_with_its_default(field):
    assert f"| `{field.name}` | {field.default} |" in section(page("docs/metrics.md"), "9. Thresholds")


def test_every_key_of_touchstone_yaml_is_documented_as_a_first_file_shows_it():
    assert blocks(section(page("docs/cli.md"), "`touchstone score`"), "yaml")[0][1] == config_text()
    settings = section(page("docs/llm.md"), "Settings")
    assert [key for key in JudgeSection.model_fields if f"\n| `{key}` |" not in settings] == []


@pytest.mark.parametrize("name", CASE_FIELDS)
def test_every_field_of_a_case_is_documented(name):
    assert f"| `{name}` |" in page("docs/cli.md")
    assert f"| `{name}` |" in page("docs/python.md")


@over(("theirs", "ours"), ALIASES.items())
def test_every_alias_is_documented(theirs, ours):
    assert f"`{theirs}` → `{ours}`" in page("docs/cli.md")


@over("name", ts.__all__)
def test_every_name_of_the_api_is_documented(name):
    assert f"`ts.{name}" in page("docs/python.md")


PARTS_OF_A_RESULT = [getattr(results, name) for name in results.__all__ if name[0].isupper()]


@pytest.mark.parametrize("value", PARTS_OF_A_RESULT)
def test_every_field_of_a_result_is_documented(value):
    documented = section(page("docs/python.md"), "`ts.Result`")
    home = 0 if value is ts.Result else documented.index(f"`results.{value.__name__}`")
    part = documented[home:]
    assert all(f"`{field.name}`" in part for field in fields(value))


@pytest.mark.parametrize("error", ts.TouchstoneError.__subclasses__())
def test_every_error_is_documented(error):
    assert f"`{error.__name__}`" in section(page("docs/python.md"), "Errors")


@pytest.mark.parametrize("name", ["README.md", "docs/python.md", "docs/judge.md", "docs/safety.md"])
def test_examples_give_what_they_show(name):
    run_examples(name)


@pytest.mark.parametrize("name", ["README.md", "docs/cli.md"])
def test_commands_print_what_they_show(name, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    for variable in ("FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE"):
        monkeypatch.delenv(variable, raising=False)
    sessions = "".join(content for _, content in blocks(page(name), "console"))
    for step in sessions.removeprefix("$ ").split("\n$ "):
        command, _, shown = step.partition("\n")
        if command.startswith("cat "):
            Path(command.removeprefix("cat ")).write_text(shown, encoding="utf-8")
            continue
        printed = run(command, capsys)
        assert doctest.OutputChecker().check_output(bare(shown), bare(printed), doctest.ELLIPSIS), (
            f"$ {command}\n{printed}"
        )


def run(command, capsys):
    """What a `touchstone` command prints, notices first; `; echo $?` adds the exit code."""
    words = shlex.split(command.removesuffix("; echo $?"))
    assert words.pop(0) == "touchstone"
    with pytest.raises(SystemExit) as ended:
        main(words)
    captured = capsys.readouterr()
    code = f"{int(ended.value.code or 0)}\n" if command.endswith("; echo $?") else ""
    return captured.err + captured.out + code


def bare(text):
    """Lines without the space that pads them."""
    return "".join(f"{line.rstrip()}\n" for line in text.rstrip().splitlines())


def test_the_result_on_the_command_page_is_what_the_case_gives():
    ((_, content),) = blocks(page("docs/cli.md"), "json")
    shown = json.loads(content)
    (example,) = (example for example in EXAMPLES if example["id"] == shown["id"])
    given = result_to_dict(ts.score(case_from_dict(example)))
    assert rounded(shown) == rounded(with_blanks_of(shown, given))
    assert list(shown) == list(given)


def with_blanks_of(shown, given):
    """What is given, with `…` wherever the page leaves a value of the judge open."""
    if shown == "…":
        return shown
    if isinstance(shown, dict) and isinstance(given, dict):
        return {key: with_blanks_of(shown.get(key), value) for key, value in given.items()}
    if isinstance(shown, list) and isinstance(given, list) and len(shown) == len(given):
        return [with_blanks_of(*pair) for pair in zip(shown, given, strict=True)]
    return given


def rounded(value):
    """The same value with every number at nine decimals."""
    return json.loads(json.dumps(value), parse_float=lambda digits: round(float(digits), 9))


@pytest.fixture(scope="module")
def metrics():
    """The namespace that the examples of docs/metrics.md leave behind."""
    return run_examples("docs/metrics.md")


def test_every_line_of_arithmetic_adds_up_to_what_the_code_gives(metrics):
    for case, content in blocks(page("docs/metrics.md"), "arithmetic"):
        known = dict(ARITHMETIC)
        for line in content.splitlines():
            name, *formulas, shown = re.split(r"\s+=\s+", line)
            known[name] = eval(formulas[0] if formulas else shown, {"__builtins__": {}}, known)
            assert shown_as(known[name], shown) == shown, line
        if case:
            score = ts.score(ts.Case(**metrics[case])).metrics
            for name in known.keys() & PARTS.keys():
                metric, part = PARTS[name]
                given = {"score": score[metric].score, **score[metric].parts}[part]
                assert known[name] == pytest.approx(given, abs=1e-12), f"{case}: {name}"


def shown_as(number, digits):
    """The number with as many decimals as the digits shown."""
    return f"{number:.{len(digits.partition('.')[2])}f}"


def test_every_decimal_in_the_text_of_the_metrics_page_is_one_that_is_checked():
    text = page("docs/metrics.md")
    checked = "".join(content for kind in ("pycon", "arithmetic") for _, content in blocks(text, kind))
    defaults = " ".join(str(field.default) for field in fields(ts.Plan))
    prose = re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))
    assert decimals(prose) <= decimals(checked) | decimals(defaults)


def decimals(text):
    return set(re.findall(r"(?<![\d.$])\d+\.\d+(?![\d.])", text))


@over("name", NAMES)
def test_links_lead_somewhere(name):
    text = FENCE.sub("", page(name))
    for target in re.findall(r"\]\((?!https?://|mailto:)([^)\s]+)\)", text):
        path, _, fragment = target.partition("#")
        found = (ROOT / name).parent / path if path else ROOT / name
        assert found.exists(), f"{name} links to {target}"
        if fragment:
            assert fragment in headings(found.read_text(encoding="utf-8")), f"{name} links to {target}"


def headings(text):
    """The fragments that a page's headings can be linked by."""
    titles = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("name", fitted_tables.TABLES)
def test_the_figures_shown_are_those_of_the_fit(name):
    shown = page(name)
    again = fitted_tables.filled(shown, fitted_tables.TABLES[name])
    assert shown == again, "run python -m scripts.fitted_tables"


def test_the_map_of_rooms_is_that_of_the_imports():
    shown = page("docs/architecture.md")
    assert shown == house.redrawn(shown), "run python -m scripts.house"


@pytest.mark.parametrize("cut", ["send_at", "block_at"])
def test_the_cuts_of_the_plan_are_those_of_the_fit(cut):
    given = getattr(Plan(), cut)
    assert given == json.loads(resource.text("pass.json"))["decisions"][cut]
    assert f"`{cut}` ({given})" in section(page("docs/judge.md"), "Decision")


def test_the_ranges_shown_are_those_the_judge_knows():
    described = section(page("docs/judge.md"), "When it does not grade")
    assert re.findall(r"^\| [a-z].* \| ([\d.]+) \|$", described, re.MULTILINE) == [
        f"{most:g}" for most in pass_model().most.values()
    ]


@pytest.mark.parametrize(("way", "left_out"), pass_model().blind.items())
def test_the_criteria_left_out_are_those_the_judge_leaves_out(way, left_out):
    assert f"| `{way}` | {', '.join(left_out)} |" in section(page("docs/judge.md"), "When it does not grade")


def test_every_decision_is_in_the_index():
    index = page("docs/decisions/README.md")
    decisions = {path.name for path in (ROOT / "docs/decisions").glob("[0-9]*.md")}
    assert decisions
    assert decisions == set(re.findall(r"\]\((\d{4}-[\w-]+\.md)\)", index))


def test_every_feature_of_the_judge_is_described_and_no_other():
    asked = ts.Case(input="Is it free?", response="Yes.", context=["It is free."], expected_output="Yes, free.")
    found = all_features(asked) | all_features(ts.Case(response="Yes."))
    rows = [line for line in section(page("docs/judge.md"), "Features").splitlines() if line.startswith("| `")]
    described = [name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert sorted(described) == sorted(found)
    models = [model for way in judge_file()["ways"].values() for model in way.values()]
    assert {name for model in models for name in model["terms"]} <= set(described)


def all_features(case):
    reading = read(case)
    return features(see(reading, reading, check(reading, plan=Plan())), (), is_plain=True).body


def test_every_field_of_a_model_is_described():
    model = judge_file()["ways"]["open"]["tone"]
    term = next(iter(model["terms"].values()))
    assert all(f"| `{name}` |" in section(page("docs/judge.md"), "From features to a grade") for name in model | term)


def judge_file():
    return json.loads(resource.text("judge.json"))


@pytest.mark.parametrize("kind", VIOLATION_KINDS)
def test_every_kind_of_violation_has_a_section(kind):
    assert "| cannot see |" in section(page("docs/safety.md"), kind)


@over("rule", rules())
def test_every_rule_is_described(rule):
    described = "".join(section(page("docs/safety.md"), kind) for kind in VIOLATION_KINDS)
    assert any(line.startswith("| `") and f"`{rule}`" in line for line in described.splitlines())


@pytest.mark.parametrize("field", fields(ts.Policy), ids=lambda field: field.name)
def test_every_company_fact_is_documented(field):
    assert f"| `{field.name}` |" in section(page("docs/safety.md"), "The policy")
    assert f"| `{field.name}` |" in section(page("docs/python.md"), "`ts.Policy`")


def test_a_detector_added_as_the_page_says_finds_what_its_table_says(monkeypatch, tmp_path):
    steps = {name: content for kind in ("python", "jsonl") for name, content in blocks(page("docs/safety.md"), kind)}
    (tmp_path / "reviews.py").write_text(steps["reviews"], encoding="utf-8")
    monkeypatch.setattr(touchstone.safety, "__path__", [*touchstone.safety.__path__, str(tmp_path)])
    (tmp_path / "extended_detectors.py").write_text(with_tuple(steps["detectors"]), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    extended = importlib.import_module("extended_detectors")
    assert [detect.__name__ for detect in extended.DETECTORS[:-1]] == [d.__name__ for d in detectors.DETECTORS]
    for line in steps["detector_review_for_help"].splitlines():
        row = json.loads(line)
        noticed = extended.notice(read(case_from_dict(row)), None, policy=ts.Policy())
        found = [row["response"][sign.start : sign.end] for sign in noticed if sign.rule == "review.deal"]
        assert found == row["spans"], row["id"]
        assert bool(found) == row["violation"], row["id"]


def with_tuple(shown):
    """The source of the detectors' module with its tuple as the page shows it, and the import."""
    imported, _, listed = shown.partition("\n\n")
    source = Path(detectors.__file__).read_text(encoding="utf-8")
    replaced, count = re.subn(r"^DETECTORS:.*\n", listed, source, flags=re.MULTILINE)
    assert count == 1
    return replaced.replace("\nAnchors =", f"\n{imported}\n\nAnchors =", 1)


ADDED = """
import json, sys
import touchstone as ts
from touchstone.cases import case_from_dict
from touchstone.io.result_tables import flat_row, nested_schema
from touchstone.results import result_from_dict, result_to_dict

for line in sys.stdin:
    row = json.loads(line)
    wanted = row.pop("score")
    result = ts.score(case_from_dict(row))
    assert result.metrics["brevity"].score == wanted == flat_row(result)["brevity"], row["id"]
    assert result_from_dict(result_to_dict(result)) == result
assert "words" in str(nested_schema().field("metrics").type.field("brevity").type)
"""


def test_a_metric_added_as_contributing_says_is_scored_and_written(tmp_path):
    steps = {name: content for kind in ("python", "jsonl") for name, content in blocks(page("CONTRIBUTING.md"), kind)}
    package = tmp_path / "touchstone"
    shutil.copytree(ROOT / "src/touchstone", package, ignore=shutil.ignore_patterns("data", "__pycache__"))
    (package / "data").symlink_to(ROOT / "src/touchstone/data")
    (package / "metrics/brevity.py").write_text(steps["brevity"], encoding="utf-8")
    imported, _, listed = steps["metrics"].partition("\n\n")
    source = (package / "runs/evaluate.py").read_text(encoding="utf-8")
    assert source.count("\n}\n") == 1, "METRICS is the only table of the module"
    source = source.replace("\n}\n", f"\n{listed}}}\n").replace(
        "\nfrom touchstone.metrics", f"\n{imported}\nfrom touchstone.metrics", 1
    )
    (package / "runs/evaluate.py").write_text(source, encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-c", ADDED],
        input=steps["metric_brevity"],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        check=False,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr


def test_the_memory_of_a_worker_is_the_measured_one_rounded_up():
    figures = json.loads((ROOT / "benchmarks/results/engines.json").read_text(encoding="utf-8"))
    held = max(
        (each["peak_megabytes"]["processes"] - each["driver_megabytes"]) / each["workers"]
        for each in (figures, figures["job"])
    )
    assert held <= MEGABYTES <= 1.25 * held
    assert f"about {MEGABYTES} MB for each worker" in page("docs/cluster.md")
