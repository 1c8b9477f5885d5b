"""Two rubrics become the list of what changed between them."""

from tests.tables import over

from touchstone.core import resource
from touchstone.rubric.card import Change, difference_to_dict, differences
from touchstone.rubric.parse import parse_rubric

SUPPORTAI = resource.text("rubrics/supportai.yaml")
WARMTH = "  - {name: warmth, weight: 10, summary: 'Is it warm?', levels: {4: a, 0: b}}\n"
SAFETY = SUPPORTAI[SUPPORTAI.index("  - name: safety") : SUPPORTAI.index("violations:")]


SHIPPED = parse_rubric(SUPPORTAI, name="shipped.yaml")
MEANT = SHIPPED.conventions.texts["accuracy"]
ACCURACY = Change("conventions.accuracy", " ".join(MEANT), " ".join(MEANT[1:]))


def changed(*replacements):
    text = SUPPORTAI
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new, 1)
    return parse_rubric(text, name="mine.yaml")


CHANGES = {
    "the name": ([("name: supportai", "name: mine")], [Change("name", "supportai", "mine")]),
    "the version": ([('"1.0"', '"1.1"')], [Change("version", "1.0", "1.1")]),
    "the review": ([("2025-01-31", "2025-06-30")], [Change("reviewed", "2025-01-31", "2025-06-30")]),
    "the pass mark": ([("pass_mark: 70", "pass_mark: 75")], [Change("pass_mark", 70, 75)]),
    "weights": (
        [("weight: 40", "weight: 35"), ("weight: 15", "weight: 20")],
        [Change("criteria.accuracy.weight", 40, 35), Change("criteria.tone.weight", 15, 20)],
    ),
    "a summary": (
        [("Is it thorough?", "Is it all there?")],
        [Change("criteria.completeness.summary", "Is it thorough?", "Is it all there?")],
    ),
    "a level's text": (
        [("Minimal actionable content", "Hardly a step")],
        [Change("criteria.actionability.levels.1", "Minimal actionable content", "Hardly a step")],
    ),
    "a level that is gone": (
        [("      1: Minimal actionable content\n", "")],
        [Change("criteria.actionability.levels.1", "Minimal actionable content", None)],
    ),
    "another criterion": (
        [(SAFETY, WARMTH)],
        [Change("criteria.safety", "10%, Any violations? (auto-fail)", None),
         Change("criteria.warmth", None, "10%, Is it warm?")],
    ),
    "a violation's text": (
        [("Directing to competitor services", "Sending them away")],
        [Change("violations.competitor_recommendation", "Directing to competitor services", "Sending them away")],
    ),
    "a convention": (
        [(f"    - {MEANT[0]}\n", ""), ('version: "1"', 'version: "2"')],
        [Change("conventions.version", "1", "2"), ACCURACY],
    ),
    "gates": (
        [("- no_violations", "- {criterion: tone, at_least: 2}")],
        [Change("gates.no_violations", "any violation fails", None), Change("gates.tone", None, "at least 2")],
    ),
    "targets": (
        [("[70, 80]", "[75, 85]"), ("    accuracy: 3.2", "    accuracy: 3.4"), ("  safety_failures: 0\n", "")],
        [Change("targets.pass_rate", "70-80", "75-85"), Change("targets.average.accuracy", 3.2, 3.4),
         Change("targets.safety_failures", 0, None)],
    ),
}  # fmt: skip


@over(("replacements", "changes"), CHANGES.values(), ids=CHANGES.keys())
def test_every_kind_of_change_is_found_and_nothing_else(replacements, changes):
    assert list(differences(SHIPPED, changed(*replacements))) == changes


@over("replacements", [replacements for replacements, _ in CHANGES.values()], ids=CHANGES.keys())
def test_the_other_way_round_each_change_is_reversed(replacements):
    there = differences(SHIPPED, changed(*replacements))
    back = differences(changed(*replacements), SHIPPED)
    assert sorted(back, key=str) == sorted((Change(c.where, c.after, c.before) for c in there), key=str)


def test_a_rubric_does_not_differ_from_itself():
    assert differences(SHIPPED, SHIPPED) == ()


def test_another_order_of_criteria_is_a_change_of_its_own():
    moved = changed((SAFETY, ""), ("criteria:\n", f"criteria:\n{SAFETY}"))
    (change,) = differences(SHIPPED, moved)
    assert change.where == "criteria"
    assert change.after == "safety, accuracy, completeness, tone, actionability"


def test_the_difference_is_one_plain_object():
    assert difference_to_dict(SHIPPED, changed(('"1.0"', '"1.1"'))) == {
        "before": {"name": "supportai", "version": "1.0"},
        "after": {"name": "supportai", "version": "1.1"},
        "changes": [{"where": "version", "before": "1.0", "after": "1.1"}],
    }
