"""Opens language models, embedders and what rates citations, by name."""

from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import httpx

from judge.adapters.embedders.services import (
    COHERE_URL,
    cohere_embedder,
    gemini_embedder,
    openai_embedder,
)
from judge.adapters.models.extractive import ExtractiveModel
from judge.adapters.models.gemini import GeminiClient, GeminiService
from judge.adapters.models.openai import OpenaiService, open_client
from judge.adapters.models.remote import RemoteModel
from judge.bootstrap.corpus import needing
from judge.errors import ConfigurationError, MissingKey
from judge.judging.model_caller import ModelCaller
from judge.judging.support_by_model import SupportRater, rate_by_entailment, rate_by_model
from judge.judging.verdicts.reply_schema import exact_reply_schema, reply_schema
from judge.ports import Embedder, Journal, LanguageModel
from judge.settings import EXTRACTIVE, OPENAI, Settings

NO_EMBEDDER = "none"


def open_model(
    name: str, settings: Settings, journal: Journal, gemini: GeminiClient, stack: AsyncExitStack
) -> LanguageModel:
    """The model called *name*; raises ConfigurationError if its key or address is not set."""
    if name == EXTRACTIVE:
        return ExtractiveModel()
    setting = "JUDGE_MODEL" if name == settings.model else "JUDGE_FALLBACK"
    served_name = name.removeprefix(OPENAI)
    if served_name != name:
        client, base_url, key = _open_openai(setting, served_name, settings, stack)
        service = OpenaiService(
            client,
            journal,
            base_url,
            name=name,
            served_name=served_name,
            api_key=key,
            exact_schema=exact_reply_schema,
            loose_schema=reply_schema,
            thinking=settings.thinking,
        )
        return RemoteModel(service, journal)
    if settings.gemini_api_key is None:
        raise ConfigurationError(
            f"The model {name} needs a key. Set GEMINI_API_KEY (or GOOGLE_API_KEY), set "
            f"{setting}=openai:NAME to ask a model of your own, or {setting}=extractive to "
            "quote the references without a model."
        )
    google = GeminiService(
        gemini, journal, name=name, reply_schema=reply_schema, thinking=settings.thinking
    )
    return RemoteModel(google, journal)


def _open_openai(
    setting: str, model: str, settings: Settings, stack: AsyncExitStack
) -> tuple[httpx.AsyncClient, str, str]:
    """A client of JUDGE_OPENAI_BASE_URL, the address, and its key; raises ConfigurationError."""
    if not (model and settings.openai_base_url):
        raise ConfigurationError(
            f"The model openai:{model} needs its name and an address. Set {setting}=openai:NAME "
            "and JUDGE_OPENAI_BASE_URL, as in http://127.0.0.1:11434/v1 for Ollama on this machine."
        )
    client = open_client(settings.openai_base_url)
    stack.push_async_callback(client.aclose)
    key = settings.openai_api_key
    return client, settings.openai_base_url, key.get_secret_value() if key else ""


def open_gemini(settings: Settings, stack: AsyncExitStack) -> GeminiClient:
    """The client of Google's SDK, which connects at first use."""
    key = settings.gemini_api_key
    client = GeminiClient(key.get_secret_value() if key else "", settings.gemini_base_url)
    stack.push_async_callback(client.aclose)
    return client


def open_support(settings: Settings, caller: ModelCaller) -> SupportRater | None:
    """What rates citations, None for words alone; raises ConfigurationError."""
    if settings.support == "model":
        return partial(rate_by_model, caller)
    folder = settings.support.partition("onnx:")[2]
    if not folder:
        return None
    with needing("JUDGE_SUPPORT", "nli", "numpy onnxruntime tokenizers"):
        from judge.adapters.models.entailment import read_entailment  # noqa: PLC0415 - an extra
    model = read_entailment(Path(folder))
    return partial(rate_by_entailment, model, caller.clock, caller.journal)


def open_embedder(
    settings: Settings, gemini: GeminiClient | None, stack: AsyncExitStack
) -> Embedder | None:
    """The embedder that JUDGE_EMBEDDER names; with Qdrant it defaults to one whose key is set.

    For the embedded index there is no default: a key that was set for judging must not send
    documents anywhere. Raises MissingKey and ConfigurationError.
    """
    keys = {"gemini": settings.gemini_api_key, "cohere": settings.cohere_api_key}
    with_key = [name for name, key in keys.items() if key and settings.qdrant_url]
    chosen = settings.embedder or next(iter(with_key), NO_EMBEDDER)
    name, _, model = chosen.partition(":")
    name = name.lower()
    if name == NO_EMBEDDER:
        return None
    if name == "static" and model:
        with needing("JUDGE_EMBEDDER", "static", "numpy safetensors tokenizers"):
            from judge.adapters.embedders import static_model  # noqa: PLC0415 - an extra
        return static_model.StaticEmbedder(Path(model))
    if name == "openai" and model:
        server = _open_openai("JUDGE_EMBEDDER", model, settings, stack)
        return openai_embedder(server[0], server[1], model, server[2])
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
        return gemini_embedder(gemini or open_gemini(settings, stack))
    client = open_client(COHERE_URL, "JUDGE_EMBEDDER")
    stack.push_async_callback(client.aclose)
    return cohere_embedder(client, key.get_secret_value())
