"""Which labelled cases are left out together, and how much each counts."""

import numpy as np
from scripts.fit_judge import FOLDS, GOLDSETS, groups_of, labelled_cases, weights_of


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


def test_an_everyday_case_counts_half():
    assert weights_of(np.array(GOLDSETS)).tolist() == [1.0, 1.0, 0.5]


def test_every_labelled_case_has_two_raters():
    cases, _ = labelled_cases()
    assert {len(case["labels"]) for case in cases} == {2}
