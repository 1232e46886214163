"""What the fetcher that uses the network promises besides: safety, bounds and manners."""

import asyncio
import datetime as dt
import ipaddress
import ssl
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache
from pathlib import Path

import httpcore
import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.adapters.httpx_fetcher import MAX_CONNECTIONS, HttpxFetcher, open_fetcher
from judge.errors import FetchError
from judge.types.judging import NotModified, Page, Validators
from tests.fakes.site import FakeSite, Reply

PUBLIC = "93.184.215.14"
REASONS = {
    "address", "scheme", "redirects", "too-large", "encoding", "content-type", "status",
    "timeout", "connection", "robots", "tls",
}  # fmt: skip


class Detour(httpcore.AsyncNetworkBackend):
    """Takes every connection to loopback instead, noting where it was meant to go."""

    def __init__(self) -> None:
        self.meant: list[str] = []

    async def connect_tcp(self, host, port, *_):
        self.meant.append(host)
        return await httpcore.AnyIOBackend().connect_tcp("127.0.0.1", port)


class BlackHole(httpcore.AsyncMockBackend):
    """A network where connecting takes too long."""

    async def connect_tcp(self, *_):
        raise httpcore.ConnectTimeout("no answer")


class Names:
    """A resolver that finds everything at *addresses*, and counts."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return self.addresses


@cache
def authorities() -> ssl.SSLContext:
    """Made once, since reading all the certificates takes 30 ms."""
    return httpx.create_ssl_context(trust_env=False)


@asynccontextmanager
async def opened(*sites: FakeSite, **options) -> AsyncIterator[HttpxFetcher]:
    """A fetcher that trusts *sites*."""
    options = {"contact": lambda: "ops@example.org", "ssl_context": authorities()} | options
    fetcher = open_fetcher(trusted_hosts=frozenset(site.host for site in sites), **options)
    try:
        yield fetcher
    finally:
        await fetcher.aclose()


@pytest.fixture
async def site() -> AsyncIterator[FakeSite]:
    async with FakeSite() as site:
        yield site


@pytest.fixture
async def fetcher(site: FakeSite) -> AsyncIterator[HttpxFetcher]:
    async with opened(site) as fetcher:
        yield fetcher


async def reason_for(fetcher: HttpxFetcher, url: str, timeout_s: float = 5) -> str:
    """Why *url* is refused; fails if it is not."""
    with pytest.raises(FetchError) as caught:
        await fetcher.fetch(url, timeout_s=timeout_s)
    assert caught.value.reason in REASONS
    return caught.value.reason


# Addresses


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.1", "0.0.0.0", "0",
        "localhost", "LOCALHOST", "[::1]", "[::ffff:127.0.0.1]", "[::127.0.0.1]",
        "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[fe80::1%25lo]",
    ],
)  # fmt: skip
async def test_loopback_is_refused_however_it_is_spelt(site, host):
    site.page("/", "<p>Secret</p>")
    async with opened() as fetcher:
        assert await reason_for(fetcher, f"http://{host}:{site.port}/") == "address"
    assert site.connections == 0


@pytest.mark.parametrize("host", ["localhost.", "127.0.0.1.", "0177.0.0.1", "127.0.0.1%20"])
async def test_spellings_that_only_some_resolvers_take_do_not_reach_loopback(site, host):
    site.page("/", "<p>Secret</p>")
    async with opened() as fetcher:
        reason = await reason_for(fetcher, f"http://{host}:{site.port}/")
    assert reason in {"address", "scheme", "connection"}
    assert site.connections == 0


async def test_trust_is_in_the_very_host_and_port(site):
    site.page("/", "<p>Secret</p>")
    async with opened(site) as fetcher:
        assert await reason_for(fetcher, f"http://localhost:{site.port}/") == "address"
        assert await reason_for(fetcher, f"http://127.0.0.1:{site.port + 1}/") == "address"
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
async def test_a_redirect_to_a_hostile_address_is_refused(fetcher, site, location, reason):
    assert await reason_for(fetcher, site.redirect("/", location)) == reason


async def test_a_redirect_to_another_loopback_port_is_refused(fetcher, site):
    async with FakeSite() as other:
        site.redirect("/", other.page("/", "<p>Secret</p>"))
        assert await reason_for(fetcher, site.url("/")) == "address"
        assert other.connections == 0


async def test_a_public_site_cannot_redirect_inside(site):
    detour = Detour()
    site.redirect("/", f"http://127.0.0.1:{site.port}/inside")
    async with opened(resolver=Names(PUBLIC), network=detour) as fetcher:
        assert await reason_for(fetcher, f"http://example.org:{site.port}/") == "address"
    assert set(detour.meant) == {PUBLIC}
    assert site.hits["/inside"] == 0


async def test_a_name_with_one_private_address_is_refused(site):
    async with opened(resolver=Names(PUBLIC, "127.0.0.1")) as fetcher:
        assert await reason_for(fetcher, f"http://example.org:{site.port}/") == "address"
    assert site.connections == 0


async def test_each_connection_asks_for_the_name_once_and_goes_to_what_was_checked(site):
    site.page("/", "<p>Hello</p>")
    detour, names = Detour(), Names(PUBLIC)
    async with opened(resolver=names, network=detour) as fetcher:
        await fetcher.fetch(f"http://example.org:{site.port}/", timeout_s=5)
    assert names.asked == ["example.org"] * site.connections
    assert detour.meant == [PUBLIC] * site.connections
    assert site.requests[-1].headers["host"] == f"example.org:{site.port}"


async def test_proxy_variables_do_not_lead_round_the_check(site, monkeypatch):
    async with FakeSite() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url(""))
        monkeypatch.setenv("ALL_PROXY", proxy.url(""))
        async with opened(site) as fetcher:
            await fetcher.fetch(site.page("/", "<p>Hello</p>"), timeout_s=5)
        assert proxy.connections == 0


# Certificates


def server_context(name: str, folder: Path) -> tuple[ssl.SSLContext, str]:
    """A server that proves to be *name*, and the certificate that vouches for it."""
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
    ("host", "is_vouched_for", "outcome"),
    [("example.org", True, "page"), ("other.org", True, "tls"), ("example.org", False, "tls")],
)
async def test_a_site_must_prove_the_name_we_asked_for(tmp_path, host, is_vouched_for, outcome):
    context, authority = server_context("example.org", tmp_path)
    told_names: list[str | None] = []
    context.sni_callback = lambda _, name, __: told_names.append(name)
    trust = ssl.create_default_context(cadata=authority) if is_vouched_for else authorities()
    async with FakeSite(tls=context) as site:
        site.page("/", "<p>Hello</p>")
        names = Names(PUBLIC)
        async with opened(resolver=names, network=Detour(), ssl_context=trust) as fetcher:
            url = f"https://{host}:{site.port}/"
            if outcome == "page":
                assert isinstance(await fetcher.fetch(url, timeout_s=5), Page)
            else:
                assert await reason_for(fetcher, url) == outcome
        assert set(told_names) == {host}


async def test_a_handshake_that_is_cut_off_leaves_no_connection(site):
    # A plain site waits for the rest of what it takes for a request.
    async with opened(site) as fetcher:
        assert await reason_for(fetcher, f"https://{site.host}/", timeout_s=0.2) == "timeout"
    await site.left_alone()


# Bounds


async def test_three_redirects_are_followed_and_four_are_not(fetcher, site):
    site.page("/0", "<p>Here</p>")
    for hop in range(1, 5):
        site.redirect(f"/{hop}", f"/{hop - 1}", status=(301, 302, 307, 308)[hop - 1])
    page = await fetcher.fetch(site.url("/3"), timeout_s=5)
    assert isinstance(page, Page)
    assert page.url == site.url("/0")
    assert await reason_for(fetcher, site.url("/4")) == "redirects"


async def test_a_circle_of_redirects_ends(fetcher, site):
    assert await reason_for(fetcher, site.redirect("/", "/")) == "redirects"
    assert site.hits["/"] == 4


async def test_a_declared_length_over_the_limit_is_refused_unread(fetcher, site):
    url = site.script("/", Reply(b"a", length=str((2 << 20) + 1)))
    assert await reason_for(fetcher, url) == "too-large"


async def test_an_endless_page_is_left(fetcher, site):
    url = site.script("/", Reply(b"a" * (20 << 20), piece=1 << 16, length=""))
    assert await reason_for(fetcher, url) == "too-large"
    await site.left_alone()


@pytest.mark.parametrize("encoding", ["br", "deflate", "gzip, gzip", "gzip"])
async def test_a_reply_in_an_encoding_that_was_not_asked_for_is_refused(fetcher, site, encoding):
    headers = (("Content-Type", "text/html"), ("Content-Encoding", encoding))
    url = site.script("/", Reply(b"<p>not gzip</p>", headers=headers))
    assert await reason_for(fetcher, url) == "encoding"


@pytest.mark.parametrize(
    ("body", "headers", "is_page"),
    [
        (b"<p>x</p>", (("Content-Type", "application/xhtml+xml"),), True),
        (b"\xef\xbb\xbf \n<!DOCTYPE HTML><p>x</p>", (), True),
        (b"<html lang=en>", (), True),
        (b"<p>x</p>", (), False),
        (b"{}", (), False),
        (b"<html>", (("Content-Type", "text/plain"),), False),
        (b"<html>", (("Content-Type", "text/html"), ("Content-Type", "text/plain")), False),
    ],
)
async def test_what_says_or_shows_that_it_is_html_is_a_page(fetcher, site, body, headers, is_page):
    url = site.script("/", Reply(body, headers=headers))
    if is_page:
        assert isinstance(await fetcher.fetch(url, timeout_s=5), Page)
    else:
        assert await reason_for(fetcher, url) == "content-type"


@pytest.mark.parametrize("path", ["/", "/robots.txt"])
async def test_a_dribbling_reply_does_not_outlive_the_deadline(fetcher, site, path):
    site.page("/", "<p>Hello</p>")
    site.script(path, Reply(b"a" * 1000, piece=1, pause_s=0.02))
    start = time.monotonic()
    assert await reason_for(fetcher, site.url("/"), timeout_s=0.3) == "timeout"
    assert time.monotonic() - start < 1
    assert path == "/" or site.hits["/"] == 0


async def test_fetches_that_ran_out_of_time_give_their_connections_back(fetcher, site):
    held, free = site.page("/held", "<p>Slow</p>"), site.page("/free", "<p>Quick</p>")
    await fetcher.fetch(free, timeout_s=5)
    site.hold("/held")
    async with asyncio.TaskGroup() as group:
        for _ in range(MAX_CONNECTIONS + 6):
            group.create_task(reason_for(fetcher, held, timeout_s=0.5))
    assert isinstance(await fetcher.fetch(free, timeout_s=5), Page)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "connection"),
        (b"nonsense\r\n\r\n", "connection"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", "connection"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\n<p>",
            "connection",
        ),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 50_000 + b"\r\n", "connection"),
        (b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n", "status"),
    ],
)
async def test_a_broken_reply_is_told(fetcher, site, raw, reason):
    assert await reason_for(fetcher, site.script("/", Reply(raw=raw))) == reason


async def test_a_host_that_swallows_packets_is_a_timeout():
    async with opened(resolver=Names(PUBLIC), network=BlackHole([])) as fetcher:
        assert await reason_for(fetcher, "http://example.org/") == "timeout"


async def test_a_closed_port_is_told(site):
    async with FakeSite() as gone:
        url = gone.url("/?who=me")
    async with opened(gone) as fetcher:
        with pytest.raises(FetchError, match=r"connection to 127\.0\.0\.1 failed") as caught:
            await fetcher.fetch(url, timeout_s=5)
    assert caught.value.reason == "connection"
    assert "who=me" not in str(caught.value)


# Manners


async def test_connections_are_used_again(fetcher, site):
    site.page("/", "<p>Hello</p>", etag='"1"')
    for known in (Validators(), Validators('"1"'), Validators()):
        await fetcher.fetch(site.url("/"), timeout_s=5, validators=known)
    assert (site.connections, site.hits["/"]) == (1, 3)


async def test_we_say_who_we_are_and_what_we_take(site):
    contacts = iter(["first@example.org", "second@example.org\r\nHost: other\u00e9", ""])
    site.page("/", "<p>Hello</p>")
    site.script("/robots.txt", Reply(b""))
    async with opened(site, contact=lambda: next(contacts, "")) as fetcher:
        for _ in range(2):
            await fetcher.fetch(site.url("/"), timeout_s=5)
    headers = [request.headers for request in site.requests if request.path == "/"]
    agents = [header["user-agent"] for header in headers]
    assert agents[0].startswith("Judge/")
    assert agents[0].endswith(" (+first@example.org)")
    assert "+" not in agents[1]
    assert headers[0]["accept-encoding"] == "gzip"
    robots = next(request for request in site.requests if request.path == "/robots.txt")
    assert robots.headers["user-agent"].endswith(" (+second@example.orgHost: other)")


async def test_no_cookie_is_kept(fetcher, site):
    headers = (("Content-Type", "text/html"), ("Set-Cookie", "id=1; Path=/"))
    url = site.script("/", Reply(b"<p>Hello</p>", headers=headers))
    for _ in range(2):
        await fetcher.fetch(url, timeout_s=5)
    assert "cookie" not in site.requests[-1].headers


async def test_validators_that_cannot_be_a_header_are_neither_kept_nor_sent(fetcher, site):
    headers = (("Content-Type", "text/html"), ("ETag", '"\u00e9"'), ("Last-Modified", "x" * 600))
    url = site.script("/", Reply(b"<p>Hello</p>", headers=headers))
    odd = Validators('"1"\r\nHost: other', "caf\u00e9")
    page = await fetcher.fetch(url, timeout_s=5, validators=odd)
    assert isinstance(page, Page)
    assert page.validators == Validators()
    assert not {"if-none-match", "if-modified-since"} & set(site.requests[-1].headers)


async def test_what_robots_txt_forbids_is_not_asked_for(fetcher, site):
    site.robots("User-agent: *\nDisallow: /private/")
    assert await reason_for(fetcher, site.page("/private/page", "<p>x</p>")) == "robots"
    assert isinstance(await fetcher.fetch(site.page("/open", "<p>x</p>"), timeout_s=5), Page)
    assert site.hits["/private/page"] == 0


async def test_many_pages_at_once_ask_for_robots_txt_once(fetcher, site):
    pages = [site.page(f"/{number}", "<p>Hello</p>") for number in range(20)]
    async with asyncio.TaskGroup() as group:
        for page in pages:
            group.create_task(fetcher.fetch(page, timeout_s=5))
    assert site.hits["/robots.txt"] == 1


async def test_the_robots_txt_of_a_redirects_target_counts(fetcher):
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(FakeSite())
        second = await stack.enter_async_context(FakeSite())
        both = await stack.enter_async_context(opened(first, second))
        second.robots("User-agent: judge\nDisallow: /")
        url = first.redirect("/", second.page("/target", "<p>x</p>"))
        assert await reason_for(both, url) == "robots"
        assert second.hits["/target"] == 0


async def test_a_robots_txt_that_moved_is_followed(fetcher, site):
    site.redirect("/robots.txt", "/moved.txt", status=301)
    site.script("/moved.txt", Reply(b"User-agent: *\nDisallow: /private"))
    assert await reason_for(fetcher, site.page("/private", "<p>x</p>")) == "robots"


@pytest.mark.parametrize("status", [500, 503])
async def test_a_robots_txt_that_fails_refuses_the_site(fetcher, site, status):
    site.fail("/robots.txt", status)
    assert await reason_for(fetcher, site.page("/", "<p>x</p>")) == "robots"
    assert site.hits["/"] == 0


async def test_a_missing_robots_txt_with_a_long_page_about_it_allows_everything(fetcher, site):
    site.script("/robots.txt", Reply(b"<p>Not here</p>" * 20_000, 404))
    assert isinstance(await fetcher.fetch(site.page("/", "<p>x</p>"), timeout_s=5), Page)


async def test_a_huge_robots_txt_is_read_up_to_its_last_whole_line(fetcher, site):
    # The 512 KiB end inside `Disallow: /x…`, which must not become `Disallow: /`.
    head = b"User-agent: *\nDisallow: /private\n"
    padding = b"#" * (512 * 1024 - len(head) - len(b"\nDisallow: /")) + b"\n"
    site.script("/robots.txt", Reply(head + padding + b"Disallow: /x" * 1000))
    assert await reason_for(fetcher, site.page("/private", "<p>x</p>")) == "robots"
    assert isinstance(await fetcher.fetch(site.page("/open", "<p>x</p>"), timeout_s=5), Page)


# Whatever comes


async def outcome(url: str, reply: bytes) -> object:
    """What a fetch of *url* gives when every site there is sends *reply*."""
    network = httpcore.AsyncMockBackend([reply])
    async with opened(resolver=Names(PUBLIC), network=network) as fetcher:
        try:
            return await fetcher.fetch(url, timeout_s=5, validators=Validators('"1"'))
        except FetchError as error:
            return error.reason


hosts = st.one_of(
    st.text(max_size=20),
    st.ip_addresses().map(str),
    st.ip_addresses(v=6).map(lambda ip: f"[{ipaddress.ip_address(ip)}]"),
    st.text("a.-xn:0", max_size=80),
)
urls = st.builds("{}://{}{}".format, st.sampled_from(["http", "https", "HTTP"]), hosts, st.text())


@settings(max_examples=150, deadline=None)
@given(url=urls | st.text())
def test_no_url_raises_anything_but_fetch_error(url):
    result = asyncio.run(outcome(url, b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"))
    assert result in REASONS


header_lines = st.lists(
    st.builds(
        lambda name, value: name + b": " + value + b"\r\n",
        st.sampled_from(
            [b"Location", b"Content-Type", b"Content-Encoding", b"Content-Length", b"ETag", b"Host",
             b"Transfer-Encoding", b"Set-Cookie", b"Last-Modified", b"Connection"]
        ),
        st.sampled_from(
            [b"text/html", b"text/html; charset=utf-8", b"gzip", b"chunked", b"3", b"/", b"http://h",
             b"http://[", b"//\xff", b"close"]
        )
        | st.binary(max_size=20),
    ),
    max_size=5,
)  # fmt: skip
replies = st.binary(max_size=60) | st.builds(
    lambda status, lines, body: b"HTTP/1.1 %d X\r\n%s\r\n%s" % (status, b"".join(lines), body),
    st.sampled_from([200, 200, 200, 301, 302, 304, 404, 101, 100, 500]),
    header_lines,
    st.binary(max_size=60),
)


@settings(max_examples=150, deadline=None)
@given(reply=replies)
def test_no_reply_raises_anything_but_fetch_error(reply):
    result = asyncio.run(outcome("http://example.org/page", reply))
    assert result in REASONS or isinstance(result, Page | NotModified)
