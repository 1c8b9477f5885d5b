"""A plan's hash: what changes results changes it, and what nobody uses does not."""

import touchstone as ts
from touchstone.core.codec import content_hash, plan_to_dict

# As it was before there was a verifier: runs and jobs begun then go on.
BEFORE = {
    "relevance_fail": 0.1,
    "completeness_warn": 0.6,
    "hallucination_fail": 0.5,
    "hallucination_flag": 0.6,
    "drift_overlap": 0.2,
    "drift_penalty": 0.2,
    "drift_ngram": 1,
    "proximity": 24,
    "max_reply_chars": 100_000,
}


def hashed(**settings):
    return content_hash(plan_to_dict(ts.Plan(**settings)))


def test_a_plan_without_a_verifier_has_the_hash_it_always_had():
    assert plan_to_dict(ts.Plan()) == BEFORE
    assert hashed() == hashed(verifier_cut=0.9) == content_hash(BEFORE)


def test_a_verifier_and_its_cut_change_the_hash():
    plans = [{}, {"verifier": "deep"}, {"verifier": "deep", "verifier_cut": 0.9}, {"completeness_warn": 0.5}]
    assert len({hashed(**plan) for plan in plans}) == len(plans)
