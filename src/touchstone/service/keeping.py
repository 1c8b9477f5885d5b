"""What people write into the service -> what is kept of it: without personal data where the service redacts."""

from typing import Any

from touchstone.runs.redaction import redact
from touchstone.service.context import Service


def kept(here: Service, text: str) -> str:
    """A note or a reason as it is stored; a customer may be quoted in it."""
    return redact(text).text if here.settings.redacts else text


def kept_all(here: Service, value: Any) -> Any:
    """A draft as it is stored: every text in it."""
    if isinstance(value, str):
        return kept(here, value)
    if isinstance(value, dict):
        return {name: kept_all(here, each) for name, each in value.items()}
    return [kept_all(here, each) for each in value] if isinstance(value, list) else value
