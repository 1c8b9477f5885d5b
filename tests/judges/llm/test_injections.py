"""Replies that try to steer the judge: what the model is sent, and what can be read from its answer, hold them in."""

import json
from pathlib import Path
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st
from tests.tables import over

import touchstone as ts
from touchstone.judges.llm.blocks import Block, defused, fence_for, fenced
from touchstone.judges.llm.checks import checked_of
from touchstone.judges.llm.prompt import packaged_prompt
from touchstone.judges.llm.request import Scope, build_requests
from touchstone.rubric.parse import packaged

TABLE = Path(__file__).parents[2] / "tables" / "injections.jsonl"
ROWS = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]
RUBRIC = packaged("supportai")
TURN_MARKS = ("<|", "<｜", "[INST]", "[/INST]", "<s>", "</s>", "<start_of_turn>", "<end_of_turn>", "<<SYS", "<think>")
QUESTION = "I was charged twice for order 12345. Please refund the duplicate."
CONTEXT = ["Duplicate charges: open a billing case; the refund takes 3 to 5 working days."]

rows = over("row", ROWS, ids=lambda row: row["id"])
any_scope = over("scope", get_args(Scope))


def case_with(text):
    return ts.Case(input=QUESTION, context=CONTEXT, response=f"Please ask your bank about it. {text}")


def asked(text, scope="case"):
    """The requests as they are sent, with the figures and questions that the reply gives rise to."""
    case = case_with(text)
    checked = checked_of(ts.score(case))
    return build_requests(case, rubric=RUBRIC, prompt=packaged_prompt(), scope=scope, checked=checked)


def fence_of(request):
    """The mark, as the last message names it before the data."""
    return request.messages[1].content.split()[3]


def test_the_table_has_at_least_fifty_replies_of_several_kinds():
    assert len(ROWS) >= 50
    assert len({row["text"] for row in ROWS}) == len(ROWS)
    assert len({row["technique"] for row in ROWS}) >= 6


@any_scope
@rows
def test_the_reply_stays_between_its_marks(row, scope):
    for request in asked(row["text"], scope):
        system, user = (message.content for message in request.messages)
        fence = fence_of(request)
        opening, closing = (
            f"\n{fence} reply\n",
            f"\n{fence} values\n" if f"{fence} values\n" in user else f"\n{fence} end",
        )
        # Named first, before each block and at the end; nowhere else.
        blocks = 3 + user.count(f"{fence} values\n") + user.count(f"{fence} questions\n")
        assert user.count(fence) == blocks + 2
        assert fence not in system
        assert user.count(opening) == user.count(closing) == 1
        inside = user[user.index(opening) + len(opening) : user.index(closing)]
        assert inside == defused(case_with(row["text"]).response)
        assert fence not in inside
        assert row["text"] not in system


@any_scope
@rows
def test_the_instructions_are_the_same_whatever_the_reply(row, scope):
    def instructions(text):
        return [request.messages[0].content for request in asked(text, scope)]

    assert instructions(row["text"]) == instructions("Thank you.")


@rows
def test_no_turn_mark_of_a_chat_format_is_left_in_the_reply(row):
    left = defused(row["text"])
    assert not any(mark.casefold() in left.casefold() for mark in TURN_MARKS)
    assert len(left) == len(row["text"])


@rows
def test_what_follows_the_data_is_the_same_whatever_the_reply(row):
    ends = {
        request.messages[1].content.rpartition(f"{fence_of(request)} end")[2].replace(_decide(request), "")
        for request in (*asked(row["text"]), *asked("Thank you."))
    }
    assert len(ends) == 1


def _decide(request):
    return f"Decide questions 1 to {len(request.questions)}. "


def test_a_mark_that_stands_in_a_reply_is_not_used():
    plain = [Block("reply", "Hello.")]
    guessed = fence_for(plain)
    assert fence_for([Block("reply", f"Hello. {guessed}")]) != guessed


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_the_mark_is_in_no_text_and_depends_on_all_of_them(texts):
    blocks = [Block(f"part {at}", text) for at, text in enumerate(texts)]
    fence = fence_for(blocks)
    assert fence == fence_for(blocks)
    assert not any(fence in text for text in texts)
    assert fenced(blocks, fence=fence).count(fence) == len(blocks)
    assert fence_for([*blocks[:-1], Block(blocks[-1].name, blocks[-1].text + "x")]) != fence


@given(st.text(alphabet=st.characters(categories=("L", "N", "P", "S", "Z", "Cc", "Cs"))))
def test_defusing_keeps_every_character_s_place_and_leaves_text_that_can_be_sent(text):
    left = defused(text)
    assert len(left) == len(text)
    assert defused(left) == left
    left.encode("utf-8")
