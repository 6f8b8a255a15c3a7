"""Limits of a service: how long heads and bodies may be and take, and how many connections there may be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv6Network, ip_address, ip_network

from ..errors import MisuseError
from ._reasons import Reason

BODY_SECONDS = 30.0  # in which a body has to come: a batch of 16 MiB over a line of 4.5 Mbit/s


@dataclass(frozen=True, kw_only=True)
class ConnectionLimits:
    """Limits of connections, of each by itself and of all.

    Parameters
    ----------
    head_bytes, head_fields
        The most bytes and header fields of the head of a request. nginx takes 32 KiB and Apache 100 fields.
    head_seconds
        How long a head may take, from the connection or from its first byte.
    body_seconds
        How long a body may take, from the end of its head.
    grace_seconds
        How much longer a connection stays for the answer to be read after that.
    stalled_seconds
        How long whoever asked may leave an answer unread.
    connections, address_connections
        How many connections there may be in all, and from one address.
    """

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
    """Return an address as it is compared: without port, brackets and zone, and without what is no address.

    A socket of IPv6 that takes IPv4 too shows 192.0.2.1 as ::ffff:192.0.2.1 (RFC 4291, 2.5.5.2): it is 192.0.2.1.
    """
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
    """Return the group of addresses whose requests and connections are counted together.

    One holder of an IPv6 address has its whole network of 64 bits (RFC 6177), so that network is counted as one. What
    is no address is one group as well.
    """
    address = plain_address(text)
    return str(IPv6Network((int(ip_address(address)), 64), strict=False)) if ":" in address else address


class ConnectionCount:
    """The number of connections that there are, in all and from each address.

    Parameters
    ----------
    limits
        How many there may be.
    trusted_proxies
        Addresses and networks from which any number may come, up to that in all: many people stand behind each.
    """

    def __init__(self, limits: ConnectionLimits, trusted_proxies: Sequence[str] = ()) -> None:
        self._limits = limits
        self._proxies = [ip_network(proxy) for proxy in trusted_proxies]
        self._counts: Counter[str] = Counter()
        self._total = 0

    def enter(self, address: str) -> Reason | None:
        """Count a connection from an address; return why it is refused, or None."""
        if self._total >= self._limits.connections:
            return Reason.BUSY
        group = address_group(address)
        if self._counts[group] >= self._limits.address_connections and not self._is_proxy(address):
            return Reason.TOO_MANY
        self._total += 1
        self._counts[group] += 1
        return None

    def leave(self, address: str) -> None:
        """Count a connection no more."""
        group = address_group(address)
        self._total -= 1
        self._counts[group] -= 1
        if not self._counts[group]:
            del self._counts[group]

    def _is_proxy(self, address: str) -> bool:
        try:
            return any(ip_address(plain_address(address)) in network for network in self._proxies)
        except ValueError:
            return False
