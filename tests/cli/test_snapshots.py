"""What an evaluation, an explanation, a comparison and a week's report say, line by line, in every format for people.

Two evaluations of one small gold set show what there is to show: violations, a suspicion, a waiver, a reply that the
judge leaves open, a case without a reply, a reply without a case, categories and drafts.
"""

import json
import shutil
from functools import partial
from pathlib import Path

import pytest
from tests.snapshots import SNAPSHOTS, text_of
from tests.store.review_samples import BAD, GOOD, NOW, review_of, ruling_on

from touchstone.app import evaluation
from touchstone.app.rubrics import rubric_of
from touchstone.cli.main import main
from touchstone.runs.waivers import Waiver
from touchstone.store.runs import open_store

STORE = ".touchstone/touchstone.db"
FILES = ("gold.jsonl", "before.jsonl", "after.jsonl")


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    """A directory with two runs, the second of them with a waiver."""
    home = tmp_path_factory.mktemp("evaluated")
    for name in FILES:
        shutil.copy(SNAPSHOTS / name, home)
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(home)
        # Runs of one second would be named in any order.
        patched.setattr(evaluation, "_new_id", (f"20261119-00000{at}-aaaa" for at in range(2)).__next__)
        for name in ("before", "after"):
            arguments = ["gold.jsonl", "--responses", f"{name}.jsonl", "--label", f"prompt={name}"]
            with pytest.raises(SystemExit):
                main(["eval", *arguments, "-q"])
        with open_store(STORE) as store:
            run = store.find_run("latest").id
            waived = next(
                (scored.position, found)
                for scored in store.replies.scored(run)
                if scored.result.rubric
                for found in scored.result.rubric.violations
                if found.text == "Maria Keller"
            )
            position, found = waived
            store.marks.waive(
                Waiver(id="w", run=run, result=position, kind=found.kind, start=found.start, end=found.end, by="lea",
                       made=NOW, reason="she is the name of our hotline")
            )  # fmt: skip
    return home


@pytest.fixture
def say(evaluated, touchstone, monkeypatch):
    """What a command says in that directory."""
    monkeypatch.chdir(evaluated)
    return partial(_said, touchstone, monkeypatch)


def _said(touchstone, monkeypatch, *arguments):
    monkeypatch.setenv("COLUMNS", "120")
    ended = touchstone(*arguments)
    assert ended.code == 0, ended.err
    return ended.out


@pytest.mark.parametrize(
    ("format", "name"), [("terminal", "run.txt"), ("md", "run.md"), ("junit", "run.xml"), ("html", "run.html.txt")]
)
def test_an_evaluation(say, snapshots, format, name):
    text = say("report", "latest", "--format", format, "-o", "-")
    snapshots.check(name, text_of(text) if format == "html" else text)


@pytest.mark.parametrize(
    ("format", "name"), [("terminal", "comparison.txt"), ("md", "comparison.md"), ("html", "comparison.html.txt")]
)
def test_a_comparison(say, snapshots, format, name):
    text = say("compare", "previous", "latest", "--format", format)
    snapshots.check(name, text_of(text) if format == "html" else text)


def test_a_list_of_runs(say, snapshots):
    snapshots.check("runs.txt", say("runs", "list"))


def test_an_explanation(say, snapshots):
    write("explained.jsonl", [row for row in answered("before") if row["id"] in {"return", "leak", "french"}])
    snapshots.check("explanation.txt", say("score", "explained.jsonl", "--explain", "--summary"))


def answered(name):
    """The cases of the gold set that have a reply there, each with it."""
    gold, replies = ({row["id"]: row for row in rows(SNAPSHOTS / f"{file}.jsonl")} for file in ("gold", name))
    return [{**gold[id], **reply} for id, reply in replies.items() if id in gold]


def rows(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def write(name, cases):
    Path(name).write_text("".join(json.dumps(case) + "\n" for case in cases), encoding="utf-8")


@pytest.mark.parametrize(("format", "name"), [("terminal", "week.txt"), ("html", "week.html.txt"), ("csv", "week.csv")])
def test_a_week(touchstone, snapshots, monkeypatch, format, name):
    """Two people on each reply; one has not come to the last, and they differ on two, one of which is settled."""
    say = partial(_said, touchstone, monkeypatch)
    write("replies.jsonl", answered("before"))
    sampled = ("review", "sample", "replies.jsonl", "-n", "6", "--double", "--seed", "7", "--name", "week 1", "--json")
    queue = json.loads(say(*sampled))["queue"]
    given = {0: (GOOD, GOOD), 1: (BAD, GOOD), 2: (BAD, BAD), 3: (GOOD, GOOD), 4: (GOOD, BAD), 5: (BAD,)}
    with open_store(STORE) as store:
        rubric = rubric_of(store, store.queues.get(queue).run)
        for position, graded in given.items():
            for who, grades in zip(("ann", "ben"), graded, strict=False):
                review = review_of(position, by=who, queue=queue, grades=grades)
                store.reviews.submit(review, rubric=rubric)
        store.reviews.rule(ruling_on(1, queue=queue), rubric=rubric)
    text = say("review", "weekly", queue, "--format", format, "-o", "-")
    snapshots.check(name, text_of(text) if format == "html" else text)
