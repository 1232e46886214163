"""Google's SDK behind one session, opened once a process, for judging and for embedding.

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
"""Where the SDK sends its requests when nothing else is named."""


class GeminiClient:
    """Opens the SDK's client when it is first asked for.

    It talks to Google's REST service, or to what *base_url* puts in its place. It has no time-outs:
    every call is given one by its caller.
    """

    def __init__(self, api_key: str, base_url: str | None = None) -> None:
        self._api_key = api_key
        self._base_url = base_url
        self._opening: asyncio.Task[tuple[Client, ClientSession]] | None = None

    async def open(self) -> "Client":
        """The one client; a caller who gives up waiting does not stop its opening.

        Raises whatever keeps the SDK from starting: certificates, a broken install. The next
        caller tries again.
        """
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        opening = self._opening
        try:
            return (await asyncio.shield(opening))[0]
        except Exception:
            if self._opening is opening:  # else another caller has begun anew
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
        """The SDK's client, and the session that it talks through."""
        await asyncio.to_thread(import_module, "google.genai")
        import aiohttp  # noqa: PLC0415 - beside the SDK only

        # The SDK's own session trips over aiohttp's warning against subclassing.
        session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=_proxy_for(self._base_url or GOOGLE),
            # With it aiohttp reads ~/.netrc and the proxy variables again at each request, on a
            # thread: 1.5 ms of CPU. The proxy is found once, above.
            trust_env=False,
        )
        try:
            return await asyncio.to_thread(self._client, session), session
        except Exception:
            await session.close()
            raise

    def _client(self, session: "ClientSession") -> "Client":
        from google import genai  # noqa: PLC0415 - takes a second

        # One for all of the SDK's transports, which would each read the certificates, 20 ms a time.
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
                # A type of httpx, so that the SDK makes the clients which it opens and we do not
                # use with httpx, which is here, and loads no transport of httpx2. They read no
                # proxies, of which some (SOCKS) would keep them from starting.
                client_args={"verify": tls, "timeout": httpx.Timeout(None), "trust_env": False},
                # aiohttp would carry the key along to wherever a redirect leads.
                async_client_args={"ssl": tls, "allow_redirects": False, "trust_env": False},
            ),
        )


def _proxy_for(address: str) -> str | None:
    """The proxy that the environment names for *address*, by the usual variables.

    Raises ValueError for one that aiohttp does not know, such as SOCKS.
    """
    parts = urlsplit(address)
    proxy = getproxies().get(parts.scheme)
    if not proxy or proxy_bypass(parts.hostname or ""):
        return None
    proxy = proxy if "://" in proxy else f"http://{proxy}"
    if not proxy.startswith(("http://", "https://")):
        raise ValueError("a proxy of this kind cannot be used")
    return proxy
