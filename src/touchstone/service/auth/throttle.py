"""Log-ins that failed -> who has to wait before the next. One who signs in where they did before waits for no other."""

from ipaddress import IPv6Address, ip_address, ip_network

from touchstone.service.clock import from_now
from touchstone.store.guards import Logins

# Wrong passwords within the window that a name has from one address.
WINDOW_SECONDS = 15 * 60.0
MOST_OF_PAIR = 5
# Of a name from everywhere, and from an address under every name: far more than people mistype. Then only those wait
# who have not signed in under the name from the address lately.
MOST_OF_NAME = 50
MOST_FROM_ADDRESS = 300
KNOWN_SECONDS = 30 * 24 * 3600.0

# What the store keeps of an address.
_LONGEST_PLACE = 64


def must_wait(logins: Logins, *, name: str, place: str) -> bool:
    """Whether a name has to wait at a place; the right password does not help then."""
    since = from_now(-WINDOW_SECONDS)
    if logins.failures(name=name, address=place, since=since) >= MOST_OF_PAIR:
        return True
    if logins.has_succeeded(name, address=place, since=from_now(-KNOWN_SECONDS)):
        return False
    of_name, from_address = logins.failures(name=name, since=since), logins.failures(address=place, since=since)
    return of_name >= MOST_OF_NAME or from_address >= MOST_FROM_ADDRESS


def expire(logins: Logins) -> None:
    """Forget what no longer counts."""
    logins.expire(from_now(-2 * WINDOW_SECONDS), successes=from_now(-KNOWN_SECONDS))


def place_of(address: str) -> str:
    """What an address is counted under: of IPv6 its network of 64 bits, all of which one machine may have."""
    try:
        found = ip_address(address)
    except ValueError:
        return address[:_LONGEST_PLACE]
    if isinstance(found, IPv6Address):
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return str(ip_network((int(found), 64), strict=False))
    return str(found)
