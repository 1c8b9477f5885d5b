"""A person's word that a violation is none -> the store and the audit log; for the API and the pages alike."""

from dataclasses import replace

from touchstone.core.errors import ReviewError
from touchstone.runs.waivers import Waiver
from touchstone.service.audit import note
from touchstone.service.auth.principal import Principal
from touchstone.service.blind import WHY, veil_of
from touchstone.service.context import Service
from touchstone.service.keeping import kept


def waive_violation(here: Service, who: Principal, waiver: Waiver) -> None:
    """Keeps the waiver, or that it is taken back.

    ReviewError while the reply is this person's to grade: they would see what the judge found.
    """
    if waiver.result in veil_of(here, who, waiver.run).positions:
        raise ReviewError(WHY, kind="conflict")
    here.store.marks.waive(replace(waiver, reason=kept(here, waiver.reason.strip())))
    act = f"waiver of {waiver.kind} {'taken back' if waiver.withdrawn else 'given'}"
    note(here, who, act, f"{waiver.run}/{waiver.result}")
