"""Which addresses and certificates the network fetcher refuses."""

import datetime as dt
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from judge.adapters.web.fetcher import HttpxFetcher
from judge.types.references import Page
from tests.fakes.network import (
    PUBLIC,
    FakeResolver,
    LoopbackTransport,
    fetcher_for,
    refusal_reason,
)
from tests.fakes.site import FakeSite


@pytest.fixture
async def site() -> AsyncIterator[FakeSite]:
    async with FakeSite() as site:
        yield site


@pytest.fixture
async def fetcher(site: FakeSite) -> AsyncIterator[HttpxFetcher]:
    async with fetcher_for(site) as fetcher:
        yield fetcher


# Addresses


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.1", "0.0.0.0", "0",
        "localhost", "LOCALHOST", "[::1]", "[::ffff:127.0.0.1]", "[::127.0.0.1]",
        "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[fe80::1%25lo]",
    ],
)  # fmt: skip
async def test_loopback_is_refused_in_any_notation(site, host):
    site.page("/", "<p>Secret</p>")
    async with fetcher_for() as fetcher:
        assert await refusal_reason(fetcher, f"http://{host}:{site.port}/") == "address"
    assert site.connections == 0


@pytest.mark.parametrize("host", ["localhost.", "127.0.0.1.", "0177.0.0.1", "127.0.0.1%20"])
async def test_notations_of_some_resolvers_do_not_reach_loopback(site, host):
    site.page("/", "<p>Secret</p>")
    async with fetcher_for() as fetcher:
        reason = await refusal_reason(fetcher, f"http://{host}:{site.port}/")
    assert reason in {"address", "scheme", "connection"}
    assert site.connections == 0


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("http://169.254.169.254/latest/meta-data/", "address"),
        ("http://[fd00:ec2::254]/", "address"),
        ("http://localhost:1/", "address"),
        ("//10.0.0.1/", "address"),
        ("file:///etc/passwd", "scheme"),
        ("http://user:secret@example.org/", "scheme"),
        ("http://h:port/", "redirects"),
        ("http://xn--/", "scheme"),
        ("", "redirects"),
    ],
)
async def test_redirect_to_a_forbidden_address_is_refused(fetcher, site, location, reason):
    assert await refusal_reason(fetcher, site.redirect("/", location)) == reason


async def test_public_site_cannot_redirect_into_the_network(site):
    transport = LoopbackTransport()
    site.redirect("/", f"http://127.0.0.1:{site.port}/inside")
    async with fetcher_for(resolver=FakeResolver(PUBLIC), transport=transport) as fetcher:
        assert await refusal_reason(fetcher, f"http://example.org:{site.port}/") == "address"
    assert set(transport.addresses) == {PUBLIC}
    assert site.hits["/inside"] == 0


async def test_each_connection_resolves_once_and_uses_the_checked_address(site):
    site.page("/", "<p>Hello</p>")
    transport, resolver = LoopbackTransport(), FakeResolver(PUBLIC)
    async with fetcher_for(resolver=resolver, transport=transport) as fetcher:
        await fetcher.fetch(f"http://example.org:{site.port}/", timeout_s=5)
    assert resolver.calls == ["example.org"] * site.connections
    assert transport.addresses == [PUBLIC] * site.connections
    assert site.requests[-1].headers["host"] == f"example.org:{site.port}"


async def test_proxy_variables_do_not_bypass_the_check(site, monkeypatch):
    async with FakeSite() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url(""))
        monkeypatch.setenv("ALL_PROXY", proxy.url(""))
        async with fetcher_for(site) as fetcher:
            await fetcher.fetch(site.page("/", "<p>Hello</p>"), timeout_s=5)
        assert proxy.connections == 0


# Certificates


def server_context(name: str, folder: Path) -> tuple[ssl.SSLContext, str]:
    """The TLS context of a server called *name*, and the certificate of its authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    start = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    authority_key = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + dt.timedelta(days=36500))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(authority_key, critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    (folder / "server.pem").write_bytes(pem + private)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem")
    return context, pem.decode()


@pytest.mark.parametrize(
    ("host", "is_trusted", "outcome"),
    [("example.org", True, "page"), ("other.org", True, "tls"), ("example.org", False, "tls")],
)
async def test_certificate_must_be_valid_for_the_requested_host(
    tmp_path, host, is_trusted, outcome
):
    context, authority = server_context("example.org", tmp_path)
    sni_names: list[str | None] = []
    context.sni_callback = lambda _, name, __: sni_names.append(name)
    trust = ssl.create_default_context(cadata=authority) if is_trusted else None
    async with FakeSite(tls=context) as site:
        site.page("/", "<p>Hello</p>")
        resolver = FakeResolver(PUBLIC)
        async with fetcher_for(resolver=resolver, transport=LoopbackTransport(trust)) as fetcher:
            url = f"https://{host}:{site.port}/"
            if outcome == "page":
                assert isinstance(await fetcher.fetch(url, timeout_s=5), Page)
            else:
                assert await refusal_reason(fetcher, url) == outcome
        assert set(sni_names) == {host}


async def test_handshake_that_never_ends_leaves_no_connection(fetcher, site, monkeypatch):
    # A site without TLS takes the handshake for a request and waits for the rest.
    monkeypatch.setattr("judge.adapters.web.safe_addresses.CONNECT_TIMEOUT_S", 0.1)
    assert await refusal_reason(fetcher, f"https://{site.host}/") == "timeout"
    await site.until_disconnected()
