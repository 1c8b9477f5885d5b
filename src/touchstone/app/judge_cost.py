"""What asking the models takes: estimated before a file is graded, and counted while and after it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from touchstone.app.config import Settings
from touchstone.app.config_model import JudgeSettings, Member
from touchstone.app.judging import ModelJudge, load_prompt, models_of, requests_for
from touchstone.app.score import score_entries
from touchstone.clients.llm.call import Sampling, call_for
from touchstone.clients.llm.model import Records
from touchstone.core.case import Case
from touchstone.core.errors import InputError
from touchstone.io.cases import read_cases
from touchstone.io.files import open_mapped, shown
from touchstone.io.formats import Format
from touchstone.judges.llm.request import Request
from touchstone.report.figures import count
from touchstone.trust.measurement import shipped

# English has about four characters to a token; a reason with its quotes takes about as many tokens as this.
CHARACTERS_A_TOKEN = 4
TOKENS_A_CRITERION = 120
TOKENS_OF_VIOLATIONS = 30
TOKENS_A_QUESTION = 60
_MILLION = 1_000_000
# The rows of data/measured.json that speak of answers written down; no run can have their names.
ALONE, CASCADE = "recorded answers", "offline, then recorded answers"


@dataclass(frozen=True, slots=True)
class ModelEstimate:
    """What one model is to be asked, in calls and tokens; `recorded` answers are kept already and cost nothing."""

    judge: str
    calls: int
    recorded: int
    input: int
    output: int
    most_output: int
    money: float | None
    most_money: float | None
    currency: str | None


@dataclass(frozen=True, slots=True)
class JudgeEstimate:
    """What a file of cases takes; `kept_offline` are those that a cascade does not ask about."""

    cases: int
    unreadable: int
    kept_offline: int
    models: tuple[ModelEstimate, ...]


def estimate_judge(source: str, *, settings: Settings, format: Format | None = None) -> JudgeEstimate:
    """Scores every case offline, builds its requests and looks them up among the records."""
    chosen = settings.judge
    prompt = load_prompt(chosen.prompt)
    requests: list[Request] = []
    cases = unreadable = kept_offline = 0
    with open_mapped(source, mapped=settings.mapped, format=format) as rows:
        entries = read_cases(rows, file=shown(source), columns=settings.columns)
        for scored in score_entries(entries, settings=settings):
            if not isinstance(scored.entry.case, Case):
                unreadable += 1
                continue
            cases += 1
            asked = requests_for(scored.entry.case, scored.result, settings=settings, prompt=prompt)
            kept_offline += chosen.cascade and not asked
            requests += asked
    if not cases:
        raise InputError(f"{shown(source)} has no readable case: see touchstone goldset check")
    models = tuple(_model(member, requests, chosen) for member in models_of(chosen))
    return JudgeEstimate(cases, unreadable, kept_offline, models)


def estimate_lines(found: JudgeEstimate) -> list[str]:
    """The estimate for a person."""
    unread = f", {found.unreadable:,} more cannot be read" if found.unreadable else ""
    lines = [f"{count(found.cases, 'case', 'cases')}{unread}; nothing was asked"]
    for each in found.models:
        recorded = f", {each.recorded:,} more are answered from records" if each.recorded else ""
        lines.append(
            f"{each.judge}: {count(each.calls, 'call', 'calls')}{recorded}; about {each.input:,} tokens of input and "
            f"{each.output:,} of output, at most {each.most_output:,}{_money(each)}"
        )
    if any(each.money is None for each in found.models):
        lines.append("for the cost, give prices: --judge-set prices.input=0.15 --judge-set prices.output=0.60")
    if found.kept_offline:
        lines.append(f"cascade: the offline judge is sure of {found.kept_offline:,} cases, which are not asked about")
    return lines


def _money(each: ModelEstimate) -> str:
    if each.money is None or each.most_money is None:
        return ""
    return f"; about {each.money:,.4f} {each.currency}, at most {each.most_money:,.4f}"


def _model(member: Member, requests: Sequence[Request], chosen: JudgeSettings) -> ModelEstimate:
    records = None if chosen.asks_anew else Records(chosen.replay or chosen.record)
    sampling = Sampling(temperature=chosen.sampling_temperature, seed=chosen.seed, max_tokens=chosen.max_tokens)
    calls = recorded = sent = said = 0
    for request in requests:
        for vote in range(1, chosen.votes + 1):
            call = call_for(request, model=member.model, sampling=sampling, vote=vote, judge=member.name)
            if records and records.find(call):
                recorded += 1
                continue
            calls += 1
            sent += call.length // CHARACTERS_A_TOKEN
            likely = TOKENS_A_CRITERION * len(request.criteria) + TOKENS_OF_VIOLATIONS * request.asks_violations
            likely += TOKENS_A_QUESTION * len(request.questions)
            said += min(likely, chosen.max_tokens)
    most = calls * chosen.max_tokens
    prices = member.prices
    return ModelEstimate(
        judge=f"llm:{member.name}",
        calls=calls,
        recorded=recorded,
        input=sent,
        output=said,
        most_output=most,
        money=(sent * prices.input + said * prices.output) / _MILLION if prices else None,
        most_money=(sent * prices.input + most * prices.output) / _MILLION if prices else None,
        currency=prices.currency if prices else None,
    )


def meter_line(judge: ModelJudge) -> str:
    """What was spent so far, short enough to stand beside a progress bar."""
    meter = judge.meter
    money = "" if meter.money is None else f", {meter.money:,.4f} {meter.currency}"
    return f"{meter.used.total:,} tokens{money}"


def report_lines(judge: ModelJudge | None) -> list[str]:
    """At the end: calls, what they cost, what a cascade saved, and how often votes flipped."""
    if judge is None:
        return []
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
