"""Google's SDK, opened once a process with one HTTP session for judging and embedding.

The SDK takes a second to import, so it is loaded on a thread at first use.
"""

import asyncio
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from google.genai import Client

GOOGLE: Final = "https://generativelanguage.googleapis.com"
"""The SDK's default base URL."""


class GeminiClient:
    """Opens the SDK's client at first use.

    It talks to Google's REST service, or to *base_url*. It sets no time-outs: callers do.
    """

    def __init__(self, api_key: str, base_url: str | None = None) -> None:
        self._api_key = api_key
        self._base_url = base_url
        self._opening: asyncio.Task[tuple[Client, ClientSession]] | None = None

    async def open(self) -> "Client":
        """The one client; a caller that is cancelled does not stop the opening.

        Raises whatever keeps the SDK from starting, such as certificates or a broken install; the
        next call tries again.
        """
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        opening = self._opening
        try:
            return (await asyncio.shield(opening))[0]
        except Exception:
            if self._opening is opening:  # else another call has retried already
                self._opening = None
            raise

    async def aclose(self) -> None:
        """Close all connections."""
        if self._opening is None:
            return
        opening, self._opening = self._opening, None
        with suppress(Exception):
            client, session = await opening
            await client.aio.aclose()
            client.close()
            await session.close()

    async def _open(self) -> "tuple[Client, ClientSession]":
        """The SDK's client and the HTTP session that it uses."""
        await asyncio.to_thread(import_module, "google.genai")
        import aiohttp  # noqa: PLC0415 - installed with the SDK

        # The session that the SDK would make raises aiohttp's warning against subclassing.
        session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=_proxy_for(self._base_url or GOOGLE),
            # If true, aiohttp reads ~/.netrc and the proxy variables at each request, on a thread:
            # 1.5 ms of CPU. The proxy is looked up once, above.
            trust_env=False,
        )
        try:
            return await asyncio.to_thread(self._client, session), session
        except Exception:
            await session.close()
            raise

    def _client(self, session: "ClientSession") -> "Client":
        from google import genai  # noqa: PLC0415 - takes a second

        # Shared by the SDK's transports, each of which would take 20 ms to read the certificates.
        tls = httpx.create_ssl_context()
        return genai.Client(
            api_key=self._api_key,
            enterprise=False,
            http_options=genai.types.HttpOptions(
                base_url=self._base_url,
                api_version="v1beta",
                aiohttp_client=session,
                # Without retry options the SDK sleeps up to 10 s after a failed connection.
                retry_options=genai.types.HttpRetryOptions(attempts=1),
                # The SDK also opens clients that we do not use. An httpx type makes it open them
                # with httpx, which is loaded already, and not load httpx2. They ignore proxies,
                # of which some (SOCKS) would keep them from starting.
                client_args={"verify": tls, "timeout": httpx.Timeout(None), "trust_env": False},
                # aiohttp would send the key to wherever a redirect leads.
                async_client_args={"ssl": tls, "allow_redirects": False, "trust_env": False},
            ),
        )


def _proxy_for(address: str) -> str | None:
    """The proxy that the usual environment variables set for *address*.

    Raises ValueError for a kind that aiohttp does not support, such as SOCKS.
    """
    parts = urlsplit(address)
    proxy = getproxies().get(parts.scheme)
    if not proxy or proxy_bypass(parts.hostname or ""):
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if not proxy.startswith(("http://", "https://")):
        raise ValueError("a proxy of this kind cannot be used")
    return proxy
