"""What is left out of a fold."""

import json

import pytest

pytest.importorskip("torch", reason="TORCH IS NOT INSTALLED: the fit of the verifier was not tested")
pytest.importorskip("onnxruntime")

from benchmarks.cases import ROOT
from scripts.fit_verifier.stages import FIELDS, FOLDS, fold_of


def test_every_industry_has_a_fold_of_its_own_field() -> None:
    paths = sorted((ROOT / "data" / "verifier").glob("batch-*.jsonl"))
    lines = [line for path in paths for line in path.read_text(encoding="utf-8").splitlines() if line]
    fields = {json.loads(line)["industry"].partition(":")[0] for line in lines}
    assert fields == set(FIELDS)


def test_rows_of_one_industry_and_one_source_stay_together() -> None:
    assert fold_of("health: pharmacy/3") == fold_of("health: dental plan/90") == FIELDS["health"]
    assert fold_of("retail banking & cards/doc_7") == FIELDS["retail banking & cards"]
    assert {fold_of(f"a public source {number}") for number in range(50)} == set(range(FOLDS))
    assert fold_of("a public source 1") == fold_of("a public source 1")
