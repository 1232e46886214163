"""Opens embedders by name."""

from contextlib import AsyncExitStack
from pathlib import Path

import httpx

from judge.adapters.embedders.services import (
    PASSAGES_TIMEOUT_S,
    RestingEmbedder,
    cohere_embedder,
    gemini_embedder,
    openai_embedder,
)
from judge.adapters.models.gemini import GeminiClient
from judge.bootstrap.models import open_gemini, open_openai
from judge.errors import ConfigurationError, MissingKey
from judge.ports import Clock, Embedder
from judge.settings import Settings

NO_EMBEDDER = "none"


def open_embedder(
    settings: Settings, clock: Clock, gemini: GeminiClient | None, stack: AsyncExitStack
) -> Embedder | None:
    """The embedder that JUDGE_EMBEDDER names; with Qdrant it defaults to one whose key is set.

    For the embedded index there is no default: a key that was set for judging must not send
    documents anywhere.

    Raises MissingKey and ConfigurationError.
    """
    keys = {"gemini": settings.gemini_api_key, "cohere": settings.cohere_api_key}
    with_key = [name for name, key in keys.items() if key and settings.qdrant_url]
    chosen = settings.embedder or next(iter(with_key), NO_EMBEDDER)
    name, _, model = chosen.partition(":")
    name = name.lower()
    if name == NO_EMBEDDER:
        return None
    if name == "static" and model:
        return _open_static(Path(model))
    if name == "openai" and model:
        return RestingEmbedder(_open_openai_embedder(model, settings, stack), clock)
    if name not in keys:
        raise ConfigurationError(
            f"JUDGE_EMBEDDER is {chosen[:40]!r}. Valid are {', '.join(keys)}, openai:NAME, "
            f"static:FOLDER and {NO_EMBEDDER}; unset it for the default."
        )
    key = keys[name]
    if key is None:
        raise MissingKey(
            f"JUDGE_EMBEDDER={name} needs {name.upper()}_API_KEY, which is not set. Set it, or "
            f"set JUDGE_EMBEDDER={NO_EMBEDDER} to search the text alone."
        )
    if name == "gemini":
        embedder = gemini_embedder(gemini or open_gemini(settings, stack))
    else:
        client = _open_client()
        stack.push_async_callback(client.aclose)
        embedder = cohere_embedder(client, key.get_secret_value())
    return RestingEmbedder(embedder, clock)


def _open_client() -> httpx.AsyncClient:
    """The HTTP client for an embedder; raises ConfigurationError."""
    try:
        return httpx.AsyncClient(timeout=PASSAGES_TIMEOUT_S)
    except (OSError, ImportError, httpx.InvalidURL) as error:  # httpx may lack SOCKS
        raise ConfigurationError(
            f"The embedder cannot be asked ({type(error).__name__}). Correct SSL_CERT_FILE and the "
            "proxy variables where they are set."
        ) from None


def _open_openai_embedder(model: str, settings: Settings, stack: AsyncExitStack) -> Embedder:
    """The embedder *model* at JUDGE_OPENAI_BASE_URL; raises ConfigurationError."""
    if not settings.openai_base_url:
        raise ConfigurationError(
            f"JUDGE_EMBEDDER=openai:{model} needs an address. Set JUDGE_OPENAI_BASE_URL, as in "
            "http://127.0.0.1:11434/v1 for Ollama on this machine."
        )
    client, key = open_openai(settings.openai_base_url, settings, stack)
    return openai_embedder(client, settings.openai_base_url, model, key)


def _open_static(folder: Path) -> Embedder:
    """The model in *folder*; raises ConfigurationError."""
    try:
        from judge.adapters.embedders.static_model import StaticEmbedder  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"JUDGE_EMBEDDER=static:{folder} needs the extra `judge[static]`: "
            "`pip install numpy safetensors tokenizers` brings it."
        ) from error
    return StaticEmbedder(folder)
