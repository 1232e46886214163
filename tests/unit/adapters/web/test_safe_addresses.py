"""Which addresses count as public, and that every connection goes to a checked one."""

import asyncio
import ipaddress
import socket
import threading
from collections.abc import Sequence

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.adapters.web.safe_addresses import (
    CONNECT_TIMEOUT_S,
    MAX_ADDRESSES_TRIED,
    MAX_LOOK_UPS,
    GuardedTransport,
    is_public,
    open_resolver,
)
from judge.errors import FetchError
from tests.fakes.network import PUBLIC

PUBLIC_6 = "2606:4700::6810:84e5"


class Recorder(httpx.AsyncBaseTransport):
    """Notes the requests it is asked to send; the addresses in *dead* do not answer."""

    def __init__(self, dead: Sequence[str] = ()) -> None:
        self.dead = dead
        self.requests: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if request.url.host in self.dead:
            raise httpx.ConnectError(f"{request.url.host} does not answer")
        return httpx.Response(200)

    @property
    def addresses(self) -> list[str]:
        return [request.url.host for request in self.requests]


class Names:
    """A resolver with fixed answers that counts; a name it does not have is an OSError."""

    def __init__(self, **answers: list[str]) -> None:
        self.answers = answers
        self.calls: list[str] = []

    async def __call__(self, host: str) -> Sequence[str]:
        self.calls.append(host)
        if host not in self.answers:
            raise OSError("no such name")
        return self.answers[host]


async def send(network: Recorder, url: str, *trusted: str, **names: list[str]) -> Names:
    """Request *url* over *network*; the resolver with its calls."""
    resolver = Names(**names)
    guarded = GuardedTransport(frozenset(trusted), resolver, network)
    await guarded.handle_async_request(httpx.Request("GET", url))
    return resolver


@pytest.mark.parametrize("address", [PUBLIC, "8.8.8.8", "1.1.1.1", PUBLIC_6, "2a00:1450:4009::1"])
def test_ordinary_addresses_are_public(address):
    assert is_public(address)


SPECIAL = """
    0.0.0.0 10.1.2.3 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.254 168.63.129.16
    169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.192 192.0.2.1 192.88.99.1 192.168.1.1
    198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255
    :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 64:ff9b::808:808 64:ff9b:1::1 100::1
    2001::1 2001:db8::1 2002:7f00:1:: 3fff::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1
    fe80::1%eth0 fec0::1 ff02::1 localhost 2130706433 0177.0.0.1
"""


@pytest.mark.parametrize("address", [*SPECIAL.split(), f"{PUBLIC_6}%eth0", ""])
def test_special_addresses_and_odd_spellings_are_not_public(address):
    assert not is_public(address)


@given(st.ip_addresses())
def test_addresses_that_python_calls_special_are_not_public(ip):
    special = ip.is_private or ip.is_loopback or ip.is_link_local or ip.is_multicast
    if special or ip.is_reserved or ip.is_unspecified:
        assert not is_public(str(ip))


@given(st.ip_addresses(v=4))
def test_no_ipv6_form_that_carries_an_ipv4_address_is_public(ip):
    number = int(ip)
    for carrier in (
        ipaddress.IPv6Address(number),
        ipaddress.IPv6Address((0xFFFF << 32) | number),
        ipaddress.IPv6Address((0x64FF9B << 96) | number),
        ipaddress.IPv6Address((0x2002 << 112) | (number << 80)),
        ipaddress.IPv6Address((0x20010000 << 96) | number),
    ):
        assert not is_public(str(carrier))


@pytest.mark.parametrize(
    "spelling", ["127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1"]
)
async def test_system_resolver_normalises_unusual_spellings(spelling):
    assert await open_resolver()(spelling) == ["127.0.0.1"]


async def test_slow_dns_does_not_block_other_names(monkeypatch):
    answered, resolve = threading.Event(), open_resolver()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answered.wait() and [])
    look_ups = [asyncio.create_task(resolve(f"{n}.example")) for n in range(MAX_LOOK_UPS)]
    try:
        await asyncio.sleep(0)  # They have begun.
        assert await asyncio.wait_for(asyncio.to_thread(str), 20) == ""
        assert not any(look_up.done() for look_up in look_ups)
    finally:
        answered.set()
    assert await asyncio.gather(*look_ups) == [[]] * MAX_LOOK_UPS


async def test_request_goes_to_the_checked_address_and_names_the_host():
    network = Recorder()
    resolver = await send(network, "https://example/a?b", example=[PUBLIC_6])
    [request] = network.requests
    assert str(request.url) == f"https://[{PUBLIC_6}]/a?b"
    assert request.headers["host"] == "example"
    assert request.extensions["sni_hostname"] == "example"
    assert request.extensions["timeout"] == {"connect": CONNECT_TIMEOUT_S}
    assert resolver.calls == ["example"]


async def test_dns_rebinding_after_the_check_has_no_effect():
    network = Recorder()
    answers = iter([[PUBLIC], ["127.0.0.1"]])

    async def rebinding(host):
        return next(answers)

    guarded = GuardedTransport(frozenset(), rebinding, network)
    await guarded.handle_async_request(httpx.Request("GET", "http://example/"))
    with pytest.raises(FetchError, match=r"127\.0\.0\.1"):
        await guarded.handle_async_request(httpx.Request("GET", "http://example/"))
    assert network.addresses == [PUBLIC]


@pytest.mark.parametrize("addresses", [[PUBLIC, "10.0.0.1"], ["10.0.0.1", PUBLIC], ["nonsense"]])
async def test_one_address_that_is_not_public_refuses_the_name(addresses):
    network = Recorder()
    with pytest.raises(FetchError) as caught:
        await send(network, "http://example/", example=addresses)
    assert caught.value.reason == "address"
    assert "add example:80 to JUDGE_TRUSTED_HOSTS" in str(caught.value)
    assert network.requests == []


@pytest.mark.parametrize("literal", ["127.0.0.1", "[::1]", "[fe80::1%25eth0]", "169.254.169.254"])
async def test_an_address_in_the_url_is_checked_without_a_look_up(literal):
    network = Recorder()
    with pytest.raises(FetchError) as caught:
        await send(network, f"http://{literal}/")
    assert caught.value.reason == "address"
    assert network.requests == []


async def test_a_trusted_host_may_be_private():
    network = Recorder()
    await send(network, "http://Intranet:8080/", "intranet:8080", intranet=["10.0.0.1"])
    assert [str(request.url) for request in network.requests] == ["http://10.0.0.1:8080/"]


@pytest.mark.parametrize("trusted", ["intranet:8081", "other:8080", "10.0.0.1:8080", "intranet"])
async def test_trust_applies_to_one_host_and_port(trusted):
    network = Recorder()
    with pytest.raises(FetchError):
        await send(network, "http://intranet:8080/", trusted, intranet=["10.0.0.1"])
    assert network.requests == []


async def test_the_next_address_is_tried_when_one_is_dead():
    network = Recorder(dead=[PUBLIC_6])
    await send(network, "http://example/", example=[PUBLIC_6, PUBLIC_6, PUBLIC])
    assert network.addresses == [PUBLIC_6, PUBLIC]


async def test_only_a_few_addresses_are_tried():
    many = [f"8.8.8.{number}" for number in range(20)]
    network = Recorder(dead=many)
    with pytest.raises(httpx.ConnectError):
        await send(network, "http://example/", example=many)
    assert network.addresses == many[:MAX_ADDRESSES_TRIED]


@pytest.mark.parametrize("failure", [OSError("no such name"), UnicodeError("label too long"), None])
async def test_a_name_without_an_address_is_a_connection_error(failure):
    async def resolver(host):
        if failure:
            raise failure
        return []

    guarded = GuardedTransport(frozenset(), resolver, Recorder())
    with pytest.raises(FetchError) as caught:
        await guarded.handle_async_request(httpx.Request("GET", "http://example/"))
    assert caught.value.reason == "connection"
    assert str(caught.value) == (
        f"The name example cannot be resolved ({failure}). Check the spelling of the source's url "
        "and this machine's DNS."
        if failure
        else "The name example has no address. Check the spelling of the source's url."
    )
