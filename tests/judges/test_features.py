"""The features of some shipped cases are what they were when written down, and which part of a reply can earn accuracy.

The former is a regression test, no measure of quality. Features that rest on fitted files are left out of it, so that a
refit changes nothing here. After a change that is meant:

    python -m tests.judges.test_features
"""

import json
from pathlib import Path

import pytest
from tests.judges.gold import GOLD, MODES
from tests.tables import over

import touchstone as ts
from touchstone.core.plan import Plan
from touchstone.evidence.check import anchors_of, check
from touchstone.judges.features import AGAINST, features, see, sound_part
from touchstone.text.frame import body_of
from touchstone.text.reading import read

FILE = Path(__file__).parent / "features.json"
STEP = 40
FITTED = ("worded_", "finding_", "like_", "politeness")

PASSAGE = "A replacement card costs $5 and arrives within 7 days. Order it in the app under Cards."
SOUND = "A replacement card costs $5. You can order it in the app."
PRICED = "A replacement card costs $5. Express delivery costs $18.40. You can order it in the app."


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
    return {f"{case.id}-{way}": features_of(MODES[way](case)) for case in GOLD[::STEP] for way in MODES}


@over("way", MODES)
@over("case", GOLD[::STEP], ids=lambda case: case.id)
def test_features_are_what_they_were(case, way):
    expected = json.loads(FILE.read_text(encoding="utf-8"))[f"{case.id}-{way}"]
    assert features_of(MODES[way](case)) == pytest.approx(expected, abs=0.002)


def checked(response):
    reading = read(
        ts.Case(input="What does a new card cost, and how fast is it?", response=response, context=[PASSAGE])
    )
    return reading, check(reading, plan=Plan()) or ()


def featured(response):
    reading, anchors = checked(response)
    return features(see(reading, reading, anchors), ())


def test_a_reply_whose_prices_hold_is_sound_as_a_whole():
    assert sound_part(*checked(SOUND)) is None
    found = featured(SOUND)
    assert found.earned == found.body


def test_without_a_source_nothing_is_unheld():
    reading = read(ts.Case(input="What does it cost?", response=PRICED))
    assert sound_part(reading, check(reading, plan=Plan()) or ()) is None


def test_the_sentence_with_an_unheld_price_is_left_out_and_the_rest_stays_in_its_place():
    reading, anchors = checked(PRICED)
    sound = sound_part(reading, anchors)
    reply = sound.reading.reply
    assert [reply.raw[s.start : s.end] for s in reply.sentences] == SOUND.replace("$5. ", "$5.|").split("|")
    assert [PRICED[token.start : token.end].casefold() for token in reply.tokens] == [
        token.word for token in reply.tokens
    ]
    assert [token.word for s in reply.sentences for token in reply.tokens[s.first : s.last]] == [
        token.word for token in reply.tokens
    ]
    assert {at for places in reply.positions.values() for at in places} == set(range(len(reply.tokens)))
    assert [value.canonical for value in reply.values] == [reading.reply.values[0].canonical]
    assert all("18.40" not in anchor.text for anchor in sound.anchors)


def test_a_sentence_with_an_unheld_price_earns_nothing_and_is_counted_against_the_reply():
    sound, priced = featured(SOUND), featured(PRICED)
    changed = {name for name in sound.earned if sound.earned[name] != priced.earned[name]}
    assert changed <= set(AGAINST)
    assert priced.earned["values_unsupported"] == sound.earned["values_unsupported"] + 1


def test_other_criteria_see_the_whole_reply():
    found = featured(PRICED)
    assert found.of("accuracy") is found.earned
    assert all(found.of(name) is found.body for name in ("completeness", "tone", "actionability"))
    assert found.body["words"] > found.earned["words"]


def test_a_reply_of_nothing_but_unheld_prices_earns_nothing():
    found = featured("Express delivery costs $18.40.")
    assert (found.earned["words"], found.earned["ask_mean"], found.earned["values_supported"]) == (0, 0, 0)


if __name__ == "__main__":
    FILE.write_text(json.dumps(written(), indent=1) + "\n", encoding="utf-8")
