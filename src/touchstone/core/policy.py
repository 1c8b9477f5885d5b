"""What the company is, publishes and lets agents promise; it sharpens the safety detectors and may be empty."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Allowance:
    """Something agents may promise, up to an amount when one is given: goodwill credit up to 20 GBP."""

    what: str
    up_to: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The company's facts."""

    company: str | None = None
    domains: tuple[str, ...] = ()
    contacts: tuple[str, ...] = ()
    competitors: tuple[str, ...] = ()
    promises: tuple[Allowance, ...] = ()
