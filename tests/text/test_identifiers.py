"""An order number, code, version or numbered name is no quantity; the figure beside it may still be one."""

import pytest
from tests.tables import over

from touchstone.text.reading import read_text

IDENTIFIERS = [
    "order #48213",
    "order 48213",
    "order number 7730015",
    "Order no. 12345",
    "Your reference is TR-88213.",
    "ticket INC-20391",
    "tracking code JD014600006281230645",
    "booking 7Q4K2L",
    "version 2.4.1",
    "Android 14 and iPhone 15",
    "the Galaxy S24",
    "error 401",
    "Go to step 6.",
    "Terminal 5, gate 22",
    "a 401(k) plan",
    "Account: 48213",
    "PIN 0042",
    "trace 72ba19c38518da1fc894fc638a2802f7",
    "USB 3.0",
    "1. Open the app\n2. Log out",
    "1) Open the app\n2) Log out",
    "Step 3 asks for a code",
]


@over("raw", IDENTIFIERS)
def test_an_identifier_is_no_value(raw):
    assert read_text("response", raw).values == ()


BESIDE = [
    ("Order #48213 costs $20", ["$20"]),
    ("Your order 48213 of 3 March", ["3 March"]),
    ("order 12 chairs", ["12 chairs"]),
    ("Age for the account: 18", ["18"]),
    ("1. Pay $5 today", ["$5"]),
    ("It takes 48 hours with TR-88213", ["48 hours"]),
    ("USD20", ["USD20"]),
    ("25MB", ["25MB"]),
    ("a 48-hour wait", ["48-hour"]),
    ("In May 2025", ["May 2025"]),
    ("On Monday 5 people came", ["Monday", "5 people"]),
]


@pytest.mark.parametrize(("raw", "values"), BESIDE)
def test_a_value_beside_an_identifier_is_found(raw, values):
    assert [raw[v.start : v.end] for v in read_text("response", raw).values] == values
