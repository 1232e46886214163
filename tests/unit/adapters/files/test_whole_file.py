"""Files that are written atomically."""

from pathlib import Path

import pytest

from judge.adapters.files.whole_file import write_whole


def test_failed_write_leaves_only_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    target.mkdir()
    (target / "kept").touch()
    with pytest.raises(OSError):
        write_whole(target, b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    write_whole(tmp_path / "case.json", b"new")
    assert (tmp_path / "case.json").read_bytes() == b"new"
