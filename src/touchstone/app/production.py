"""Production replies as they come -> a production run that grows, batch by batch, until a queue is drawn from it.

A reply is known by its case's id: one that is sent again, because a night's job was repeated or its line was lost, is
there once.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from touchstone.app.audit import note, now
from touchstone.app.config import Settings
from touchstone.app.plan import receipt_of
from touchstone.app.score import score_together
from touchstone.core.case import Case
from touchstone.core.codec import case_to_dict, content_hash
from touchstone.core.errors import InputError, ReviewError, StoreError
from touchstone.core.result import Failure, Result
from touchstone.io.cases import Entry, read_cases
from touchstone.io.files import open_mapped, shown
from touchstone.rubric.card import write_rubric
from touchstone.runs.record import record
from touchstone.runs.redaction import redact_case, redact_reply
from touchstone.runs.run import Run
from touchstone.store.results import Scored, case_to_row
from touchstone.store.runs import LATEST, PREVIOUS, Store

# What is scored and stored in one go: a few seconds of work, which is all that an end in the middle costs.
CHUNK = 256
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
# Of two batches of a run these are the same, or its figures would be about two things.
_SAME = {
    "rubric_hash": "rubric",
    "plan": "plan",
    "policy": "policy",
    "judge": "judge",
    "code": "version of Touchstone",
    "parser": "parser",
    "redacted": "setting of --redact",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """What became of a batch: replies added, replies the run had, and how many it has now.

    `conflicts` are ids that the run has with another text: they are not stored. `failed` were, and could not be scored.
    """

    run: str
    added: int = 0
    repeated: int = 0
    failed: int = 0
    replies: int = 0
    conflicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TimedResult:
    """A result, and how long it took."""

    result: Result
    seconds: float = 0.0


Score = Callable[[Sequence[Case]], Sequence[TimedResult]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """What a production run takes replies in with: `by` is who adds them, `score` whoever scores them for a service."""

    name: str
    settings: Settings
    store: Store
    labels: Mapping[str, str]
    by: str
    score: Score | None = None

    def add_file(
        self, source: str, *, on_added: Callable[[Added], None], on_unread: Callable[[Entry, Failure], None]
    ) -> Added:
        """Score the replies of a file and add them to the run.

        `on_added` is told how far it is, `on_unread` of each row that is no case; such rows are not stored, and a file
        of nothing else is an InputError.
        """
        so_far = Added(run=self.name)
        is_any = False
        with open_mapped(source, mapped=self.settings.mapped) as rows:
            entries = read_cases(rows, file=shown(source), columns=self.settings.columns)
            while chunk := list(islice(entries, CHUNK)):
                cases = []
                for entry in chunk:
                    if isinstance(entry.case, Case):
                        cases.append(entry.case)
                    else:
                        on_unread(entry, entry.case)
                if cases:
                    is_any = True
                    so_far = _sum(so_far, self._add(cases))
                    on_added(so_far)
        if not is_any:
            raise InputError(f"{shown(source)} has no readable reply: correct its rows, nothing was stored")
        return self._noted(so_far)

    def add(self, cases: Sequence[Case]) -> Added:
        """Score cases that have ids of their own and add them to the run, which is begun if need be."""
        return self._noted(self._add(cases))

    def _noted(self, added: Added) -> Added:
        note(self.store, self.by, "replies stored", added.run)
        return added

    def _add(self, cases: Sequence[Case]) -> Added:
        redacts = self.settings.redacts
        run = self._run()
        held = self.store.replies.held(run.id, [case.id or "" for case in cases])
        new = [case for case in cases if case.id not in held]
        conflicts = [
            case.id or "" for case in cases if case.id in held and held[case.id] != _hash(case, redacts=redacts)
        ]
        judged = (self.score or partial(_score_here, settings=self.settings))(new) if new else ()
        entries = [_entry(case, each) for case, each in zip(new, judged, strict=True)]
        kept = [redact_reply(entry) if redacts else entry for entry in entries]
        data = content_hash([case_to_dict(case) for case in new])
        seconds = sum(entry.seconds for entry in entries)
        appended = self.store.append(run.id, kept, data=data, finished=now(), seconds=seconds)
        return Added(
            run=run.id,
            added=appended.added,
            repeated=len(cases) - appended.added - len(conflicts),
            failed=sum(entry.record.failed for entry in entries),
            replies=appended.total,
            conflicts=tuple(conflicts),
        )

    def _run(self) -> Run:
        """The run of this name, of the same settings; a new one if there is none."""
        if not _NAME.fullmatch(self.name) or self.name in (LATEST, PREVIOUS):
            raise InputError(
                f"'{self.name[:80]}' cannot be a run's name: allowed are up to 64 letters, figures, dots, dashes and "
                f"underscores, such as 2026-W12, but not {LATEST} and {PREVIOUS}"
            )
        receipt = receipt_of(self.settings, name=self.name, data="")
        run = Run(id=self.name, started=now(), receipt=receipt, labels=self.labels, kind="production")
        found = self.store.get_run(self.name)
        if found is None:
            try:
                self.store.create_run(run, rubric=write_rubric(self.settings.rubric))
                return run
            except StoreError:
                # Somebody else began it just now, or the store cannot be used at all.
                found = self.store.get_run(self.name)
                if found is None:
                    raise
        if found.kind != "production":
            raise ReviewError(
                f"run {self.name} is one of a gold set: give production replies another name", kind="conflict"
            )
        if changed := [what for each, what in _SAME.items() if getattr(found.receipt, each) != getattr(receipt, each)]:
            raise ReviewError(
                f"run {self.name} was started with another {', '.join(changed)}, and its replies would not be graded "
                "alike: start another run",
                kind="conflict",
            )
        _check_labels(found, self.labels)
        return found


def _check_labels(run: Run, labels: Mapping[str, str]) -> None:
    """Labels say which bot drafted a run's replies; given with some of them, others would be said of all."""
    if other := next((name for name, value in labels.items() if run.labels.get(name) != value), None):
        has = f"{other}={run.labels[other]}" if other in run.labels else f"no label {other}"
        raise ReviewError(
            f"run {run.id} has {has}, and these replies are labelled {other}={labels[other]}: add them to another run, "
            "or change the labels of this one first, for all its replies",
            kind="conflict",
        )


def _score_here(cases: Sequence[Case], *, settings: Settings) -> list[TimedResult]:
    """Scoring in this process."""
    entries = [Entry("file", at, case) for at, case in enumerate(cases, 1)]
    return [TimedResult(result) for result in score_together(entries, settings=settings)]


def _entry(case: Case, judged: TimedResult) -> Scored:
    # The store gives it its place.
    found = record(case, judged.result)
    return Scored(position=0, case=case, result=judged.result, record=found, seconds=judged.seconds)


def _hash(case: Case, *, redacts: bool) -> str:
    """What the case's text is kept under."""
    return str(case_to_row(redact_case(case) if redacts else case)["hash"])


def _sum(so_far: Added, added: Added) -> Added:
    return Added(
        run=added.run,
        added=so_far.added + added.added,
        repeated=so_far.repeated + added.repeated,
        failed=so_far.failed + added.failed,
        replies=added.replies,
        conflicts=(*so_far.conflicts, *added.conflicts),
    )
