import pickle
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from memory.encoder import CachedEncoder, HashingEncoder, MiniLM


class Counting(HashingEncoder):
    """Remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__(16)
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return super().encode(texts)


def test_hashing_gives_unit_vectors_that_follow_shared_words() -> None:
    vectors = HashingEncoder(512).encode(["hiking in the hills", "she hikes a hill", "tax return", "..."])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 1, 1, 0], atol=1e-6)
    assert vectors[0] @ vectors[1] > 0.5 > abs(vectors[0] @ vectors[2])


def test_the_cache_computes_each_text_once_also_across_processes(tmp_path: Path) -> None:
    texts = ["one", "two", "one", "\ud800 lone", "three\x00nul"]
    first = Counting()
    want = first.encode(texts)
    first.asked.clear()
    got = CachedEncoder(first, tmp_path).encode(texts)
    again = CachedEncoder(second := Counting(), tmp_path).encode(texts)
    assert sorted(first.asked) == sorted(set(texts))
    assert second.asked == []
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(again, want)


def test_the_cache_keeps_models_apart(tmp_path: Path) -> None:
    wide = CachedEncoder(HashingEncoder(32), tmp_path).encode(["x y"])
    narrow = CachedEncoder(HashingEncoder(16), tmp_path).encode(["x y"])
    assert (wide.shape, narrow.shape) == ((1, 32), (1, 16))


def test_no_texts_give_no_rows(tmp_path: Path) -> None:
    assert CachedEncoder(HashingEncoder(16), tmp_path).encode([]).shape == (0, 16)


def test_minilm_runs_offline_and_knows_meaning() -> None:
    pytest.importorskip("sentence_transformers")
    encoder = MiniLM()
    vectors = encoder.encode(["He bought a car.", "She purchased a vehicle.", "The soup is cold.", "\ud800"])
    assert vectors.shape == (4, 384)
    assert vectors[0] @ vectors[1] > 0.6 > vectors[0] @ vectors[2]
    assert pickle.loads(pickle.dumps(encoder))._model is None
