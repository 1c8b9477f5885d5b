"""A model's answer -> what it says, criterion by criterion, and what is wrong with it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from touchstone.core.result import Failure
from touchstone.judges.llm.json_reading import read_object
from touchstone.judges.llm.request import (
    CONFIRMED,
    LONGEST_REASON,
    MOST_QUOTES,
    MOST_VIOLATIONS,
    QUESTIONS,
    REJECTED,
    Request,
)
from touchstone.safety.signs import shortened

STAGE = "judge"
LONGEST_SHOWN = 60
MOST_RULINGS = 40
# Of a model that begins otherwise ("The reply …") the odds of yes against no still tell, down to this much of both.
LEAST_MASS = 0.01
FIRST_TOKENS = 3
# What the word alone is worth where a server gives no probabilities.
SAID = 0.95
_AROUND = " \n\t\r\"'*_.:,\u0120\u2581"
_WORD = re.compile(r"[^\W\d_]+")
_THOUGHTS = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_MORE_TOKENS = "allow it more with --judge-set max_tokens=N"
_FRACTION = re.compile(r"\s*(\d{1,3})(?:\.0)?\s*(?:/\s*\d+)?\s*")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server gave back: the text, whether it was cut off at the length allowed, and whether it is a refusal.

    `yes` is the chance of yes where yes or no was asked for; None where the answer is neither.
    """

    text: str
    is_cut: bool = False
    is_refusal: bool = False
    yes: float | None = None


@dataclass(frozen=True, slots=True)
class Opinion:
    """What the model says on one criterion; `given` is the grade as it wrote it, `grade` None if that is no number."""

    grade: int | None
    given: Any
    is_given: bool
    confidence: float | None
    reason: str
    quotes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Charge:
    """A violation as the model puts it, not yet found in the reply."""

    kind: str
    quote: str
    reason: str


@dataclass(frozen=True, slots=True)
class QuestionRuling:
    """The model's word on a question; `is_confirmed` is None where it says neither."""

    is_confirmed: bool | None
    quote: str
    reason: str


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """An answer read: opinions by criterion, charges (None when the model did not say), and faults of the answer.

    `rulings` are by the question's number, among them those on questions that nobody asked.
    """

    opinions: Mapping[str, Opinion] = field(default_factory=dict)
    charges: tuple[Charge, ...] | None = None
    failures: tuple[Failure, ...] = ()
    rulings: Mapping[int, QuestionRuling] = field(default_factory=dict)


def read_answer(answer: Answer | Failure, request: Request) -> ReadAnswer:
    """What the answer says to the request; a failed call says nothing."""
    if isinstance(answer, Failure):
        return ReadAnswer(failures=(answer,))
    if answer.is_refusal:
        return _faulty("Refused", "the model refused to grade this reply: let a person grade it")
    found = read_object(answer.text, keys=("criteria", "violations", QUESTIONS, *request.criteria))
    if found is None and answer.is_cut:
        return _faulty("Truncated", f"the model's answer was cut off before a grade: {_MORE_TOKENS}")
    if found is None and not answer.text.strip():
        return _faulty("EmptyAnswer", "the model's answer is empty: try another model, or --judge-set scope=criterion")
    if found is None:
        remedy = "use a server that enforces a JSON schema, or a larger model"
        return _faulty("NotJson", f"the model answered without one JSON object of the form asked for: {remedy}")
    rows = found.value.get("criteria")
    rows = rows if isinstance(rows, dict) else found.value
    opinions = {name: _opinion(rows[name]) for name in request.criteria if isinstance(rows.get(name), dict)}
    charges = _charges(found.value.get("violations")) if request.asks_violations else None
    missing = [name for name in request.criteria if name not in opinions or not opinions[name].is_given]
    missing += ["violations"] if request.asks_violations and charges is None else []
    said = ReadAnswer()
    if missing and (answer.is_cut or not found.is_whole):
        said = _faulty("Truncated", f"the model's answer breaks off before {', '.join(missing)}: {_MORE_TOKENS}")
    elif missing:
        said = _faulty("Incomplete", f"the model's answer leaves out {', '.join(missing)}: try a larger model")
    rulings = _rulings(found.value.get(QUESTIONS)) if request.asks_violations else {}
    return replace(said, opinions=opinions, charges=charges, rulings=rulings)


def _faulty(error: str, message: str) -> ReadAnswer:
    return ReadAnswer(failures=(Failure(STAGE, error, message),))


def _opinion(row: Mapping[str, Any]) -> Opinion:
    quotes = row.get("quotes")
    texts = [quotes] if isinstance(quotes, str) else quotes if isinstance(quotes, list) else []
    return Opinion(
        grade=_grade(row.get("grade")),
        given=row.get("grade"),
        is_given="grade" in row,
        confidence=_share(row.get("confidence")),
        reason=_reason(row),
        quotes=tuple(text for text in texts if isinstance(text, str) and text.strip())[:MOST_QUOTES],
    )


def _charges(rows: Any) -> tuple[Charge, ...] | None:
    if not isinstance(rows, list):
        return None
    return tuple(
        Charge(str(row.get("kind")), str(row.get("quote") or ""), _reason(row))
        for row in rows[:MOST_VIOLATIONS]
        if isinstance(row, dict)
    )


def chance_of_yes(alternatives: Sequence[Mapping[str, float]], text: str) -> float | None:
    """The chance of yes against no: from the probabilities of the first word's tokens, or from the text alone.

    `alternatives` holds, for each token written, those it was chosen from with their probabilities. Sub-words ("Y",
    " yes", "Ye") count for the word they begin.
    """
    for tokens in alternatives[:FIRST_TOKENS]:
        likeliest = max(tokens, key=lambda token: tokens[token], default="")
        if not any(letter.isalnum() for letter in likeliest):
            continue
        yes = sum(chance for token, chance in tokens.items() if _begins(token, "yes"))
        no = sum(chance for token, chance in tokens.items() if _begins(token, "no"))
        if yes + no >= LEAST_MASS:
            return yes / (yes + no)
        break
    word = _WORD.search(_THOUGHTS.sub("", text))
    return {"yes": SAID, "no": 1 - SAID}.get(word[0].casefold()) if word else None


def _begins(token: str, word: str) -> bool:
    folded = token.strip(_AROUND).casefold()
    return bool(folded) and word.startswith(folded)


def _rulings(rows: Any) -> dict[int, QuestionRuling]:
    """Rulings by number: a mapping's key, or a row's own or its place in a list. A number with two of them has none."""
    if isinstance(rows, list):
        numbered = [(row.get("number", at), row) for at, row in enumerate(rows, 1) if isinstance(row, dict)]
    else:
        numbered = list(rows.items()) if isinstance(rows, dict) else []
    found: dict[int, QuestionRuling] = {}
    for key, row in numbered[:MOST_RULINGS]:
        number = _grade(key) if not isinstance(key, str) else _grade(key.strip(" #Qq.:)"))
        if number is None or not isinstance(row, dict):
            continue
        ruling = _ruling(row)
        is_twice = number in found and found[number].is_confirmed != ruling.is_confirmed
        found[number] = QuestionRuling(None, "", "the model gives two answers") if is_twice else ruling
    return found


def _ruling(row: Mapping[str, Any]) -> QuestionRuling:
    given = row.get("answer")
    word = given.strip().casefold() if isinstance(given, str) else ""
    is_confirmed = {CONFIRMED: True, REJECTED: False}.get(word)
    return QuestionRuling(is_confirmed, str(row.get("quote") or ""), _reason(row))


def _grade(value: Any) -> int | None:
    """A whole number, also as "3" or "3/4"; anything else is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    found = _FRACTION.fullmatch(value) if isinstance(value, str) else None
    return int(found[1]) if found else None


def _share(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        return None
    return float(value)


def _reason(row: Mapping[str, Any]) -> str:
    given = row.get("reason")
    return shortened(given, LONGEST_REASON) if isinstance(given, str) else ""


def shown_number(value: Any) -> str:
    """What the model gave where a grade belongs; of a text only that it is one, as it may quote the customer."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return shortened(str(value), LONGEST_SHOWN) if is_number else "what is no grade"
