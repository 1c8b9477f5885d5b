"""Links, e-mail addresses and phone numbers are contacts, and their figures are no values."""

import pytest
from tests.tables import over

from touchstone.text.reading import read_text

CONTACTS = [
    ("Write to help@acme.com.", [("email", "help@acme.com", "help@acme.com")]),
    ("Mail First.Last+x@acme.co.uk, please", [("email", "First.Last+x@acme.co.uk", "first.last+x@acme.co.uk")]),
    ("See https://acme.com/help?id=5.", [("link", "https://acme.com/help?id=5", "acme.com/help?id=5")]),
    ("(www.acme.com/returns/)", [("link", "www.acme.com/returns/", "acme.com/returns")]),
    ('<a href="https://a.com/x">here</a>', [("link", "https://a.com/x", "a.com/x")]),
    ("On acme.com/faq or at a.io", [("link", "acme.com/faq", "acme.com/faq"), ("link", "a.io", "a.io")]),
    ("Call +44 20 7946 0958.", [("phone", "+44 20 7946 0958", "442079460958")]),
    ("Call (555) 123-4567 now", [("phone", "(555) 123-4567", "5551234567")]),
    ("Ring 0800 123 4567", [("phone", "0800 123 4567", "08001234567")]),
    ("Our line is 1-800-555-0199.", [("phone", "1-800-555-0199", "18005550199")]),
    ("Reach us under 02079460958", [("phone", "02079460958", "02079460958")]),
    ("Dial 112", [("phone", "112", "112")]),
    ("Text 62211 to stop", [("phone", "62211", "62211")]),
    ("forward it to 7726", [("phone", "7726", "7726")]),
]  # fmt: skip


@over(("raw", "contacts"), CONTACTS)
def test_a_contact_is_found_and_holds_no_value(raw, contacts):
    text = read_text("response", raw)
    assert [(c.kind, raw[c.start : c.end], c.canonical) for c in text.contacts] == contacts
    assert text.values == ()


OTHERS = [
    "on 2025-03-03",
    "in 2019-2024",
    "from 3.5 to 4.5",
    "an @handle",
    "see file.txt, e.g. that one",
    "nothing.comes here",
    "192.168.0.1",
    "$1234567",
    "12345678 steps",
    "between 2000-2500 steps",
    "",
]


@pytest.mark.parametrize("raw", OTHERS)
def test_other_figures_and_dots_are_no_contact(raw):
    assert read_text("response", raw).contacts == ()
