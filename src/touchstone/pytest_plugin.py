"""pytest plugin: `touchstone_case` gives a test every case of a gold set, one at a time.

    @pytest.mark.goldset("gold.jsonl")
    def test_the_bot_answers_well_enough(touchstone_case):
        drafted = replace(touchstone_case, response=my_bot(touchstone_case.question))
        touchstone.assert_passes(drafted)
"""

from pathlib import Path

import pytest

FIXTURE = "touchstone_case"
MARKER = "goldset"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{MARKER}(path): the gold set whose cases `{FIXTURE}` gives, one at a time")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("touchstone")
    group.addoption("--goldset", metavar="FILE", help=f"The gold set of `{FIXTURE}` where no marker names one.")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if FIXTURE not in metafunc.fixturenames:
        return
    from touchstone.app.goldset import read_goldset
    from touchstone.core.case import Case
    from touchstone.core.errors import TouchstoneError

    try:
        entries = read_goldset(_goldset(metafunc))
    except TouchstoneError as error:
        raise pytest.UsageError(str(error)) from None
    for entry in entries:
        if not isinstance(entry.case, Case):
            raise pytest.UsageError(f"{entry.file}:{entry.line}: {entry.case.message}")
    cases = [entry.case for entry in entries]
    metafunc.parametrize(FIXTURE, cases, ids=[str(case.id) for case in cases if isinstance(case, Case)])


def _goldset(metafunc: pytest.Metafunc) -> str:
    """The marker's path, from the directory of the test's file; or the option's, from where pytest was started."""
    marker = metafunc.definition.get_closest_marker(MARKER)
    if marker is None:
        if found := metafunc.config.getoption("--goldset"):
            return str(found)
        raise pytest.UsageError(f"{FIXTURE} needs a gold set: mark the test with @pytest.mark.{MARKER}('FILE')")
    (path,) = marker.args
    beside = Path(metafunc.definition.path).parent / path
    return str(beside if beside.exists() else path)
