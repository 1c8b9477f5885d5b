"""Reading -> how the reply speaks to this customer, and what it gives to do: features for tone and actionability.

Politeness is a packaged list of words and phrases with weights (politeness.json), fitted on requests that people rated:
it knows `would you mind` and `why did you`, not support.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from itertools import pairwise

from touchstone.core import resource
from touchstone.core.reading import Reading, Text
from touchstone.judges.coverage import count_pages
from touchstone.text.normalise import normalise
from touchstone.text.patterns import count, counts, folded, pattern

TABLE = "tone.txt"
TONE_GROUPS = ("apology", "empathy", "thanks", "warmth", "courtesy", "rude", "blame", "stiff", "brushoff")
# More of these is never unkind, and neither is less of the others.
COURTESIES = ("apology", "empathy", "thanks", "warmth", "courtesy", "acknowledged", "opens_kindly", "closes_kindly")
LACKS = ("unacknowledged",)
GUIDANCE_GROUPS = ("ask_back", "vague", "honest")
CAPITALS = re.compile(r"\b[A-Z]{4,20}\b")
NUMBERED = re.compile(r"^\s{0,8}(?:\d{1,2}[.)]|[-*•])\s", re.MULTILINE)
OPENS_STEP = re.compile(
    r"(?:^|\s{3}|[.!?:;,>\n]\s{0,3}|\b(?:please|then|and|to|just|you can|can|should|must|need to|simply)\s)$"
)
QUOTED = re.compile(r"[\"'][A-Z][^\"']{1,40}[\"']")
YOU, FIRST_PERSON = resource.group("judge_words.txt", "you"), resource.group("judge_words.txt", "first_person")
EMOJI = re.compile("[\U0001f300-\U0001faff☀-➿]")
POLITENESS = "politeness.json"
WORD = re.compile(r"[a-z]+(?:'[a-z]+)*|[?!]")
# Before the first word, so that a phrase can say that it opens the reply.
OPENING = "^"
LEAST_POLITE, MOST_POLITE = -2.0, 3.0


def tone_features(reading: Reading) -> dict[str, float]:
    """How the reply speaks, and what it gives to do."""
    said = counts(reading.reply.raw, *TONE_GROUPS, *GUIDANCE_GROUPS, table=TABLE)
    return _tone(reading, said) | _guidance(reading.reply, said)


def _tone(reading: Reading, said: Mapping[str, int]) -> dict[str, float]:
    """Counts of courtesy and its opposite, and whether they fit the customer's mood."""
    reply = reading.reply
    upset = mood(reading.question)
    kind = said["apology"] + said["empathy"]
    return {group: float(min(said[group], 3)) for group in TONE_GROUPS} | {
        "upset": upset,
        "unacknowledged": upset * float(kind == 0),
        "acknowledged": upset * float(min(kind, 2)),
        "opens_kindly": float(_is_kind(reply, said, opening=True)),
        "closes_kindly": float(_is_kind(reply, said, opening=False)),
        "exclamations": float(min(reply.raw.count("!"), 3)),
        "shouting": float(min(len(CAPITALS.findall(reply.raw)), 3)),
        "contractions": float(min(sum(["'" in token.word for token in reply.tokens]), 4)),
        "you_share": _share(reply, YOU),
        "first_person": _share(reply, FIRST_PERSON),
        "emoji": float(bool(EMOJI.search(reply.raw))),
        "sentence_length": min(3.0, len(reply.tokens) / max(1, len(reply.sentences)) / 10),
    }


def _guidance(reply: Text, said: Mapping[str, int]) -> dict[str, float]:
    """What the customer can do next, who acts, and how exactly it is said."""
    return {
        "steps": float(min(count_steps(reply), 5)),
        "paths": float(min(count_pages(reply.raw), 4)),
        "contacts": float(min(len(reply.contacts), 3)),
        "numbered": float(min(len(NUMBERED.findall(reply.raw)), 4)),
        "deadlines": float(min(sum(value.kind in ("duration", "date", "time") for value in reply.values), 4)),
        "we_act": float(min(count_acts(reply), 3)),
        "ask_back": float(min(said["ask_back"], 2)),
        "questions": float(min(reply.raw.count("?"), 2)),
        "vague": float(min(said["vague"], 4)),
        "honest": float(min(said["honest"], 2)),
        "quoted": float(min(len(QUOTED.findall(normalise(reply.raw).text)), 3)),
    }


def mood(question: Text | None) -> float:
    """How upset the customer sounds, 0 to 1."""
    if question is None:
        return 0.0
    words = count(question.raw, "upset", table=TABLE)
    loud = question.raw.count("!") + len(CAPITALS.findall(question.raw))
    return min(1.0, 0.3 * words + 0.2 * loud)


def count_steps(reply: Text) -> int:
    """Instructions: a step verb that opens a sentence or clause."""
    said = folded(reply.raw)
    found = pattern("step", table=TABLE).finditer(said)
    return sum(bool(OPENS_STEP.search(said, max(0, m.start() - 12), m.start())) for m in found)


def count_acts(reply: Text) -> int:
    """What the company does or will do: `I'm opening a trace`, `we'll refund`."""
    said = folded(reply.raw)
    verbs = pattern("act_verb", table=TABLE)
    starts = pattern("we_act", table=TABLE).finditer(said)
    return sum(bool(verbs.search(said, m.end(), m.end() + 25)) for m in starts)


def _is_kind(reply: Text, said: Mapping[str, int], *, opening: bool) -> bool:
    """Whether the first two sentences, or the last, have a kind word."""
    if not reply.sentences:
        return False
    if opening:
        part = reply.raw[: reply.sentences[min(1, len(reply.sentences) - 1)].end]
        groups = ("apology", "empathy", "thanks", "warmth")
    else:
        part = reply.raw[reply.sentences[-1].start :]
        groups = ("thanks", "warmth", "courtesy", "empathy")
    return any(said[group] and count(part, group, table=TABLE) for group in groups)


def _share(reply: Text, words: frozenset[str]) -> float:
    return min(0.2, sum([token.word in words for token in reply.tokens]) / max(1, len(reply.tokens)))


def politeness(raw: str) -> float:
    """The sum of the weights of the phrases the text has; a phrase counts once. 0 is as polite as most."""
    weights = _weights()
    return sum(weights[phrase] for phrase in sorted(phrases(raw) & weights.keys()))


def limited_politeness(raw: str) -> float:
    """The same within bounds: long texts have many phrases, and what lies beyond says no more."""
    return round(min(MOST_POLITE, max(LEAST_POLITE, politeness(raw))), 3)


def phrases(raw: str) -> set[str]:
    """Every n-gram of one to three words of the text, marks included."""
    words = [OPENING, *WORD.findall(folded(raw))]
    pairs = [f"{one} {other}" for one, other in pairwise(words)]
    return {*words, *pairs, *(f"{pair} {word}" for pair, word in zip(pairs, words[2:], strict=False))}


@cache
def _weights() -> Mapping[str, float]:
    weights: Mapping[str, float] = json.loads(resource.text(POLITENESS))["weights"]
    return weights
