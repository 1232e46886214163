"""Settings from the environment (and `.env`), read once and validated.

docs/configuration.md explains each variable; domains and pages are in config/sources.toml.
"""

import difflib
import ipaddress
import os
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    AliasChoices,
    BeforeValidator,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
)
from pydantic_core import PydanticUseDefault
from pydantic_settings import BaseSettings, DotEnvSettingsSource, NoDecode, SettingsConfigDict

from judge.errors import ConfigurationError
from judge.types.replies import Thinking
from judge.types.request_fields import bad_fields_of
from judge.types.setting_values import parse_rate_limit, parse_redis_url

AnySettings = TypeVar("AnySettings", bound=BaseSettings)

_ORIGIN = re.compile(r"(?!http:.*:80$|https:.*:443$)[a-z][a-z0-9+.-]*://[a-z0-9.:_\[\]-]+")
"""As browsers send it: in lower case ASCII, with a port unless it is the default, and no path."""

_HOST_WITH_PORT = re.compile(r"(?:\[[0-9a-f:.]+\]|[^\s/@:\[\]]+):([0-9]{1,5})")
"""As in a URL, IPv6 in brackets."""

_NAMED_KEY = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,63}) *= *([^=\s].*)")
"""A name and its key. The padding of a base64 key, `=` at its end, does not separate a name."""

DEFAULT_MODEL = "gemini-3.8-flash"
EXTRACTIVE = "extractive"
OPENAI = "openai:"
"""The prefix of the name of a model at JUDGE_OPENAI_BASE_URL."""


def _split(value: object) -> object:
    """The parts of a comma list, without empty ones; what is not text is left to pydantic."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _parsed_by(parse: Callable[[Any], object]) -> AfterValidator:
    """Keeps a value for which *parse* raises no ValueError."""

    def keep(value: Any) -> Any:
        _ = parse(value.get_secret_value() if isinstance(value, SecretStr) else value)
        return value

    return AfterValidator(keep)


def _origin(value: str) -> None:
    if value != "*" and not _ORIGIN.fullmatch(value):
        raise ValueError(f"{value!r} is no origin; write it as in https://app.example.org")


def _web_address(value: str) -> None:
    if not value.startswith(("http://", "https://")):
        raise ValueError("must begin with http:// or https://, as in http://127.0.0.1:11434/v1")
    try:
        is_valid = bool(urlsplit(value).hostname) and urlsplit(value).port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise ValueError("must have a host, and a port from 1 to 65535 where it has one")


def _host_with_port(value: str) -> str:
    found = _HOST_WITH_PORT.fullmatch(value.lower())
    if not (found and 0 < int(found[1]) <= 65535):
        raise ValueError(f"{value!r} is no host with its port, as in localhost:8080")
    return value.lower()


def _support(value: str) -> None:
    if value not in {"words", "model"} and not value.partition("onnx:")[2]:
        raise ValueError("must be words, model or onnx:FOLDER")


def _service_key(key: str) -> None:
    if not (key.isascii() and key.isprintable()):
        raise ValueError("holds a line end or another character that no request can carry")


T = TypeVar("T")
CommaList = Annotated[tuple[T, ...], NoDecode, BeforeValidator(_split)]
Origins = CommaList[Annotated[str, _parsed_by(_origin)]]
Networks = CommaList[Annotated[str, _parsed_by(partial(ipaddress.ip_network, strict=False))]]
Hosts = CommaList[Annotated[str, AfterValidator(_host_with_port)]]
WebAddress = Annotated[str, _parsed_by(_web_address)]
SupportText = Annotated[str, _parsed_by(_support)]
RateLimitText = Annotated[str, _parsed_by(parse_rate_limit)]
ServiceKey = Annotated[SecretStr, _parsed_by(_service_key)]
RedisAddressText = Annotated[SecretStr, _parsed_by(parse_redis_url)]


class DemoSettings(BaseSettings):
    """The settings that `judge demo` reads from the environment."""

    model_config = SettingsConfigDict(
        env_file=".env", env_ignore_empty=True, extra="ignore", frozen=True
    )

    model: str = Field(DEFAULT_MODEL, validation_alias="JUDGE_MODEL")
    openai_base_url: WebAddress | None = Field(None, validation_alias="JUDGE_OPENAI_BASE_URL")
    openai_api_key: ServiceKey | None = Field(None, validation_alias="JUDGE_OPENAI_API_KEY")
    thinking: Thinking = Field("low", validation_alias="JUDGE_THINKING")
    deadline_s: float = Field(30.0, gt=0, le=600, validation_alias="JUDGE_DEADLINE_S")
    cors_origins: Origins = Field((), validation_alias="JUDGE_CORS_ORIGINS")

    @field_validator("*", mode="before")
    @classmethod
    def _without_spaces(cls, value: object) -> object:
        """Strip spaces around a value; a blank one counts as unset."""
        if not isinstance(value, str):
            return value
        if "\0" in value or value.encode(errors="replace").decode() != value:
            raise ValueError("must be text in UTF-8 without NUL")
        if not value.strip():
            raise PydanticUseDefault
        return value.strip()


class Settings(DemoSettings):
    """Every setting with its default; secrets never appear in a repr."""

    gemini_api_key: ServiceKey | None = Field(
        None, validation_alias=AliasChoices("GEMINI_API_KEY", "GOOGLE_API_KEY")
    )
    fallback: str | None = Field(None, validation_alias="JUDGE_FALLBACK")
    gemini_base_url: WebAddress | None = Field(None, validation_alias="JUDGE_GEMINI_BASE_URL")
    max_in_flight: int = Field(1000, ge=1, validation_alias="JUDGE_MAX_IN_FLIGHT")
    redis_url: RedisAddressText | None = Field(
        None, validation_alias=AliasChoices("REDIS_URL", "STORAGE_REDIS_URL")
    )
    sources: str = Field("config/sources.toml", validation_alias="JUDGE_SOURCES")
    data_dir: str = Field(".judge", validation_alias="JUDGE_DATA_DIR")
    qdrant_url: str | None = Field(None, validation_alias="QDRANT_URL")
    qdrant_api_key: ServiceKey | None = Field(None, validation_alias="QDRANT_API_KEY")
    database_url: SecretStr | None = Field(None, validation_alias="JUDGE_DATABASE_URL")
    embedder: str | None = Field(None, validation_alias="JUDGE_EMBEDDER")
    cohere_api_key: ServiceKey | None = Field(None, validation_alias="COHERE_API_KEY")
    collection: str = Field("default", validation_alias="JUDGE_COLLECTION")
    code_roots: CommaList[str] = Field((), validation_alias="JUDGE_CODE_ROOTS")
    api_keys: CommaList[SecretStr] = Field((), validation_alias="JUDGE_API_KEYS")
    admin_keys: CommaList[SecretStr] = Field((), validation_alias="JUDGE_ADMIN_KEYS")
    rate_limit: RateLimitText = Field("60/minute", validation_alias="JUDGE_RATE_LIMIT")
    trusted_proxies: Networks = Field((), validation_alias="JUDGE_TRUSTED_PROXIES")
    support: SupportText = Field("words", validation_alias="JUDGE_SUPPORT")
    daily_tokens: int | None = Field(None, gt=0, validation_alias="JUDGE_DAILY_TOKENS")
    trusted_hosts: Hosts = Field((), validation_alias="JUDGE_TRUSTED_HOSTS")

    @field_validator("api_keys")
    @classmethod
    def _have_one_name_each(cls, value: Sequence[SecretStr]) -> Sequence[SecretStr]:
        names: dict[str, str] = {}
        for entry in value:
            name, key = name_and_key(entry)
            if key.endswith("=") and len(key) < 16:  # too short for padding
                raise ValueError("has a name without a key; write it as in alice=KEY")
            if names.setdefault(key, name) != name:
                raise ValueError("has a key under two names; give each name a key of its own")
        return value


def name_and_key(entry: SecretStr) -> tuple[str, str]:
    """The lower-case name of an entry of JUDGE_API_KEYS, "" if it has none, and the key.

    >>> name_and_key(SecretStr("Alice=k1")), name_and_key(SecretStr("c2VjcmV0cw=="))
    (('alice', 'k1'), ('', 'c2VjcmV0cw=='))
    """
    text = entry.get_secret_value()
    named = _NAMED_KEY.fullmatch(text)
    return (named[1].lower(), named[2]) if named else ("", text)


def load_settings() -> Settings:
    """The settings of this process; raises ConfigurationError naming each variable and the fix."""
    return read_environment(Settings)


def misspelt_variables() -> dict[str, str]:
    """The variables called almost like a setting, as JUDGE_API_KEY, with the one it resembles."""
    known = Settings.model_json_schema()["properties"]
    given = {name.upper() for name in (*os.environ, *DotEnvSettingsSource(Settings).env_vars)}
    unknown = sorted(name for name in given - {*known} if name.startswith("JUDGE_"))
    near = {name: difflib.get_close_matches(name, known, 1, cutoff=0.85) for name in unknown}
    return {name: found[0] for name, found in near.items() if found}


def read_environment(kind: type[AnySettings]) -> AnySettings:
    """The settings that *kind* declares, ignoring all others; raises as `load_settings`."""
    try:
        return kind()
    except OSError as error:
        raise ConfigurationError(f"The file .env cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise ConfigurationError("The file .env is not UTF-8 text. Save it as UTF-8.") from None
    except ValidationError as error:
        raise ConfigurationError(
            f"The environment has settings that cannot be used: {bad_fields_of(error)} "
            "Correct or unset them; docs/configuration.md lists what each one takes."
        ) from None


def share_metrics_in(directory: str) -> None:
    """Let the processes of one server share their metrics through files in *directory*.

    prometheus_client offers no other way than this variable, which it reads when imported.
    """
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = directory
