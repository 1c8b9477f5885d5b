"""What people do to queues, reviews, replies and actions, whether by the API or on a page.

Each command checks what it is given, takes personal data out where the service redacts, stores it, and notes in the
audit log and the figures what has changed; what changes nothing is not noted.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from touchstone.app.audit import now
from touchstone.app.review import Drawing, ItemView, draw_queue
from touchstone.app.rubrics import rubric_of
from touchstone.core.errors import ReviewError
from touchstone.core.result import Finding
from touchstone.core.texts import map_texts
from touchstone.review.queue import Item, Queue
from touchstone.review.review import Review, Ruling
from touchstone.review.weekly import Action
from touchstone.runs.redaction import redact
from touchstone.runs.waivers import Waiver
from touchstone.service.answers import find_run
from touchstone.service.blind import WHY, veil_of
from touchstone.service.context import Caller
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


def make_queue(caller: Caller, wanted: NewQueue, *, id: str) -> Queue:
    """Draw a queue from a run; the one that has the id already is given as it is."""
    if (made := caller.store.queues.find(id)) is not None:
        return made
    how: dict[str, Any] = {"n": wanted.size, "name": wanted.name.strip(), "reviewers": tuple(wanted.reviewers)}
    drawing = Drawing(**wanted.model_dump(include={"needed", "seed", "oversampling"}), **how)
    run = find_run(caller, wanted.run, kind="production")
    return draw_queue(caller.store, run=run.id, drawing=drawing, by=caller.name, now=now(), id=id)


def check_reviewer(caller: Caller, queue: Queue) -> None:
    """Refusal when the queue is for others."""
    if not may_review(queue, caller.name):
        raise Refusal(403, "forbidden", f"the queue is not for {caller.name}: a lead names the reviewers of a queue")


def submit_review(caller: Caller, view: ItemView, given: NewReview, *, id: str) -> Submitted:
    """Keep a review of an item; its own id goes before `id`."""
    check_reviewer(caller, view.queue)
    review = Review(
        id=given.id or id,
        queue=view.queue.id,
        position=view.item.position,
        reviewer=caller.name,
        made=now(),
        grades=given.grades,
        violations=_violations(caller, given.violations, view),
        note=_kept(caller, given.note),
        supersedes=given.supersedes,
        seconds=given.seconds,
    )
    submitted = caller.store.reviews.submit(review, rubric=view.rubric)
    if not submitted.repeated:
        caller.service.meters.reviewed()
        caller.note("review submitted", _place(view))
    return submitted


def skip(caller: Caller, queue: str, position: int) -> None:
    """Put an item off; it comes again when nothing else is left."""
    check_reviewer(caller, caller.store.queues.get(queue))
    caller.store.queues.skip(queue, position, reviewer=caller.name, at=now())


def withdraw_review(caller: Caller, queue: str, review: str, *, id: str) -> Submitted:
    """Take a review back."""
    rubric = rubric_of(caller.store, caller.store.queues.get(queue).run)
    done = caller.store.reviews.withdraw(review, queue=queue, id=id, by=caller.name, made=now(), rubric=rubric)
    if not done.repeated:
        caller.note("review withdrawn", f"{queue}/{done.item.position}")
    return done


def save_draft(caller: Caller, queue: str, position: int, draft: Mapping[str, Any]) -> None:
    """Keep what somebody has entered so far: some fields of a review."""
    check_reviewer(caller, caller.store.queues.get(queue))
    if unknown := sorted(set(draft) - set(NewReview.model_fields)):
        allowed = ", ".join(NewReview.model_fields)
        raise ReviewError(f"'{unknown[0][:50]}' is no part of a review: a draft may have {allowed}")
    try:
        length = len(json.dumps(draft, ensure_ascii=False, allow_nan=False))
    except ValueError as error:
        raise ReviewError("the draft holds a number that JSON does not know: leave it out") from error
    if length > MAX_DRAFT:
        raise ReviewError(f"the draft has {length:,} characters, allowed are {MAX_DRAFT:,}: shorten the note")
    kept = map_texts(draft, prose=lambda text: _kept(caller, text), quotation=lambda quoted: quoted)
    caller.store.reviews.save_draft(queue, position, caller.name, body=json.dumps(kept), at=now())


def adjudicate(caller: Caller, view: ItemView, given: NewRuling, *, id: str) -> Item:
    """Keep a lead's word on an item."""
    if not given.reason.strip():
        raise ReviewError("a ruling needs a reason: say why")
    ruling = Ruling(
        id=id,
        queue=view.queue.id,
        position=view.item.position,
        by=caller.name,
        made=now(),
        grades=given.grades,
        violations=_violations(caller, given.violations, view),
        reason=_kept(caller, given.reason),
    )
    item = caller.store.reviews.rule(ruling, rubric=view.rubric)
    if view.ruling is None or view.ruling.id != id:
        caller.note("ruling", _place(view))
    return item


def waive(caller: Caller, run: str, position: int, given: NewWaiver, *, id: str) -> None:
    """Keep that a violation is none, and why; or take that back."""
    if position in veil_of(caller, run).positions:
        raise ReviewError(WHY, kind="conflict")
    said = {**given.model_dump(), "reason": _kept(caller, given.reason.strip())}
    waiver = Waiver(id=id, run=run, result=position, by=caller.name, made=now(), **said)
    if caller.store.marks.waive(waiver):
        act = "waiver withdrawn" if given.withdrawn else "violation waived"
        caller.note(act, f"{run}/{position}", detail=given.kind)


def set_promoted(caller: Caller, run: str, position: int, *, promoted: bool) -> None:
    """Mark a case for a gold set, or take the mark away."""
    marks = caller.store.marks
    changed = marks.promote(run, position, by=caller.name, at=now()) if promoted else marks.demote(run, position)
    if changed:
        caller.note("promoted" if promoted else "demoted", f"{run}/{position}")


def make_action(caller: Caller, given: NewAction, *, id: str) -> Action:
    """Decide what is done about a pattern; the action that has the id already is given as it was made."""
    if made := caller.store.actions.revisions(id):
        return made[0]
    fields = {"pattern": given.pattern, "owner": given.owner, "text": _kept(caller, given.text.strip())}
    run = find_run(caller, given.run).id
    action = Action(id=id, revision=1, state="open", by=caller.name, made=now(), run=run, **fields)
    return _keep_action(caller, action, act="action made")


def change_action(caller: Caller, action: str, given: ChangedAction) -> Action:
    """Change an action; ReviewError when somebody else was faster."""
    changed = replace(
        caller.store.actions.get(action),
        revision=given.revision + 1,
        owner=given.owner,
        text=_kept(caller, given.text.strip()),
        state=given.state,
        by=caller.name,
        made=now(),
    )
    return _keep_action(caller, changed, act="action changed")


def _keep_action(caller: Caller, action: Action, *, act: str) -> Action:
    caller.store.actions.keep(action)
    caller.note(act, action.id, detail=action.state)
    return action


def _place(view: ItemView) -> str:
    return f"{view.queue.id}/{view.item.position}"


def _violations(caller: Caller, marked: list[MarkedViolation], view: ItemView) -> tuple[Finding, ...]:
    """The violations with the text that each span has in the reply."""
    reply = view.scored.case.response if view.scored.case else ""
    return tuple(
        Finding(each.kind, reply[each.start : each.end], each.start, each.end, _kept(caller, each.reason))
        for each in marked
    )


def _kept(caller: Caller, text: str) -> str:
    """What a person wrote as it is stored; a customer may be quoted in it."""
    return redact(text).text if caller.service.settings.redacts else text
