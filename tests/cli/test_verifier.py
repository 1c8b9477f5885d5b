"""`--verifier DIRECTORY` with every head and engine, what is shown of it, `verifier check`, and bad directories."""

import json
from pathlib import Path

import pytest
from scripts.make_tiny_verifier import write_verifier
from tests.engines.gold import gold_rows

from touchstone.app.config import Settings, load_settings
from touchstone.app.plan import receipt_of
from touchstone.app.verifier import find_verifier
from touchstone.core.errors import ConfigError

pytest.importorskip("onnxruntime")

ROWS = 6
INVENTED = "The app shows members a cheaper price."
CASE = (
    *("--input", "Is it free?", "--response", f"Returns are free within 14 days. {INVENTED}"),
    *("--context", "Our terms.", "--context", "Returns are free within 14 days. The customer pays after that."),
)
HEADS = {
    "three classes": ["entailment", "neutral", "contradiction"],
    "two classes": ["unsupported", "supported"],
    "one score": ["consistent"],
}


@pytest.fixture
def tiny(tmp_path):
    """The path of a verifier with three classes, as a command is given it."""
    write_verifier(tmp_path / "models/tiny", HEADS["three classes"])
    return "models/tiny"


@pytest.fixture
def cases(tmp_path):
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in gold_rows(ROWS)), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("labels", HEADS.values(), ids=HEADS)
def test_a_sentence_that_no_source_states_is_a_violation_with_every_head(touchstone, tmp_path, labels):
    home = write_verifier(tmp_path / "tiny", labels)
    ended = touchstone("score", *CASE, "--verifier", str(home))
    assert ended.code == 0
    row = json.loads(ended.out)
    (found,) = (each for each in row["rubric"]["violations"] if each["rule"].startswith("verifier."))
    assert (found["kind"], found["rule"], found["text"]) == ("hallucination", "verifier.not_stated", INVENTED)
    chances = row["verifier"]["sentences"][1]["chances"]
    assert found["confidence"] == pytest.approx(chances["not_stated"] + chances["contradicted"])
    where = found["evidence"][0]["source"]
    assert found["reason"] == f"the verifier tiny finds that {where} does not state this sentence"
    assert row["decision"] == "block"


def test_every_line_says_which_verifier_spoke(touchstone, cases, tiny):
    ended = touchstone("score", cases, "--verifier", tiny)
    found = [json.loads(line)["verifier"] for line in ended.out.splitlines()]
    assert (ended.code, len(found)) == (0, ROWS)
    hash = find_verifier(tiny).card.hash
    assert {(row["name"], row["version"], row["hash"]) for row in found} == {("tiny", "1.0", hash)}
    assert all(row["sentences"] for row in found)


def test_none_is_the_default_and_changes_no_byte(touchstone, cases):
    plain = touchstone("score", cases)
    assert '"verifier"' not in plain.out
    assert touchstone("score", cases, "--verifier", "none").out == plain.out


def test_rows_in_another_order_get_the_same_results(touchstone, cases, tiny, tmp_path):
    lines = (tmp_path / "cases.jsonl").read_text("utf-8").splitlines()
    (tmp_path / "reversed.jsonl").write_text("\n".join(reversed(lines)), encoding="utf-8")
    here, there = (touchstone("score", file, "--verifier", tiny).out for file in (cases, "reversed.jsonl"))
    assert list(reversed(there.splitlines())) == here.splitlines()


@pytest.mark.slow
def test_processes_give_the_same_bytes(touchstone, cases, tiny):
    here = touchstone("score", cases, "--verifier", tiny)
    there = touchstone("score", cases, "--verifier", tiny, "--engine", "processes", "--workers", "2")
    assert (there.code, there.out) == (here.code, here.out)


def test_an_explanation_shows_sentence_status_probability_and_evidence(touchstone, tiny):
    ended = touchstone("score", *CASE, "--verifier", tiny, "--explain")
    assert "Verifier tiny 1.0" in ended.out
    assert "supported: Returns are free within 14 days." in ended.out
    assert "not stated 1.00" in ended.out
    assert "1 of 2 sentences were clear without the model" in ended.out


def test_a_run_s_receipt_names_the_verifier_by_content_and_its_report_shows_the_sentences(
    touchstone, cases, tiny, tmp_path
):
    assert touchstone("eval", cases, "--verifier", tiny, "--json").code == 0
    report = next((tmp_path / "touchstone-runs").glob("*/report.html")).read_text("utf-8")
    assert str(find_verifier(tiny).card) in report
    assert "<h5>Verifier</h5>" in report


def test_a_job_goes_on_with_the_verifier_it_was_begun_with_wherever_it_lies(touchstone, cases, tiny, tmp_path):
    first = ("score", cases, "-o", "out", "--shard-format", "jsonl")
    assert touchstone(*first, "--verifier", tiny).code == 0
    (tmp_path / "models").rename(tmp_path / "moved")
    assert touchstone(*first, "--verifier", "moved/tiny").code == 0
    again = touchstone(*first)
    assert again.code == 2
    assert "was started with another verifier (tiny 1.0" in again.err
    write_verifier(tmp_path / "other", HEADS["two classes"])
    assert touchstone(*first, "--verifier", "other").code == 2


@pytest.mark.parametrize(
    "command",
    [
        ("score", "{}"),
        ("score", "{}", "-o", "out"),
        ("score", "{}", "--dry-run"),
        ("eval", "{}"),
        ("serve", "--port", "0"),
    ],
)
def test_a_bad_directory_ends_a_command_with_code_2_and_names_the_file(touchstone, cases, tiny, command, tmp_path):
    (tmp_path / tiny / "model.onnx").write_bytes(b"cut short")
    ended = touchstone(*(part.format(cases) for part in command), "--verifier", tiny)
    assert (ended.code, ended.out) == (2, "")
    assert "models/tiny/model.onnx is not a model that can be loaded" in ended.err
    assert "docs/verifier.md" in ended.err


@pytest.mark.parametrize("command", [("score", "{}"), ("verifier", "check")])
def test_a_directory_that_is_not_there_ends_a_command_with_code_2(touchstone, cases, command):
    flag = () if command[0] == "verifier" else ("--verifier",)
    ended = touchstone(*(part.format(cases) for part in command), *flag, "nowhere")
    assert (ended.code, ended.out) == (2, "")
    assert "nowhere/verifier.json is missing: a verifier is a directory with model.onnx" in ended.err


def test_the_model_that_is_no_longer_shipped_is_named_with_the_new_way(touchstone, cases, tmp_path):
    ended = touchstone("score", cases, "--verifier", "deep")
    told = "'verifier' is 'deep', a model that is no longer shipped: name the directory of a model of your own"
    assert ended.code == 2
    assert ended.err.startswith(f"touchstone: --verifier: {told} (docs/verifier.md)")
    (tmp_path / "touchstone.yaml").write_text("columns: {}\nverifier: deep\n", encoding="utf-8")
    assert touchstone("score", cases).err.startswith(f"touchstone: touchstone.yaml:2: {told}")


def test_the_file_may_name_it_beside_itself_and_the_flag_wins(tmp_path):
    config = tmp_path / "touchstone.yaml"
    config.write_text("verifier: models/tiny\n", encoding="utf-8")
    assert load_settings(str(config)).verifier == str(tmp_path / "models/tiny")
    assert load_settings(str(config), verifier="none").verifier is None
    assert load_settings(str(config), verifier="./deep").verifier == str(Path("deep").resolve())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("verifier: 3\n", "touchstone.yaml:1: 'verifier' is 3, allowed is none or the path of a directory"),
        ("thresholds:\n  verifier_cut: 0.9\n", "unknown key 'thresholds.verifier_cut'"),
    ],
)
def test_what_the_file_may_not_say_is_named(tmp_path, text, message):
    config = tmp_path / "touchstone.yaml"
    config.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        load_settings(str(config))


GROUP = {
    "passages": ["Returns are free within two weeks of delivery.", "Postage is paid by the customer."],
    "rows": [
        ["supported", "close", "You can return it for free within two weeks of delivery."],
        ["supported", "close", "Postage is paid by the customer at delivery."],
        ["contradicted", "negation", "Postage is not paid by the customer."],
        ["invented", "feature", INVENTED],
        ["invented", "fee", "Members get a cheaper price on every booking."],
        ["no_claim", "courtesy", "Thank you so much for asking!"],
    ],
}


def written(path, *lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def test_a_check_gives_auc_in_all_and_by_kind_and_the_cut_with_counts(touchstone, tiny, tmp_path):
    data = written(tmp_path / "rows.jsonl", json.dumps(GROUP))
    ended = touchstone("verifier", "check", tiny, "--data", data, "--json")
    assert ended.code == 0
    found = json.loads(ended.out)
    assert (found["verifier"], found["sentences"], found["supported"]) == (str(find_verifier(tiny).card), 6, 2)
    areas = {area["kind"]: (area["sentences"], area["auc"]) for area in found["areas"]}
    assert areas["wrong"] == (3, 1.0)
    assert areas["contradicted"] == areas["contradicted: negation"] == (1, 1.0)
    assert areas["invented"] == (2, 1.0)
    for cut, share in zip(found["cuts"], (0.5, 0.1), strict=True):
        assert (cut["wrong_share"], cut["findings"], cut["right"], cut["wrong"]) == (share, 3, 3, 3)
        assert 0.5 < cut["cut"] <= 1
    shown = touchstone("verifier", "check", tiny, "--data", data).out
    assert "wrong                   1.00       3 sentences" in shown
    assert "10 % of sentences wrong: " in shown
    assert "3 findings in these rows, 3 right, of 3 wrong sentences" in shown


def test_a_check_takes_the_rows_of_a_checkout_unless_told_otherwise(touchstone, tiny, tmp_path):
    ended = touchstone("verifier", "check", tiny)
    assert ended.code == 2
    assert "there are no rows in data/verifier: name files with --data" in ended.err
    assert '{"passages": [' in ended.err
    (tmp_path / "data/verifier").mkdir(parents=True)
    written(tmp_path / "data/verifier/batch-a.jsonl", json.dumps(GROUP))
    assert "6 sentences, 2 of them supported" in touchstone("verifier", "check", tiny).out


@pytest.mark.parametrize(
    ("line", "where"),
    [
        ("{", "the line"),
        ('{"rows": []}', "passages"),
        ('{"passages": ["a"], "rows": [["wrong", "a", "b"]]}', "rows.0.0"),
    ],
)
def test_a_line_that_cannot_be_used_is_named_with_the_form(touchstone, tiny, tmp_path, line, where):
    data = written(tmp_path / "rows.jsonl", json.dumps(GROUP), line)
    ended = touchstone("verifier", "check", tiny, "--data", data)
    assert ended.code == 2
    assert f"rows.jsonl:2: {where}" in ended.err
    assert "a line is {" in ended.err


def test_where_no_cut_is_precise_enough_none_is_given(touchstone, tiny, tmp_path):
    group = {**GROUP, "rows": [["supported", "close", row[2]] for row in GROUP["rows"]]}
    ended = touchstone("verifier", "check", tiny, "--data", written(tmp_path / "rows.jsonl", json.dumps(group)))
    assert "none reaches it" in ended.out
    assert "–" in ended.out


def test_the_plan_of_a_receipt_names_the_verifier_by_its_content(tmp_path):
    first = write_verifier(tmp_path / "first", HEADS["three classes"])
    same = write_verifier(tmp_path / "same", HEADS["three classes"])
    other = write_verifier(tmp_path / "other", HEADS["three classes"], calibration={"slope": 2.0, "intercept": 0.0})
    plain, *plans = (
        receipt_of(Settings(verifier=home and str(home)), name="gold", data="0").plan
        for home in (None, first, same, other)
    )
    assert plans[0] == plans[1]
    assert len({plain, *plans}) == 3
