"""What people do to queues, reviews, replies and actions, whether by the API or on a page.

Each command checks what it is given, takes personal data out where the service redacts, stores it, and notes in the
audit log and the figures what has changed; what changes nothing is not noted.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from touchstone.app.review import Drawing, ItemView, draw_queue, rubric_of
from touchstone.core.errors import ReviewError
from touchstone.core.result import Finding
from touchstone.review.action import Action
from touchstone.review.adjudication import Ruling
from touchstone.review.queue import Item, Queue
from touchstone.review.review import Review
from touchstone.runs.redaction import redact
from touchstone.runs.waivers import Waiver
from touchstone.service.api.answers import find_run
from touchstone.service.auth.principal import Principal
from touchstone.service.blind import WHY, veil_of
from touchstone.service.context import Service, note, now
from touchstone.service.problems import Refusal
from touchstone.service.shapes import (
    ChangedAction,
    MarkedViolation,
    NewAction,
    NewQueue,
    NewReview,
    NewRuling,
    NewWaiver,
)
from touchstone.store.queues import may_review
from touchstone.store.reviews import Submitted

MAX_DRAFT = 100_000


def make_queue(here: Service, who: Principal, wanted: NewQueue, *, id: str) -> Queue:
    """Draw a queue from a run; the one that has the id already is given as it is."""
    if (made := here.store.queues.find(id)) is not None:
        return made
    drawing = Drawing(
        name=wanted.name.strip(),
        n=wanted.size,
        needed=wanted.needed,
        seed=wanted.seed,
        oversampling=wanted.oversampling,
        reviewers=tuple(wanted.reviewers),
    )
    run = find_run(here, wanted.run, kind="production")
    queue = draw_queue(here.store, run=run.id, drawing=drawing, by=who.name, now=now(), id=id)
    note(here, who, "queue made", queue.id)
    return queue


def close_queue(here: Service, who: Principal, queue: str) -> Queue:
    """Take no more reviews."""
    found = here.store.queues.get(queue)
    if found.closed is not None:
        return found
    closed = here.store.queues.close(queue, at=now())
    note(here, who, "queue closed", queue)
    return closed


def reopen_queue(here: Service, who: Principal, queue: str) -> Queue:
    """Take reviews again."""
    found = here.store.queues.get(queue)
    if found.closed is None:
        return found
    opened = here.store.queues.reopen(queue)
    note(here, who, "queue reopened", queue)
    return opened


def check_reviewer(who: Principal, queue: Queue) -> None:
    """Refusal when the queue is for others."""
    if not may_review(queue, who.name):
        raise Refusal(403, "forbidden", f"the queue is not for {who.name}: a lead names the reviewers of a queue")


def submit_review(here: Service, who: Principal, view: ItemView, given: NewReview, *, id: str) -> Submitted:
    """Keep a review of an item; its own id goes before `id`."""
    check_reviewer(who, view.queue)
    review = Review(
        id=given.id or id,
        queue=view.queue.id,
        position=view.item.position,
        reviewer=who.name,
        made=now(),
        grades=given.grades,
        violations=_violations(here, given.violations, view),
        note=_kept(here, given.note),
        supersedes=given.supersedes,
        seconds=given.seconds,
    )
    submitted = here.store.reviews.submit(review, rubric=view.rubric)
    if not submitted.repeated:
        here.meters.reviewed()
        note(here, who, "review submitted", _place(view))
    return submitted


def withdraw_review(here: Service, who: Principal, queue: str, review: str, *, id: str) -> Submitted:
    """Take a review back."""
    rubric = rubric_of(here.store, here.store.queues.get(queue).run)
    done = here.store.reviews.withdraw(review, queue=queue, id=id, by=who.name, made=now(), rubric=rubric)
    if not done.repeated:
        note(here, who, "review withdrawn", f"{queue}/{done.item.position}")
    return done


def save_draft(here: Service, who: Principal, queue: str, position: int, draft: Mapping[str, Any]) -> None:
    """Keep what somebody has entered so far: some fields of a review."""
    check_reviewer(who, here.store.queues.get(queue))
    if unknown := sorted(set(draft) - set(NewReview.model_fields)):
        allowed = ", ".join(NewReview.model_fields)
        raise ReviewError(f"'{unknown[0][:50]}' is no part of a review: a draft may have {allowed}")
    try:
        length = len(json.dumps(draft, ensure_ascii=False, allow_nan=False))
    except ValueError as error:
        raise ReviewError("the draft holds a number that JSON does not know: leave it out") from error
    if length > MAX_DRAFT:
        raise ReviewError(f"the draft has {length:,} characters, allowed are {MAX_DRAFT:,}: shorten the note")
    here.store.reviews.save_draft(queue, position, who.name, body=json.dumps(_kept_all(here, draft)), at=now())


def rule(here: Service, who: Principal, view: ItemView, given: NewRuling, *, id: str) -> Item:
    """Keep a lead's word on an item."""
    if not given.reason.strip():
        raise ReviewError("a ruling needs a reason: say why")
    ruling = Ruling(
        id=id,
        queue=view.queue.id,
        position=view.item.position,
        by=who.name,
        made=now(),
        grades=given.grades,
        violations=_violations(here, given.violations, view),
        reason=_kept(here, given.reason),
    )
    item = here.store.reviews.rule(ruling, rubric=view.rubric)
    if view.ruling is None or view.ruling.id != id:
        note(here, who, "ruling", _place(view))
    return item


def waive(here: Service, who: Principal, run: str, position: int, given: NewWaiver, *, id: str) -> None:
    """Keep that a violation is none, and why; or take that back."""
    if position in veil_of(here, who, run).positions:
        raise ReviewError(WHY, kind="conflict")
    said = {**given.model_dump(), "reason": _kept(here, given.reason.strip())}
    waiver = Waiver(id=id, run=run, result=position, by=who.name, made=now(), **said)
    if here.store.marks.waive(waiver):
        act = "waiver withdrawn" if given.withdrawn else "violation waived"
        note(here, who, act, f"{run}/{position}", detail=given.kind)


def promote(here: Service, who: Principal, run: str, position: int) -> None:
    """Mark a case for a gold set."""
    if here.store.marks.promote(run, position, by=who.name, at=now()):
        note(here, who, "promoted", f"{run}/{position}")


def demote(here: Service, who: Principal, run: str, position: int) -> None:
    """Take the mark away."""
    if here.store.marks.demote(run, position):
        note(here, who, "demoted", f"{run}/{position}")


def make_action(here: Service, who: Principal, given: NewAction, *, id: str) -> Action:
    """Decide what is done about a pattern; the action that has the id already is given as it was made."""
    if made := here.store.actions.revisions(id):
        return made[0]
    fields = {"pattern": given.pattern, "owner": given.owner, "text": _kept(here, given.text.strip())}
    run = find_run(here, given.run).id
    action = Action(id=id, revision=1, state="open", by=who.name, made=now(), run=run, **fields)
    return _keep_action(here, who, action, act="action made")


def change_action(here: Service, who: Principal, action: str, given: ChangedAction) -> Action:
    """Change an action; ReviewError when somebody else was faster."""
    changed = replace(
        here.store.actions.get(action),
        revision=given.revision + 1,
        owner=given.owner,
        text=_kept(here, given.text.strip()),
        state=given.state,
        by=who.name,
        made=now(),
    )
    return _keep_action(here, who, changed, act="action changed")


def _keep_action(here: Service, who: Principal, action: Action, *, act: str) -> Action:
    here.store.actions.keep(action)
    note(here, who, act, action.id, detail=action.state)
    return action


def _place(view: ItemView) -> str:
    return f"{view.queue.id}/{view.item.position}"


def _violations(here: Service, marked: list[MarkedViolation], view: ItemView) -> tuple[Finding, ...]:
    """The violations with the text that each span has in the reply."""
    reply = view.scored.case.response if view.scored.case else ""
    return tuple(
        Finding(each.kind, reply[each.start : each.end], each.start, each.end, _kept(here, each.reason))
        for each in marked
    )


def _kept(here: Service, text: str) -> str:
    """What a person wrote as it is stored; a customer may be quoted in it."""
    return redact(text).text if here.settings.redacts else text


def _kept_all(here: Service, value: Any) -> Any:
    """A draft as it is stored: every text in it."""
    if isinstance(value, str):
        return _kept(here, value)
    if isinstance(value, Mapping):
        return {name: _kept_all(here, each) for name, each in value.items()}
    return [_kept_all(here, each) for each in value] if isinstance(value, list) else value
