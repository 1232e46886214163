"""`judge doctor` finds what is missing and says how to fix it."""

import json
import resource
from collections.abc import Iterator

import pytest

from judge.entrypoints.cli.doctor import check_ollama
from judge.settings import Settings
from tests.entrypoints.command_line import CommandLine
from tests.fakes.chat_server import ChatServer
from tests.fakes.gemini import FakeGemini, failure
from tests.fakes.redis_server import running_redis

SOURCES = """
[domains.tenancy]
terms = { landlord = 3 }
[[domains.tenancy.examples]]
text = "My landlord is late"
"""


@pytest.fixture(scope="module")
def gemini() -> Iterator[FakeGemini]:
    with FakeGemini.in_thread() as fake:
        yield fake


@pytest.fixture(autouse=True)
def file(cli, monkeypatch, tmp_path, gemini):
    monkeypatch.setenv("JUDGE_GEMINI_BASE_URL", gemini.base_url)
    monkeypatch.setenv("GEMINI_API_KEY", "secret-key")
    (tmp_path / "sources.toml").write_text(SOURCES)


def findings(cli: CommandLine) -> tuple[int, dict[str, dict]]:
    told = cli("doctor", "--format", "json")
    return told.code, {check["name"]: check for check in json.loads(told.out)["checks"]}


def test_valid_setup_is_exit_0(cli, tmp_path):
    told = cli("doctor")
    assert told.code == 0
    assert "FIX" not in told.out
    assert "Everything that a judgement needs is there." in told.err
    assert "secret-key" not in told.out + told.err
    assert [path.name for path in tmp_path.iterdir()] == ["sources.toml"]


def test_names_that_are_nearly_settings_are_told(cli, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUDGE_API_KEY", "secret-key")
    monkeypatch.setenv("JUDGE_KEY_OF_ANOTHER_PROGRAM", "1")
    (tmp_path / ".env").write_text("judge_ratelimit=5/minute\nREDIS_URI=x\n")
    told = cli("doctor", "--format", "json")
    checks = [check for check in json.loads(told.out)["checks"] if check["name"] == "names"]
    assert [(check["message"], check["advice"]) for check in checks] == [
        ("JUDGE_API_KEY is no setting", "Did you mean JUDGE_API_KEYS?"),
        ("JUDGE_RATELIMIT is no setting", "Did you mean JUDGE_RATE_LIMIT?"),
    ]
    assert told.code == 0
    assert "secret-key" not in told.out


def test_a_key_that_is_refused_is_found_with_its_fix(cli, gemini):
    gemini.script(failure(403, message="Your API key was reported as leaked."))
    code, found = findings(cli)

    assert code == 1
    assert "cannot be asked" in found["model"]["message"]
    assert "leaked" in found["model"]["fix"]
    assert "secret-key" not in str(found)


def test_a_missing_key_is_found_with_its_fix(cli, monkeypatch):
    monkeypatch.delenv("GEMINI_API_KEY")
    told = cli("doctor")
    assert told.code == 1
    assert "model: Set GEMINI_API_KEY" in told.out
    assert told.err == ""


def served(monkeypatch, fake: ChatServer, name: str) -> None:
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    monkeypatch.setenv("JUDGE_MODEL", f"openai:{name}")
    monkeypatch.setenv("JUDGE_OPENAI_BASE_URL", fake.base_url)
    monkeypatch.setenv("JUDGE_OPENAI_API_KEY", "sk-secret")


def test_model_server_is_asked_for_its_models_and_for_no_verdict(cli, monkeypatch):
    with ChatServer.in_thread(models=["tiny", "large:latest"]) as fake:
        for name in ("tiny", "large", "huge"):
            served(monkeypatch, fake, name)
            code, found = findings(cli)
            assert code == (name == "huge")
    assert fake.requests == []
    assert found["model"]["message"].endswith("but tiny, large:latest")
    assert "`ollama pull huge`" in found["model"]["fix"]
    code, found = findings(cli)
    assert (code, "ollama serve" in found["model"]["fix"]) == (1, True)
    assert "sk-secret" not in json.dumps(found)


def test_unusable_fallback_model_is_a_finding(cli, monkeypatch):
    monkeypatch.delenv("GEMINI_API_KEY")
    monkeypatch.setenv("JUDGE_MODEL", "extractive")
    for fallback in ("openai:tiny", "gemini-3.8-pro"):
        monkeypatch.setenv("JUDGE_FALLBACK", fallback)
        code, found = findings(cli)
        assert (code, f"{fallback} needs a" in found["fallback"]["message"]) == (1, True)
        assert found["fallback"]["fix"]


@pytest.mark.parametrize(
    ("variable", "part", "words"),
    [
        ("JUDGE_DEADLINE_S=soon", "settings", ("JUDGE_DEADLINE_S", "Correct")),
        ("JUDGE_SOURCES=nowhere.toml", "sources", ("nowhere.toml", "JUDGE_SOURCES")),
        ("JUDGE_DATA_DIR=sources.toml/data", "data", ("cannot be written", "JUDGE_DATA_DIR")),
        ("QDRANT_URL=http://127.0.0.1:9", "index", ("Qdrant", "QDRANT_URL")),
        ("JUDGE_MODEL=openai:tiny", "model", ("needs an address", "JUDGE_OPENAI_BASE_URL")),
        ("JUDGE_CODE_ROOTS=app=nowhere", "start", ("JUDGE_CODE_ROOTS: nowhere", "unset")),
        ("JUDGE_SUPPORT=onnx:nowhere", "start", ("JUDGE_SUPPORT=onnx:nowhere", "unset")),
    ],
)
def test_a_wrong_setting_is_named_with_its_fix(cli, monkeypatch, variable, part, words):
    monkeypatch.setenv(*variable.split("=", 1))
    code, found = findings(cli)
    assert code == 1
    assert words[0] in found[part]["message"]
    assert words[1] in found[part]["fix"]


async def test_local_ollama_is_found_with_the_setting_to_use_it():
    with ChatServer.in_thread(models=["nomic-embed-text:latest", "llama3.2:3b"]) as fake:
        [found] = await check_ollama(Settings(_env_file=None), fake.base_url)
    line = f"JUDGE_MODEL=openai:llama3.2:3b JUDGE_OPENAI_BASE_URL={fake.base_url} judge demo"
    assert found.advice.endswith(line)
    assert not found.fix


async def test_no_ollama_or_one_in_use_is_no_finding():
    with ChatServer.in_thread() as fake:
        used = Settings(
            _env_file=None, JUDGE_MODEL="openai:tiny", JUDGE_OPENAI_BASE_URL=fake.base_url
        )
        assert await check_ollama(used, fake.base_url) == []
    assert await check_ollama(Settings(_env_file=None), fake.base_url) == []


def test_example_in_another_domain_and_a_redis_that_is_down_are_findings(
    cli, monkeypatch, tmp_path
):
    (tmp_path / "sources.toml").write_text(SOURCES.replace("My landlord", "The bus"))
    monkeypatch.setenv("REDIS_URL", "redis://:hidden@127.0.0.1:9/0")
    code, found = findings(cli)
    assert (code, found["redis"]["ok"]) == (1, False)
    assert found["sources"]["message"].startswith("1 of 1 examples")
    assert "hidden" not in json.dumps(found)


@pytest.mark.real_redis
def test_working_redis_is_no_finding(cli, monkeypatch):
    with running_redis() as redis:
        monkeypatch.setenv("REDIS_URL", redis.url)
        code, found = findings(cli)
    assert code == 0
    assert found["redis"]["message"] == "it answers, and can be written"


def test_a_data_folder_without_room_is_a_finding(cli):
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, usual[1]))
    try:
        code, found = findings(cli)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert (code, found["data"]["ok"]) == (1, False)
    assert "Make room there" in found["data"]["fix"]


def test_an_index_that_cannot_be_read_is_a_finding(cli, tmp_path):
    (tmp_path / "a.md").write_text("A boiler that is broken.")
    cli("index", "add", "a.md")
    assert findings(cli)[1]["index"]["message"] == "it holds 1 passage"
    [meta] = (tmp_path / ".judge").rglob("meta.json")
    meta.write_text("garbage")
    code, found = findings(cli)
    assert code == 1
    assert "cannot be read" in found["index"]["message"]
    assert "judge index add" in found["index"]["fix"]


@pytest.mark.real_redis
@pytest.mark.parametrize(
    ("options", "login", "said"),
    [
        (("--user", "judge", "on", ">hidden", "~*", "+@all", "-evalsha"), "judge:hidden@",
         " has no permissions to run the 'evalsha' command)."),
        (("--maxmemory", "1"), "", "OutOfMemoryError"),
        ((), "judge:hidden@", "(invalid username-password pair or user is disabled)."),
    ],
)  # fmt: skip
def test_redis_refusal_is_explained_without_what_was_sent(cli, monkeypatch, options, login, said):
    with running_redis(*options) as redis:
        monkeypatch.setenv("REDIS_URL", redis.url.replace("//", f"//{login}"))
        code, found = findings(cli)
    assert code == 1
    assert said in found["redis"]["message"]
    assert "hidden" not in json.dumps(found)
    assert "lock:" not in json.dumps(found["redis"])
