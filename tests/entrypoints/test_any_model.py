"""Judges with a model behind chat completions, from pages to verdict: a fake one, and a real one if
its URL is set (`make live` starts a small one)."""

import os
from collections.abc import Iterator

import pytest

from benchmarks.any_model import DISPUTES, WAYS, Judged, measure
from judge.errors import DeadlineExceeded, InvalidReply
from tests.fakes.chat_server import ChatServer

URL, MODEL = "JUDGE_TEST_OPENAI_BASE_URL", "JUDGE_TEST_OPENAI_MODEL"


@pytest.fixture(params=["fake", "real"])
def served(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """The URL of a server, and the name of one of its models."""
    if request.param == "fake":
        with ChatServer.in_thread() as fake:
            yield fake.base_url, fake.models[0]
    elif URL in os.environ:
        yield os.environ[URL], os.environ.get(MODEL, "default")
    else:
        pytest.skip(f"no real model: set {URL} and {MODEL}, or run `make live`")


def has_valid_ending(judged: Judged) -> bool:
    """Whether it ends in a verdict, two invalid replies, or a timeout."""
    if isinstance(judged.error, InvalidReply):
        return bool(judged.error.defects)
    return judged.result is not None or isinstance(judged.error, DeadlineExceeded)


@pytest.mark.timeout(3600)
async def test_every_dispute_has_a_valid_ending_and_shown_fields_stay(served):
    rows = await measure(*served, deadline_s=300)

    for judged in rows:
        print(judged.line())  # noqa: T201 - shown by `pytest -s`
    assert [judged.way for judged in rows] == [*WAYS] * len(DISPUTES)
    assert all(has_valid_ending(judged) for judged in rows)
    assert not any(judged.changed for judged in rows)
    verdicts = [judged.result for judged in rows if judged.result]
    assert all(result.usage.output_tokens for result in verdicts)
    heard = [j.result for j in rows if j.way == "other side" and j.result]
    assert all(result.other_side is not None for result in heard)
