"""How many tokens all workers have spent today (UTC), counted in Redis."""

from judge.adapters.redis.cache import call_redis
from judge.adapters.redis.connect import RedisClient
from judge.adapters.redis.failover import Outage
from judge.ports import Clock

PREFIX = "tokens:"

KEY_TTL_S = 2 * 24 * 3600
"""A day's count outlives the day, for workers whose clocks run behind."""

# Adding and reading are one script. Nothing is written when there is nothing to add. What Redis
# lost of the total that this process knows is added too, or as much could be spent again.
SPEND = """
local counted = tonumber(redis.call('GET', KEYS[1]) or '0') or 0
local added = tonumber(ARGV[1]) + math.max(0, tonumber(ARGV[3]) - counted)
if added == 0 then return counted end
local total = redis.call('INCRBY', KEYS[1], added)
redis.call('EXPIRE', KEYS[1], ARGV[2])
return total
"""


class RedisTokenCounter:
    """A TokenCounter over all processes, one round trip each.

    While Redis is down this process adds to the last total that Redis gave, and sends Redis what
    it counted once Redis is back. A lost reply may count tokens twice, but loses none.
    """

    def __init__(self, client: RedisClient, clock: Clock, outage: Outage) -> None:
        self._client = client
        self._script = client.register_script(SPEND)
        self._clock = clock
        self._outage = outage
        self._day = ""
        self._shared_total = 0
        """The last total that Redis gave."""
        self._unsent = 0
        """Tokens that Redis has not counted yet."""

    async def add(self, tokens: int) -> int:
        """Add *tokens*; returns the day's new total."""
        day = self._clock.now().date().isoformat()
        if day != self._day:
            self._day, self._shared_total, self._unsent = day, 0, 0
        self._unsent += tokens
        await self._outage.ask(lambda: self._send(day), _keep)
        return self._shared_total + self._unsent

    async def _send(self, day: str) -> None:
        """Add the unsent tokens in Redis; they stay unsent when that fails or is cancelled."""
        tokens, self._unsent = self._unsent, 0
        total: int | None = None
        try:
            keys, args = [PREFIX + day], [tokens, KEY_TTL_S, self._shared_total]
            total = int(await call_redis(self._client, lambda: self._script(keys=keys, args=args)))
        finally:
            if day == self._day:
                if total is None:
                    self._unsent += tokens
                else:
                    self._shared_total = max(self._shared_total, total)


async def _keep() -> None:
    """While Redis is down the tokens stay unsent."""
