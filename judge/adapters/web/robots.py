"""Fetches, caches and obeys robots.txt as in RFC 9309.

The page fetcher checks each hop here. The file itself is downloaded through the same guarded
connections as a page, by the function given as *fetch*.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import httpx
from protego import Protego

from judge.adapters.web.downloads import origin_of
from judge.errors import FetchError
from judge.single_flight import SingleFlight

PRODUCT = "Judge"
"""Our product token (RFC 9309, 2.2.1): the first word of the User-Agent header."""

MAX_ROBOTS_BYTES = 512 * 1024
"""RFC 9309, 2.5 asks for at least 500 KiB; the rest is not read."""

MAX_ROBOTS_REDIRECTS = 5
"""RFC 9309, 2.3.1.2: at least five."""

RULES_TTL_S = 3600.0
"""RFC 9309, 2.4 allows a day; an hour lets a site change its mind sooner."""

UNREACHABLE_TTL_S = 60.0
"""As long as the failure of a page is cached."""

ROBOTS_TIMEOUT_S = 3.0
"""Less than the five seconds of a page, so that the error names robots.txt and not the page."""

_CONNECTION_FAILURES = frozenset({"address", "connection", "tls", "timeout"})
_AGENT_LINE = re.compile(r"\s*user[-\s]*agent\s*[:\s]\s*([^#]*)", re.IGNORECASE)
_TOKEN = re.compile(r"[a-z_-]+")


def parse_robots(text: str) -> Protego:
    """The rules in *text*, without lines that cannot be parsed; takes linear time."""
    return Protego.parse("\n".join(_merge_other_agents(line) for line in text.splitlines()))


def _merge_other_agents(line: str) -> str:
    """*line*; if it names an agent that is not us, with the name `another`.

    Protego copies each rule for each agent of its group: 256 KiB of names above 256 KiB of rules
    would fill the memory.
    """
    if not (match := _AGENT_LINE.match(line)):
        return line
    name = match[1].strip().lower()
    token = _TOKEN.match(name)
    if name == "*":
        return "User-agent: *"
    return f"User-agent: {PRODUCT if token and token[0] == PRODUCT.lower() else 'another'}"


@dataclass(frozen=True, slots=True)
class RobotsCache:
    """Caches the rules of each origin, with one fetch at a time for each.

    A 4xx or too many redirects mean that there are no rules (RFC 9309, 2.3.1.2 and 2.3.1.3). After
    a 5xx, a time-out or garbage everything is refused for a minute (2.3.1.4). A failed connection,
    which would fail for the page as well, is raised and not cached.
    """

    fetch: Callable[[str], Awaitable[str]]
    """Gives the text of the robots.txt at an address; raises FetchError."""
    clock: Callable[[], float] = time.monotonic
    _rules_by_origin: dict[str, tuple[Protego | FetchError, float]] = field(default_factory=dict)
    _single_flight: SingleFlight = field(default_factory=SingleFlight)

    async def check(self, url: httpx.URL) -> None:
        """Raise FetchError unless *url* may be fetched: "robots", or why there is no connection."""
        origin = origin_of(url)
        rules, expiry = self._rules_by_origin.get(origin, (None, 0.0))
        if rules is None or self.clock() >= expiry:
            rules = await self._single_flight.share(origin, lambda: self._fetch_rules(origin))
        if isinstance(rules, FetchError):
            raise FetchError(rules.reason, str(rules)) from rules
        # In a thread, as is the parsing: half a mebibyte of wildcards takes 0.4 s to match.
        if not await asyncio.to_thread(rules.can_fetch, str(url), PRODUCT):
            raise FetchError(
                "robots",
                f"The robots.txt of {origin} asks {PRODUCT} not to read this page. Choose "
                "another source, or ask the site for leave.",
            )

    async def aclose(self) -> None:
        """Cancel the fetches that nobody waits for any more."""
        await self._single_flight.aclose()

    async def _fetch_rules(self, origin: str) -> Protego | FetchError:
        """The rules of *origin*, or why nothing may be fetched from it; never raises."""
        rules: Protego | FetchError
        ttl_s = RULES_TTL_S
        try:
            async with asyncio.timeout(ROBOTS_TIMEOUT_S):
                text = await self.fetch(f"{origin}/robots.txt")
            rules = await asyncio.to_thread(parse_robots, text)
        except TimeoutError:
            rules = _unknown(origin, f"did not come within {ROBOTS_TIMEOUT_S:g} s")
            ttl_s = UNREACHABLE_TTL_S
        except FetchError as error:
            if error.reason in _CONNECTION_FAILURES:
                return error
            if error.reason == "redirects" or 0 < error.status < 500:
                rules = parse_robots("")
            else:
                rules, ttl_s = _unknown(origin, f"cannot be read: {error}"), UNREACHABLE_TTL_S
        self._rules_by_origin[origin] = rules, self.clock() + ttl_s
        return rules


def _unknown(origin: str, problem: str) -> FetchError:
    return FetchError(
        "robots",
        f"The robots.txt of {origin} {problem}. Until it can be read nothing is fetched from "
        f"there; it is asked again after {UNREACHABLE_TTL_S:g} s.",
    )
