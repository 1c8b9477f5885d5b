"""A scored row -> what is written of it: all, or the same without personal data."""

from dataclasses import dataclass

from touchstone.core.case import Case
from touchstone.core.result import Failure, Result
from touchstone.runs.evaluate import failed
from touchstone.runs.record import Record, record
from touchstone.runs.redaction import redact_failure, redact_reply


@dataclass(frozen=True, slots=True)
class Kept:
    """A row as it is written. `case` is None when it could not be read."""

    case: Case | None
    result: Result
    record: Record


def without_personal_data(row: Kept) -> Kept:
    """The row, scored as it came, as it may be kept; one that cannot be redacted is withheld as a failed row."""
    try:
        if row.case is None:
            unread = redact_failure(row.result, row.record)
            return Kept(None, unread.result, unread.record)
        found = redact_reply(row.case, row.result, row.record)
        return Kept(found.case, found.result, found.record)
    except Exception as error:  # noqa: BLE001 - a defect must not cost the other rows; its text may quote the customer
        problem = "taking personal data out met a defect in Touchstone, so the result is withheld: please report it"
        withheld = failed(row.result.id, Failure("redact", type(error).__name__, problem), line=row.result.line)
        return Kept(None, withheld, record(None, withheld))
