"""Figures made wrong: every one that the sources hold, none that they know."""

from scripts.wrong_figures import wrong_figures

from touchstone.core.case import Case

QUESTION = "When is the desk open, and what does the deposit cost?"


def replies(response, context):
    return [wrong.case.response for wrong in wrong_figures(Case(input=QUESTION, response=response, context=[context]))]


def test_each_figure_is_changed_once_into_one_that_no_source_states():
    found = replies("The deposit is £20 and you get it back in 5 days.", "Deposit: £20, returned in 5 days or 6 days.")
    assert found == [
        "The deposit is £21 and you get it back in 5 days.",
        "The deposit is £20 and you get it back in 10 days.",
    ]


def test_a_figure_that_only_looks_different_is_not_wrong():
    assert "The desk closes at 24:00." not in replies(
        "The desk closes at 23:00.", "The desk closes at 23:00, on Fridays at midnight."
    )
    assert "The bus leaves at 0:15." not in replies("The bus leaves at 00:15.", "The bus leaves at 00:15.")


def test_a_figure_that_no_source_holds_is_left_alone():
    assert replies("The deposit is £20.", "The deposit depends on the room.") == []
