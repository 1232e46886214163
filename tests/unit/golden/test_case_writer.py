"""Cases are serialized in one format, and written by one process at a time."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.golden.case_files import CasesLocked, cases_lock, serialize_case

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(), below, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_serialization_round_trips_and_is_stable(document: dict) -> None:
    assert json.loads(serialize_case(document)) == document
    assert serialize_case(json.loads(serialize_case(document))) == serialize_case(document)


def test_second_writer_is_refused(tmp_path: Path) -> None:
    with (
        cases_lock(tmp_path),
        pytest.raises(CasesLocked, match="Another process is changing"),
        cases_lock(tmp_path),
    ):
        pass


def test_lock_is_released_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), cases_lock(tmp_path):
        raise RuntimeError
    with cases_lock(tmp_path):
        assert list(tmp_path.iterdir()) == []


def test_lock_of_a_killed_process_is_released(tmp_path: Path) -> None:
    program = (
        "import os, pathlib, sys\n"
        "from judge.golden.case_files import cases_lock\n"
        "with cases_lock(pathlib.Path(sys.argv[1])):\n"
        "    print('held', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(CasesLocked, match="Another process"), cases_lock(tmp_path):
            pass
        holder.kill()
    with cases_lock(tmp_path):
        assert list(tmp_path.iterdir()) == []


def test_only_one_of_many_concurrent_writers_gets_the_lock(tmp_path: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    def work(number: int) -> None:
        for _ in range(300):
            with suppress(CasesLocked), cases_lock(tmp_path):
                inside.append(number)
                most.append(len(inside))
                inside.remove(number)

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, range(3)))
    assert set(most) == {1}
    assert list(tmp_path.iterdir()) == []
