"""What a judge did and spent -> lines for a person."""

from statistics import mean

from touchstone.app.judging import ModelJudge
from touchstone.app.standing import shipped
from touchstone.report.figures import count

# The rows of data/measured.json that speak of answers written down; no run can have their names.
ALONE, CASCADE = "recorded answers", "offline, then recorded answers"


def meter_line(judge: ModelJudge) -> str:
    """What was spent so far, short enough to stand beside a progress bar."""
    meter = judge.meter
    money = "" if meter.money is None else f", {meter.money:,.4f} {meter.currency}"
    return f"{meter.used.total:,} tokens{money}"


def report_lines(judge: ModelJudge) -> list[str]:
    """At the end: calls, what they cost, what a cascade saved, and how often votes flipped."""
    meter, judged = judge.meter, judge.judged
    recorded = f", {meter.recorded:,} answered from records" if meter.recorded else ""
    cases, calls = count(judged.asked, "case", "cases"), count(meter.calls, "call", "calls")
    lines = [f"judge {judge.name}: {cases}, {calls}, {meter_line(judge)}{recorded}"]
    if judged.put_off:
        missing = count(judged.put_off, "case lacks", "cases lack")
        kept = f"what was answered is kept in {judge.settings.judge.record}"
        lines.append(f"{missing} a model's grades; {kept}, and the same command asks for the rest alone")
    unpriced = [account.name for account in meter.accounts if account.prices is None]
    if unpriced and meter.currency is not None:
        lines.append(f"no price is given for {', '.join(unpriced)}: what it costs is not in the sum")
    if judge.settings.judge.cascade:
        lines += [_saved(judge), *_cost_in_agreement()]
    if judged.flips:
        worst = max(judged.flips, key=lambda id: (judged.flips[id], id))
        flipped = sum(rate > 0 for rate in judged.flips.values())
        lines.append(
            f"votes: the outcome flips in {mean(judged.flips.values()):.1%} of them; "
            f"{flipped:,} of {len(judged.flips):,} cases flip"
            + (f", most of all {worst} ({judged.flips[worst]:.0%})" if flipped else "")
        )
    return lines


def _cost_in_agreement() -> list[str]:
    """What a cascade cost in agreement with people where that was measured: on recorded answers, set by set."""
    alone, cascade = ({each.goldset: each.figures.outcome.value for each in shipped(name)} for name in (ALONE, CASCADE))
    told = [
        f"{name} {alone[name]:.0%} asked always, {value:.0%} in a cascade" for name, value in cascade.items() if value
    ]
    return [f"same outcome as people, measured with recorded answers: {'; '.join(told)}"] if told else []


def _saved(judge: ModelJudge) -> str:
    """What the cases that were not asked about would have used, by what each model used for the others."""
    judged, accounts = judge.judged, judge.meter.accounts
    whole = judged.asked + judged.kept_offline
    share = f" ({judged.kept_offline / whole:.0%})" if whole else ""
    line = f"cascade: the offline judge was sure of {judged.kept_offline:,} of {whole:,} cases{share}"
    if not judged.kept_offline or not all(account.answers for account in accounts):
        return line
    calls = judged.kept_offline * judge.settings.judge.votes * judged.requests / judged.asked
    saved = {account.name: account.mean.times(calls) for account in accounts}
    tokens = sum(usage.total for usage in saved.values())
    money = sum(account.prices.cost(saved[account.name]) for account in accounts if account.prices)
    told = "" if judge.meter.currency is None else f" or {money:,.4f} {judge.meter.currency}"
    return f"{line}, which saved about {tokens:,} tokens{told}"
