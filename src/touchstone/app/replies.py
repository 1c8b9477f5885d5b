"""A gold set, and where its replies come from -> replies to score, each in its place in the run."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from touchstone.app.config import Settings
from touchstone.app.goldset import locate
from touchstone.clients.bots import Bot, draft_all
from touchstone.core.case import Case, Draft
from touchstone.core.codec import case_to_dict, content_hash
from touchstone.core.errors import InputError
from touchstone.core.result import Failure
from touchstone.io.cases import Entry, Replies, read_cases
from touchstone.io.columns import SeenColumns
from touchstone.io.files import open_rows, shown
from touchstone.io.responses import Responses, read_responses
from touchstone.runs.run import Kind

IsScored = Callable[[int], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What is to be evaluated: the gold set, where its replies come from, and how the run is labelled.

    `name` is what the run calls the gold set, where that is not its path.
    """

    goldset: str
    name: str | None = None
    responses: str | None = None
    bot: str | None = None
    repeat: int = 1
    concurrency: int = 4
    timeout: float = 30.0
    retries: int = 2
    headers: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    starts_over: bool = False
    kind: Kind = "goldset"


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply of a run: its place, the line its case stands on, which draft it is, and the case with the reply
    in it, or why there is none. `id` is the case's, when it has one that could be read."""

    position: int
    line: int
    draft: int
    id: str | None
    case: Case | Failure


def read_assignment(assignment: Assignment, *, settings: Settings) -> tuple[list[Entry], Responses | None]:
    """The cases and, from a second file, their replies; InputError when there is nothing to score."""
    source = locate(assignment.goldset)
    file, columns, seen = shown(source), settings.columns, SeenColumns(settings.mapped)
    replies: Replies = "needed" if assignment.bot is None and assignment.responses is None else "dropped"
    with open_rows(source) as rows:
        entries = list(read_cases(seen.watch(rows), file=file, columns=columns, replies=replies))
    if assignment.responses is None:
        seen.check_mapped(file=file)
        if assignment.bot is None:
            check_replies(entries, kind=assignment.kind, seen=seen, columns=columns, file=file)
        return entries, None
    both = f"{file} and {shown(assignment.responses)}"
    try:
        responses = read_responses(assignment.responses, columns=columns, seen=seen)
    except InputError:
        # Replies that are not found may be in a column whose name is misspelt.
        seen.check_mapped(file=both)
        raise
    seen.check_mapped(file=both)
    return entries, responses


def check_replies(
    entries: Sequence[Entry], *, kind: Kind, seen: SeenColumns, columns: Mapping[str, str], file: str
) -> None:
    """InputError when no row has a reply: a run of nothing would be the latest."""
    if any(isinstance(entry.case, Case) and entry.case.response.strip() for entry in entries):
        return
    if kind == "goldset":
        remedy = "give them with --responses FILE, or have them drafted with --bot COMMAND_OR_URL"
    else:
        seen.check_reply(file=file, columns=columns)
        remedy = "give each row its reply"
    unread = next((entry for entry in entries if isinstance(entry.case, Failure)), None)
    why = f"; line {unread.line}: {unread.case.message}" if unread and isinstance(unread.case, Failure) else ""
    raise InputError(f"{file} has no replies in its {len(entries):,} rows: {remedy}{why}")


def replies_of(
    assignment: Assignment,
    entries: Sequence[Entry],
    *,
    responses: Responses | None,
    bot: Bot | None,
    is_scored: IsScored,
) -> tuple[int, Iterable[Reply]]:
    """How many replies there are, and each as it comes; what is scored already is not drafted again."""
    if bot is None:
        known = list(_given(entries) if responses is None else _joined(entries, responses))
        return len(known), known
    repeat = assignment.repeat
    total = sum(repeat if isinstance(entry.case, Case) else 1 for entry in entries)
    return total, _drafted(entries, bot, repeat=repeat, concurrency=assignment.concurrency, is_scored=is_scored)


def _given(entries: Sequence[Entry]) -> Iterator[Reply]:
    """The replies that came with the cases."""
    for position, entry in enumerate(entries):
        yield Reply(position, entry.line, 1, _id(entry), entry.case)


def _joined(entries: Sequence[Entry], responses: Responses) -> Iterator[Reply]:
    """The replies of a second file, joined by id. A case without one, and a reply without a case, are failures."""
    position = 0
    for entry in entries:
        for draft, found in enumerate(_of(entry, responses), 1):
            yield Reply(position, entry.line, draft, _id(entry), found)
            position += 1
    for stray in responses.strays(_ids(entries)):
        yield Reply(position, stray.line, 1, None, stray.failure)
        position += 1


def _drafted(
    entries: Sequence[Entry], bot: Bot, *, repeat: int, concurrency: int, is_scored: IsScored
) -> Iterator[Reply]:
    """The replies a live bot drafts, `repeat` for each case, without those that are scored already."""
    cases = [entry.case for entry in entries if isinstance(entry.case, Case)]
    places = {case.id: at for at, case in enumerate(cases)}
    unread = len(cases) * repeat
    for entry in entries:
        if isinstance(entry.case, Failure):
            yield Reply(unread, entry.line, 1, None, entry.case)
            unread += 1
    lines = {entry.case.id: entry.line for entry in entries if isinstance(entry.case, Case)}

    def skip(id: str, draft: int) -> bool:
        return is_scored(places[id] * repeat + draft - 1)

    for case, draft, found in draft_all(bot, cases, repeat=repeat, concurrency=concurrency, skip=skip):
        position = places[case.id] * repeat + draft - 1
        answered = with_draft(case, found) if isinstance(found, Draft) else found
        yield Reply(position, lines[case.id], draft, case.id, answered)


def with_draft(case: Case, draft: Draft) -> Case:
    """The case with what the bot gave: its reply, its confidence, and its own passages if it named any."""
    context = case.context if draft.context is None else draft.context
    return replace(case, response=draft.reply, confidence=draft.confidence, context=context)


def data_hash(entries: Sequence[Entry]) -> str:
    """What the gold set says, whatever its file is called: a change in any row changes it."""
    return content_hash([_plain(entry.case) for entry in entries])


def _plain(case: Case | Failure) -> object:
    return case_to_dict(case) if isinstance(case, Case) else [case.stage, case.error, case.message]


def _of(entry: Entry, responses: Responses) -> list[Case | Failure]:
    if isinstance(entry.case, Failure):
        return [entry.case]
    case = entry.case
    drafts = responses.of(case.id or "")
    if not drafts:
        message = f"{responses.file} has no reply for this case: add one, or leave the case out of the gold set"
        return [Failure("read", "MissingReply", message)]
    return [with_draft(case, found) if isinstance(found, Draft) else found for found in drafts]


def _id(entry: Entry) -> str | None:
    return entry.case.id if isinstance(entry.case, Case) else None


def _ids(entries: Sequence[Entry]) -> set[str]:
    return {id for entry in entries if (id := _id(entry))}
