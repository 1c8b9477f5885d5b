"""Which labelled cases are left out together, what a criterion is graded by, how the judge's parts are fitted."""

import json

import numpy as np
import pytest
from scripts import fit_judge, worded
from scripts.additive import FALLING
from scripts.decisions import Decided, choose_cuts, decide, figures
from scripts.fit_judge import COMPLETENESS, CRITERIA, PASS, Table, fit_pass, judge_apart, names_of, parts_by_domain
from scripts.fit_rules import Example, fit
from scripts.labelled import AGENTS, FOLDS, domain_of, fold_of, folds, passes, read_row, rows

from touchstone.judges.model import FINDINGS, INPUTS, VALUES
from touchstone.safety.signs import Logistic, Sign

FEW = 60


@pytest.fixture(scope="module")
def few():
    """A few labelled replies, evenly over the sets."""
    return tuple(read_row(name, row, mode="open") for name, row in rows()[:: len(rows()) // FEW])


def test_no_domain_is_split_between_folds():
    found = {}
    for _, row in rows():
        found.setdefault(domain_of(row), set()).add(fold_of(domain_of(row)))
    assert all(len(each) == 1 for each in found.values())
    assert {fold for each in found.values() for fold in each} == set(range(FOLDS))


def test_every_labelled_case_of_the_repository_has_two_raters():
    assert {len(row["labels"]) for name, row in rows() if name != "agents"} == {2}
    assert {name for name, _ in rows()} >= {"support", "industries", "everyday", "matched"}
    assert AGENTS.exists() == ("agents" in {name for name, _ in rows()})


@pytest.mark.parametrize(
    ("grades", "violations", "is_pass"),
    [((4, 4, 4, 4), [], True), ((3, 2, 2, 2), [], False), ((4, 4, 3, 3), ["pii_leakage"], False)],
)
def test_whether_labels_pass_follows_from_the_rubric(grades, violations, is_pass):
    assert passes({**dict(zip(CRITERIA, grades, strict=True)), "violations": violations}) is is_pass


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_criterion_is_graded_by_its_own_wording_only(criterion):
    names = names_of(criterion, [f"worded_{each}" for each in (*CRITERIA, PASS)])
    assert names == [f"worded_{criterion}"]


def test_completeness_counts_nothing_that_a_further_sentence_could_lower():
    assert names_of(COMPLETENESS, [*FALLING, "closest", "expected_said"]) == ["expected_said"]


GOOD, PLAIN, POOR = frozenset({"you can", "then"}), frozenset({"it is", "then"}), frozenset({"as soon", "then"})
REPLIES = [[(POOR, PLAIN, GOOD)[at % 3]] for at in range(24)]
GRADES = np.array([(1.0, 2.5, 4.0)[at % 3] for at in range(24)])
GROUPS = np.array([f"trade {at // 4}" for at in range(24)])
EVERYTHING = np.arange(24)


def test_weights_of_wording_follow_the_grades_and_are_the_same_twice():
    given = worded.compare("tone", REPLIES, REPLIES)
    weights = given.fit(GRADES, on=EVERYTHING)
    assert weights.ngrams["you can"] > 0 > weights.ngrams["as soon"]
    assert weights.base == 2.5
    assert weights == given.fit(GRADES, on=EVERYTHING)


def test_a_run_that_few_replies_have_has_no_weight():
    given = worded.compare("tone", [[frozenset({"once"})], *REPLIES], [[frozenset({"once"})], *REPLIES])
    assert "once" not in given.known


def test_no_score_of_wording_saw_the_grades_of_its_group():
    given = worded.compare("tone", REPLIES, REPLIES)
    before = given.score_apart(GRADES, groups=GROUPS, among=EVERYTHING)
    turned = np.where(GROUPS == "trade 0", 4.0 - GRADES, GRADES)
    after = given.score_apart(turned, groups=GROUPS, among=EVERYTHING)
    assert after[:4].tolist() == before[:4].tolist()
    assert after[4:].tolist() != before[4:].tolist()


def sign(rule, score=1.0):
    return Sign("unauthorized_promise", rule, 0, 5, "promises more", {"score": score})


def test_a_sign_that_is_oftener_right_is_trusted_more():
    given = [(2.0, True)] * 9 + [(2.0, False), (0.5, True)] + [(0.5, False)] * 9
    rule = fit([Example(sign("wording.promise", s), right, 1.0, 0, "made") for s, right in given])["wording.promise"]
    assert rule.of({"score": 2.0}) > 0.7
    assert rule.of({"score": 0.5}) < 0.3


def test_values_only_raise_the_pass_probability_and_findings_only_lower_it():
    chance = np.random.default_rng(7)
    seen = [dict(zip(INPUTS, chance.random(len(INPUTS)), strict=True)) for _ in range(80)]
    model = fit_pass(seen, np.array([row["accuracy"] > 0.4 for row in seen]))
    assert model.weights["accuracy"] > 0
    assert all(model.weights[name] >= 0 for name in VALUES)
    assert all(model.weights[name] <= 0 for name in FINDINGS)


def decided(passes, chances, *, called=None, marked=None, fails=None, abstains=None):
    nothing = np.zeros(len(passes), int)
    called, marked = (np.array(each) if each else nothing for each in (called, marked))
    is_so = [np.array(each, bool) if each else nothing.astype(bool) for each in (fails, abstains)]
    right = np.minimum(called, marked)
    return Decided(np.array(passes), np.array(chances), is_so[0], is_so[0], is_so[1], called, right, marked)


def test_cuts_are_where_what_is_sent_passes_and_what_is_blocked_fails():
    chances = np.linspace(0.005, 0.995, 100)
    send, block = choose_cuts([decided(chances > 0.3, chances)])
    assert (send, block) == (0.5, pytest.approx(0.3, abs=0.02))
    assert choose_cuts([decided(np.arange(100) % 2 == 0, chances)]) == (0.99, 0.01)


def test_counts_are_of_the_set_alone_and_what_is_not_graded_has_no_outcome():
    given = decided(
        [True, False, False, True, True],
        [0.95, 0.95, 0.05, 0.5, 0.95],
        called=[0, 0, 1, 0, 1],
        marked=[0, 1, 1, 0, 0],
        fails=[False, False, True, False, False],
        abstains=[False, False, False, True, False],
    )
    found = figures(given, np.array([True, True, True, True, False]), send=0.9, block=0.1)
    assert found == {
        "replies": 4,
        "sent": 2,
        "sent_right": 1,
        "blocked": 1,
        "blocked_right": 1,
        "abstained": 1,
        "outcomes": 3,
        "outcomes_right": 2,
        "violations": 1,
        "violations_right": 1,
        "violations_marked": 2,
    }


@pytest.mark.slow
def test_a_few_replies_are_read_judged_apart_and_decided_on(few, monkeypatch):
    monkeypatch.setattr(fit_judge, "labelled", lambda mode: few)
    monkeypatch.setattr(worded, "LEAST_REPLIES", 2)
    table = fit_judge.table_of("open")
    assert isinstance(table, Table)
    examples = [Example(s, case.violates(s.kind), 1.0, case.fold, case.set) for case in few for s in case.signs]
    part = parts_by_domain(table, examples)[0]
    judged = judge_apart(table, [part])
    assert all(0 < each < 1 for each in judged.chances[part.out])
    found = fit_judge.decide_apart(table, judged, examples)
    without = fit_judge.decide_without(table, judged, judged, "everyday", examples)
    assert len(found.passes) == len(without.passes) == len(few)
    json.dumps(figures(found, table.sets == "everyday", send=0.9, block=0.1))


def test_each_fold_is_left_out_once(few):
    assert sorted(at for _, out in folds(few) for at in out) == list(range(len(few)))


def test_a_case_is_decided_by_the_rules_it_is_given(few):
    grades = {name: np.full(len(few), 4) for name in CRITERIA}
    chances = np.full(len(few), 0.95)
    surely = {sign.rule: Logistic(5.0, {}) for case in few for sign in case.signs}
    with_rules = decide(few, grades, chances, [surely] * len(few))
    without = decide(few, grades, chances, [{}] * len(few))
    assert not without.violates.any()
    assert with_rules.violates.tolist() == [bool(case.signs) for case in few]
    assert not without.fails.any()
