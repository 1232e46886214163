"""What holds the limits on requests and tokens, over all processes where there is Redis."""

from judge.adapters.budgeted_model import BudgetedModel, DailyBudget
from judge.adapters.extractive_model import ExtractiveModel
from judge.adapters.redis.rate_limit import FallbackRateLimiter, MemoryRateLimiter, RedisRateLimiter
from judge.adapters.redis.token_budget import MemoryTokenBudget, RedisTokenBudget
from judge.bootstrap.library import Library
from judge.ports import LanguageModel, RateLimiter
from judge.settings import Settings
from judge.types.limits import parse_rate_limit


def open_budget(settings: Settings, library: Library) -> DailyBudget | None:
    """What holds JUDGE_DAILY_TOKENS, if it is set: over all processes with Redis."""
    if settings.daily_tokens is None:
        return None
    clock, journal, redis = library.clock, library.journal, library.redis
    counted = (
        RedisTokenBudget(redis.client, clock, journal, redis.line)
        if redis
        else MemoryTokenBudget(clock)
    )
    return DailyBudget(counted, settings.daily_tokens, clock, journal)


def budgeted(model: LanguageModel, budget: DailyBudget | None) -> LanguageModel:
    """*model* under *budget*, unless it costs nothing."""
    is_free = isinstance(model, ExtractiveModel)
    return BudgetedModel(model, budget) if budget and not is_free else model


def open_limiter(settings: Settings, library: Library) -> RateLimiter | None:
    """What holds JUDGE_RATE_LIMIT: over all processes with Redis, in each while that is down."""
    limit = parse_rate_limit(settings.rate_limit)
    if limit is None:
        return None
    local = MemoryRateLimiter(limit, library.clock)
    if library.redis is None:
        return local
    shared = RedisRateLimiter(library.redis.client, limit)
    return FallbackRateLimiter(shared, local, library.clock, library.journal)
