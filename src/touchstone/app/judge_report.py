"""What a judge did and spent -> lines for a person."""

from statistics import mean

from touchstone.app.judging import ModelJudge
from touchstone.clients.llm.call import Usage


def meter_line(judge: ModelJudge) -> str:
    """What was spent so far, short enough to stand beside a progress bar."""
    meter = judge.meter
    money = "" if meter.prices is None else f", {meter.prices.cost(meter.used):,.4f} {meter.prices.currency}"
    return f"{meter.used.total:,} tokens{money}"


def report_lines(judge: ModelJudge) -> list[str]:
    """At the end: calls, what they cost, what a cascade saved, and how often votes flipped."""
    meter, judged = judge.meter, judge.judged
    recorded = f", {meter.recorded:,} answered from records" if meter.recorded else ""
    lines = [f"judge {judge.name}: {judged.asked:,} cases, {meter.calls:,} calls, {meter_line(judge)}{recorded}"]
    if judge.settings.judge.cascade:
        lines.append(_saved(judge))
    if judged.flips:
        worst = max(judged.flips, key=lambda id: (judged.flips[id], id))
        flipped = sum(rate > 0 for rate in judged.flips.values())
        lines.append(
            f"votes: the outcome flips in {mean(judged.flips.values()):.1%} of them; "
            f"{flipped:,} of {len(judged.flips):,} cases flip"
            + (f", most of all {worst} ({judged.flips[worst]:.0%})" if flipped else "")
        )
    return lines


def _saved(judge: ModelJudge) -> str:
    meter, judged = judge.meter, judge.judged
    whole = judged.asked + judged.kept_offline
    line = f"cascade: the offline judge was sure of {judged.kept_offline:,} of {whole:,} cases"
    if not (meter.calls and judged.kept_offline):
        return line
    calls = judged.kept_offline * len(judge.models) * judge.settings.judge.votes
    share = calls / meter.calls
    saved = Usage(round(meter.used.input * share), round(meter.used.output * share))
    money = "" if meter.prices is None else f" or {meter.prices.cost(saved):,.4f} {meter.prices.currency}"
    return f"{line}, which saved about {saved.total:,} tokens{money}"
