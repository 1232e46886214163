"""Fetches, caches and obeys robots.txt as in RFC 9309.

The page fetcher checks each hop here. The file itself is downloaded through the same guarded
connections as a page, by the function given as *fetch*.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from protego import Protego

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

MAX_ORIGINS = 256

_CONNECTION_FAILURES = frozenset({"address", "connection", "tls", "timeout"})
_AGENT_LINE = re.compile(r"\s*user[-\s]*agent\s*[:\s]\s*([^#]*)", re.IGNORECASE)
_TOKEN = re.compile(r"[a-z_-]+")


@dataclass(frozen=True, slots=True)
class RobotsReply:
    """The HTTP status and the text of a response for robots.txt."""

    status: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """The rules of one origin; `refusal` says why everything is refused for now."""

    protego: Protego | None = None
    refusal: str = ""

    def allow(self, url: str) -> bool:
        """True if *url* may be fetched."""
        return not self.refusal and (self.protego is None or self.protego.can_fetch(url, PRODUCT))


def parse_robots(text: str) -> RobotsRules:
    """The rules in *text*, without lines that cannot be parsed; takes linear time."""
    return RobotsRules(
        Protego.parse("\n".join(_merge_other_agents(line) for line in text.splitlines()))
    )


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


class RobotsCache:
    """Caches the rules of each origin, with one fetch at a time for each.

    A 4xx or too many redirects mean that there are no rules (RFC 9309, 2.3.1.2 and 2.3.1.3). After
    a 5xx, a time-out or garbage the rules are unknown: everything is refused for a minute
    (2.3.1.4), unless older rules are cached (2.4). A failed connection would fail for the page as
    well, so that error is raised and not cached.
    """

    def __init__(
        self,
        fetch: Callable[[str], Awaitable[RobotsReply]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fetch = fetch
        self._clock = clock
        self._rules_by_origin: dict[str, tuple[RobotsRules, float]] = {}
        self._single_flight = SingleFlight()

    async def check(self, origin: str, url: str) -> None:
        """Raise FetchError ("robots") unless *url* on *origin* may be fetched.

        If robots.txt itself cannot be fetched for want of a connection, the reason is "address",
        "connection", "tls" or "timeout".
        """
        rules = await self._rules(origin)
        # In a thread, as is the parsing: half a mebibyte of wildcards takes 0.4 s to match.
        if await asyncio.to_thread(rules.allow, url):
            return
        raise FetchError(
            "robots",
            rules.refusal
            or f"The robots.txt of {origin} asks {PRODUCT} not to read this page. Choose "
            "another source, or ask the site for leave.",
        )

    async def aclose(self) -> None:
        """Cancel pending fetches."""
        await self._single_flight.aclose()

    async def _rules(self, origin: str) -> RobotsRules:
        if cached := self._rules_by_origin.get(origin):
            rules, expiry = cached
            if self._clock() < expiry:
                return rules
        outcome = await self._single_flight.share(origin, lambda: self._fetch_rules(origin))
        if isinstance(outcome, FetchError):
            raise FetchError(outcome.reason, str(outcome)) from outcome
        return outcome

    async def _fetch_rules(self, origin: str) -> RobotsRules | FetchError:
        """The rules of *origin*, or why there is no connection to it; never raises."""
        try:
            async with asyncio.timeout(ROBOTS_TIMEOUT_S):
                reply = await self._fetch(f"{origin}/robots.txt")
        except TimeoutError:
            return self._unreachable(origin, f"did not come within {ROBOTS_TIMEOUT_S:g} s")
        except FetchError as error:
            if error.reason in _CONNECTION_FAILURES:
                return error
            if error.reason == "redirects":
                return self._remember(origin, RobotsRules(), RULES_TTL_S)
            return self._unreachable(origin, f"cannot be read: {error}")
        if reply.status >= 500:
            return self._unreachable(origin, f"is answered with status {reply.status}")
        is_there = 200 <= reply.status < 300
        rules = await asyncio.to_thread(parse_robots, reply.text) if is_there else RobotsRules()
        return self._remember(origin, rules, RULES_TTL_S)

    def _unreachable(self, origin: str, problem: str) -> RobotsRules:
        cached, _ = self._rules_by_origin.get(origin, (RobotsRules(refusal="unknown"), 0.0))
        refused = RobotsRules(
            refusal=f"The robots.txt of {origin} {problem}. Until it can be read nothing is "
            f"fetched from there; it is asked again after {UNREACHABLE_TTL_S:g} s."
        )
        return self._remember(origin, refused if cached.refusal else cached, UNREACHABLE_TTL_S)

    def _remember(self, origin: str, rules: RobotsRules, ttl_s: float) -> RobotsRules:
        cache = self._rules_by_origin
        cache.pop(origin, None)
        cache[origin] = (rules, self._clock() + ttl_s)
        if len(cache) > MAX_ORIGINS:
            del cache[next(iter(cache))]  # the one that was fetched longest ago
        return rules
