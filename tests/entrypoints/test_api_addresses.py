"""The client address that a rate limit counts: the peer's, or one that a trusted proxy sends."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.entrypoints.api.client_address import (
    UNKNOWN,
    caller_address,
    client_address,
    is_loopback,
    parse_networks,
)

PROXIES = parse_networks(["10.0.0.1/8", "fd00::/8"])  # an address of a network names it too
PROXY = "10.0.0.1"
STRANGER = "203.0.113.9"


def xff(*lines: str) -> list[tuple[bytes, bytes]]:
    return [(b"x-forwarded-for", line.encode("latin-1")) for line in lines]


def forwarded(*lines: str) -> list[tuple[bytes, bytes]]:
    return [(b"forwarded", line.encode("latin-1")) for line in lines]


@pytest.mark.parametrize(
    ("headers", "client"),
    [
        (xff("198.51.100.7"), "198.51.100.7"),
        (xff("198.51.100.7:4711"), "198.51.100.7"),
        (xff(" 1.2.3.4 , 198.51.100.7 , 10.9.9.9 "), "198.51.100.7"),
        (xff("1.2.3.4, 198.51.100.7", "10.9.9.9"), "198.51.100.7"),
        (xff("2001:db8::7"), "2001:db8::7"),
        (xff("[2001:db8::7]:443, fd00::1"), "2001:db8::7"),
        (xff("10.1.1.1, 10.2.2.2"), "10.1.1.1"),
        (forwarded("for=198.51.100.7"), "198.51.100.7"),
        (forwarded("proto=https; For=198.51.100.7:80; by=10.0.0.1"), "198.51.100.7"),
        (forwarded('for="[2001:db8::7]:4711", for=10.2.2.2'), "2001:db8::7"),
        (forwarded("for=1.2.3.4", "for=198.51.100.7"), "198.51.100.7"),
        (xff("198.51.100.7") + forwarded("for=198.51.100.7"), "198.51.100.7"),
    ],
)
def test_client_address_comes_from_a_trusted_proxy(headers, client):
    assert client_address(PROXY, headers, PROXIES) == client


@pytest.mark.parametrize(
    "headers",
    [
        [],
        xff(""),
        xff("unknown"),
        xff("198.51.100.7, nonsense"),
        xff("999.1.1.1"),
        forwarded("proto=https"),
        forwarded("for=_hidden"),
        forwarded("for=198.51.100.7, proto=https"),
        xff("198.51.100.7") + forwarded("for=1.2.3.4"),
    ],
)
def test_invalid_or_contradictory_headers_are_ignored(headers):
    assert client_address(PROXY, headers, PROXIES) == PROXY


def test_invalid_hop_leaves_the_proxy_that_forwarded_it():
    assert client_address(PROXY, xff("1.2.3.4, nonsense, 10.3.3.3"), PROXIES) == "10.3.3.3"


@pytest.mark.parametrize("headers", [xff("1.2.3.4"), forwarded("for=1.2.3.4")])
@pytest.mark.parametrize("peer", [STRANGER, "", "/run/judge.sock", "::1"])
def test_headers_of_untrusted_peers_are_ignored(headers, peer):
    assert client_address(peer, headers, PROXIES) == peer
    assert client_address(peer, headers, ()) == peer


def test_ipv4_mapped_proxy_address_is_trusted():
    assert client_address("::ffff:10.0.0.1", xff("198.51.100.7"), PROXIES) == "198.51.100.7"


@pytest.mark.parametrize(
    ("peer", "caller"),
    [
        (STRANGER, STRANGER),
        ("::ffff:203.0.113.9", STRANGER),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::ffff", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", UNKNOWN),
        ("/run/judge.sock", UNKNOWN),
    ],
)
def test_caller_is_an_ipv4_address_or_an_ipv6_64_network(peer, caller):
    assert caller_address(peer, [], ()) == caller
    assert caller_address(peer, [], PROXIES) == caller


def test_loopback_hosts():
    for host in ("localhost", "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"):
        assert is_loopback(host), host
    for host in ("", "0.0.0.0", "::", "10.0.0.5", "judge.example", "localhost.x"):
        assert not is_loopback(host), host


@given(
    st.lists(
        st.tuples(st.sampled_from([b"x-forwarded-for", b"forwarded"]), st.binary(max_size=80))
    ),
)
def test_any_header_gives_a_valid_address(headers):
    caller = caller_address(PROXY, headers, PROXIES)
    assert ipaddress.ip_network(caller)
