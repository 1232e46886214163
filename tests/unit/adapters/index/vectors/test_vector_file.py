"""The file of vectors: intact, torn, corrupt, or of another program."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from judge.adapters.index.vectors.vector_file import MAGIC, VectorFile, header, parse_header

HEADER = len(header(2))
RECORD = 16 + 2 * 4
"""Bytes of a record of two dimensions."""

THREE = {1: [3.0, 0.0], -2: [0.0, 2.0], 1 << 62: [1.0, 1.0]}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "vectors" / "fake-2.v1"


@pytest.fixture
def whole(path):
    VectorFile(path).append(THREE)
    return path


def known(path):
    table = VectorFile(path).table()
    return [key for key in THREE if not table.lacks(np.array([key])).any()]


def test_missing_file_has_no_vectors_and_no_matches(path):
    table = VectorFile(path).table()

    assert (table.dimensions, table.similarities([1.0, 0.0]).tolist()) == (0, [])
    assert table.lacks(np.array([1, 2])).all()


def test_vectors_are_found_by_similarity(whole):
    table = VectorFile(whole).table()

    assert table.keys.tolist() == list(THREE)
    assert table.similarities([0.0, 5.0]).tolist() == pytest.approx([0.0, 1.0, 0.5**0.5])


def test_zero_vector_matches_nothing(path):
    file = VectorFile(path)
    file.append({1: [0.0, 0.0], 2: [float("nan"), 1.0], 3: [1e300, 1.0], 4: [1.0, 0.0]})

    assert file.table().similarities([1.0, 0.0]).tolist() == [0.0, 0.0, 0.0, 1.0]
    assert file.table().similarities([0.0, 0.0]).tolist() == [0.0] * 4


def test_vectors_of_another_dimension_are_refused_and_match_nothing(whole):
    file = VectorFile(whole)

    with pytest.raises(ValueError, match="vectors of 3 numbers where 2 are kept"):
        file.append({9: [1.0, 0.0, 0.0]})
    with pytest.raises(ValueError):
        file.append({9: [1.0, 0.0], 10: [1.0]})
    assert file.table().similarities([1.0, 0.0, 0.0]).tolist() == [0.0] * 3
    assert known(whole) == list(THREE)


def test_nothing_to_append_makes_no_file(path):
    VectorFile(path).append({})

    assert not path.exists()


def test_open_reader_sees_what_another_appends_and_keeps(whole):
    reader, writer = VectorFile(whole), VectorFile(whole)
    before = reader.table()

    writer.append({7: [1.0, 0.0]})
    assert reader.table().keys.tolist() == [*THREE, 7]
    writer.compact(np.array([0, 3]))
    assert reader.table().keys.tolist() == [1, 7]
    assert reader.table() is reader.table()
    # The mapping that is already open does not change.
    assert before.similarities([1.0, 0.0]).tolist() == pytest.approx([1.0, 0.0, 0.5**0.5])


def test_file_that_is_emptied_can_be_filled_again(whole):
    file = VectorFile(whole)

    file.compact(np.array([], dtype=np.intp))
    assert file.table().keys.tolist() == []
    file.append({7: [1.0, 0.0]})

    assert VectorFile(whole).table().keys.tolist() == [7]
    assert [found.name for found in whole.parent.iterdir()] == [whole.name]


@given(st.integers(0, HEADER + 3 * RECORD))
def test_torn_file_has_its_whole_records_and_is_repaired_by_the_next_append(tmp_path_factory, end):
    path = tmp_path_factory.mktemp("torn") / "fake-2.v1"
    VectorFile(path).append(THREE)
    path.write_bytes(path.read_bytes()[:end])
    whole = max(0, end - HEADER) // RECORD

    assert known(path) == list(THREE)[:whole]
    VectorFile(path).append({7: [1.0, 0.0]})

    assert VectorFile(path).table().keys.tolist() == [*list(THREE)[:whole], 7]
    assert VectorFile(path).table().corrupt.tolist() == []


@given(st.data())
def test_one_corrupt_byte_costs_one_record_at_most_or_the_whole_file(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("corrupt") / "fake-2.v1"
    VectorFile(path).append(THREE)
    raw = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(raw) - 1))
    raw[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(raw)

    table = VectorFile(path).table()
    similarities = table.similarities([1.0, 0.5])

    row, place = divmod(at - HEADER, RECORD)
    if at < HEADER:
        assert table.keys.size == 0
    elif 4 <= place < 8:
        assert table.corrupt.size == 0  # these bytes mean nothing
    else:
        assert table.corrupt.tolist() == [row]
        assert similarities[row] == 0.0
        assert table.lacks(np.array([list(THREE)[row]])).all()
    VectorFile(path).append({7: [1.0, 0.0]})
    assert not VectorFile(path).table().lacks(np.array([7])).any()


def test_record_that_was_repaired_meanwhile_is_read_again(whole):
    """As if a reader came while the record was being written."""
    raw = whole.read_bytes()
    with whole.open("r+b") as file:
        file.seek(HEADER + 2 * RECORD)
        file.write(bytes(RECORD))
    reader = VectorFile(whole)
    assert reader.table().corrupt.tolist() == [2]

    with whole.open("r+b") as file:
        file.write(raw)
    VectorFile(whole).append({7: [1.0, 0.0]})

    assert reader.table().corrupt.tolist() == []


@given(st.binary(max_size=200))
def test_any_bytes_are_a_file_that_can_be_read_and_appended_to(tmp_path_factory, raw):
    path = tmp_path_factory.mktemp("any") / "fake-2.v1"
    path.write_bytes(raw)

    assert known(path) == []
    VectorFile(path).append({7: [1.0, 0.0]})

    assert not VectorFile(path).table().lacks(np.array([7])).any()


@given(st.binary(max_size=100))
def test_records_with_wrong_checksums_match_nothing(tmp_path_factory, raw):
    path = tmp_path_factory.mktemp("any") / "fake-2.v1"
    path.write_bytes(header(2) + raw)

    table = VectorFile(path).table()

    assert len(table.keys) == len(raw) // RECORD
    assert table.corrupt.tolist() == list(range(len(table.keys)))
    assert table.similarities([1.0, 1.0]).tolist() == [0.0] * len(table.keys)


@given(st.binary(max_size=40))
def test_only_valid_headers_have_dimensions(raw):
    dimensions = parse_header(raw)

    assert dimensions == 0 or raw == header(dimensions)


@pytest.mark.parametrize("dimensions", [0, (1 << 16) + 1, (1 << 32) - 1])
def test_header_of_impossible_dimensions_is_none(dimensions):
    assert header(dimensions).startswith(MAGIC)
    assert parse_header(header(dimensions)) == 0
    assert parse_header(header(768)) == 768


@given(arrays(np.float32, (4, 3), elements=st.floats(-1e6, 1e6, width=32)))
def test_similarity_is_the_cosine(tmp_path_factory, given_vectors):
    path = tmp_path_factory.mktemp("cosine") / "fake-3.v1"
    vectors = given_vectors.tolist()
    file = VectorFile(path)
    file.append(dict(enumerate(vectors)))

    found = file.table().similarities(vectors[0])

    assert np.all(np.abs(found) <= 1.001)
    for similarities, vector in zip(found, vectors, strict=True):
        lengths = np.linalg.norm(vector) * np.linalg.norm(vectors[0])
        if min(np.linalg.norm(vector), np.linalg.norm(vectors[0])) > 1e-3:
            assert similarities == pytest.approx(np.dot(vector, vectors[0]) / lengths, abs=1e-3)
