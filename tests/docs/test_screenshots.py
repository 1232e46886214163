"""The screenshots in the documents are those of the script, and small."""

import struct
from pathlib import Path

import pytest

from scripts.take_screenshots import TARGET, VIEWS

MAX_BYTES = 150_000


def size_of(picture: bytes) -> tuple[int, int]:
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", picture[16:24])
    return width, height


def test_screenshots_are_exactly_those_of_the_script():
    assert {path.name for path in TARGET.iterdir()} == {f"{view.name}.png" for view in VIEWS}


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_screenshots_are_small_and_have_their_dimensions(view):
    picture = (Path(TARGET) / f"{view.name}.png").read_bytes()
    assert len(picture) < MAX_BYTES
    assert size_of(picture) == (view.width, view.height)
