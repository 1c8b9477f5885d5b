"""Small runs, people and tokens for the services under test."""

from touchstone.app.config import Settings
from touchstone.app.score import score_case
from touchstone.app.users import add_token, hash_password
from touchstone.core.codec import case_from_dict
from touchstone.rubric.card import write_rubric
from touchstone.runs.record import record
from touchstone.runs.run import Receipt, Run
from touchstone.store.results import Scored
from touchstone.store.users import User

PASSWORD = "a few words in a row"
MADE = "2026-03-02T09:00:00.000+00:00"
GOOD = "You have 14 days after delivery to return your headphones. To start, go to My Orders > Return an item."
BAD = "You have 30 days to return your headphones."
SETTINGS = Settings()


def row(n, *, is_good=True):
    """A case whose reply is right, or one with a wrong number."""
    return {
        "id": f"c-{n}",
        "input": "How long do I have to return my headphones?",
        "response": GOOD if is_good else BAD,
        "context": ["You have 14 days after delivery to return headphones. Start under My Orders > Return an item."],
        "category": "returns" if n % 2 else "delivery",
    }


def add_run(store, id, *, rows, kind="goldset", started=MADE):
    """A finished run over the cases, scored for real."""
    rubric = SETTINGS.rubric
    fields = dict.fromkeys(("data", "plan", "policy", "code", "parser"), "x")
    receipt = Receipt(
        goldset="test", rubric=rubric.name, rubric_version=rubric.version, rubric_hash="h", judge="offline", **fields
    )
    store.create_run(Run(id=id, started=started, receipt=receipt, kind=kind), rubric=write_rubric(rubric))
    scored = []
    for position, each in enumerate(rows):
        case = case_from_dict(each)
        result = score_case(case, line=position + 1, settings=SETTINGS)
        scored.append(Scored(position=position, case=case, record=record(case, result), result=result))
    store.replies.add(id, scored)
    return store.finish_run(id, finished=started, seconds=1.0)


def add_user(store, name, role, *, has_password=True):
    """Somebody with a role; their token."""
    store.users.add(User(name=name, role=role, made=MADE), password_hash=_HASH if has_password else None)
    return add_token(store, name, label="test", by="test")


# Once: it is slow on purpose.
_HASH = hash_password(PASSWORD, name="")
