"""The features of some shipped cases are what they were when written down; a regression test, no measure of quality.

Those that rest on fitted files are left out, so that a refit changes nothing here. After a change that is meant:

    python -m tests.judges.test_features
"""

import json
from pathlib import Path

import pytest
from tests.judges.gold import GOLD, WAYS

from touchstone.core.plan import Plan
from touchstone.evidence.check import anchors_of, check
from touchstone.judges.features import features, see
from touchstone.text.frame import body_of
from touchstone.text.reading import read

FILE = Path(__file__).parent / "features.json"
STEP = 40
FITTED = ("worded_", "finding_", "like_", "politeness")


def features_of(case):
    """Every feature that no fit has a part in, of the body; of its sound part and with the frame where they differ."""
    reading = read(case)
    body = body_of(reading)
    found = features(see(reading, body, anchors_of(body, check(reading, plan=Plan()))), (), is_plain=True)
    return {
        f"{part}.{name}": round(value, 4)
        for part, values in (("body", found.body), ("earned", found.earned), ("courteous", found.courteous))
        for name, value in values.items()
        if value and not name.startswith(FITTED) and (part == "body" or value != found.body[name])
    }


def written():
    return {f"{case.id}-{way}": features_of(WAYS[way](case)) for case in GOLD[::STEP] for way in WAYS}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", GOLD[::STEP], ids=lambda case: case.id)
def test_features_are_what_they_were(case, way):
    expected = json.loads(FILE.read_text(encoding="utf-8"))[f"{case.id}-{way}"]
    assert features_of(WAYS[way](case)) == pytest.approx(expected, abs=0.002)


if __name__ == "__main__":
    FILE.write_text(json.dumps(written(), indent=1) + "\n", encoding="utf-8")
