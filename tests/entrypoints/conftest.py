"""What the tests of the HTTP door share."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import pytest

from tests.entrypoints.api_bench import Bench, open_bench


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., AbstractAsyncContextManager[Bench]]:
    """Opens the app over fakes: `async with opened(model) as bench:`."""
    return partial(open_bench, tmp_path / "sources.toml")
