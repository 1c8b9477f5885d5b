"""Cases -> those that are in the set twice, or nearly; and those of one set that another holds as well."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from touchstone.core.case import Case
from touchstone.goldset.labels import LabelSummary, conflict, judged
from touchstone.goldset.likeness import AlikePair, Signature, groups, likeness, near_across, near_pairs, sign
from touchstone.goldset.problems import PlacedCase, Problem, problem
from touchstone.rubric.model import Rubric


@dataclass(frozen=True, slots=True)
class Asked:
    """An item with the signature of what the customer wrote."""

    item: PlacedCase
    input: Signature


@dataclass(frozen=True, slots=True)
class RepeatedReply:
    """Items with the same input and reply, the reply's signature, and what people said of the first of them."""

    items: tuple[PlacedCase, ...]
    reply: Signature
    judgement: LabelSummary


def asked(items: Iterable[PlacedCase]) -> list[Asked]:
    """The items that have an input."""
    texts = ((item, conversation(item.case)) for item in items)
    return [Asked(item, sign(text)) for item, text in texts if text.strip()]


def conversation(case: Case) -> str:
    """Everything the reply answers: the message, or all turns of a chat."""
    if isinstance(case.input, str):
        return case.input
    return "\n".join(turn.content for turn in case.input)


def find_duplicates(cases: Sequence[Asked], *, threshold: float, rubric: Rubric) -> Iterator[Problem]:
    """Same and nearly same cases, and where people graded them differently."""
    by_input = _by_input(cases)
    pairs = near_pairs([same[0].input for same in by_input], threshold=threshold)
    linked = {at for pair in pairs for at in (pair.first, pair.second)}
    answered = {at: _by_reply(same, rubric=rubric) for at, same in enumerate(by_input) if len(same) > 1 or at in linked}
    for replies in answered.values():
        yield from _same_input(replies, threshold=threshold, rubric=rubric)
    yield from _near_inputs(by_input, pairs)
    for pair in pairs:
        for a in answered[pair.first]:
            for b in answered[pair.second]:
                if likeness(a.reply, b.reply) >= threshold:
                    yield from _near_conflict(a, b)


def find_leakage(cases: Sequence[Asked], others: Sequence[Asked], *, other: str, threshold: float) -> Iterator[Problem]:
    """The inputs that the file called `other` holds too, or nearly."""
    if not others:
        return
    ours, theirs = _by_input(cases), _by_input(others)
    pairs = near_across([same[0].input for same in ours], [same[0].input for same in theirs], threshold=threshold)
    for pair in pairs:
        mine, found = ours[pair.first], theirs[pair.second]
        items, against = _items(mine), _items(found)
        place = f"{other}:{against[0].line}"
        if mine[0].input.words == found[0].input.words:
            yield problem("leakage", items, f"the input is that of {place}", against=against)
        else:
            yield problem("near-leakage", items, f"the input is {_percent(pair)} like {place}", against=against)


def _by_input(cases: Iterable[Asked]) -> list[list[Asked]]:
    """The cases in groups of the same input, by first appearance."""
    found: dict[tuple[str, ...], list[Asked]] = defaultdict(list)
    for case in cases:
        found[case.input.words].append(case)
    return list(found.values())


def _by_reply(same: Iterable[Asked], *, rubric: Rubric) -> list[RepeatedReply]:
    """Cases with the same input in groups of the same reply."""
    found: dict[Signature, list[PlacedCase]] = defaultdict(list)
    for case in same:
        found[sign(case.item.case.response)].append(case.item)
    return [RepeatedReply(tuple(items), reply, judged(items[0].case, rubric=rubric)) for reply, items in found.items()]


def _same_input(replies: Sequence[RepeatedReply], *, threshold: float, rubric: Rubric) -> Iterator[Problem]:
    for each in replies:
        yield from _twins(each, rubric=rubric)
    if len(replies) > 1:
        items = sorted((item for each in replies for item in each.items), key=_line)
        message = f"{len(items)} cases have the same input and {len(replies)} different replies"
        yield problem("same-input", items, message)
        for pair in near_pairs([each.reply for each in replies], threshold=threshold):
            yield from _near_conflict(replies[pair.first], replies[pair.second])


def _twins(twins: RepeatedReply, *, rubric: Rubric) -> Iterator[Problem]:
    """Cases with the same input and reply: how often there are, and where grades differ from the first's."""
    first, *others = twins.items
    if not others:
        return
    what = "input and reply" if first.case.response.strip() else "input"
    yield problem("duplicate", twins.items, f"{len(twins.items)} cases have the same {what}")
    for other in others:
        if difference := conflict(twins.judgement, judged(other.case, rubric=rubric)):
            yield problem("conflicting-labels", [first, other], f"the same case, but {difference}")


def _near_inputs(by_input: Sequence[Sequence[Asked]], pairs: Sequence[AlikePair]) -> Iterator[Problem]:
    """One problem for each group of inputs that are linked by likeness."""
    linked = groups(pairs)
    group_of = {at: number for number, group in enumerate(linked) for at in group}
    closest: dict[int, AlikePair] = {}
    for pair in pairs:
        number = group_of[pair.first]
        closest[number] = max(pair, closest.get(number, pair), key=lambda each: each.likeness)
    for number, group in enumerate(linked):
        items = sorted((item for at in group for item in _items(by_input[at])), key=_line)
        at_most = "" if len(group) == 2 else "up to "
        message = f"{len(items)} cases have nearly the same input, {at_most}{_percent(closest[number])} alike"
        yield problem("near-duplicate", items, message)


def _near_conflict(a: RepeatedReply, b: RepeatedReply) -> Iterator[Problem]:
    """Nearly the same reply to nearly the same input, graded differently."""
    first, second = a.items[0], b.items[0]
    if not first.case.response.strip() or not second.case.response.strip():
        return
    if difference := conflict(a.judgement, b.judgement):
        yield problem("near-conflict", [first, second], f"nearly the same case, but {difference}")


def _items(cases: Iterable[Asked]) -> list[PlacedCase]:
    return [case.item for case in cases]


def _line(item: PlacedCase) -> int:
    return item.line


def _percent(pair: AlikePair) -> str:
    # Never 100 %: that is said of the same text only.
    return f"{min(99, round(pair.likeness * 100))} %"
