"""How the service runs: where it listens, who may use it, and how much it takes on at once."""

from dataclasses import dataclass
from ipaddress import ip_address

from touchstone.core.errors import ConfigError

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
# Of one caller under --auth: a guard in front of a busy desk stays below it, a loop gone wild does not.
RATE_UNDER_AUTH = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Settings of the service itself. Sizes are in bytes, times in seconds, `rate` in cases a second and caller.

    `waiting` bounds the single cases that wait to be scored and `batched` those of batches: what comes on top is
    refused at once, so that whoever waits is answered soon. Where a single case waits longer than `ready_seconds`,
    the service says that it is not ready. `trusted_proxies` are the networks besides this machine whose word on where
    a request comes from is believed.
    """

    host: str = "127.0.0.1"
    port: int = 8321
    has_auth: bool = False
    workers: int = 2
    max_body: int = 4 * 1024 * 1024
    max_cases: int = 256
    waiting: int = 64
    batched: int = 1024
    case_seconds: float = 20.0
    ready_seconds: float = 5.0
    header_seconds: float = 10.0
    body_seconds: float = 30.0
    connections: int = 512
    trusted_proxies: tuple[str, ...] = ()
    rate: float | None = None
    session_seconds: float = 12 * 3600.0

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the service."""
        return is_loopback(self.host)


def check_options(options: Options) -> None:
    """ConfigError for a service that would be open to strangers, or that could not work."""
    if not options.is_local and not options.has_auth:
        raise ConfigError(
            f"--host {options.host} can be reached from other machines, and everybody there could read and change "
            "everything: add --auth (and users with touchstone user add), or leave --host at 127.0.0.1"
        )
    if options.workers < 1:
        raise ConfigError(f"--workers {options.workers} would score nothing: give 1 or more")


def is_loopback(host: str) -> bool:
    """Whether the address or name is this machine's own."""
    if host in LOOPBACK_NAMES:
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
