"""Fixtures of the tests of all entrypoints."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import pytest

from tests.entrypoints.api_bench import Bench, open_bench
from tests.entrypoints.command_line import CommandLine
from tests.entrypoints.running_server import World, open_world
from tests.fakes.redis_server import RedisServer, running_redis


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., AbstractAsyncContextManager[Bench]]:
    """Opens the app over fakes: `async with opened(model) as bench:`."""
    return partial(open_bench, tmp_path / "sources.toml")


SETTINGS = ("JUDGE_", "GEMINI_", "GOOGLE_", "COHERE_", "QDRANT_", "REDIS_", "STORAGE_")


@pytest.fixture
def cli(capsys, monkeypatch, tmp_path) -> CommandLine:
    """`judge` in an empty folder and without settings, but for the name of a sources file there."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith(SETTINGS)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("JUDGE_SOURCES", "sources.toml")
    return CommandLine(capsys)


@pytest.fixture(scope="module")
def redis_server() -> Iterator[RedisServer]:
    with running_redis() as server:
        yield server


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with open_world(tmp_path) as world:
        yield world
