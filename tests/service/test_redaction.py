"""With redaction, nothing personal reaches any byte of the store, and replies are scored as they came."""

import json
import time

import pytest
from tests.service.conftest import running

from touchstone.app.config import Settings
from touchstone.app.evaluation import evaluate_goldset
from touchstone.app.replies import Assignment
from touchstone.store.runs import open_store

# Whose words they are does not matter: each stands in a question, a reply, a passage, metadata or a person's note.
PERSONAL = (
    "Maria Gonzalez", "Gonzalez", "maria.gonzalez@example.com", "John Smith", "123 Main Street, Springfield",
    "4111 1111 1111 1111", "4111111111111111", "GB82 WEST 1234 5698 7654 32", "+1 (415) 555-2671", "192.168.17.44",
    "078-05-1120",
)  # fmt: skip
ROWS = [
    {
        "id": "c-1",
        "input": "I am Maria Gonzalez, maria.gonzalez@example.com. What is the status of my order?",
        "response": "Order 98765 was placed by John Smith at 123 Main Street, Springfield. It was paid with card "
        "4111 1111 1111 1111 and ships within 3 days.",
        "context": [
            {"id": "maria.gonzalez@example.com", "text": "Order 98765: John Smith, 123 Main Street, Springfield."},
            "Card 4111 1111 1111 1111. Ships within 5 days.",
        ],
        "expected_output": "Hello Maria Gonzalez, your order ships within 5 days.",
        "category": "orders",
        "customer": {"mail": "maria.gonzalez@example.com", "card": 4111111111111111, "order": 7},
    },
    {
        "id": "c-2",
        "input": [
            {"role": "customer", "content": "Please call me at +1 (415) 555-2671, my SSN is 078-05-1120."},
            {"role": "agent", "content": "Thank you, John Smith."},
            {"role": "customer", "content": "Where do I send the refund to?"},
        ],
        "response": "Send it to the account GB82 WEST 1234 5698 7654 32. You signed in from 192.168.17.44.",
        "context": ["Refunds go to the account they came from."],
        "category": "billing",
    },
]


def file_of(directory):
    path = directory / "replies.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


def evaluate(place, directory, *, redacts, kind="goldset"):
    with open_store(str(place)) as store:
        run = evaluate_goldset(
            Assignment(goldset=str(file_of(directory)), kind=kind),
            settings=Settings(store=str(place), runs=str(directory / "runs"), redacts=redacts),
            store=store,
            on_start=lambda run, done: None,
            on_step=lambda step: None,
        )
        return run, list(store.replies.scored(run.id))


def leaked(directory):
    """What of the table is in any file of the directory, in either case and in either form of JSON."""
    content = b"".join(path.read_bytes() for path in directory.rglob("*") if path.is_file()).lower()
    return [text for text in PERSONAL if text.lower().encode() in content]


def test_the_table_is_found_where_nothing_is_redacted(tmp_path):
    home = tmp_path / "store"
    evaluate(home / "touchstone.db", tmp_path, redacts=False)
    assert set(leaked(home)) == set(PERSONAL)


@pytest.mark.parametrize("kind", ["goldset", "production"])
def test_a_run_keeps_none_of_the_table_and_has_the_results_of_the_replies_as_they_came(tmp_path, kind):
    home = tmp_path / "store"
    _, plain = evaluate(tmp_path / "plain.db", tmp_path, redacts=False, kind=kind)
    run, kept = evaluate(home / "touchstone.db", tmp_path, redacts=True, kind=kind)
    assert leaked(home) == []
    assert run.receipt.redacted
    for before, after in zip(plain, kept, strict=True):
        assert figures(before) == figures(after)
    assert any(each.record.violations for each in kept)


def figures(scored):
    """Everything of a reply that is counted."""
    record, result = scored.record, scored.result
    scores = {name: score.score for name, score in result.metrics.items()}
    grades = {grade.criterion: (grade.grade, grade.value) for grade in result.rubric.grades}
    tags = [tag.name for tag in record.tags]
    kinds = [violation.kind for violation in result.rubric.violations]
    return record.decision, record.verdict, record.outcome, record.total, scores, grades, kinds, tags


def test_a_run_begun_without_redaction_is_not_gone_on_with(tmp_path):
    place = tmp_path / "touchstone.db"
    with open_store(str(place)) as store:

        def stop(step):
            raise KeyboardInterrupt

        for redacts in (False, True):
            with pytest.raises(KeyboardInterrupt):
                evaluate_goldset(
                    Assignment(goldset=str(file_of(tmp_path))),
                    settings=Settings(store=str(place), runs=str(tmp_path / "runs"), redacts=redacts),
                    store=store,
                    on_start=lambda run, done: None,
                    on_step=stop,
                )
        assert len(store.list_runs()) == 2


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    home = tmp_path_factory.mktemp("redacting") / "store"
    settings = Settings(store=str(home / "touchstone.db"), runs=str(home / "runs"), redacts=True)
    with running(home / "touchstone.db", settings=settings, workers=1) as started:
        started.home = home
        yield started


def test_the_service_stores_nothing_personal_whatever_is_sent_to_it(desk, tmp_path):
    """A file, the playground, reviews, drafts, waivers, rulings and actions."""
    with desk.client(follow_redirects=False) as client:
        file = file_of(tmp_path).read_bytes()
        sent = client.post("/queues/upload", files={"file": ("replies.jsonl", file)}, follow_redirects=True)
        assert client.post(f"{sent.url}/score", data={"label": "version=7"}).status_code == 303
        until = time.monotonic() + 60
        while client.get(sent.url).status_code == 200:
            assert time.monotonic() < until
            time.sleep(0.1)
        (run,) = desk.store.list_runs(kind="production")
        case = ROWS[0]
        sent = {name: value for name, value in case.items() if name != "customer"}
        answer = client.post("/v1/score", json={**sent, "metadata": case["customer"]}).json()
        assert "John Smith" in json.dumps(answer)
        fields = {"question": case["input"], "context": "", "reply": case["response"]}
        assert client.post("/playground", data=fields).status_code == 200
        queue = client.post("/v1/queues", json={"name": "week", "run": run.id, "size": 2}).json()["id"]
        note = "it names John Smith, maria.gonzalez@example.com"
        grades = {"accuracy": 1, "completeness": 1, "tone": 4, "actionability": 1, "safety": 0}
        mark = {"kind": "pii_leakage", "start": 0, "end": 5, "reason": note}
        path = f"/v1/queues/{queue}/items/0"
        assert client.put(f"{path}/draft", json={"grades": {}, "note": note}).status_code == 204
        draft = {"body": json.dumps({"grades": {}, "violations": [], "note": note})}
        assert client.post(f"/review/{queue}/1/draft", data=draft).status_code == 204
        body = {"grades": grades, "violations": [mark], "note": note}
        headers = {"Idempotency-Key": "once"}
        assert client.post(f"{path}/reviews", json=body, headers=headers).status_code == 201
        violation = desk.store.replies.at(run.id, 0).result.rubric.violations[0]
        place = {"kind": violation.kind, "start": violation.start, "end": violation.end}
        waived = client.post(f"/v1/runs/{run.id}/results/0/waivers", json={**place, "reason": note})
        assert waived.status_code == 201
        action = {"pattern": "leak", "owner": "prompt", "text": note, "run": run.id}
        assert client.post("/v1/actions", json=action, headers=headers).status_code == 201
    assert leaked(desk.home) == []
    (review,) = desk.store.reviews.of_item(queue, 0)
    assert review.note == "it names [name], [email]"
