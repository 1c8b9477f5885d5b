"""touchstone.yaml and flags become settings; what cannot be used is named with its place and remedy."""

from dataclasses import asdict

import pytest
import yaml

from touchstone.app.config import Settings, load_settings
from touchstone.core.errors import ConfigError, RubricError
from touchstone.core.plan import Plan
from touchstone.core.policy import Allowance, Policy
from touchstone.rubric.parse import packaged


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def write(here):
    """Writes a configuration and gives its path."""

    def written(text):
        (here / "mine.yaml").write_text(text, encoding="utf-8")
        return "mine.yaml"

    return written


def test_without_a_file_the_defaults_hold():
    settings = load_settings()
    assert settings.plan == Plan()
    assert settings.columns == {}
    assert settings.rubric == packaged("supportai")
    assert settings.policy == Policy()


def test_a_file_in_the_working_directory_is_taken(here):
    (here / "touchstone.yaml").write_text("thresholds:\n  relevance_fail: 0.05\ncolumns:\n  reply: response\n")
    settings = load_settings()
    assert settings.plan == Plan(relevance_fail=0.05)
    assert settings.columns == {"reply": "response"}


def test_a_file_that_is_named_is_taken_instead(here):
    (here / "touchstone.yaml").write_text("thresholds: {relevance_fail: 0.05}")
    (here / "strict.yaml").write_text("thresholds: {relevance_fail: 1}")
    assert load_settings("strict.yaml").plan == Plan(relevance_fail=1)


@pytest.mark.parametrize("text", ["", "# nothing\n", "thresholds:\ncolumns:\nrubric:\npolicy:\n", "{}", "policy: {}"])
def test_a_file_that_sets_nothing_changes_nothing(here, text):
    (here / "touchstone.yaml").write_text(text)
    assert load_settings() == Settings()


def test_every_field_of_the_plan_is_a_threshold_of_its_type(here):
    (here / "touchstone.yaml").write_text(yaml.safe_dump({"thresholds": asdict(Plan())}))
    plan = load_settings().plan
    assert plan == Plan()
    assert [type(value) for value in asdict(plan).values()] == [type(value) for value in asdict(Plan()).values()]


def test_flags_override_the_file(here):
    (here / "touchstone.yaml").write_text(
        "thresholds: {relevance_fail: 0.05, proximity: 9}\ncolumns: {a: input, b: response}"
    )
    settings = load_settings(thresholds={"relevance_fail": "0.2"}, columns={"b": "context"})
    assert settings.plan == Plan(relevance_fail=0.2, proximity=9)
    assert settings.columns == {"a": "input", "b": "context"}


POLICY = """
policy:
  company: Acme
  domains: [acme.example]
  contacts: ["+44 20 7946 0018", help@acme.example]
  competitors: [Globex, Initech]
  promises:
    - what: goodwill credit
      up_to: 20 GBP
    - what: free return shipping
"""


def test_the_policy_is_taken_from_the_file(here):
    (here / "touchstone.yaml").write_text(POLICY)
    assert load_settings().policy == Policy(
        company="Acme",
        domains=("acme.example",),
        contacts=("+44 20 7946 0018", "help@acme.example"),
        competitors=("Globex", "Initech"),
        promises=(Allowance("goodwill credit", "20 GBP"), Allowance("free return shipping")),
    )


OWN = """
name: own
version: 7
reviewed: 2025-06-01
pass_mark: 60
criteria:
  - {name: warmth, weight: 100, levels: {0: cold, 4: warm}}
"""


def test_a_rubric_is_named_by_the_file_and_stands_beside_it(here):
    (here / "team").mkdir()
    (here / "team" / "own.yaml").write_text(OWN)
    (here / "team" / "touchstone.yaml").write_text("rubric: own.yaml")
    assert load_settings("team/touchstone.yaml").rubric.name == "own"
    (here / "touchstone.yaml").write_text("rubric: supportai")
    assert load_settings().rubric == packaged("supportai")


def test_a_rubric_named_by_a_flag_is_taken_instead(here):
    (here / "own.yaml").write_text(OWN)
    (here / "touchstone.yaml").write_text("rubric: nowhere.yaml")
    assert load_settings(rubric="own.yaml").rubric.version == "7"
    with pytest.raises(ConfigError, match=r"touchstone\.yaml:1: rubric nowhere\.yaml does not exist: give a YAML file"):
        load_settings()


def test_a_rubric_that_cannot_be_used_is_named_with_both_places(here):
    (here / "own.yaml").write_text(OWN.replace("weight: 100", "weight: 90"))
    (here / "touchstone.yaml").write_text("columns: {}\nrubric: own.yaml")
    with pytest.raises(ConfigError, match=r"touchstone\.yaml:2: own\.yaml:7: the weights sum to 90"):
        load_settings()
    with pytest.raises(RubricError, match=r"^own\.yaml:7: the weights sum to 90"):
        load_settings(rubric="own.yaml")


BAD_FILES = {
    "a rubric that is a number": (
        "rubric: 1",
        ":1: 'rubric' is 1, allowed is the name of a packaged rubric or the path",
    ),
    "a rubric that nobody knows": (
        "rubric: suportai",
        ":1: rubric 'suportai' is neither a file nor a packaged name; nea",
    ),
    "an unknown key of the policy": (
        "policy:\n  company: Acme\n  competitor: [Globex]",
        ":3: unknown key 'policy.competitor'; nearest is 'competitors'",
    ),
    "an unknown key of a promise": (
        "policy:\n  promises:\n    - what: credit\n      upto: 20 GBP",
        ":4: unknown key 'policy.promises[0].upto'; nearest is 'up_to'",
    ),
    "a promise of nothing": (
        "policy:\n  promises:\n    - what: credit\n    - up_to: 20 GBP",
        ":4: 'policy.promises[1]' has no 'what': say what agents may promise",
    ),
    "an amount without a unit": (
        "policy:\n  promises:\n    - what: credit\n      up_to: 20",
        ":4: 'policy.promises[0].up_to' is 20, allowed is an amount with its unit, such as '20 GBP'",
    ),
    "a promise that is text": (
        "policy:\n  promises: [credit]",
        ":2: 'policy.promises[0]' is 'credit', allowed is a list",
    ),
    "a company that is a list": ("policy:\n  company: [Acme]", ":2: 'policy.company' is ['Acme'], allowed is text"),
    "an empty company": ("policy:\n  company: ' '", ":2: 'policy.company' is ' ', allowed is text"),
    "competitors that are text": (
        "policy:\n  competitors: Globex",
        ":2: 'policy.competitors' is 'Globex', allowed is a",
    ),
    "a contact that is a number": (
        "policy:\n  contacts:\n    - help@acme.example\n    - 2079460018",
        ":4: 'policy.contacts[1]' is 2079460018, allowed is a list of texts, each in quotes where it is a number",
    ),
    "a promise with a repeated key": (
        "policy:\n  promises:\n    - what: a\n      what: b",
        ":4: key 'what' repeats line 3",
    ),
    "a proxy that is a name": (
        "trusted_proxies:\n  - 10.0.0.7\n  - proxy.acme.example",
        ":3: 'trusted_proxies' has 'proxy.acme.example', which is not an address or network such as 10.0.0.7",
    ),
    "proxies that are no list": (
        "trusted_proxies: 10.0.0.7",
        ":1: 'trusted_proxies' is '10.0.0.7', allowed is a list of addresses and networks",
    ),
    "a policy that is text": ("policy: none", ":1: 'policy' is 'none', allowed is a mapping"),
    "an unknown section": ("\ntresholds: {}", ":2: unknown key 'tresholds'; nearest is 'thresholds'"),
    "an unknown threshold": (
        "thresholds:\n  drift_ngram: 2\n  relevence_fail: 0.1",
        ":3: unknown key 'thresholds.relevence_fail'; nearest is 'relevance_fail'",
    ),
    "a key like no other": ("thresholds:\n  xyz: 1", ":2: unknown key 'thresholds.xyz'; known are relevance_fail, "),
    "a number as key": ("thresholds:\n  1: 2", ":2: unknown key 'thresholds.1'; known are"),
    "a number out of range": (
        "thresholds:\n  relevance_fail: 2",
        ":2: 'thresholds.relevance_fail' is 2, allowed is a number from 0 to 1",
    ),
    "text for a number": ("thresholds:\n  relevance_fail: '0.1'", ":2: 'thresholds.relevance_fail' is '0.1', allowed"),
    "not a number": ("thresholds:\n  relevance_fail: .nan", ":2: 'thresholds.relevance_fail' is nan"),
    "a fraction for a count": ("thresholds:\n  proximity: 1.5", "is 1.5, allowed is a whole number of at least 1"),
    "a boolean for a count": ("thresholds:\n  proximity: true", "is True, allowed is a whole number of at least 1"),
    "no value": ("thresholds:\n  relevance_fail:", ":2: 'thresholds.relevance_fail' is None"),
    "a section that is a list": ("columns: [a]", ":1: 'columns' is ['a'], allowed is a mapping"),
    "a column for an unknown field": (
        "columns:\n  reply: respons",
        ":2: 'columns.reply' is 'respons', which is not a field of a case; nearest is 'response'",
    ),
    "a column name that is no text": ("columns:\n  2024: response", ":2: 'columns.2024' is not text: put it in quotes"),
    "a repeated key": ("thresholds:\n  proximity: 1\n  proximity: 2", ":3: key 'proximity' repeats line 2"),
    "a repeated section": ("columns: {}\ncolumns: {}", ":2: key 'columns' repeats line 1"),
    "broken YAML": ("thresholds: [", ":1: not valid YAML"),
    "a tab": ("thresholds:\n\tproximity: 1", ":2: not valid YAML"),
    "a Python object": ("!!python/object/apply:os.getcwd []", ":1: not valid YAML: could not determine a constructor"),
    "a date that is none": ("columns: 2020-13-45", "not valid YAML"),
    "a NUL": ("a\x00b", "not valid YAML"),
    "a list": (
        "- thresholds",
        ":1: the file is not a mapping, allowed are the keys thresholds, columns, rubric, policy",
    ),
}


@pytest.mark.parametrize(("text", "message"), BAD_FILES.values(), ids=BAD_FILES.keys())
def test_what_cannot_be_used_is_named_with_file_line_and_remedy(here, text, message):
    (here / "touchstone.yaml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_settings()
    assert str(caught.value).startswith("touchstone.yaml")
    assert message in str(caught.value)


BAD_FLAGS = [
    ({"thresholds": {"relevence_fail": "1"}}, "--set: unknown key 'relevence_fail'; nearest is"),
    ({"thresholds": {"relevance_fail": "low"}}, "--set: 'relevance_fail' is 'low', allowed is a number"),
    ({"columns": {"reply": "respons"}}, "--map: 'reply' is 'respons', which is not a field"),
    (
        {"trusted_proxies": ["10.0.0.7", "10.0.0.0/40"]},
        "--trusted-proxy: 'trusted_proxies' has '10.0.0.0/40', which is not an address or network such as",
    ),
]


@pytest.mark.parametrize(("flags", "message"), BAD_FLAGS)
def test_a_flag_that_cannot_be_used_is_named(flags, message):
    with pytest.raises(ConfigError, match=message):
        load_settings(**flags)


def test_a_named_file_that_is_missing_or_no_text_is_an_error(here):
    with pytest.raises(ConfigError, match=r"nowhere\.yaml cannot be read \(No such file or directory\)"):
        load_settings("nowhere.yaml")
    (here / "latin.yaml").write_bytes(b"# caf\xe9")
    with pytest.raises(ConfigError, match=r"latin\.yaml cannot be read \(is not UTF-8\)"):
        load_settings("latin.yaml")


def test_targets_in_the_file_take_the_place_of_the_rubric_s(write):
    settings = load_settings(write("targets:\n  pass_rate: 85\n  average: {tone: 3}\n"))
    targets = settings.rubric.targets
    assert targets.pass_rate == (85, 100)
    assert targets.average == {"accuracy": 3.2, "tone": 3}
    assert targets.safety_failures == 0


def test_targets_by_flag_win_over_the_file(write):
    config = write("targets:\n  pass_rate: 85\n")
    targets = load_settings(config, targets={"pass_rate": "90", "average.accuracy": "3.5"}).rubric.targets
    assert targets.pass_rate == (90, 100)
    assert targets.average == {"accuracy": 3.5}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"pass_rat": "70"}, "--target: target 'pass_rat' is unknown; nearest is 'pass_rate'"),
        ({"average.tonne": "3"}, "--target: 'tonne' is no criterion of this rubric; nearest is 'tone'"),
        ({"pass_rate": "high"}, "--target: 'high' is not a number from 0 to 100"),
    ],
)
def test_a_wrong_target_is_named_with_its_flag(given, message):
    with pytest.raises(ConfigError) as caught:
        load_settings(targets=given)
    assert str(caught.value).startswith(message)


def test_a_wrong_target_in_the_file_is_named_with_its_line(write):
    with pytest.raises(RubricError, match=r":2: target 'pas_rate' is unknown; nearest is 'pass_rate'"):
        load_settings(write("targets:\n  pas_rate: 85\n"))


def test_where_runs_are_kept_and_what_the_gate_needs_can_be_set(write):
    config = write("store: mine.db\nruns: out\ngate:\n  least_scored: 0.5\n")
    settings = load_settings(config)
    assert (settings.store, settings.runs, settings.least_scored) == ("mine.db", "out", 0.5)
    by_flag = load_settings(config, store="other.db", runs="there", least_scored="1")
    assert (by_flag.store, by_flag.runs, by_flag.least_scored) == ("other.db", "there", 1)


def test_trusted_proxies_are_addresses_and_networks_of_the_file_or_else_of_the_flag(write):
    config = write("trusted_proxies: [10.0.0.7, 'fd00::/8']")
    assert load_settings(config).trusted_proxies == ("10.0.0.7/32", "fd00::/8")
    assert load_settings(config, trusted_proxies=["10.1.2.3/16"]).trusted_proxies == ("10.1.0.0/16",)


def test_a_share_above_one_is_refused():
    with pytest.raises(ConfigError, match=r"--least-scored: 'least_scored' is 1\.5, allowed is a share from 0 to 1"):
        load_settings(least_scored="1.5")
