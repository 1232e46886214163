"""Which connections the guarded network makes, and how it refuses the others."""

import httpcore
import pytest

from judge.adapters.web.safe_addresses import (
    CONNECT_TIMEOUT_S,
    MAX_ADDRESSES_TRIED,
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
