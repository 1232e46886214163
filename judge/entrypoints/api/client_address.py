"""Where a request comes from: the peer, or what a trusted proxy says about it.

A proxy adds the address that it saw to the right of `X-Forwarded-For` or `Forwarded`. So the list
is read from the right, for as long as the proxies are trusted; anybody could have written what is
further left.
"""

import ipaddress
import re
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Headers = Iterable[tuple[bytes, bytes]]

UNKNOWN = "unknown"
"""A peer without an address, such as a Unix socket."""

MAX_HOPS = 32
"""Nobody has more proxies; hops further left are ignored."""

MAX_ADDRESS_LENGTH = 64
"""Characters of an address with its zone; longer text is not parsed."""

IPV6_PREFIX = 64
"""Bits of the smallest network that a subscriber gets: its addresses count as one caller."""

_PORT = re.compile(r"(?:\[([0-9a-fA-F:.]{2,45})\]|([0-9.]{7,15}))(?::[0-9]{1,5})?")
_FOR = re.compile(r'(?:^|;)\s*for\s*=\s*("[^"]*"|[^;,"\s]*)', re.IGNORECASE)


def caller_address(peer: str, headers: Headers, proxies: Sequence[Network]) -> str:
    """The key for the rate limit: the client's IPv4 address, or its IPv6 network of 64 bits."""
    address = _find_address(client_address(peer, headers, proxies) if proxies else peer)
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((int(address), IPV6_PREFIX), strict=False))
    return str(address or UNKNOWN)


def client_address(peer: str, headers: Headers, proxies: Sequence[Network]) -> str:
    """The client's address; *peer* unless it is one of *proxies* and names another.

    If both headers are there and name different clients, neither is trusted: the client may have
    sent one of them itself.
    """
    if not _is_trusted(peer, proxies):
        return peer
    pairs = list(headers)
    forwarded = (_FOR.search(element) for element in _elements(pairs, b"forwarded"))
    clients = {
        _nearest_untrusted(peer, hops, proxies)
        for hops in (
            _elements(pairs, b"x-forwarded-for"),
            [match[1].strip('"') if match else "" for match in forwarded],
        )
        if hops
    }
    return clients.pop() if len(clients) == 1 else peer


def is_loopback(host: str) -> bool:
    """Whether *host* is `localhost` or a loopback address; no name is resolved."""
    address = _find_address(host)
    return host == "localhost" if address is None else address.is_loopback


def has_foreign_host(headers: Headers) -> bool:
    """Whether the `Host` header names another machine.

    A page can point its own name at this one after it is loaded (DNS rebinding).
    """
    hosts = (value.decode("latin-1") for name, value in headers if name == b"host")
    return any(not is_loopback(_host_of(f"//{host}")) for host in hosts)


def has_foreign_origin(headers: Headers, origins: Sequence[str]) -> bool:
    """Whether the `Origin` header names neither one of *origins* nor this machine."""
    sent = (value.decode("latin-1") for name, value in headers if name == b"origin")
    return any(origin not in origins and not is_loopback(_host_of(origin)) for origin in sent)


def parse_networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """The networks in *texts*; raises ValueError."""
    return tuple(ipaddress.ip_network(text, strict=False) for text in texts)


def _host_of(address: str) -> str:
    """The host in *address*, such as an origin; empty when there is none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _nearest_untrusted(peer: str, hops: Sequence[str], proxies: Sequence[Network]) -> str:
    """The rightmost of *hops* that is no trusted proxy.

    If a hop is not an address, the proxy that reported it is taken for the client.
    """
    nearest = peer
    for hop in reversed(hops):
        match = _PORT.fullmatch(hop)
        address = (match[1] or match[2]) if match else hop
        if _find_address(address) is None:
            return nearest
        nearest = address
        if not _is_trusted(address, proxies):
            return nearest
    return nearest


def _elements(headers: Headers, name: bytes) -> list[str]:
    """The last elements of the comma-separated headers called *name*, of all lines in order."""
    lines = (value.decode("latin-1") for key, value in headers if key.lower() == name)
    joined = ",".join(lines)
    elements = joined.rsplit(",", MAX_HOPS)[-MAX_HOPS:] if joined else []
    return [element.strip() for element in elements]


def _is_trusted(text: str, proxies: Sequence[Network]) -> bool:
    address = _find_address(text)
    return address is not None and any(address in network for network in proxies)


def _find_address(text: str) -> Address | None:
    """The address in *text*, if it is one; an IPv4-mapped IPv6 address becomes IPv4."""
    if len(text) > MAX_ADDRESS_LENGTH:
        return None
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
