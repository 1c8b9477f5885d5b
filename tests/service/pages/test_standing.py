"""The run page and the API say how far the judge agrees with people, as soon as it is measured."""

from dataclasses import replace

from tests.service.stored import add_run, row
from tests.store.test_measurements import ONE


def test_a_run_says_what_is_known_of_its_judge_and_follows_a_new_measurement(service, client):
    run = add_run(service.store, "run-s", rows=[row(1)])
    model = replace(run, id="run-m", receipt=replace(run.receipt, judge="llm:a #9"))
    service.store.create_run(model, rubric=service.store.rubric("run-s"))
    service.store.finish_run("run-m", finished=run.started, seconds=1.0)

    def said(id):
        page = client.get(f"/runs/{id}").text.replace("\u00a0", " ")
        return page, client.get(f"/v1/runs/{id}").json()["judge"]

    page, found = said("run-s")
    assert "figures that ship with Touchstone" in page
    assert found["measured"] == "product"
    page, found = said("run-m")
    assert "Nobody has measured this judge: run touchstone review agreement on labelled replies." in page
    assert found == {"name": "llm:a #9", "measured": "none", "measurements": [], "remark": None}
    service.store.measurements.keep(replace(ONE, judge="llm:a #9", rubric_hash=run.receipt.rubric_hash))
    page, found = said("run-m")
    assert "Same outcome as people for 86.8 % of 38 replies of gold (72.7 to 94.2 %)" in page
    assert (found["measured"], found["measurements"][0]["labelled"]) == ("store", 40)
