"""The pictures in the documents: those that the script takes, and small."""

import struct
from pathlib import Path

import pytest

from scripts.take_screenshots import TARGET, VIEWS, encode_png

MOST_BYTES = 150_000


def size_of(picture: bytes) -> tuple[int, int]:
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", picture[16:24])
    return width, height


def test_there_is_a_picture_of_each_view_and_no_other():
    assert {path.name for path in TARGET.iterdir()} == {f"{view.name}.png" for view in VIEWS}


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_pictures_are_small_and_of_their_size(view):
    picture = (Path(TARGET) / f"{view.name}.png").read_bytes()
    assert len(picture) < MOST_BYTES
    assert size_of(picture) == (view.width, view.height)


def test_a_picture_says_how_large_it_is():
    assert size_of(encode_png(3, 2, b"\0\0\0\xff\xff\xff", b"\0\1\0\1\0\1")) == (3, 2)
