"""Users, their tokens, and what is kept of their passwords."""

from datetime import datetime, timedelta

import pytest

from touchstone.app import users
from touchstone.app.users import LEAST_LENGTH, MOST_LENGTH, hash_password, verify_password
from touchstone.core.errors import ConfigError
from touchstone.store.runs import open_store

PASSWORD = "a few words in a row"


def test_a_password_is_kept_as_argon2id_and_known_again():
    kept = hash_password(PASSWORD, name="lea")
    assert kept.startswith("$argon2id$")
    assert PASSWORD not in kept
    assert verify_password(kept, PASSWORD)
    assert not verify_password(kept, PASSWORD + "s")


@pytest.mark.parametrize("kept", [None, "", "nonsense", "$argon2id$v=19$m=1,t=1,p=1$c2FsdHNhbHQ$aGFzaA"])
def test_without_a_password_that_is_kept_nobody_is_let_in(kept):
    assert not verify_password(kept, kept or "")
    assert not verify_password(kept, PASSWORD)


@pytest.mark.parametrize("length", [0, LEAST_LENGTH - 1, MOST_LENGTH + 1])
def test_a_password_of_another_length_is_refused(length):
    with pytest.raises(ConfigError, match="allowed are"):
        hash_password("abcdefghij" * (length // 10) + "k" * (length % 10), name="lea")


WEAK = {
    "aaaaaaaaaa": "1 different characters, at least 5",
    "AaAaAaAaAa": "1 different characters",
    "abababababab": "2 different characters",
    "1234567890": "tried first",
    "Password2024!": "tried first",
    "P@ssw0rd123": "tried first",
    "qwertyuiop": "tried first",
    "touchstone": "tried first",
    "margarethe1": "the user's name, at least 6 other characters",
    "Margarethe-2024": "the user's name",
    "margarethemargarethe": "the user's name",
}


@pytest.mark.parametrize(("password", "said"), WEAK.items())
def test_a_password_that_is_soon_guessed_is_refused_and_told_what_is_wanted(password, said):
    with pytest.raises(ConfigError, match=f"{said}.*: take a few words in a row") as refused:
        hash_password(password, name="margarethe")
    assert password not in str(refused.value)


@pytest.mark.parametrize("password", ["pleasant mornings", "passwords are hard", "welcome to the jungle", "x7#kQ9!mPz"])
def test_a_password_with_some_variety_is_taken(password):
    assert verify_password(hash_password(password, name="lea"), password)


def test_the_stand_in_for_a_missing_password_lets_nobody_in(monkeypatch):
    monkeypatch.setattr(users, "_nobody", lambda: hash_password(PASSWORD, name="lea"))
    assert not verify_password(None, PASSWORD)
    assert not verify_password("", PASSWORD)


def test_a_token_ends_after_a_year_and_what_is_done_to_users_is_noted(tmp_path):
    with open_store(str(tmp_path / "touchstone.db")) as store:
        users.add_user(store, "lea ", role="lead", password=PASSWORD, by="ada")
        users.add_token(store, "lea", label="ci", by="ada")
        (token,) = store.tokens.list("lea")
        assert datetime.fromisoformat(token.expires) - datetime.fromisoformat(token.made) >= timedelta(days=365)
        users.revoke_token(store, token.id, by="lea")
        noted = [(entry.who, entry.act, entry.subject) for entry in reversed(store.audit.page())]
    assert noted == [
        ("ada", "user added as lead", "lea"),
        ("ada", f"token {token.id} added", "lea"),
        ("lea", "token revoked", token.id),
    ]
