"""Question and reply -> completeness: the share of keywords the reply takes up (spec: scoring-logic 2)."""

from typing import TypedDict

from touchstone.core import resource
from touchstone.core.plan import Plan
from touchstone.core.reading import Reading, Text, Token
from touchstone.core.result import Score


class CompletenessParts(TypedDict):
    """The words that were looked for, and those that the reply lacks."""

    keywords: tuple[str, ...] | None
    missing: tuple[str, ...] | None


def completeness(reading: Reading, *, plan: Plan) -> Score:
    """Covered keywords over all keywords; a question without keywords is covered."""
    if reading.question is None:
        return Score("completeness", None, "no customer message to cover", {"keywords": None, "missing": None})
    keywords = extract_keywords(reading.question)
    covered = {token.term for token in reading.reply.tokens}
    missing = [word for term, word in keywords.items() if term not in covered]
    parts = {"keywords": list(keywords.values()), "missing": missing}
    if not keywords:
        return Score("completeness", 1.0, "the question has no keywords", parts)
    score = (len(keywords) - len(missing)) / len(keywords)
    reason = f"takes up {len(keywords) - len(missing)} of {len(keywords)} keywords"
    reason += f"; not {', '.join(missing[:6])}" if missing else ""
    return Score("completeness", score, reason, parts, flag="WARN" if score < plan.completeness_warn else None)


def extract_keywords(question: Text) -> dict[str, str]:
    """The question's terms less support filler, numbers and references included; each with the word it stands as."""
    keywords: dict[str, str] = {}
    for token in question.tokens:
        if not token.is_stop and not _is_filler(token):
            keywords.setdefault(token.term, token.word)
    return keywords


def _is_filler(token: Token) -> bool:
    return token.word in resource.words("filler.txt")
