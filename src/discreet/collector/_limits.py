"""The limits of a service: length and duration of heads and bodies, and the number of connections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv6Network, ip_address, ip_network
from math import inf

from ..errors import MisuseError
from ._reasons import Reason

BODY_SECONDS = 30.0  # for a body: a batch of 16 MiB over a line of 4.5 Mbit/s

# Of an answer, written at a time. A connection buffers two pieces at most, and one is left when the next is written, so
# each reader that takes 64 KiB in `stalled_seconds` gets its answer. Larger: more memory; smaller: more steps.
PIECE_BYTES = 32 << 10


@dataclass(frozen=True, kw_only=True)
class ConnectionLimits:
    """The limits of each connection, and of all connections together.

    Parameters
    ----------
    head_bytes, head_fields
        The largest length, and number of header fields, of the head of a request. nginx takes 32 KiB and Apache 100
        fields.
    head_seconds
        The duration of a head, from the connection or from its first byte.
    body_seconds
        The duration of a body, from the end of its head.
    grace_seconds
        The time for reading the answer after a body that took too long.
    stalled_seconds
        The time in which a client reads 64 KiB of an answer, or the remaining answer.
    connections, address_connections
        The largest number of connections, in all and from one address.
    """

    # Larger: slow or hostile clients occupy more memory and sockets; smaller: honest clients behind slow lines or
    # shared addresses are cut off. A head of 32 KiB in 10 seconds is 26 kbit/s.
    head_bytes: int = 32 << 10
    head_fields: int = 100
    head_seconds: float = 10.0
    body_seconds: float = BODY_SECONDS
    grace_seconds: float = 5.0
    stalled_seconds: float = 30.0
    connections: int = 2048
    address_connections: int = 256

    def __post_init__(self) -> None:
        for name in ("connections", "address_connections"):
            if getattr(self, name) < 1:
                raise MisuseError(f"{name} is at least 1, got {getattr(self, name)}.")


def check_rate(rate: float) -> float:
    """Return the number of requests per second from one address, after checking it; 0 means no limit."""
    if not 0 <= rate < inf:
        raise MisuseError(f"The rate is a number of requests a second from 0, which means any number, got {rate}.")
    return rate


def check_proxies(trusted_proxies: Sequence[str]) -> None:
    """Check that each trusted proxy is an address or a network of addresses."""
    for proxy in trusted_proxies:
        try:
            ip_network(proxy)
        except ValueError:
            raise MisuseError(
                f"A trusted proxy is an address such as 10.0.0.5, or a network such as 10.0.0.0/24, got {proxy!r:.60}."
            ) from None


def plain_address(text: str) -> str:
    """Return an address for comparisons, without port, brackets and zone; "" for a text that is no address.

    An IPv6 socket that accepts IPv4 shows 192.0.2.1 as ::ffff:192.0.2.1 (RFC 4291, 2.5.5.2): it is 192.0.2.1.
    """
    # Proxies write addresses with ports, brackets and zones (RFC 7239, 6; RFC 4007, 11).
    host = text.strip()
    if host.startswith("["):
        host = host[1:].partition("]")[0]
    elif host.count(":") == 1:
        host = host.partition(":")[0]
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return ""
    return str(getattr(address, "ipv4_mapped", None) or address)


def address_group(text: str) -> str:
    """Return the group of addresses with a common count of requests and connections.

    The holder of an IPv6 address has a whole network of 64 bits (RFC 6177), so that network is one group. All texts
    that are no addresses are one group as well.
    """
    address = plain_address(text)
    return str(IPv6Network((int(ip_address(address)), 64), strict=False)) if ":" in address else address


class ConnectionCount:
    """The number of open connections, in all and from each group of addresses.

    Parameters
    ----------
    limits
        The largest numbers.
    trusted_proxies
        Addresses and networks without a limit of their own: many people share one proxy.
    """

    def __init__(self, limits: ConnectionLimits, trusted_proxies: Sequence[str] = ()) -> None:
        self._limits = limits
        self._proxies = [ip_network(proxy) for proxy in trusted_proxies]
        self._counts: Counter[str] = Counter()

    def enter(self, address: str) -> Reason | None:
        """Count a connection from an address; return the reason of a refusal, or None."""
        if self._counts.total() >= self._limits.connections:
            return Reason.BUSY
        group = address_group(address)
        # A trusted proxy stands for many people, so only the limit of all connections holds for it.
        if self._counts[group] >= self._limits.address_connections and not self._is_proxy(address):
            return Reason.TOO_MANY
        self._counts[group] += 1
        return None

    def leave(self, address: str) -> None:
        """Subtract a connection from an address."""
        group = address_group(address)
        self._counts[group] -= 1
        if not self._counts[group]:
            del self._counts[group]

    def _is_proxy(self, address: str) -> bool:
        try:
            return any(ip_address(plain_address(address)) in network for network in self._proxies)
        except ValueError:
            return False
