"""The cost of a text grows with its length and no faster, whatever it is made of.

Steps are lines of Touchstone run, which are the same on every machine; time is compared only with itself, where
the work is done inside a pattern and no line is run.
"""

import sys
from pathlib import Path

import pytest
from tests.growth import is_linear

import touchstone
from touchstone.core.case import Case
from touchstone.core.plan import Plan
from touchstone.evidence.check import check
from touchstone.text.reading import forget, read_text
from touchstone.text.reading import read as read_case

TIMES_LONGER = 8
# Eight times the text may take eight times the steps, and a little for what begins where a pattern's reach ends.
MAX_STEPS = 9
HOME = str(Path(touchstone.__file__).parent)

STATEMENTS = "The lamp comes with a charger. It costs $5 a month, within 14 days of 3 March 2025."
UNITS = {
    "digits": "1",
    "parentheses": "(",
    "spaces": " ",
    "dots": ".",
    "half addresses": "a@",
    "addresses": "a@b.co ",
    "chained digits": "1-",
    "chained words": "and ",
    "commas": ",",
    "quotes": "\"'",
    "links": "http://a.b/",
    "links apart": "https://a.com/x ",
    "domains": "a.b.",
    "phone digits": "555-",
    "grouped digits": "1,",
    "spaced digits": "1 ",
    "hard spaces": "1\u00a0",
    "slashes": "1/",
    "line breaks": "\n",
    "indented lines": "\n ",
    "abbreviations": "e.g. ",
    "ellipses": "… ",
    "references": "#a-",
    "number words": "twenty one ",
    "dates": "3 March 2025 ",
    "times": "9am to 5pm ",
    "sums": "$5 ",
    "totals": "total $5, ",
    "shares": "5% of $7 ",
    "tags": "<p>Refund in <b>30&nbsp;days</b></p>",
    "emoji": "😀\u200d",
    "combining marks": "\u0301",
    "one word": "a",
    "prose": "The lamp comes with a charger. ",
    "records": '{"id": "A1", "price": 5, "status": "pending"}, ',
    "open brackets": "[",
    "open records": '{"a":',
    "encoded records": '{\\"a\\": 1} ',
    "rows": "| a | £5 |\n",
    "ruled lines": "|---|---|\n",
    "comma rows": "a,5,6\n",
    "labelled lines": "Key: 5 days\n",
    "pairs": "a=5; ",
    "bullets": "- item: £5\n",
    "headings": "# h\n",
    "states": "It is pending. ",
}


def steps(work):
    """How many lines of Touchstone's own code the work runs."""
    count = 0

    def line(frame, event, argument):
        nonlocal count
        count += 1
        return line

    def call(frame, event, argument):
        return line if frame.f_code.co_filename.startswith(HOME) else None

    forget()
    before = sys.gettrace()
    sys.settrace(call)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def of_length(unit, length):
    return (UNITS[unit] * length)[:length]


def read(unit, length):
    text = of_length(unit, length)
    return lambda: read_text("response", text)


def check_reply(unit, length):
    case = Case(input="What is in the box?", response=of_length(unit, length), context=[STATEMENTS])
    return lambda: check(read_case(case), plan=Plan())


def check_context(unit, length):
    case = Case(input="What is in the box?", response=STATEMENTS, context=[of_length(unit, length)])
    return lambda: check(read_case(case), plan=Plan())


@pytest.mark.parametrize("unit", UNITS)
def test_reading_takes_steps_in_proportion_to_the_text(unit):
    few, many = steps(read(unit, 240)), steps(read(unit, 240 * TIMES_LONGER))
    assert many <= MAX_STEPS * few


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
def test_reading_takes_time_in_proportion_to_the_text(unit):
    def work(length):
        forget()
        read(unit, length)()

    assert is_linear(work, small=2_000, large=2_000 * TIMES_LONGER)


@pytest.mark.slow
@pytest.mark.parametrize("work", [check_reply, check_context])
@pytest.mark.parametrize("unit", UNITS)
def test_checking_takes_steps_in_proportion_to_the_text(work, unit):
    work(unit, 9)()  # the parser and the word lists are loaded once
    few, many = steps(work(unit, 500)), steps(work(unit, 500 * TIMES_LONGER))
    assert many <= MAX_STEPS * few
