"""Opens language models by name."""

from contextlib import AsyncExitStack
from pathlib import Path

import httpx

from judge.adapters.models.extractive import ExtractiveModel
from judge.adapters.models.gemini import GeminiClient, GeminiService
from judge.adapters.models.openai import OpenaiService, open_client
from judge.adapters.models.remote import ModelService, RemoteModel
from judge.bootstrap.library import Library
from judge.errors import ConfigurationError
from judge.judging.model_caller import ModelCaller
from judge.judging.support_by_model import SupportByEntailment, SupportByModel, SupportRater
from judge.judging.verdicts.reply_schema import exact_reply_schema, reply_schema
from judge.ports import Journal, LanguageModel
from judge.settings import EXTRACTIVE, OPENAI, Settings


def open_model(
    name: str,
    *,
    settings: Settings,
    library: Library,
    gemini: GeminiClient,
    stack: AsyncExitStack,
) -> LanguageModel:
    """The model called *name*; raises ConfigurationError if its key or address is not set."""
    if name == EXTRACTIVE:
        return ExtractiveModel()
    if name.startswith(OPENAI):
        return RemoteModel(_openai(name, settings, library.journal, stack), library.journal)
    if settings.gemini_api_key is None:
        raise ConfigurationError(
            f"The model {name} needs a key. Set GEMINI_API_KEY (or GOOGLE_API_KEY), set "
            "JUDGE_MODEL=openai:NAME to ask a model of your own, or JUDGE_MODEL=extractive to "
            "quote the references without a model."
        )
    service = GeminiService(
        gemini,
        library.journal,
        model=name,
        reply_schema=reply_schema,
        thinking=settings.thinking,
    )
    return RemoteModel(service, library.journal)


def _openai(name: str, settings: Settings, journal: Journal, stack: AsyncExitStack) -> ModelService:
    """The service at JUDGE_OPENAI_BASE_URL; raises ConfigurationError."""
    served_name = name.removeprefix(OPENAI)
    if not (served_name and settings.openai_base_url):
        raise ConfigurationError(
            f"The model {name} needs its name and an address. Set JUDGE_MODEL=openai:NAME and "
            "JUDGE_OPENAI_BASE_URL, as in http://127.0.0.1:11434/v1 for Ollama on this machine."
        )
    client, key = open_openai(settings.openai_base_url, settings, stack)
    return OpenaiService(
        client,
        journal,
        settings.openai_base_url,
        name=name,
        served_name=served_name,
        api_key=key,
        exact_schema=exact_reply_schema,
        loose_schema=reply_schema,
        thinking=settings.thinking,
    )


def open_openai(
    base_url: str, settings: Settings, stack: AsyncExitStack
) -> tuple[httpx.AsyncClient, str]:
    """A client of the server at *base_url*, and its key, or an empty string."""
    client = open_client(base_url)
    stack.push_async_callback(client.aclose)
    key = settings.openai_api_key
    return client, key.get_secret_value() if key else ""


def open_gemini(settings: Settings, stack: AsyncExitStack) -> GeminiClient:
    """The client of Google's SDK, which connects at first use."""
    key = settings.gemini_api_key
    client = GeminiClient(key.get_secret_value() if key else "", settings.gemini_base_url)
    stack.push_async_callback(client.aclose)
    return client


def open_support(settings: Settings, caller: ModelCaller) -> SupportRater | None:
    """What rates citations, None for words alone; raises ConfigurationError."""
    if settings.support == "model":
        return SupportByModel(caller)
    folder = settings.support.partition("onnx:")[2]
    if not folder:
        return None
    try:
        from judge.adapters.models.entailment import read_entailment  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"JUDGE_SUPPORT=onnx:{folder} needs the extra `judge[nli]`: "
            "`pip install numpy onnxruntime tokenizers` brings it."
        ) from error
    return SupportByEntailment(read_entailment(Path(folder)), caller.clock, caller.journal)
