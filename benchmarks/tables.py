"""Committed results -> the tables of the pages below, each between `<!-- name -->` and `<!-- end -->`."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from benchmarks.cases import PUBLIC_SETS, ROOT
from benchmarks.costs import CORE_HOUR, MODELS, SIZES, model_cost, replies_per_core_hour, worker_megabytes
from benchmarks.error_classes import SORTS, classes
from benchmarks.growth import slope
from benchmarks.record import RESULTS, read

PAGES = (ROOT / "docs" / "benchmarks.md", ROOT / "docs" / "cluster.md")
MARKED = re.compile(r"(<!-- (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
SHOWN = {
    "s_hall": "S_hall",
    "s_claims": "S_claims",
    "values_only": "values only",
    "claims_only": "claims only",
    "ngrams": "n-gram part",
    "baseline_absent_words": "*absent words*",
    "baseline_length": "*length*",
}

# The rubric block may add 35 % to the scoring core, and a reply in a hundred may take this long.
MOST_GRADED, GRADED_P99 = 1.35, 25.0
NOT_MEASURED = "–"


UNREAD = {
    "people_pass": "people pass",
    "passed": "the judge passes",
    "called_unsafe": "called unsafe",
    "blocked": "blocked",
}
LAWS = {
    ("courtesy", "grade_lowered"): "a courteous frame lowers a grade",
    ("courtesy", "grade_lowered_where_it_has_none"): "… of a reply that has none of its own",
    ("courtesy", "sent_no_more"): "a courteous frame keeps a reply from being sent",
    ("wrong_figures", "violations"): "a figure made wrong is a violation",
    ("wrong_figures", "noticed"): "a figure made wrong is a violation or a suspicion",
    ("wrong_figures", "sent"): "a reply with a figure made wrong is sent",
    ("wrong_figures", "raised"): "a figure made wrong raises a grade or the pass probability",
    ("pasted", "passed"): "the first passage, pasted as the reply, passes",
    ("pasted", "sent"): "the first passage, pasted as the reply, is sent",
}
# Set and key -> what it is, and what is wanted of it.
PLAIN = {
    ("summedits", "accuracy auc"): ("AUC of accuracy", "above .50, absent words"),
    ("wice", "accuracy auc"): ("AUC of accuracy", "above .72, absent words"),
    ("begin", "accuracy auc"): ("AUC of accuracy", "above .937, absent words"),
    ("mtrag", "accuracy auc"): ("AUC of accuracy", "above .87, absent words"),
    ("mtrag", "faithfulness rho"): ("Spearman, faithfulness", ".58"),
    ("mtrag", "completeness rho"): ("Spearman, completeness", ".45"),
    ("dstc9", "accuracy rho"): ("Spearman, accuracy", ".45"),
    ("evouna", "accuracy auc"): ("AUC of accuracy", ".97"),
    ("politeness", "tone rho"): ("Spearman, tone", ".60"),
}


def run() -> None:
    """Write the tables whose results are there into the pages; the text around them stays."""
    for page in PAGES:
        page.write_text(MARKED.sub(_filled, page.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"written: the tables of docs/{page.name}", flush=True)


def _filled(match: re.Match[str]) -> str:
    table, result = TABLES[match[2]]
    if not (RESULTS / f"{result}.json").exists():
        return match[0]
    return f"{match[1]}{table(read(result))}\n{match[3]}"


def _table(head: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)


def _machine(figures: dict[str, Any]) -> str:
    machine = figures["machine"]
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    where = f"{machine['cpu']} ({machine['cpus']} cores), {machine['system']}, Python {machine['python']}"
    return f"Measured on {where}, {packages}."


def _times(figures: dict[str, Any]) -> str:
    keys = ("mean", "p50", "p95", "p99")
    names = {
        "touchstone_first": "scoring core, first pass",
        "touchstone_repeated": "scoring core, repeated",
        "parser_single": "tagger and parser alone, reply by reply",
        "parser_pipe": "tagger and parser alone, in batches",
        "straightforward": "straightforward version",
        "graded_first": "with detectors and grades, first pass",
    }
    lines = [
        [names[name], *(f"{times[key]:.1f}" if key in times else "–" for key in keys)]
        for name, times in figures["ms_per_reply"].items()
    ]
    return _table(["ms per reply", *keys], lines)


def _ratios(figures: dict[str, Any]) -> str:
    ratios, targets = figures["ratios"], figures["targets"]
    most, least = targets["touchstone_to_parser"], targets["straightforward_to_touchstone"]
    lines = []
    for ours in ("first", "repeated"):
        single = ratios[f"touchstone_{ours}_to_parser_single"]
        batch = ratios[f"touchstone_{ours}_to_parser_pipe"]
        gain = ratios[f"straightforward_to_touchstone_{ours}"]
        p99 = figures["ms_per_reply"][f"touchstone_{ours}"]["p99"]
        label = "first pass" if ours == "first" else ours
        lines += [
            [
                f"Touchstone ({label}) / parser, reply by reply",
                f"{single:.2f}",
                f"≤ {most}",
                _met(holds=single <= most),
            ],
            [f"Touchstone ({label}) / parser, in batches", f"{batch:.2f}", f"≤ {most}", _met(holds=batch <= most)],
            [f"straightforward / Touchstone ({label})", f"{gain:.2f}", f"≥ {least:g}", _met(holds=gain >= least)],
            [
                f"p99 of Touchstone ({label}), ms",
                f"{p99:.1f}",
                f"< {targets['p99_ms']:g}",
                _met(holds=p99 < targets["p99_ms"]),
            ],
        ]
    graded = ratios["graded_first_to_touchstone_first"]
    met = _met(holds=graded <= MOST_GRADED)
    lines.append(["with detectors and grades / scoring core", f"{graded:.2f}", f"≤ {MOST_GRADED}", met])
    p99 = figures["ms_per_reply"]["graded_first"]["p99"]
    met = _met(holds=p99 < GRADED_P99)
    lines.append(["p99 with detectors and grades, ms", f"{p99:.1f}", f"< {GRADED_P99:g}", met])
    return _table(["figure", "measured", "target", "met"], lines)


def _met(*, holds: bool) -> str:
    return "yes" if holds else "**no**"


def _decisions(figures: dict[str, Any]) -> str:
    """A row for each mode, what was left out, and set."""
    found = figures["decisions"]
    lines = []
    for mode, mode_shown in (("expected", "with expected reply"), ("open", "sources only")):
        for left_out in ("domains_left_out", "sets_left_out"):
            rows = {name: row for name, row in found[mode][left_out].items() if name != "violations"}
            for name, row in rows.items():
                counts = [_of(row[key]) for key in ("outcome_right", "sent_right", "blocked_right")]
                auc = NOT_MEASURED if row["pass_auc"] is None else f"{row['pass_auc']:.2f}"
                what = left_out.partition("_")[0]
                lines.append([mode_shown, what, name, auc, *counts, row["reviewed"], row["abstained"]])
    head = "graded|left out|set|pass AUC|outcome right|sent and pass|blocked and fail|reviewed|abstained"
    return _table(head.split("|"), lines)


def _violations(figures: dict[str, Any]) -> str:
    lines = [
        [shown, left_out.partition("_")[0], *(_of(rates[key]) for key in ("precision", "recall"))]
        for mode, shown in (("expected", "with expected reply"), ("open", "sources only"))
        for left_out in ("domains_left_out", "sets_left_out")
        if (rates := figures["decisions"][mode][left_out]["violations"])
    ]
    return _table(["graded", "left out", "precision", "recall"], lines)


def _unread(figures: dict[str, Any]) -> str:
    row = figures["unread"]
    lines = [[shown, row[key]] for key, shown in UNREAD.items()]
    return _table([f"of {row['replies']} replies", ""], [*lines, ["sent, and people pass", _of(row["sent_right"])]])


def _laws(figures: dict[str, Any]) -> str:
    laws = figures["laws"]
    lines = [
        [shown, *(_of(laws[mode][law][key]) for mode in ("expected", "open"))] for (law, key), shown in LAWS.items()
    ]
    return _table(["law", "with expected reply", "sources only"], lines)


def _of(share: dict[str, Any] | None) -> str:
    """`43 of 44 (.88–1.00)`."""
    if share is None:
        return NOT_MEASURED
    counts = f"{share['n']:,} of {share['of']:,}"
    return f"{counts} ({share['low']:.2f}–{share['high']:.2f})" if share["of"] else counts


def _plain(figures: dict[str, Any]) -> str:
    lines = [[name, *PLAIN[name, key], f"{figures[name][key]:.2f}"] for name, key in PLAIN]
    return _table(["set", "figure", "target", "measured"], lines)


def _growth(figures: dict[str, Any]) -> str:
    growth = figures["growth"]
    pairs = zip(growth["reply"]["points"], growth["context"]["points"], strict=True)
    lines = [[f"{reply['words']:,}", f"{reply['ms']:.1f}", f"{context['ms']:.1f}"] for reply, context in pairs]
    exponents = [f"words^{growth[part]['exponent']:.2f}" for part in ("reply", "context")]
    lines.append([f"growth from {growth['fitted_from_words']:,} on", *exponents])
    ends = [[(at["words"], at["ms"]) for at in growth[part]["points"][-2:]] for part in ("reply", "context")]
    lines.append(["growth over the last step", *(f"words^{slope(end):.2f}" for end in ends)])
    return _table(["words", "ms, reply of that length", "ms, context of that length"], lines)


def _public(figures: dict[str, Any]) -> str:
    sets = figures["public"]
    lines = [[shown, *(_area(sets[name]["auc"][ranking]) for name in PUBLIC_SETS)] for ranking, shown in SHOWN.items()]
    for key, shown in (
        ("replies", "replies"),
        ("unsupported", "of them unsupported"),
        ("without_anchors", "without anchors"),
        ("missed", "missed at the verdict's threshold"),
        ("false_alarm", "false alarms at it"),
        ("copies_not_supported", "not supported by their own copy"),
    ):
        lines.append([shown, *(f"{sets[name][key]:,}" for name in PUBLIC_SETS)])
    rho = sets["dstc9"]["spearman_accuracy"]
    return (
        _table(["AUC", *PUBLIC_SETS], lines) + f"\n\nDSTC9, Spearman of people's accuracy with 1 - S_hall: {rho:.3f}."
    )


def _gold(figures: dict[str, Any]) -> str:
    sets = figures["gold"]
    lines = [
        [f"{SHOWN[ranking]}: {label}", *(_area(sets[name][key][ranking]) for name in sets)]
        for key, label in (
            ("auc_accuracy_below_3", "accuracy below 3"),
            ("auc_labelled_hallucination", "hallucination label"),
        )
        for ranking in ("s_hall", "values_only", "claims_only", "baseline_absent_words", "baseline_length")
    ]
    for key, shown in (
        ("accuracy_4_verdict_fail", "replies of accuracy 4 whose verdict is FAIL"),
        ("accuracy_4_hallucination_fail", "… because of hallucination"),
    ):
        lines.append([shown, *(f"{sets[name][key]:.0%} of {sets[name]['accuracy_4']}" for name in sets)])
    lines.append(
        [
            "not supported by their own copy",
            *(f"{one['copies_not_supported']} of {one['replies']}" for one in sets.values()),
        ]
    )
    return _table(["AUC", *sets], lines)


def _area(area: dict[str, float]) -> str:
    return f"{area['value']:.3f} ({area['low']:.2f}–{area['high']:.2f})"


def _errors(figures: dict[str, Any]) -> str:
    """One row a class: read errors by set (missed + false alarms), and how many are wrong still."""
    lines = []
    for kind in classes():
        found = {
            name: [
                figures["public"][name]["errors_read"][sort].get(kind.name, {"read": 0, "still": 0}) for sort in SORTS
            ]
            for name in PUBLIC_SETS
        }
        cells = [_cell(counts) for counts in found.values()]
        read_, still = (sum(count[key] for counts in found.values() for count in counts) for key in ("read", "still"))
        lines.append([kind.name.replace("_", " "), kind.whose, kind.what, *cells, read_, still])
    head = ["class", "whose", "what happens", *PUBLIC_SETS, "read", "wrong still"]
    return _table(head, lines)


def _cell(counts: list[dict[str, int]]) -> str:
    missed, alarms = (count["read"] for count in counts)
    return f"{missed} + {alarms}" if missed or alarms else ""


def _values(figures: dict[str, Any]) -> str:
    lines = []
    for name, table in figures["tables"].items():
        first = table["first_run_status_and_kind"]
        shares = (
            f"{count['agree']}/{table['rows']} ({count['share']:.1%})"
            for count in (first, table["status"], table["status_and_kind"])
        )
        lines.append([f"`{name}.jsonl`", *shares])
    return _table(["table", "first run, status and kind", "now, status", "now, status and kind"], lines)


def _evaluation(figures: dict[str, Any]) -> str:
    whole, report, many = figures["end_to_end"], figures["report"], figures["many"]
    seconds = [many[f"{name}_seconds"] for name in ("summary", "patterns", "comparison")]
    rows = [
        ["end to end over bare scoring", f"{whole['ratio']:.2f} x", f"at most {whole['target']} x"],
        [f"report of {report['cases']:,} cases", f"{report['bytes'] / 1e6:.2f} MB", "under 3 MB"],
        [f"summary, patterns, comparison of {many['replies']:,}", " + ".join(f"{s:.1f} s" for s in seconds), "seconds"],
    ]
    return _table(["what", "measured", "target"], rows)


def _engines(figures: dict[str, Any]) -> str:
    targets, rows = figures["targets"], f"{figures['rows']:,} replies, {figures['workers']} workers"
    lines = [
        [f"{name}, replies a second ({rows})", f"{rate:.1f}", "–", "–"]
        for name, rate in figures["replies_per_second"].items()
    ]
    shown = {"processes_to_serial": "processes / serial", "ray_to_processes": "Ray / processes"}
    lines += [
        [shown[name], f"{ratio:.2f}", f"≥ {targets[name]:g}", _met(holds=ratio >= targets[name])]
        for name, ratio in figures["ratios"].items()
    ]
    same = _met(holds=figures["identical"])
    lines.append(["same bytes by every engine", same, "yes", same])
    if job := figures.get("job"):
        complete, kept = _met(holds=job["complete"]), f"{job['kept_when_killed']:,}"
        lines.append([f"{job['rows']:,} rows, killed at {kept} and gone on with: complete", complete, "yes", complete])
        once = _met(holds=job["each_row_once"])
        lines.append(["every one of them there once, in order", once, "yes", once])
        if growth := job["memory_growth"]:
            most = targets["memory_growth"]
            met = _met(holds=growth <= most)
            lines.append(["memory at most / at 10,000 rows", f"{growth:.2f}", f"≤ {most:g}", met])
    return _table(["figure", "measured", "target", "met"], lines)


def _memory(figures: dict[str, Any]) -> str:
    """What the processes of a job held at most, while the engines were compared and, once measured, in the long job."""
    measured = {f"{figures['rows']:,} replies": figures}
    if job := figures.get("job"):
        measured[f"{job['rows']:,} short replies"] = job
    lines = [
        [what, each["workers"], *(f"{n:,.0f}" for n in (each["driver_megabytes"], worker_megabytes(each)))]
        for what, each in measured.items()
    ]
    return _table(["job by processes", "workers", "MB, driver", "MB, each worker"], lines)


def _parts(figures: dict[str, Any]) -> str:
    """What each part of scoring costs, before and now."""
    cost = figures["ms_per_reply"]
    states = [state for state in ("before", "now") if state in cost]
    lines = [[part, *(f"{cost[state][part]:.2f}" for state in states)] for part in cost["now"]]
    table = _table(["ms of one core a reply", *states], lines)
    if "before" not in cost:
        return table
    same = "the same bytes" if figures["identical"] else "**other bytes**"
    over = f"{figures['now_to_before']:.2f}, over {figures['rows']:,} replies, with {same} written"
    return f"{table}\n\nNow / before, median of the batches: {over}."


def _sizes(speed: dict[str, Any]) -> str:
    """What jobs of several sizes take, by the measured rate and the price of a core."""
    rate = _rate(speed)
    lines = []
    for replies in SIZES:
        hours = replies / rate
        days = [
            f"{hours / cores:,.1f} h" if hours / cores < 48 else f"{hours / cores / 24:,.1f} days" for cores in (8, 64)
        ]
        lines.append([f"{replies:,}", f"{hours:,.0f}", *days, f"${hours * CORE_HOUR:,.2f}"])
    head = ["replies", "core-hours", "8 cores", "64 cores", f"cost at ${CORE_HOUR:g} a core-hour"]
    source = "engines.json" if _engines_figures() else "speed.json"
    return f"By {rate:,.0f} replies a core-hour (benchmarks/results/{source}):\n\n" + _table(head, lines)


def _judges(speed: dict[str, Any]) -> str:
    """The same replies by a hosted model, at its list price and the tokens that are assumed."""
    lines = []
    for model in MODELS:
        each = model_cost(model)
        prices = f"${model.read:.2f} read, ${model.written:.2f} written, a million tokens"
        lines.append([model.name, prices, f"${1e6 * each:,.0f}", f"${1e9 * each:,.0f}"])
    ours = CORE_HOUR / _rate(speed)
    lines.append(["Touchstone, offline", f"${CORE_HOUR:g} a core-hour", f"${1e6 * ours:,.2f}", f"${1e9 * ours:,.0f}"])
    return _table(["judge", "price", "a million replies", "a billion replies"], lines)


def _billion(speed: dict[str, Any]) -> str:
    """A year of a billion replies as one job a day."""
    hours, a_day, cores, at_once = 1e9 / _rate(speed), 1e9 / 365, 64, 16
    minutes = 60 * a_day / _rate(speed) / cores
    days = 365 * minutes / at_once / 60 / 24
    shards = math.ceil(a_day / 20_000)
    lines = [
        ["core-hours", f"{hours:,.0f}"],
        ["rows a day", f"{a_day:,.0f}"],
        [f"minutes for a day's rows on {cores} cores", f"{minutes:,.0f}"],
        [f"days for the year, {at_once} jobs at a time", f"{days:,.1f}"],
        ["shards a day with --shard-rows 20000", f"{shards:,}"],
        ["shards in all", f"{365 * shards:,}"],
        ["cost of the cores", f"${hours * CORE_HOUR:,.0f}"],
    ]
    if figures := _engines_figures():
        lines += [
            ["results, TB", f"{figures['output_bytes_per_row'] * 1e9 / 1e12:,.1f}"],
            ["inputs, TB", f"{figures['input_bytes_per_row'] * 1e9 / 1e12:,.1f}"],
            ["cores that one driver keeps busy", f"{3_600_000 / _rate(speed) / figures['driver_ms_per_row']:,.0f}"],
        ]
    return _table(["a billion replies", ""], lines)


def _rate(speed: dict[str, Any]) -> float:
    return replies_per_core_hour(_engines_figures(), speed)


def _engines_figures() -> dict[str, Any] | None:
    return read("engines") if (RESULTS / "engines.json").exists() else None


# Mark in the page -> how the table is made, and of which results.
TABLES: dict[str, tuple[Callable[[dict[str, Any]], str], str]] = {
    "machine": (_machine, "speed"),
    "times": (_times, "speed"),
    "ratios": (_ratios, "speed"),
    "growth": (_growth, "speed"),
    "public": (_public, "quality"),
    "gold": (_gold, "quality"),
    "errors": (_errors, "quality"),
    "values": (_values, "values"),
    "evaluation": (_evaluation, "evaluation"),
    "decisions": (_decisions, "judge"),
    "violations": (_violations, "judge"),
    "unread": (_unread, "judge"),
    "laws": (_laws, "judge"),
    "plain": (_plain, "plain"),
    "engines": (_engines, "engines"),
    "memory": (_memory, "engines"),
    "parts": (_parts, "parts"),
    "sizes": (_sizes, "speed"),
    "billion": (_billion, "speed"),
    "judges": (_judges, "speed"),
}
