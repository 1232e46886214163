"""The cost of a live run, by a table of prices that users fill in."""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field

from judge.errors import ConfigurationError
from judge.golden.results import Result
from judge.types.request_fields import BadFields, StrictModel, parse_fields

MILLION = 1_000_000
"""Tokens to which a price applies."""


class Price(StrictModel):
    """What a million tokens of one model cost; thinking is billed as output."""

    input: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    output: Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Prices(StrictModel):
    """The table: one currency, and a price for each model by name."""

    currency: Annotated[str, Field(max_length=10)] = ""
    models: Mapping[str, Price] = {}


def read_prices(path: Path) -> Prices:
    """The prices in the TOML file *path*, none without a file; raises ConfigurationError."""
    try:
        return parse_fields(Prices, tomllib.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        return Prices()
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}") from error
    except BadFields as error:
        raise ConfigurationError(f"{path}: {error}") from error


def cost_of(results: Iterable[Result], prices: Prices) -> float | None:
    """What *results* cost, or None if a model among them has no price."""
    total = 0.0
    for result in results:
        if not result.model:
            continue
        price = prices.models.get(result.model)
        if price is None:
            return None
        output = result.usage.output_tokens + result.usage.thinking_tokens
        total += (result.usage.input_tokens * price.input + output * price.output) / MILLION
    return total
