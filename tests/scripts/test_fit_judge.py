"""Which labelled cases are left out together, what a criterion is graded by, and wording scored by other replies."""

import numpy as np
import pytest
from scripts import worded
from scripts.additive import FALLING
from scripts.fit_judge import (
    COMPLETENESS,
    CRITERIA,
    FOLDS,
    GOLDSETS,
    USUAL_PASSES,
    groups_of,
    labelled_cases,
    names_of,
    passes,
    weights_of,
)


def test_no_domain_is_split_between_groups():
    cases, source = labelled_cases()
    groups = groups_of(cases, source)
    found = {}
    for case, group in zip(cases, groups, strict=True):
        found.setdefault(case["domain"], set()).add(str(group))
    assert all(len(groups) == 1 for groups in found.values())


def test_domains_that_ship_are_left_out_one_at_a_time_and_the_others_in_folds():
    cases = [{"domain": "banking"}, {"domain": "banking"}, *({"domain": f"trade {at}"} for at in range(3 * FOLDS))]
    source = np.array(["support", "everyday", *["everyday"] * (3 * FOLDS)])
    groups = groups_of(cases, source)
    assert list(groups[:2]) == ["banking", "banking"]
    assert len(set(groups[2:])) == FOLDS


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_criterion_is_graded_by_its_own_wording_only(criterion):
    names = names_of(criterion, [f"worded_{each}" for each in CRITERIA])
    assert names == [f"worded_{criterion}"]


def test_completeness_counts_nothing_that_a_further_sentence_could_lower():
    assert names_of(COMPLETENESS, [*FALLING, "closest", "expected_said"]) == ["expected_said"]


def test_with_nothing_to_hold_a_reply_against_passing_ones_count_as_much_as_is_usual():
    cases, _ = labelled_cases()
    passing = np.array([passes(case["labels"][0]) for case in cases])
    weights = weights_of(cases, way="bare")
    assert weights[passing].sum() / weights.sum() == pytest.approx(USUAL_PASSES)
    assert weights_of(cases, way="open").tolist() == [1.0] * len(cases)


@pytest.mark.parametrize(
    ("grades", "violations", "is_pass"),
    [((4, 4, 4, 4), [], True), ((3, 2, 2, 2), [], False), ((4, 4, 3, 3), ["pii_leakage"], False)],
)
def test_whether_labels_pass_follows_from_the_rubric(grades, violations, is_pass):
    assert passes({**dict(zip(CRITERIA, grades, strict=True)), "violations": violations}) is is_pass


GOOD, PLAIN, POOR = frozenset({"you can", "then"}), frozenset({"it is", "then"}), frozenset({"as soon", "then"})
REPLIES = [[(POOR, PLAIN, GOOD)[at % 3]] for at in range(24)]
GRADES = np.array([(1.0, 2.5, 4.0)[at % 3] for at in range(24)])
GROUPS = np.array([f"trade {at // 4}" for at in range(24)])
EVERYTHING = np.arange(24)


def test_weights_of_wording_follow_the_grades_and_are_the_same_twice():
    given = worded.compare("tone", REPLIES, REPLIES)
    weights = given.fit(GRADES, on=EVERYTHING)
    assert weights.runs["you can"] > 0 > weights.runs["as soon"]
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


def test_domains_of_all_sets_are_labelled():
    _, source = labelled_cases()
    assert tuple(dict.fromkeys(source.tolist())) == GOLDSETS


def test_every_labelled_case_has_two_raters():
    cases, _ = labelled_cases()
    assert {len(case["labels"]) for case in cases} == {2}
