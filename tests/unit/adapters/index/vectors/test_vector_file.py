"""The file of vectors: what is stored, replaced, removed and compared."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from judge.adapters.index.vectors import VectorFile

THREE = {-5: [3.0, 4.0], 7: [0.0, 0.0], 1 << 62: [0.0, 2.0]}


@pytest.fixture
def file(tmp_path):
    file = VectorFile(tmp_path / "vectors" / "fake-2.v2")
    file.add(THREE)
    return file


def test_file_that_does_not_exist_is_empty(tmp_path):
    table = VectorFile(tmp_path / "none.v2").table()
    keys = np.array([1], dtype=np.int64)

    assert (table.keys.size, table.lacks(keys).all()) == (0, True)
    assert table.similarities([1.0], keys).tolist() == [0.0]
    assert list(tmp_path.iterdir()) == []


def test_similarity_is_that_of_the_key_and_0_without_a_vector(file):
    keys = np.array([1 << 62, 3, -5, 7], dtype=np.int64)

    assert file.table().similarities([0.0, 1.0], keys).tolist() == pytest.approx([1, 0, 0.8, 0])
    assert file.table().similarities([0.0, 1.0, 0.0], keys).tolist() == [0] * 4


def test_reader_sees_what_another_adds_and_removes(file):
    other = VectorFile(file.path)
    assert other.table().keys.tolist() == sorted(THREE)
    file.add({8: [1.0, 0.0]})
    assert other.table().keys.tolist() == sorted([*THREE, 8])
    file.keep_only(np.array([8, 9], dtype=np.int64))
    assert other.table().keys.tolist() == [8]


def test_vectors_of_another_length_are_refused(file):
    with pytest.raises(ValueError, match="vectors of 3 numbers where 2 are kept"):
        file.add({8: [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match="shape"):
        file.add({8: [1.0, 2.0], 9: [1.0]})
    assert file.table().keys.tolist() == sorted(THREE)


@given(arrays(np.float32, (4, 3), elements=st.floats(-1e6, 1e6, width=32)))
def test_similarity_is_the_cosine(tmp_path_factory, given_vectors):
    vectors = given_vectors.tolist()
    file = VectorFile(tmp_path_factory.mktemp("cosine") / "fake-3.v2")
    file.add(dict(enumerate(vectors)))

    found = file.table().similarities(vectors[0], np.arange(4))

    assert np.all(np.abs(found) <= 1.001)
    for similarity, vector in zip(found, vectors, strict=True):
        lengths = np.linalg.norm(vector) * np.linalg.norm(vectors[0])
        if min(np.linalg.norm(vector), np.linalg.norm(vectors[0])) > 1e-3:
            assert similarity == pytest.approx(np.dot(vector, vectors[0]) / lengths, abs=1e-3)
