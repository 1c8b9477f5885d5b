"""Pages in a real browser, over a service with logins and a production run in its store."""

import json
import shutil
from contextlib import contextmanager
from importlib import resources

import pytest
from tests.service.conftest import running
from tests.store.conftest import place, postgresql, postgresql_template, sqlite_template  # noqa: F401 - fixtures

from touchstone.app.config import Settings
from touchstone.app.evaluation import evaluate_goldset
from touchstone.app.replies import Assignment
from touchstone.app.users import hash_password
from touchstone.store.runs import open_store
from touchstone.store.users import User

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
PASSWORD = "a few words in a row"
PEOPLE = {"lena": "lead", "ann": "reviewer", "ben": "reviewer", "vera": "viewer"}
FIELDS = ("id", "input", "response", "context", "category", "confidence")
HOSTILE = {
    "id": "<script>alert('id')</script>",
    "input": "<img src=x onerror=alert('q')> \u202eolleh\u202c =1+1",
    "response": "=1+1 <script>alert('r')</script></textarea>\u202e{{7*7}} It takes\x07 30 days.\x1b[31m Bye \U0001f600",
    "context": ["It takes 14 days <b onclick=alert('c')>bold</b>."],
    "category": "\"><script>alert('k')</script>",
}


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="NOT TESTED: playwright is not installed")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("NOT TESTED: there is no `chromium` on the PATH")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture(scope="session")
def production(tmp_path_factory):
    """A file of forty production replies, one of them hostile, without anybody's labels."""
    text = resources.files("touchstone").joinpath("data/goldsets/support.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()[:39]]
    kept = [{name: row[name] for name in FIELDS if name in row} for row in rows]
    file = tmp_path_factory.mktemp("production") / "week-46.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in [*kept, HOSTILE]), encoding="utf-8")
    return file


def add_people(store):
    hashed = hash_password(PASSWORD, name="")
    for name, role in PEOPLE.items():
        store.users.add(User(name=name, role=role, made="2025-01-01T00:00:00.000+00:00"), password_hash=hashed)


def score_production(store, file, directory, *, version="4.1"):
    """The file as a production run."""
    return evaluate_goldset(
        Assignment(goldset=str(file), name="week 46", labels={"version": version}, kind="production"),
        settings=Settings(runs=str(directory)),
        store=store,
        on_start=lambda run, done: None,
        on_step=lambda step: None,
    )


@pytest.fixture(scope="module")
def desk(tmp_path_factory, production):
    """A service on loopback without logins, with a production run and a gold-set run."""
    home = tmp_path_factory.mktemp("desk")
    with open_store(str(home / "touchstone.db")) as store:
        run = score_production(store, production, home / "runs")
        evaluate_goldset(
            Assignment(goldset=str(production), name="gold", labels={"bot": "v1"}),
            settings=Settings(runs=str(home / "runs")),
            store=store,
            on_start=lambda run, done: None,
            on_step=lambda step: None,
        )
    with running(home / "touchstone.db", workers=1) as started:
        started.run = run
        yield started


@pytest.fixture
def watched(browser):
    """Opens pages in which nothing goes wrong unseen: no console message, error, dialog or request elsewhere."""
    opened = []

    @contextmanager
    def open_page(address, **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        page, trouble = context.new_page(), []
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: (trouble.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: None if request.url.startswith(address) else trouble.append(request.url))
        page.set_default_timeout(20_000)
        opened.append(context)
        yield page
        assert trouble == []

    yield open_page
    for context in opened:
        context.close()
