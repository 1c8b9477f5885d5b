"""benchmarks/results/recorded.json -> the rows of src/touchstone/data/measured.json that speak of recorded answers.

`python -m scripts.measured_judges`, after `python -m benchmarks recorded`. The offline judge keeps its rows.
"""

import json
from typing import Any

from benchmarks import record
from scripts.labelled import DATA

from touchstone.app.judge_cost import ALONE, CASCADE

PATH = DATA / "measured.json"
NOTE = "prompt {prompt}, conventions {conventions}; written by careful reading of each request, without expected reply"
AGENTS = {"agents": "148 replies of agents, of which 62 were read while the conventions were written"}


def main() -> None:
    content = json.loads(PATH.read_text(encoding="utf-8"))
    content["judges"] |= recorded_rows(record.read("recorded"))
    PATH.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def recorded_rows(found: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The rows of both judges, set by set."""
    told = NOTE.format(prompt=found["prompt"], conventions=found["conventions"])
    rows: dict[str, list[dict[str, Any]]] = {ALONE: [], CASCADE: []}
    for name in ("support", "agents"):
        for judge, key in ((ALONE, "model"), (CASCADE, "cascade")):
            counts = found[name][key]["counts"]
            note = "; ".join(filter(None, (told, AGENTS.get(name))))
            if judge == CASCADE:
                note += f"; asked about {found[name][key]['asked']:.0%}"
            rows[judge].append({"set": name, "cases": found[name][key]["cases"], **counts, "note": note})
    return rows


if __name__ == "__main__":
    main()
