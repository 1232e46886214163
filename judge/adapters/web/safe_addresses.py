"""Checks that pages come from public addresses, at the moment of connecting (SSRF).

Every request of the page fetcher, also after a redirect, goes through GuardedTransport: it resolves
the name once, checks all addresses and connects to a checked one by its number. So a name that
changes its address between check and use (DNS rebinding) gains nothing. The Host header, SNI and
the certificate check use the name.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import httpx

from judge.errors import FetchError

Resolver = Callable[[str], Awaitable[Sequence[str]]]
"""Host name to IP addresses in order of preference; raises OSError or UnicodeError."""

CONNECT_TIMEOUT_S = 2.0
"""To connect to one address, and for its TLS handshake: a dead one leaves time for the next."""

MAX_LOOK_UPS = 64
"""Concurrent DNS look-ups, as many as there may be connections."""

MAX_ADDRESSES_TRIED = 4
"""Two of each family is what large sites publish; more only spend the deadline."""

_IPV6_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
"""All that IANA has allocated for public use; without loopback, IPv4-mapped, IPv4-compatible,
NAT64, local, site-local and multicast addresses."""

_SPECIAL = tuple(
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 "
        "172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 "
        "192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 "
        "240.0.0.0/4 2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20"
    ).split()
)
"""IANA's IPv4 and IPv6 Special-Purpose Address Registries, without what is outside 2000::/3, and
168.63.129.16, a public address that leads each Azure machine to its host. Most clouds' metadata
services are in 169.254.0.0/16, one at 100.100.100.200; 6to4 (2002::/16) can carry any IPv4 address.

The list is our own because `is_global` differs between Python versions and includes multicast and
6to4.
"""


def is_public(address: str) -> bool:
    """True if *address* is an IP address of the public internet; False for anything else."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address) and (
        ip.scope_id is not None or ip not in _IPV6_GLOBAL_UNICAST
    ):
        return False
    return ip.is_global and not any(ip in network for network in _SPECIAL)


def host_and_port(host: str, port: int) -> str:
    """As written in JUDGE_TRUSTED_HOSTS: `localhost:8080`, `[::1]:8080`."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def open_resolver() -> Resolver:
    """A Resolver over this machine's; it also normalises unusual spellings of IPv4 addresses.

    It has its own threads: while DNS does not answer, each look-up blocks one for ten seconds and
    more, even if its caller is cancelled, and searches and /health/ready need the event loop's.
    """
    threads = ThreadPoolExecutor(MAX_LOOK_UPS, "resolver")

    async def resolve(host: str) -> Sequence[str]:
        look_up = partial(socket.getaddrinfo, host, None, type=socket.SOCK_STREAM)
        infos = await asyncio.get_running_loop().run_in_executor(threads, look_up)
        return [str(address[0]) for *_, address in infos]

    return resolve


@dataclass(frozen=True, slots=True)
class GuardedTransport(httpx.AsyncBaseTransport):
    """Sends requests only to public addresses and to *trusted* `host:port`s.

    *inner* must keep no idle connections: it knows them by address, and one that was opened for
    another name has shown that name's certificate.
    """

    trusted: frozenset[str]
    resolver: Resolver
    inner: httpx.AsyncBaseTransport

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The response of the first address that answers; raises FetchError and httpx's errors."""
        host = request.url.raw_host.decode("ascii")
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        failure: Exception = FetchError(
            "connection", f"The name {host} has no address. Check the spelling of the source's url."
        )
        for address in (await self._allowed(host, port))[:MAX_ADDRESSES_TRIED]:
            numbered = httpx.Request(
                request.method,
                request.url.copy_with(host=address),
                headers=request.headers,  # with the name as Host
                extensions={"sni_hostname": host, "timeout": {"connect": CONNECT_TIMEOUT_S}},
            )
            try:
                return await self.inner.handle_async_request(numbered)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                failure = error
        raise failure

    async def aclose(self) -> None:
        """Close every connection."""
        await self.inner.aclose()

    async def _allowed(self, host: str, port: int) -> list[str]:
        """The distinct addresses of *host*; raises FetchError if any of them is not allowed."""
        addresses = list(dict.fromkeys(await self._addresses(host)))
        if host_and_port(host.lower(), port) in self.trusted:
            return addresses
        for address in addresses:
            if not is_public(address):
                place = host if host == address else f"{host} (at {address})"
                raise FetchError(
                    "address",
                    f"{place} is not a public address, so nothing is fetched from it. If the "
                    f"pages there are your own, add {host_and_port(host, port)} to "
                    "JUDGE_TRUSTED_HOSTS.",
                )
        return addresses

    async def _addresses(self, host: str) -> Sequence[str]:
        try:
            return [str(ipaddress.ip_address(host))]
        except ValueError:
            pass
        try:
            return await self.resolver(host)
        except (OSError, UnicodeError) as error:
            raise FetchError(
                "connection",
                f"The name {host} cannot be resolved ({error}). Check the spelling of the "
                "source's url and this machine's DNS.",
            ) from error
