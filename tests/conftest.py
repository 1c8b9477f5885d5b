"""How property tests run: the same examples every time, no time limit on any; and which suites are slow or heavy.

`pytest --hypothesis-profile=explore` looks for new examples.
"""

import signal

import pytest
from hypothesis import settings
from tests.snapshots import Snapshots

settings.register_profile("repeatable", deadline=None, derandomize=True, database=None)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile("repeatable")

# What is started in the background ignores Ctrl-C, and so would every program that a test starts and interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# These start servers or worker processes, score whole files over and over, count every step,
# or hash passwords as slowly as they should be: not for the default suite.
SLOW = (
    "tests/service/",
    "tests/app/test_job.py",
    "tests/app/test_job_faults.py",
    "tests/app/test_job_report.py",
    "tests/app/test_users.py",
    "tests/app/test_review.py",
    "tests/cli/test_judge.py",
    "tests/cli/test_panel.py",
    "tests/cli/test_review.py",
    "tests/cli/test_runs.py",
    "tests/clients/llm/test_dialects.py",
    "tests/clients/llm/test_server.py",
    "tests/clients/test_http.py",
    "tests/runs/test_growth.py",
)
HEAVY = (
    "tests/service/pages/test_browser.py",
    "tests/service/pages/test_review_page.py",
    "tests/service/pages/test_size.py",
    "tests/service/pages/test_story.py",
    "tests/service/test_kill.py",
    "tests/service/test_openapi.py",
    "tests/cli/test_job.py",
    "tests/cli/test_serve.py",
    "tests/cli/test_small_model.py",
    "tests/engines/test_cluster.py",
    "tests/engines/test_contract.py",
    "tests/engines/test_crashes.py",
    "tests/examples/test_spark.py",
)


def pytest_addoption(parser):
    parser.addoption("--renew-snapshots", action="store_true", help="rewrite tests/snapshots from what is shown now")


def pytest_collection_modifyitems(items):
    for item in items:
        path = item.path.relative_to(item.config.rootpath).as_posix()
        on_server = "[postgresql" in item.name or "postgresql" in getattr(item, "fixturenames", ())
        if path.startswith(SLOW) or on_server:
            item.add_marker(pytest.mark.slow)
        if path in HEAVY and item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.heavy)


@pytest.fixture(scope="session")
def snapshots(pytestconfig):
    return Snapshots(renews=pytestconfig.getoption("--renew-snapshots"))
