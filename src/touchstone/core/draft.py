"""One reply drafted for a case, before it is judged."""

from dataclasses import dataclass

from touchstone.core.case import Passage


@dataclass(frozen=True, slots=True)
class Draft:
    """A reply, and what its author says of it.

    `confidence` is the author's own, 0 to 1. `context=None` means it named no passages of its own, so the case's
    stand. `seconds` is how long the attempt took that brought the reply, `attempts` how many there were; a reply
    out of a file took none.
    """

    reply: str
    confidence: float | None = None
    context: tuple[Passage, ...] | None = None
    seconds: float = 0.0
    attempts: int = 1
