"""The HTTP client for servers of chat completions, and the list of models that a server has."""

import asyncio
import ipaddress
from urllib.parse import urlsplit

import httpx2
from pydantic import BaseModel

from judge.errors import ConfigurationError, ModelUnavailable


class _ServedModel(BaseModel):
    id: str


class _ModelList(BaseModel):
    data: tuple[_ServedModel, ...] | None = None


def open_client(base_url: str) -> httpx2.AsyncClient:
    """A client of the server at *base_url*, without time-outs: callers set them.

    Raises ConfigurationError.
    """
    try:
        return httpx2.AsyncClient(
            base_url=base_url,
            timeout=None,
            limits=httpx2.Limits(max_connections=None),
            trust_env=not _is_loopback(base_url),  # no proxy leads to this machine
        )
    except (OSError, ImportError, httpx2.InvalidURL) as error:  # httpx2 may lack SOCKS
        raise ConfigurationError(
            f"No client for JUDGE_OPENAI_BASE_URL can be opened ({type(error).__name__}). Correct "
            "it, or SSL_CERT_FILE and the proxy variables where they are set."
        ) from None


def bearer(api_key: str) -> dict[str, str]:
    """The headers that carry *api_key*; none for no key."""
    return {"Authorization": f"Bearer {api_key}"} if api_key else {}


async def served_models(base_url: str, api_key: str, *, timeout_s: float) -> tuple[str, ...]:
    """The names of the models that the server at *base_url* has.

    Raises ModelUnavailable and ConfigurationError.
    """
    client = open_client(base_url)
    try:
        async with asyncio.timeout(timeout_s), client:
            response = await client.get("models", headers=bearer(api_key))
            models = _ModelList.model_validate_json(response.raise_for_status().content)
    except httpx2.HTTPStatusError as error:
        reason = f"status {error.response.status_code}"
    except Exception as error:  # noqa: BLE001 - no list, or what httpx2 lets through of its proxy
        reason = type(error).__name__
    else:
        return tuple(model.id for model in models.data or ())
    raise ModelUnavailable(f"The server does not list its models ({reason}).")


def _is_loopback(base_url: str) -> bool:
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
