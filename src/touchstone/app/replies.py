"""A gold set, and where its replies come from -> replies to score, each in its place in the run."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from touchstone.clients.bots import Bot, draft_all
from touchstone.core.case import Case, Draft
from touchstone.core.codec import case_to_dict, content_hash
from touchstone.core.result import Failure
from touchstone.io.cases import Entry
from touchstone.io.responses import Responses


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply of a run: its place, the line its case stands on, which draft it is, and the case with the reply
    in it, or why there is none. `id` is the case's, when it has one that could be read."""

    position: int
    line: int
    draft: int
    id: str | None
    case: Case | Failure


IsScored = Callable[[int], bool]


def given_replies(entries: Sequence[Entry]) -> Iterator[Reply]:
    """The replies that came with the cases."""
    for position, entry in enumerate(entries):
        yield Reply(position, entry.line, 1, _id(entry), entry.case)


def joined_replies(entries: Sequence[Entry], responses: Responses) -> Iterator[Reply]:
    """The replies of a second file, joined by id. A case without one, and a reply without a case, are failures."""
    position = 0
    for entry in entries:
        for draft, found in enumerate(_of(entry, responses), 1):
            yield Reply(position, entry.line, draft, _id(entry), found)
            position += 1
    for stray in responses.strays(_ids(entries)):
        yield Reply(position, stray.line, 1, None, stray.failure)
        position += 1


def drafted_replies(
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
