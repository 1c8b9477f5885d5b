"""What a report shows: figures as words, said once, and what is missing said too."""

from dataclasses import replace

import pytest
from tests.report.sample import (
    INVENTED,
    MISSED,
    RUN,
    failed_case,
    record,
    records,
    scored_case,
    unscored,
    view_of,
)
from tests.tables import over

from touchstone.report.explain import explain
from touchstone.report.figures import change, figure, interval, moment, points, probability, seconds, sentence
from touchstone.report.html import render_html
from touchstone.report.markdown import render_markdown
from touchstone.report.run import ReplyTable, bounds, outcome_name, target_standing
from touchstone.runs.excerpt import choose_examples
from touchstone.runs.gate import Check, GateRuling
from touchstone.runs.targets import Target
from touchstone.stats.interval import Interval


@over(
    ("shown", "expected"),
    [
        (figure(0.5462, "share"), "54.6\u00a0%"),
        (figure(2.745, "grade"), "2.75"),
        (figure(None, "share"), "–"),
        (figure(0.69996, "share", target=Target(0.7, None, "70 %")), "69.996\u00a0%"),
        (figure(3.4997, "grade", target=Target(3.5, None, "≥ 3.5")), "3.4997"),
        (interval(Interval(0.46, 0.629, "Wilson"), "share"), "46.0 to 62.9\u00a0%"),
        (interval(None, "share"), ""),
        (change(-0.092, "share"), "−9.2\u00a0pp"),
        (change(0.2, "grade"), "+0.20"),
        (points(86.25), "86.25"),
        (points(100.0), "100"),
        (probability(0.0004), "p < 0.001"),
        (probability(0.0312, letter="q"), "q = 0.031"),
        (moment("2025-03-04T14:12:09+00:00"), "2025-03-04 14:12 UTC"),
        (moment("2025-03-04T23:30:00-05:00"), "2025-03-05 04:30 UTC"),
        (moment("yesterday"), "yesterday"),
        (seconds(8.44), "8.4 s"),
        (seconds(200), "3 min 20 s"),
        (sentence("there is nothing"), "There is nothing."),
        (sentence(""), ""),
    ],
)
def test_a_number_is_shown_in_one_way(shown, expected):
    assert shown == expected


def test_each_measure_says_value_interval_target_standing_and_what_it_rests_on():
    row = next(line for line in render_markdown(view_of(records(90))).splitlines() if line.startswith("| pass rate"))
    assert row == "| pass rate | **66.7 %** | 56.4 to 75.5 % | 70–80 % | ❌ missed | 90 replies |"


def test_targets_of_figures_without_a_value_are_undecided():
    left_open = [record(n, outcome=None, total=None, grades={}, violations=()) for n in range(1, 10)]
    view = view_of(left_open, worst=[], gate=None)
    standings = {each.name: target_standing(each) for each in view.summary.measures}
    assert standings["pass_rate"] == standings["average_accuracy"] == "undecided"
    assert "undecided: pass rate, average accuracy" in view.headline
    assert "| pass rate | **–** | – | 70–80 % | ❔ undecided | 0 replies |" in render_markdown(view)


def test_coverage_counts_what_was_left_open_and_what_failed():
    left_open = record(3, outcome=None, total=None, tags=())
    view = view_of([record(1), left_open, unscored(2)])
    assert view.coverage.replace("\u00a0", " ") == (
        "1 of 3 replies scored, 1 (33.3 %) left open by the judge, 1 (33.3 %) could not be scored"
    )
    assert bounds(view.summary.measures[0], view.summary).replace("\u00a0", " ") == "33.3 to 100.0 %"
    assert [told.replace("\u00a0", " ") for _, told in view.decisions] == ["1 (33.3 %)", "1 (33.3 %)", "1 (33.3 %)"]
    assert view_of(records(6)).bounds == []
    assert [outcome_name(record) for record in view.records] == ["PASS", "not scored", "not scored"]


@pytest.mark.parametrize(
    ("gate", "standing", "said"),
    [
        (GateRuling((Check("a", met=True, reason="r"),)), "open", "Every condition is met (1 of 1)."),
        (
            GateRuling((Check("a", met=True, reason="r"), Check("b", met=False, reason="r"))),
            "closed",
            "1 of 2 conditions not met.",
        ),
        (GateRuling(()), "closed", "No condition could be checked, so nothing shows that this version is good enough."),
    ],
)
def test_the_gate_is_open_only_when_every_condition_is_met(gate, standing, said):
    view = view_of(records(9), gate=gate)
    assert (view.gate.standing, view.gate_sentence) == (standing, said)


def test_a_run_without_a_gate_has_no_verdict_but_its_targets():
    view = view_of(records(9), gate=None)
    assert view.gate_sentence == ""
    assert "missed: pass rate" in view.headline


PASSING = [record(n, category="billing", grades={**record(1).grades, "accuracy": 3}) for n in (1, 2, 4, 5)] * 8
BARE = replace(RUN, finished=None)


@over(
    ("view", "label", "said"),
    [
        (view_of(records(90)), "Not ready", "1 of 5 conditions met; not met: pass rate, average accuracy,"),
        (view_of(records(90), gate=None), "Not ready", "1 of 5 conditions met; not met: pass rate, average accuracy,"),
        (view_of(records(90), gate=None, run=replace(RUN, kind="production")), "Off target", "1 of 5 conditions met"),
        (
            view_of([replace(unscored(n), confidence=0.9) for n in range(9)], gate=None),
            "Undecided",
            "0 of 9 replies have an outcome, at least",
        ),
        (view_of(PASSING, gate=None, run=BARE), "Undecided", "It is not finished, so nothing is decided yet."),
        (view_of(PASSING, gate=GateRuling((Check("a", met=True, reason="r"),))), "Ready", "The one condition is met."),
        (view_of([], gate=GateRuling(())), "Undecided", "no condition could be checked"),
    ],
)
def test_a_report_says_first_whether_this_version_can_be_released(view, label, said):
    assert view.answer.label == label
    assert said in view.answer.sentence
    assert f'<b class="answer">{label}</b>' in render_html(view)


def test_without_a_gate_the_rubric_s_targets_answer_as_the_gate_does():
    for found in (records(90), PASSING, [unscored(1), record(2)]):
        held, alone = view_of(found).answer, view_of(found, gate=None).answer
        assert (held.label, held.sentence, held.checks) == (alone.label, alone.sentence, alone.checks)
        assert (held.basis.partition(":")[0], alone.basis) == ("release gate", "by the rubric's targets")


def test_a_run_that_was_interrupted_says_so():
    view = view_of(records(3), run=replace(RUN, finished=None))
    assert "<dt>took</dt><dd><bdi>not finished</bdi>" in render_html(view)
    assert "This run is not finished." in render_markdown(view)


def test_examples_and_patterns_point_to_their_rows():
    view = view_of(records(30))
    table = ReplyTable(view.records, most=100)
    assert table.number_of(*view.worst[0]) == 9
    assert [link for _, _, link in table.examples(view.patterns[0])][:2] == ["#r3", "#r6"]


def test_of_several_drafts_an_example_points_to_the_one_with_its_total():
    drafts = [record(9, draft=1, total=50.0), record(9, draft=2, total=25.5)]
    assert ReplyTable(drafts, most=100).number_of(*scored_case()) == 2


def test_a_table_that_would_be_too_long_keeps_what_is_wrong():
    table = ReplyTable([*records(12), unscored(13)], most=5)
    assert [number for number, _ in table.rows] == [3, 6, 9, 12, 13]


def test_the_best_are_the_highest_of_different_categories_and_the_worst_show_different_patterns():
    found = [record(n, total=100.0) for n in (1, 2, 4, 5)] + [
        record(3, total=1.0), record(6, total=2.0), record(12, total=3.0, tags=(INVENTED,)), record(15, total=4.0)
    ]  # fmt: skip
    best, worst = choose_examples(found, best=3, worst=3)
    assert best == (("c-0001", 1), ("c-0002", 1), ("c-0004", 1))
    assert worst == (("c-0003", 1), ("c-0012", 1), ("c-0006", 1))
    assert choose_examples(list(reversed(found)), best=3, worst=3) == (best, worst)


def test_examples_are_of_different_cases_and_never_of_unscored_replies():
    found = [record(3, draft=d, tags=(MISSED,)) for d in (1, 2, 3)] + [unscored(6)]
    assert choose_examples(found) == ((), (("c-0003", 1),))


def test_a_long_reply_is_cut_and_said_to_be():
    found = scored_case(response="You get $50 back within 14 days. " + "x" * 50_000)
    example = explain(*found, is_whole=False)
    assert sum(len(part.text) for part in example.reply) < 7_000
    assert example.cut == ("The reply is cut here; it has 50,033 characters.",)
    whole = explain(*found)
    assert sum(len(part.text) for part in whole.reply) == 50_033
    assert whole.cut == ()


def test_a_case_that_could_not_be_scored_can_still_be_shown():
    assert explain(*failed_case()).outcome == "not scored"
    assert '<span class="outcome open">not scored</span> <b>–</b> points' in render_html(
        view_of(records(9), worst=[failed_case()])
    )
