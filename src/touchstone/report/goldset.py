"""What is said of a gold set: the sentences that the terminal shows, and its JSON."""

from dataclasses import asdict
from typing import Any

from touchstone.goldset.check import Findings
from touchstone.goldset.problems import SEVERITIES
from touchstone.goldset.stats import GoldsetStats, Precision, SizeNeeded
from touchstone.goldset.strata import StratifiedSample
from touchstone.report.figures import count


def findings_to_dict(findings: Findings, *, name: str) -> dict[str, Any]:
    """The findings as one JSON object; `against` is there where a problem is about two files."""
    rows = map(asdict, findings.problems)
    problems = [{key: value for key, value in row.items() if value or key != "against"} for row in rows]
    counts = {f"{severity}s": findings.count(severity) for severity in SEVERITIES}
    head = {"goldset": name, "rows": findings.rows, "cases": findings.cases}
    return {**head, **counts, "skipped": list(findings.skipped), "problems": problems}


def stats_to_dict(stats: GoldsetStats, *, name: str) -> dict[str, Any]:
    """The figures as one JSON object."""
    row = {"goldset": name, **asdict(stats)}
    if stats.precision is not None:
        row["precision"]["margin"] = stats.precision.margin
    return row


def sample_to_dict(sample: StratifiedSample, *, name: str, seed: int) -> dict[str, Any]:
    """How the sample was drawn, as one JSON object."""
    strata = [
        {**dict(zip(sample.fields, stratum.values, strict=True)), "rows": stratum.rows, "drawn": stratum.drawn}
        for stratum in sample.strata
    ]
    head = {"goldset": name, "rows": sample.rows, "drawn": len(sample.drawn), "seed": seed}
    return {**head, "strata": strata, "lacking": dict(sample.lacking)}


def size_to_dict(size: SizeNeeded) -> dict[str, Any]:
    """The sizes as one JSON object."""
    return {**asdict(size), "paired": size.paired}


def precision_sentence(precision: Precision) -> str:
    """How well a pass rate would be known."""
    ends = f"{precision.interval.low * 100:.0f} to {precision.interval.high * 100:.0f} %"
    cases, points = count(precision.cases, "case"), count(max(1, round(precision.margin * 100)), "point")
    return f"with {cases} a pass rate of {precision.rate * 100:g} % is known to ±{points} ({ends})"


def size_sentences(size: SizeNeeded) -> tuple[str, ...]:
    """What the sizes mean."""
    points = f"{size.difference * 100:g} point{'' if size.difference == 0.01 else 's'}"
    rate, power = f"{size.rate * 100:g} %", f"{size.power * 100:g} %"
    if size.discordant is None:
        assumed = "taking the two runs as unrelated on each case; --discordant asks for fewer where most replies agree"
    else:
        assumed = f"taking {size.discordant * 100:g} % of the cases to flip"
    sides = [
        f"a {change} to {round(to * 100, 6):g} % needs {cases:,}"
        for change, to, cases in (
            ("rise", size.rate + size.difference, size.rises),
            ("fall", size.rate - size.difference, size.falls),
        )
        if cases is not None
    ]
    return (
        f"{size.paired:,} cases to compare two versions on the same cases: a change of {points} from {rate} is found "
        f"{power} of the time ({', '.join(sides)}; {assumed})",
        f"{size.single:,} cases to know one version's pass rate near {rate} to ±{points} (95 % interval)",
    )
