"""Where a request comes from: the peer, or what a trusted proxy says about it.

A proxy adds the address that it saw to the right of `X-Forwarded-For` or `Forwarded`; anybody could
have written what is left of what the trusted proxies added.
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

_FOR = re.compile(r'(?:^|;)\s*for\s*=\s*("[^"]*"|[^;"\s]*)', re.IGNORECASE)


def caller_address(peer: str, headers: Headers, proxies: Sequence[Network]) -> str:
    """The key for the rate limit: the client's IPv4 address, or the network of its subscriber."""
    address = _find_address(client_address(peer, headers, proxies))
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((int(address), 64), strict=False))
    return str(address or UNKNOWN)


def client_address(peer: str, headers: Headers, proxies: Sequence[Network]) -> str:
    """The client's address; *peer* unless it is one of *proxies* and names one other address."""
    if not _is_trusted(peer, proxies):
        return peer
    sent = list(headers)
    forwarded = (_FOR.search(element) for element in _elements(sent, b"forwarded"))
    chains = (
        _elements(sent, b"x-forwarded-for"),
        [match[1].strip('"') if match else "" for match in forwarded],
    )
    clients = {_nearest_untrusted(peer, hops, proxies) for hops in chains if hops}
    return clients.pop() if len(clients) == 1 else peer  # of two, the client sent one itself


def is_loopback(host: str) -> bool:
    """Whether *host* is `localhost` or a loopback address; no name is resolved."""
    address = _find_address(host)
    return host == "localhost" if address is None else address.is_loopback


def is_foreign(headers: Headers, origins: Sequence[str], *, checks_host: bool = True) -> bool:
    """Whether a page that belongs neither to this machine nor to *origins* sent the request.

    The `Host` header names another machine when a page points its own name here (DNS rebinding).
    """
    return any(
        not is_loopback(_host_of(text if name == b"origin" else f"//{text}"))
        for name, text in ((name, value.decode("latin-1")) for name, value in headers)
        if (name == b"host" and checks_host) or (name == b"origin" and text not in origins)
    )


def parse_networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """The networks in *texts*; raises ValueError."""
    return tuple(ipaddress.ip_network(text, strict=False) for text in texts)


def _host_of(address: str) -> str:
    """The host in *address*, such as an origin; empty when there is none."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _elements(headers: Headers, name: bytes) -> list[str]:
    """The elements of the comma-separated headers called *name*, of all lines in order."""
    joined = ",".join(value.decode("latin-1") for key, value in headers if key.lower() == name)
    return [element.strip() for element in joined.split(",")] if joined else []


def _nearest_untrusted(peer: str, hops: Sequence[str], proxies: Sequence[Network]) -> str:
    """The rightmost of *hops* that is not a trusted proxy, or the one that reported no address."""
    nearest = peer
    for hop in reversed(hops):
        address = hop if _find_address(hop) else _host_of(f"//{hop}")  # it may have a port
        if not _is_trusted(nearest, proxies) or _find_address(address) is None:
            break
        nearest = address
    return nearest


def _is_trusted(text: str, proxies: Sequence[Network]) -> bool:
    address = _find_address(text) if proxies else None
    return address is not None and any(address in network for network in proxies)


def _find_address(text: str) -> Address | None:
    """The address in *text*, if it is one; an IPv4-mapped IPv6 address becomes IPv4."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
