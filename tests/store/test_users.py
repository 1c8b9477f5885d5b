"""People, tokens, sessions, logins, the audit log and writes sent twice, on each database."""

import pytest

from touchstone.core.errors import ReviewError
from touchstone.review.weekly import Action
from touchstone.store.marks import RubricVersion
from touchstone.store.users import ApiToken, AuditEntry, KeptAnswer, Session, User

NOW = "2026-01-05T10:00:00+00:00"
LATER = "2026-01-05T11:00:00+00:00"
ANN = User(name="ann", role="reviewer", made=NOW)


def session(user="ann", expires=LATER):
    return Session(user=user, csrf="c", made=NOW, expires=expires)


def test_a_person_has_a_role_and_the_hash_of_a_password(store):
    store.users.add(ANN, password_hash="h1")
    store.users.set_role("ann", "lead")
    store.users.set_password("ann", "h2")
    assert store.users.list() == (User(name="ann", role="lead", made=NOW),)
    assert store.users.password_hash("ann") == "h2"
    assert store.users.get("ben") is None
    assert store.users.password_hash("ben") is None


REFUSED = [
    (lambda users: users.add(ANN), "conflict", "user 'ann' already"),
    (lambda users: users.add(User(name="ben", role="boss", made=NOW)), "invalid", "allowed are viewer, reviewer, lead"),
    (lambda users: users.add(User(name=" ", role="lead", made=NOW)), "invalid", "1 to 100 printable"),
    (lambda users: users.add(User(name="a\x1b[2J", role="lead", made=NOW)), "invalid", "printable"),
    (lambda users: users.set_role("ann", "king"), "invalid", "role 'king' is not known"),
    (lambda users: users.set_role("ben", "lead"), "unknown", "no user 'ben'"),
]


@pytest.mark.parametrize(("act", "kind", "message"), REFUSED)
def test_what_cannot_be_done_to_people_is_refused(store, act, kind, message):
    store.users.add(ANN)
    with pytest.raises(ReviewError, match=message) as refused:
        act(store.users)
    assert refused.value.kind == kind


@pytest.mark.parametrize("act", [lambda u: u.disable("ann"), lambda u: u.set_password("ann", "h2")])
def test_a_new_password_or_a_lockout_ends_open_logins(store, act):
    store.users.add(ANN)
    store.sessions.add("s1", session())
    act(store.users)
    assert store.sessions.get("s1") is None


def test_a_disabled_person_can_be_let_in_again(store):
    store.users.add(ANN)
    store.users.disable("ann")
    assert store.users.get("ann").disabled
    store.users.enable("ann")
    assert store.users.get("ann") == ANN


def test_sessions_end_by_logout_by_person_and_by_time(store):
    for name in ("ann", "ben"):
        store.users.add(User(name=name, role="viewer", made=NOW))
    for hash, user, expires in (("s1", "ann", LATER), ("s2", "ann", LATER), ("s3", "ben", NOW), ("s4", "ben", LATER)):
        store.sessions.add(hash, session(user, expires))
    assert store.sessions.get("s1") == session()
    store.sessions.touch("s4", expires="2027")
    store.sessions.end("s1")
    assert [store.sessions.get(hash) is None for hash in ("s1", "s2")] == [True, False]
    store.users.disable("ann")
    store.sessions.expire(LATER)
    assert [store.sessions.get(hash) is None for hash in ("s2", "s3", "s4")] == [True, True, False]


def test_a_token_is_found_by_its_hash_and_stays_known_when_it_is_revoked(store):
    store.users.add(ANN)
    token = ApiToken(id="t1", user="ann", label="ci", made=NOW, expires=LATER)
    store.tokens.add(token, hash="h")
    assert store.tokens.by_hash("h") == token
    assert store.tokens.by_hash("x") is None
    store.tokens.revoke("t1", at=NOW)
    store.tokens.revoke("t1", at=LATER)
    assert store.tokens.by_hash("h").revoked == NOW
    assert [each.id for each in store.tokens.list("ann")] == ["t1"]
    with pytest.raises(ReviewError, match="no token 't9'"):
        store.tokens.revoke("t9", at=NOW)
    with pytest.raises(ReviewError, match="no user 'ben'"):
        store.tokens.add(ApiToken(id="t2", user="ben", label="", made=NOW), hash="h2")


def test_failed_logins_are_counted_by_person_and_by_address_and_forgiven(store):
    for name, address, ok in (("ann", "1", False), ("ann", "2", False), ("ben", "1", False), ("ann", "1", True)):
        store.logins.note(name, address=address, at=NOW, ok=ok)
    counts = [
        store.logins.failures(since=NOW),
        store.logins.failures(since=NOW, name="ann"),
        store.logins.failures(since=NOW, address="1"),
        store.logins.failures(since=LATER),
    ]
    assert counts == [3, 2, 2, 0]
    store.logins.forgive("ann", address="1")
    assert [store.logins.failures(since=NOW, name=name) for name in ("ann", "ben")] == [1, 1]


def test_successes_are_remembered_by_person_and_address_for_longer_than_failures(store):
    for name, address, ok in (("ann", "1", True), ("ann", "2", False)):
        store.logins.note(name, address=address, at=NOW, ok=ok)
    store.logins.expire(LATER, successes=NOW)
    assert store.logins.failures(since=NOW) == 0
    known = [("ann", "1", NOW), ("ann", "2", NOW), ("ben", "1", NOW), ("ann", "1", LATER)]
    assert [store.logins.has_succeeded(name, address=address, since=since) for name, address, since in known] == [
        *(True, False, False, False)
    ]
    store.logins.expire(LATER, successes=LATER)
    assert not store.logins.has_succeeded("ann", address="1", since=NOW)


def test_the_audit_log_is_read_backwards_a_page_at_a_time(store):
    for at in range(5):
        store.audit.note(AuditEntry(at=NOW, who="ann" if at % 2 else "ben", act="review", subject=f"q1/{at}"))
    first = store.audit.page(limit=2)
    assert [entry.subject for entry in first] == ["q1/4", "q1/3"]
    assert [entry.subject for entry in store.audit.page(before=first[-1].number)] == ["q1/2", "q1/1", "q1/0"]
    assert [entry.subject for entry in store.audit.page(who="ann")] == ["q1/3", "q1/1"]


def test_a_write_sent_twice_is_done_once(store):
    def claim(who="ann", request_hash="h"):
        return store.idempotency.claim("k", who=who, route="POST /x", request_hash=request_hash, at=NOW)

    assert claim() is None
    assert claim() == KeptAnswer("h", None, None)
    assert not claim().done
    assert claim(who="ben") is None, "keys of different people do not meet"
    store.idempotency.finish("k", who="ann", route="POST /x", status=201, body="{}")
    assert claim(request_hash="other") == KeptAnswer("h", 201, "{}")
    store.idempotency.abandon("k", who="ann", route="POST /x")
    assert claim() is None
    store.idempotency.expire(LATER)
    assert claim() is None


def action(revision=1, **values):
    given = {"pattern": "off topic", "owner": "prompt", "text": "sharpen the prompt", "state": "open", "run": "r1"}
    return Action(id="a1", revision=revision, by="lea", made=NOW, **{**given, **values})


def test_an_action_is_revised_and_its_revisions_stay(store):
    store.actions.keep(action())
    store.actions.keep(action(2, state="done"))
    assert store.actions.get("a1") == action(2, state="done")
    assert store.actions.revisions("a1") == (action(), action(2, state="done"))
    assert store.actions.list(state="open") == ()
    assert store.actions.list(state="done", pattern="off topic") == (action(2, state="done"),)


@pytest.mark.parametrize("revision", [1, 3])
def test_an_action_that_somebody_changed_meanwhile_is_not_overwritten(store, revision):
    store.actions.keep(action())
    with pytest.raises(ReviewError, match="changed meanwhile") as refused:
        store.actions.keep(action(revision, text="something else"))
    assert refused.value.kind == "conflict"


def test_an_action_says_what_and_about_which_pattern(store):
    for wrong in (action(text=" "), action(pattern=""), action(state="maybe")):
        with pytest.raises(ReviewError):
            store.actions.keep(wrong)
    with pytest.raises(ReviewError, match="no action 'a1'"):
        store.actions.get("a1")


def test_versions_of_a_rubric_are_kept_once(store):
    first = RubricVersion(hash="h1", name="supportai", version="1.0", made=NOW, by="", text="a")
    second = RubricVersion(hash="h2", name="supportai", version="1.1", made=LATER, by="lea", text="b")
    assert [store.rubrics.keep(each) for each in (first, second, first)] == [True, True, False]
    assert store.rubrics.list() == (second, first)
    assert store.rubrics.get("h1") == first
    with pytest.raises(ReviewError, match="no rubric version 'h9'"):
        store.rubrics.get("h9")
