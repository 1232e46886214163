"""Settings from the environment and `.env`, and the messages that refuse invalid ones."""

import os
from pathlib import Path

import pytest

from judge.errors import ConfigurationError
from judge.settings import Settings, load_settings


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("JUDGE_MODEL", "GEMINI_API_KEY", "GOOGLE_API_KEY", "REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def refusal() -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_settings()
    return str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbfJUDGE_MODEL=extractive\r\nJUDGE_DEADLINE_S=5\r\n",
        b"export JUDGE_MODEL='extractive' # ours\nJUDGE_DEADLINE_S=\" 5 \"\n",
        b"judge_model = extractive\nJUDGE_DEADLINE_S=5\nother\n",
    ],
)
def test_dotenv_file_is_read_in_any_common_format(folder: Path, text: bytes):
    (folder / ".env").write_bytes(text)
    assert (load_settings().model, load_settings().deadline_s) == ("extractive", 5)


@pytest.mark.parametrize("text", ["# caf\xe9".encode("latin-1"), "A=b".encode("utf-16")])
def test_dotenv_file_that_is_not_utf_8_is_refused(folder: Path, text: bytes):
    (folder / ".env").write_bytes(text)
    assert "The file .env is not UTF-8 text." in refusal()


def test_spaces_around_a_value_are_removed(monkeypatch):
    monkeypatch.setenv("JUDGE_MODEL", " extractive\n")
    monkeypatch.setenv("GEMINI_API_KEY", " key\r\n")
    monkeypatch.setenv("REDIS_URL", " redis://localhost ")
    settings = load_settings()
    assert settings.model == "extractive"
    assert settings.gemini_api_key
    assert settings.gemini_api_key.get_secret_value() == "key"
    assert settings.redis_url
    assert settings.redis_url.get_secret_value() == "redis://localhost"


def test_a_blank_variable_hides_no_other(monkeypatch, folder: Path):
    (folder / ".env").write_text("JUDGE_MODEL=extractive\nGEMINI_API_KEY=' '\n")
    for name in ("JUDGE_MODEL", "REDIS_URL"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("STORAGE_REDIS_URL", "redis://localhost")
    settings = load_settings()
    assert (settings.model, settings.gemini_api_key) == ("extractive", None)
    assert settings.redis_url


@pytest.mark.parametrize("is_in_file", [True, False])
def test_variables_of_other_programs_are_not_read(monkeypatch, folder: Path, is_in_file: bool):
    usual = load_settings()
    ours = {"gemini_api_key", "redis_url", "qdrant_url", "qdrant_api_key", "cohere_api_key"}
    for name in (name.upper() for name in Settings.model_fields if name not in ours):
        if is_in_file:
            with (folder / ".env").open("a") as file:
                file.write(f"{name}=support@example.org\n")
        else:
            monkeypatch.setenv(name, "support@example.org")
    assert load_settings() == usual


@pytest.mark.parametrize("name", ["JUDGE_MODEL", "GEMINI_API_KEY", "JUDGE_API_KEYS", "REDIS_URL"])
@pytest.mark.parametrize("blank", ["", "  ", "\t\n"])
def test_blank_value_counts_as_unset(monkeypatch, name: str, blank: str):
    usual = load_settings()
    monkeypatch.setenv(name, blank)
    assert load_settings() == usual


@pytest.mark.parametrize("name", ["JUDGE_API_KEYS", "JUDGE_FALLBACK", "GEMINI_API_KEY"])
def test_undecodable_value_is_refused_with_its_name(monkeypatch, name: str):
    monkeypatch.setenv(name, os.fsdecode(b"caf\xe9"))
    assert f"{name} must be text in UTF-8 without NUL." in refusal()


def test_path_with_nul_is_refused(folder: Path):
    (folder / ".env").write_bytes(b"JUDGE_SOURCES=a\0b\n")
    assert "JUDGE_SOURCES must be text in UTF-8 without NUL." in refusal()


@pytest.mark.parametrize(
    "name", ["GEMINI_API_KEY", "JUDGE_OPENAI_API_KEY", "COHERE_API_KEY", "QDRANT_API_KEY"]
)
@pytest.mark.parametrize("key", ["geheim\nnis", "geheim‑nis"], ids=["line end", "not ASCII"])
def test_key_that_no_header_can_hold_is_refused_without_showing_it(monkeypatch, name, key):
    monkeypatch.setenv(name, key)
    assert f"{name} holds a line end" in refusal()
    assert "geheim" not in refusal()


def test_list_may_have_several_lines(folder: Path):
    (folder / ".env").write_bytes(b'JUDGE_API_KEYS="one,\ntwo"\n')
    assert [key.get_secret_value() for key in load_settings().api_keys] == ["one", "two"]


@pytest.mark.parametrize(
    "host", ["localhost", ":80", "a:0", "a:65536", "a:٨٠", "http://a:80", "::1:80", "a/b:80"]
)
def test_invalid_trusted_host_is_refused(monkeypatch, host: str):
    monkeypatch.setenv("JUDGE_TRUSTED_HOSTS", f"b:1,{host}")
    assert "is no host with its port, as in localhost:8080" in refusal()


def test_trusted_hosts_are_lower_case():
    settings = Settings(JUDGE_TRUSTED_HOSTS=("Wiki.Internal:8080", "[::1]:65535"))
    assert settings.trusted_hosts == ("wiki.internal:8080", "[::1]:65535")


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "https://A.example",
        "https://a:443",
        "http://a:80",
        "https://é.example",
        "https://a/",
    ],
)
def test_origin_that_no_browser_sends_is_refused(monkeypatch, origin: str):
    monkeypatch.setenv("JUDGE_CORS_ORIGINS", origin)
    assert "is no origin; write it as in https://app.example.org" in refusal()


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:114340/v1", "http://h:0/v1", "http://[::1", "http:///v1"]
)
def test_base_url_without_a_valid_host_and_port_is_refused(monkeypatch, url: str):
    monkeypatch.setenv("JUDGE_OPENAI_BASE_URL", url)
    assert "JUDGE_OPENAI_BASE_URL must have a host, and a port" in refusal()


def test_base_url_without_a_scheme_is_refused(monkeypatch):
    monkeypatch.setenv("JUDGE_GEMINI_BASE_URL", "localhost:8099")
    assert "JUDGE_GEMINI_BASE_URL must begin with http:// or https://" in refusal()
