"""Servers that speak the protocol each in its own way: a judge gets grades from all of them.

What each takes and says is from the servers' documentation and their users' reports; the servers here are small
imitations, and only llama.cpp's is tested itself.
"""

import json

import pytest
from tests.clients.llm.faulty import Reply, grades, refuses, says
from tests.clients.llm.test_server import CALL, REQUEST, opened

from touchstone.clients.llm.call import Answered
from touchstone.core.result import Failure
from touchstone.judges.llm.answer import read_answer

GRADED = dict.fromkeys(REQUEST.criteria, 3)


def asked_for(asked):
    return asked.get("response_format", {"type": "text"})["type"]


def message(content, **fields):
    """A completion whose message has these fields."""
    reply = says("")
    reply.body["choices"][0]["message"] = {"role": "assistant", "content": content, **fields}
    return reply


def enforces_schema(asked):
    """llama.cpp, vLLM, SGLang, Ollama from 0.5 on: the schema is kept to."""
    return says(grades()) if asked_for(asked) == "json_schema" else refuses(400, "give a schema")


def knows_schema_or_text(asked):
    """LM Studio: its error is a text and no object, and JSON mode is refused."""
    if asked_for(asked) == "json_object":
        return Reply({"error": "'response_format.type' must be 'json_schema' or 'text'"}, status=400)
    return says(grades())


def knows_json_mode_alone(asked):
    """DeepSeek: no schema, JSON mode only if the prompt speaks of JSON."""
    if asked_for(asked) == "json_schema":
        return refuses(400, "This response_format type is unavailable now", code="invalid_request_error")
    if "json" not in str(asked["messages"]).lower():
        return refuses(400, "Prompt must contain the word 'json' in some form")
    return says(grades())


def knows_no_format(asked):
    """A small server or an old gateway: any form is an unknown argument, and the answer is prose around a fence."""
    if "response_format" in asked:
        return refuses(400, "Additional properties are not allowed ('response_format' was unexpected)")
    return says(f"Here are the grades:\n\n```json\n{json.dumps(grades(), indent=1)}\n```\nI hope this helps.")


def answers_with_422(asked):
    """A server built on a checker of fields: status 422, and the error is a list."""
    if asked_for(asked) == "json_schema":
        detail = [{"loc": ["body", "response_format", "type"], "msg": "Input should be 'json_object'"}]
        return Reply({"detail": detail}, status=422)
    return says(grades())


def wraps_errors_in_a_list(asked):
    """Google's: the error object stands in a list."""
    if "seed" in asked:
        return Reply([{"error": {"code": 400, "message": "Unknown name 'seed': Cannot find field."}}], status=400)
    return says(grades())


def thinks_apart(asked):
    """vLLM or SGLang with a reasoning parser: thoughts stand beside the answer."""
    return message(json.dumps(grades()), reasoning_content='I would say {"criteria": {"tone": {"grade": 0}}}. Or not.')


def takes_answers_for_thoughts(asked):
    """vLLM, some versions: an answer without thoughts before it is filed as thoughts."""
    return message(None, reasoning=json.dumps(grades()))


def thinks_aloud(asked):
    """The same servers without a reasoning parser: thoughts stand before the answer."""
    return says(f"<think>Maybe {{'criteria': {{}}}}?</think>\n{json.dumps(grades())}")


def answers_in_parts(asked):
    """Mistral and gateways: the content is a list of parts, thoughts among them."""
    text = json.dumps(grades())
    thoughts = {"type": "thinking", "thinking": [{"type": "text", "text": "{}"}]}
    return message([thoughts, {"type": "text", "text": text[:40]}, {"type": "text", "text": text[40:]}])


def knows_no_system_message(asked):
    """Models whose chat template has no system message, such as the first Gemma."""
    if asked["messages"][0]["role"] == "system":
        return refuses(400, "System role not supported")
    assert "You grade replies" in asked["messages"][0]["content"]
    return says(grades())


def has_newer_names(asked):
    """OpenAI's reasoning models: another name for the limit, and no temperature but the default."""
    if "max_tokens" in asked:
        return refuses(400, "Unsupported parameter: use 'max_completion_tokens' instead", param="max_tokens")
    if "temperature" in asked:
        return refuses(400, "Unsupported value: only the default (1) is supported", param="temperature")
    return says(grades())


def has_a_plain_schema_alone(asked):
    """OpenAI's schema mode, where limits of length are not part of the subset it takes."""
    if "maxLength" in str(asked):
        return refuses(400, "Invalid schema for response_format 'grades': 'maxLength' is not permitted.")
    return enforces_schema(asked)


DIALECTS = [
    enforces_schema,
    knows_schema_or_text,
    knows_json_mode_alone,
    knows_no_format,
    answers_with_422,
    wraps_errors_in_a_list,
    thinks_apart,
    takes_answers_for_thoughts,
    thinks_aloud,
    answers_in_parts,
    knows_no_system_message,
    has_newer_names,
    has_a_plain_schema_alone,
]


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.__name__)
def test_every_dialect_gives_grades_and_is_learnt_once(server, dialect):
    server.replies = [dialect]
    with opened(server) as client:
        first = client.ask(CALL)
        tries = len(server.asked)
        again = client.ask(CALL)
    for found in (first, again):
        assert isinstance(found, Answered)
        reading = read_answer(found.answer, REQUEST)
        assert reading.failures == ()
        assert {name: opinion.grade for name, opinion in reading.opinions.items()} == GRADED
        assert reading.charges == ()
    assert len(server.asked) == tries + 1, "what was refused once is not tried again"


def test_the_strictest_form_that_a_server_takes_is_kept(server):
    server.replies = [knows_schema_or_text]
    with opened(server) as client:
        client.ask(CALL)
    assert [asked_for(asked) for asked in server.asked] == ["json_schema"]


def test_an_answer_that_the_server_itself_refuses_is_no_reason_to_ask_for_less(server):
    """Groq checks the answer against the schema afterwards."""
    server.replies = [
        refuses(400, "Generated JSON does not match the expected schema", code="json_validate_failed"),
        says(grades()),
    ]
    with opened(server) as client:
        found = client.ask(CALL)
        client.ask(CALL)
    assert isinstance(found, Failure)
    assert found.error == "NotJson"
    assert [asked_for(asked) for asked in server.asked] == ["json_schema", "json_schema"]


def test_thoughts_that_were_cut_off_are_no_answer(server):
    reply = message(None, reasoning_content="First I look at the tone")
    reply.body["choices"][0]["finish_reason"] = "length"
    server.replies = [reply]
    with opened(server) as client:
        answer = client.ask(CALL).answer
    assert (answer.text, answer.is_cut) == ("", True)
    assert read_answer(answer, REQUEST).failures[0].error == "Truncated"
