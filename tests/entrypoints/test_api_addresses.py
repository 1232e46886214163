"""Whom a limit counts: the peer, or the client that a trusted proxy names."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.entrypoints.api.middleware.client_address import (
    MAX_HOPS,
    UNKNOWN,
    caller_address,
    client_address,
    is_loopback,
    parse_networks,
)

PROXIES = parse_networks(["10.0.0.0/8", "fd00::/8"])
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
def test_a_trusted_proxy_names_the_client(headers, client):
    assert client_address(PROXY, headers, PROXIES) == client


@pytest.mark.parametrize(
    "headers",
    [
        [],
        xff(""),
        xff("unknown"),
        xff("198.51.100.7, nonsense"),
        xff("999.1.1.1"),
        xff("1.2.3.4%" + "x" * 100),
        forwarded("proto=https"),
        forwarded("for=_hidden"),
        forwarded("for=198.51.100.7, proto=https"),
        xff("198.51.100.7") + forwarded("for=1.2.3.4"),
    ],
)
def test_what_makes_no_sense_or_contradicts_itself_is_not_believed(headers):
    assert client_address(PROXY, headers, PROXIES) == PROXY


def test_nonsense_further_right_leaves_whoever_passed_it_on():
    assert client_address(PROXY, xff("1.2.3.4, nonsense, 10.3.3.3"), PROXIES) == "10.3.3.3"


@pytest.mark.parametrize("headers", [xff("1.2.3.4"), forwarded("for=1.2.3.4")])
@pytest.mark.parametrize("peer", [STRANGER, "", "/run/judge.sock", "::1"])
def test_nobody_else_is_believed(headers, peer):
    assert client_address(peer, headers, PROXIES) == peer
    assert client_address(peer, headers, ()) == peer


def test_a_client_cannot_hide_behind_an_address_that_it_sends():
    for number in range(5):
        forged = xff(f"1.2.3.{number}, 198.51.100.7")
        assert client_address(PROXY, forged, PROXIES) == "198.51.100.7"


def test_a_proxy_that_speaks_ipv4_in_ipv6_is_the_same_proxy():
    assert client_address("::ffff:10.0.0.1", xff("198.51.100.7"), PROXIES) == "198.51.100.7"


def test_only_so_many_hops_are_looked_at():
    line = ", ".join(["198.51.100.7", *["10.1.1.1"] * MAX_HOPS])
    assert client_address(PROXY, xff(line), PROXIES) == "10.1.1.1"


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
def test_a_caller_is_an_address_or_a_network_of_64_bits(peer, caller):
    assert caller_address(peer, [], ()) == caller
    assert caller_address(peer, [], PROXIES) == caller


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
def test_these_are_this_machine(host):
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["", "0.0.0.0", "::", "10.0.0.5", "judge.example", "localhost.x"])
def test_these_can_be_reached_from_outside(host):
    assert not is_loopback(host)


@given(
    st.lists(
        st.tuples(st.sampled_from([b"x-forwarded-for", b"forwarded"]), st.binary(max_size=80))
    ),
)
def test_any_header_leads_to_an_address_that_we_can_count(headers):
    caller = caller_address(PROXY, headers, PROXIES)
    assert ipaddress.ip_network(caller)


@given(
    st.lists(st.sampled_from(["10.1.1.1", "1.2.3.4", "x", "", "for=1.2.3.4", "::1"]), max_size=9)
)
def test_who_is_found_is_the_peer_or_stands_in_the_header(hops):
    found = client_address(PROXY, xff(",".join(hops)), PROXIES)
    assert found in {PROXY, *hops}


def test_a_network_may_be_told_by_an_address_in_it():
    assert parse_networks(["10.1.2.3/8", "fd00::1/8"]) == PROXIES


def test_an_address_with_a_zone_is_one_up_to_64_characters():
    zoned = "fe80::1%" + "x" * 100
    trusted = parse_networks(["fe80::/10"])
    assert client_address(zoned[:64], xff("198.51.100.7"), trusted) == "198.51.100.7"
    assert client_address(zoned[:65], xff("198.51.100.7"), trusted) == zoned[:65]
