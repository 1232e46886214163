"""Runs the steps of the Dockerfile in a fresh folder, without a Docker engine.

Judge is installed by hash, then runs as another user from read-only folders.
"""

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from judge.entrypoints.api.server import SHUTDOWN_MARGIN_S
from judge.settings import Settings
from tests.entrypoints.api_bench import DISPUTE
from tests.entrypoints.running_server import wait_until
from tests.fakes.gemini import FakeGemini

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.process, pytest.mark.slow]

SERVICE = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["judge"]
STRANGER = 10001
"""The user of the image; it has no account here."""

SOURCES = """\
[domains.tenancy]
terms = { landlord = 3, boiler = 2 }
sources = [{ url = "http://127.0.0.1:9/repairs", title = "A page that is down" }]
"""


def find_uv() -> str | None:
    return shutil.which("uv") or shutil.which("uv", path=str(ROOT / ".tools" / "uv" / "bin"))


def find_python() -> str:
    """An interpreter that another user may run; this one if possible."""
    ours = str(Path(sys.executable).resolve())
    for found in (ours, shutil.which("python3", path="/usr/local/bin:/usr/bin")):
        command = [found or "false", "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
        with contextlib.suppress(OSError):
            if subprocess.run(command, cwd="/", check=False, **as_stranger()).returncode == 0:
                return str(found)
    pytest.skip("no Python that another user may run")


def as_stranger() -> dict[str, Any]:
    """Arguments of a process that runs as another user, where permitted."""
    return {"user": STRANGER, "group": STRANGER, "extra_groups": []} if os.geteuid() == 0 else {}


def instructions() -> list[str]:
    """Those of the Dockerfile, each on one line."""
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def is_sent(path: str) -> bool:
    """Whether .dockerignore lets *path* into the build; the last rule that fits counts."""
    kept = True
    for rule in (ROOT / ".dockerignore").read_text().split("\n"):
        if rule and not rule.startswith("#"):
            pattern = rule.removeprefix("!")
            if path == pattern or path.startswith(f"{pattern}/") or fnmatch(path, pattern):
                kept = rule.startswith("!")
    return kept


@dataclass
class Image:
    """The build: `/opt/judge`, `/app` and `/data` in a folder, and its start command."""

    folder: Path
    told: dict[str, list[str]] = field(default_factory=dict)
    """The last CMD, ENTRYPOINT and health check."""

    def build(self, uv: str) -> None:
        for name in ("src", "opt", "app", "data", "tmp"):
            (self.folder / name).mkdir()
        place = "src"
        for line in instructions():
            word, _, rest = line.partition(" ")
            if word == "WORKDIR":
                place = rest.strip("/")
            elif word == "RUN" and rest.startswith("uv "):
                self.run_step(uv, rest)
            elif word == "COPY" and not rest.startswith("--from"):
                *sources, target = shlex.split(rest)
                for source in sources:
                    self.copy(source, self.folder / place / target)
            elif word in {"CMD", "ENTRYPOINT", "HEALTHCHECK"}:
                self.told[word] = json.loads(rest[rest.index("[") :])
        self.close()

    def close(self) -> None:
        """Make everything read-only except `/data` and `/tmp`."""
        for path in (self.folder / "app", self.folder / "opt"):
            subprocess.run(["chmod", "-R", "a+rX,a-w", str(path)], check=True)
        for name in ("data", "tmp"):
            (self.folder / name).chmod(0o777)
        (self.folder / "data" / "sources.toml").write_text(SOURCES)

    def run_step(self, uv: str, step: str) -> None:
        environment = {
            # Only this machine knows how to reach its package index.
            **{name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
            "PATH": f"{Path(uv).parent}:/usr/bin:/bin",
            "VIRTUAL_ENV": str(self.folder / "opt" / "judge"),
            "UV_LINK_MODE": "copy",
            # Only `make image` asks the package index.
            "UV_OFFLINE": "0" if "JUDGE_TEST_IMAGE" in os.environ else "1",
        }
        if step.startswith("uv venv"):
            environment["UV_PYTHON"] = find_python()
        done = subprocess.run(
            ["sh", "-c", step], cwd=self.folder / "src", env=environment,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode and re.search("network .*(is|was) disabled", done.stderr, re.IGNORECASE):
            pytest.skip("uv has not all packages in its cache; `make image` fetches them")
        assert done.returncode == 0, done.stderr

    def copy(self, source: str, target: Path) -> None:
        names = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", source],
            cwd=ROOT, capture_output=True, text=True, check=True,
        ).stdout.splitlines()  # fmt: skip
        assert names, f"{source} is not there to be copied"
        for name in names:
            if not (is_sent(name) and (ROOT / name).is_file()):
                continue
            inside = Path(name).relative_to(source) if (ROOT / source).is_dir() else Path(name).name
            path = target / inside
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, path)

    def started(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        """A command of the image, as another user where permitted."""
        return subprocess.Popen(
            [shutil.which(arguments[0], path=str(self.bin)) or arguments[0], *arguments[1:]],
            cwd=self.folder / "app",
            env={
                "PATH": f"{self.bin}:/usr/bin:/bin",
                "HOME": str(self.folder / "app"),
                "TMPDIR": str(self.folder / "tmp"),
                "JUDGE_DATA_DIR": str(self.folder / "data"),
                **environment,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **as_stranger(),
        )

    def ended(self, *arguments: str, **environment: str) -> tuple[int, str, str]:
        process = self.started(*arguments, **environment)
        out, errors = process.communicate(timeout=60)
        return process.returncode, out, errors

    @property
    def bin(self) -> Path:
        return self.folder / "opt" / "judge" / "bin"

    @property
    def serve(self) -> list[str]:
        """The command of the image, on a free port of this machine."""
        command = [*self.told["ENTRYPOINT"], *self.told["CMD"]]
        return ["127.0.0.1" if part == "0.0.0.0" else part for part in command[:-1]] + ["0"]

    def files(self) -> set[str]:
        return {str(path) for name in ("app", "opt") for path in (self.folder / name).rglob("*")}


@pytest.fixture(scope="module")
def image() -> Iterator[Image]:
    uv = find_uv()
    if uv is None:
        pytest.skip("uv is not installed")
    folder = Path(tempfile.mkdtemp(prefix="judge-image-"))
    folder.chmod(0o755)
    try:
        image = Image(folder)
        image.build(uv)
        yield image
    finally:
        subprocess.run(["chmod", "-R", "u+w", str(folder)], check=True)
        shutil.rmtree(folder)


@contextlib.contextmanager
def serving(image: Image, gemini: FakeGemini) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The server of the image, and its address."""
    process = image.started(
        *image.serve,
        GEMINI_API_KEY="k-for-tests",
        JUDGE_GEMINI_BASE_URL=gemini.base_url,
        JUDGE_SOURCES=str(image.folder / "data" / "sources.toml"),
        JUDGE_TRUSTED_HOSTS="127.0.0.1:9",
    )
    said: list[str] = []
    reader = threading.Thread(target=lambda: said.extend(process.stderr or ()), daemon=True)
    reader.start()
    try:
        wait_until(lambda: process.poll() is not None or "listening" in "".join(said), 60)
        assert process.poll() is None, "".join(said)
        found = re.search(r'listening on ([^"]+)', "".join(said))
        assert found
        yield process, found[1]
    finally:
        process.terminate()
        process.wait(seconds(SERVICE["stop_grace_period"]))
        reader.join(5)
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()


def test_the_command_runs_as_another_user_and_finds_its_files(image):
    code, out, errors = image.ended("judge", "sources", "check", "--offline")
    assert (code, out) == (0, "Nothing is wrong.\n"), errors
    assert {path.name for path in (image.folder / "app").iterdir()} == {"config"}


def test_without_a_key_it_says_what_is_missing_and_ends(image):
    code, _, errors = image.ended(*image.serve)
    assert code == 2
    assert "GEMINI_API_KEY" in errors
    assert SERVICE["restart"].startswith("on-failure:")


def test_it_is_healthy_and_writes_nothing_but_data(image):
    before = image.files()
    with FakeGemini.in_thread() as gemini, serving(image, gemini) as (_, address):
        check = [
            part.replace("http://127.0.0.1:8000", address) for part in image.told["HEALTHCHECK"]
        ]
        assert address in check[-1]
        assert image.ended(*check)[0] == 0
        assert httpx.post(f"{address}/api/judge", json=DISPUTE, timeout=30).status_code == 200
        assert httpx.get(f"{address}/health/ready", timeout=30).status_code == 200
    assert image.files() == before


def test_stop_grace_period_exceeds_the_slowest_request():
    deadline_s = Settings.model_fields["deadline_s"].default
    assert seconds(SERVICE["stop_grace_period"]) > deadline_s + 2 * SHUTDOWN_MARGIN_S


def test_compose_passes_every_setting_and_hides_none():
    assert SERVICE["env_file"] == [{"path": ".env", "required": False}]
    # Values here override `.env`, so only what the container alone knows may be set.
    assert set(SERVICE["environment"]) == {"REDIS_URL", "JUDGE_SOURCES", "JUDGE_DATA_DIR"}
    assert all(SERVICE["environment"].values())


def test_read_only_root_has_a_temporary_folder():
    assert SERVICE["read_only"] is True
    assert SERVICE["tmpfs"] == ["/tmp"]


def seconds(duration: str) -> int:
    assert duration.endswith("s")
    return int(duration.removesuffix("s"))
