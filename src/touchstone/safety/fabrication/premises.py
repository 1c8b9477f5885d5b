"""A value of the reply -> whether it only supposes a case: `With a balance of $480 …`, `A £200 fare earns …`."""

from touchstone.core.reading import Text, Value
from touchstone.evidence.places import sentence_at
from touchstone.safety.fabrication.findings import group, words_between

SUPPOSED = frozenset({"money", "quantity", "percent", "number", "date"})
ARTICLES = frozenset({"a", "an", "another"})
CONDITIONALS = frozenset({"would", "you'd", "it'd", "that'd", "they'd", "we'd", "i'd", "wouldn't"})
# What stands between a supposed thing and its figure: a balance of $480, a fare worth £200.
JOINTS = frozenset({"of", "worth", "at", "costing", "owed", "you"})
# An example's figure stands near the start of its sentence.
REACH = 8
# The words in which the thing that a figure belongs to is named.
NEAR = 3
MIN_ACT = 4


def is_premise(reply: Text, value: Value) -> bool:
    """Whether the sentence takes the value as given, so that it illustrates instead of stating a term."""
    sentence = sentence_at(reply, value.start)
    if sentence is None or value.kind not in SUPPOSED:
        return False
    before = words_between(reply, sentence.start, value.start)
    after = words_between(reply, value.end, sentence.end)
    supposed = not CONDITIONALS.isdisjoint((*before, *after))
    comma = reply.raw.find(",", value.end, sentence.end)
    opens = bool(before) and before[0] in group("premise") and "," not in reply.raw[sentence.start : value.start]
    if opens and supposed and comma >= 0:
        return True
    if value.kind == "date":
        return _is_dated_act(before)
    beside = words_between(reply, value.end, comma if comma >= 0 else sentence.end)
    if group("term").intersection(beside[:NEAR]) or group("term").intersection(before[-NEAR:]):
        return False
    if supposed and value.kind == "quantity" and "your" in before[-2:]:
        return True
    if before and before[0] in group("premise"):
        return comma >= 0 and "," not in reply.raw[sentence.start : value.start]
    if not before or before[0] in ARTICLES:
        return bool(before) and len(before) <= REACH and (supposed or value.kind in ("money", "quantity"))
    if before[0].endswith("ing") and supposed:
        return len(before) <= REACH
    return supposed and before[-1] in JOINTS


def _is_dated_act(before: list[str]) -> bool:
    """`closing the card on March 20`, `opened on January 10`: the day of something the customer does or did."""
    acts = [word for word in before[-REACH:] if word.endswith(("ing", "ed")) and len(word) > MIN_ACT]
    return (
        bool(acts) and before[-1:] == ["on"] and (before[0] in group("premise") | ARTICLES or before[0].endswith("ing"))
    )
