"""Which connections the guarded network makes, and how it refuses the others."""

import ssl

import httpcore
import pytest

from judge.adapters.web.safe_addresses import (
    CONNECT_TIMEOUT_S,
    MAX_ADDRESSES_TRIED,
    MAX_INTERIM_REPLIES,
    GuardedNetwork,
)
from judge.errors import FetchError
from tests.fakes.network import PUBLIC, FakeResolver


class Refusing(httpcore.AsyncMockBackend):
    """A network without any host; records the connection attempts."""

    def __init__(self) -> None:
        self.asked: list[tuple[object, ...]] = []

    async def connect_tcp(self, *asked: object) -> httpcore.AsyncNetworkStream:
        self.asked.append(asked)
        raise httpcore.ConnectError("nobody is there")


async def test_each_address_is_tried_once_with_the_given_options() -> None:
    network = Refusing()
    guarded = GuardedNetwork(frozenset(), FakeResolver(PUBLIC, "1.1.1.1", PUBLIC), network)
    with pytest.raises(httpcore.ConnectError, match="nobody is there"):
        await guarded.connect_tcp("a.example", 443, 0.5, "0.0.0.0", [(1, 2, 3)])
    rest = (443, 0.5, "0.0.0.0", [(1, 2, 3)])
    assert network.asked == [(PUBLIC, *rest), ("1.1.1.1", *rest)]


@pytest.mark.parametrize("given", [None, 1e6])
async def test_connect_timeout_is_bounded(given: float | None) -> None:
    network = Refusing()
    with pytest.raises(httpcore.ConnectError):
        await GuardedNetwork(frozenset(), FakeResolver(PUBLIC), network).connect_tcp("a", 80, given)
    assert network.asked == [(PUBLIC, 80, CONNECT_TIMEOUT_S, None, None)]


async def test_only_the_first_addresses_are_tried() -> None:
    network = Refusing()
    many = FakeResolver(*(f"1.1.1.{n}" for n in range(1, 100)))
    with pytest.raises(httpcore.ConnectError):
        await GuardedNetwork(frozenset(), many, network).connect_tcp("a.example", 80)
    assert len(network.asked) == MAX_ADDRESSES_TRIED


@pytest.mark.parametrize(
    ("host", "address", "said"),
    [
        ("10.0.0.1", "10.0.0.1", "10.0.0.1 is not a public address"),
        ("a.example", "10.0.0.1", "a.example (at 10.0.0.1) is not a public address"),
    ],
)
async def test_private_address_is_refused_with_the_setting_to_allow_it(
    host: str, address: str, said: str
) -> None:
    with pytest.raises(FetchError) as refused:
        await GuardedNetwork(frozenset(), FakeResolver(address), Refusing()).connect_tcp(host, 8080)
    assert str(refused.value) == (
        f"{said}, so nothing is fetched from it. If the pages there are your own, add "
        f"{host}:8080 to JUDGE_TRUSTED_HOSTS."
    )


async def test_host_without_addresses_is_reported() -> None:
    with pytest.raises(FetchError, match=r"The name a\.example has no address\. Check the spell"):
        await GuardedNetwork(frozenset(), FakeResolver(), Refusing()).connect_tcp("a.example", 80)


INTERIM = b"HTTP/1.1 100 \r\n\r\n"


async def connected(*pieces: bytes) -> httpcore.AsyncNetworkStream:
    """A connection over which *pieces* come."""
    network = httpcore.AsyncMockBackend(list(pieces))
    return await GuardedNetwork(frozenset(), FakeResolver(PUBLIC), network).connect_tcp(
        "a.example", 80
    )


async def read_and_be_refused(stream: httpcore.AsyncNetworkStream, pieces: int) -> None:
    """Read so many *pieces*; the next is refused."""
    for _ in range(pieces):
        assert await stream.read(100)
    with pytest.raises(FetchError, match=r"a\.example sends interim replies") as refused:
        await stream.read(100)
    assert refused.value.reason == "connection"


@pytest.mark.parametrize("size", [1, 5, len(INTERIM), 40])
async def test_interim_replies_are_counted_however_they_arrive(size: int) -> None:
    replies = INTERIM * (MAX_INTERIM_REPLIES + 1)
    stream = await connected(*(replies[at : at + size] for at in range(0, len(replies), size)))
    status_of_the_last = len(replies) - len(INTERIM) + len(b"HTTP/1.1 100")
    await read_and_be_refused(stream, (status_of_the_last - 1) // size)


async def test_interim_replies_are_counted_over_tls_as_well() -> None:
    stream = await connected(*[INTERIM] * (MAX_INTERIM_REPLIES + 1))
    stream = await stream.start_tls(ssl.create_default_context())
    await read_and_be_refused(stream, MAX_INTERIM_REPLIES)


async def test_interim_replies_in_a_page_body_are_not_counted() -> None:
    stream = await connected(*[b"<p>HTTP/1.1 100 Continue"] * (MAX_INTERIM_REPLIES + 1))
    for _ in range(MAX_INTERIM_REPLIES + 1):
        assert await stream.read(100)


async def test_count_restarts_on_a_reused_connection() -> None:
    stream = await connected(*[INTERIM] * 2 * MAX_INTERIM_REPLIES)
    for _ in range(2):
        await stream.write(b"GET / HTTP/1.1\r\n\r\n")
        for _ in range(MAX_INTERIM_REPLIES):
            assert await stream.read(100)
