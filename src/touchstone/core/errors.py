"""Everything Touchstone raises on purpose.

TouchstoneError
├── CaseError        a row that is no Case: names the field and the remedy
├── ConfigError      touchstone.yaml or a flag that cannot be used
├── RubricError      a rubric file that cannot be used: names line and remedy
├── InputError       a file that cannot be read or written at all
├── ResourceError    packaged data or a model that is missing or broken
├── StoreError       a database of runs that cannot be used, or a run it does not hold
└── ReviewError      a review, a queue or a ruling that cannot be taken as it is

A row that fails is a `Failure` value, never an exception: exceptions end a command, failures keep their place.
"""


class TouchstoneError(Exception):
    """Base of every error a user can cause or cure; its text is shown as it is."""


class CaseError(TouchstoneError):
    """The row does not describe a Case."""


class ConfigError(TouchstoneError):
    """The configuration cannot be used."""


class RubricError(TouchstoneError):
    """The rubric cannot be used."""


class InputError(TouchstoneError):
    """A file cannot be read or written."""


class ResourceError(TouchstoneError):
    """Packaged data or a model is missing or broken."""


class StoreError(TouchstoneError):
    """The database of runs cannot be used, or does not hold what was asked for."""


class ReviewError(TouchstoneError):
    """The review, queue or ruling cannot be taken as it is.

    `kind` is `invalid` (what was given is wrong), `unknown` (what it names is not there), `conflict` (something newer
    is there), `forbidden` (it is for others) or `closed`.
    """

    def __init__(self, message: str, *, kind: str = "invalid") -> None:
        super().__init__(message)
        self.kind = kind
