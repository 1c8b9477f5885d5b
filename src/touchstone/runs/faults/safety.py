"""A failed reply -> what is unsafe in it: personal data by its kind, harmful advice, promises, competitors."""

from collections.abc import Callable, Iterator

from touchstone.core.result import Finding, ViolationKind
from touchstone.runs.faults.failing import Failing, Sign
from touchstone.runs.faults.manner import INSULT
from touchstone.runs.record import Owner
from touchstone.safety.personal_data.patterns import DatumKind
from touchstone.safety.personal_data.recognise import recognise
from touchstone.text.normalise import normalise

# What each tag on personal data covers; the rest are `leaked personal data`.
CARD: tuple[DatumKind, ...] = ("card",)
NAME: tuple[DatumKind, ...] = ("name",)
ADDRESS: tuple[DatumKind, ...] = ("address",)
EMAIL: tuple[DatumKind, ...] = ("email",)
PHONE: tuple[DatumKind, ...] = ("phone",)
ACCOUNT: tuple[DatumKind, ...] = ("account", "iban", "national_id", "birth_date", "secret")
NAMED = frozenset(CARD + NAME + ADDRESS + EMAIL + PHONE + ACCOUNT)


def leaks_of(*kinds: DatumKind) -> Callable[[Failing], Iterator[Sign]]:
    """A rule for leaks of these kinds of data."""

    def find(reply: Failing) -> Iterator[Sign]:
        return (_sign(v, "bot safety") for v in _of_kind(reply, "pii_leakage") if _datum_kind(v, reply) in kinds)

    return find


def other_leaks(reply: Failing) -> Iterator[Sign]:
    return (_sign(v, "bot safety") for v in _of_kind(reply, "pii_leakage") if _datum_kind(v, reply) not in NAMED)


def harmful_advice(reply: Failing) -> Iterator[Sign]:
    return (_sign(v, "bot safety") for v in _of_kind(reply, "harmful_content") if v.rule != INSULT)


def unbacked_promise(reply: Failing) -> Iterator[Sign]:
    return (_sign(v, "policy") for v in _of_kind(reply, "unauthorized_promise"))


def competitor(reply: Failing) -> Iterator[Sign]:
    return (_sign(v, "policy") for v in _of_kind(reply, "competitor_recommendation"))


def _of_kind(reply: Failing, kind: ViolationKind) -> Iterator[Finding]:
    return (violation for violation in reply.violations if violation.kind == kind)


def _sign(violation: Finding, owner: Owner) -> Sign:
    return Sign(owner, f"'{violation.text}': {violation.reason}")


def _datum_kind(violation: Finding, reply: Failing) -> str | None:
    """What the detector says the data is; of another judge's finding, what is recognised at its place."""
    family, _, kind = (violation.rule or "").partition(".")
    if family == "pii":
        return kind
    normal = normalise(reply.case.response)
    for datum in recognise(normal.text):
        start, end = normal.span(datum.start, datum.end)
        if start < violation.end and violation.start < end:
            return datum.kind
    return None
