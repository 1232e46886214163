"""How many judgements one process takes on."""

import pytest

from judge.adapters.memory import Admission
from judge.errors import Overloaded


async def test_nobody_is_admitted_past_the_limit_until_one_leaves():
    admission = Admission(1)
    for _ in range(2):
        async with admission():
            with pytest.raises(Overloaded):
                await admission().__aenter__()
