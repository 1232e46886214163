"""`degraded` names the model while somebody has to mend its key, its quota or the budget."""

import pytest

from judge.bootstrap.services import open_services
from judge.errors import BudgetSpent, ModelUnavailable
from judge.settings import Settings
from judge.types.requests import JudgeRequest
from tests.fakes.gemini import FakeGemini, failure
from tests.fakes.journal import RecordingJournal

SOURCES = "[domains.tenancy]\nterms = { landlord = 3 }\n"
REQUEST = JudgeRequest(context="The flat is cold, and my landlord is away.", query="Is it me?")


async def test_model_is_degraded_from_a_refusal_until_it_answers(tmp_path):
    (tmp_path / "sources.toml").write_text(SOURCES)
    async with FakeGemini() as fake:
        settings = Settings(
            _env_file=None,
            GEMINI_API_KEY="key",
            JUDGE_GEMINI_BASE_URL=fake.base_url,
            JUDGE_SOURCES=str(tmp_path / "sources.toml"),
            JUDGE_DATA_DIR=str(tmp_path),
            JUDGE_DAILY_TOKENS=1000,
        )
        async with open_services(settings, RecordingJournal()) as services:
            assert services.degraded() == ()
            fake.script(failure(403, message="This API key was reported as leaked."))
            with pytest.raises(ModelUnavailable):
                await services.pipeline.judge(REQUEST, request_id="1")
            assert services.degraded() == ("model",)

            await services.pipeline.judge(REQUEST, request_id="2")
            assert services.degraded() == ()

            async def spend() -> None:
                for number in range(10):
                    await services.pipeline.judge(REQUEST, request_id=str(number))

            with pytest.raises(BudgetSpent):
                await spend()
            assert services.degraded() == ("model",)
