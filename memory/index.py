"""Two indexes over notes that take adds and removals one at a time: exact cosine by FAISS, BM25 by bm25s."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import bm25s
import faiss
import numpy as np
from numpy.typing import ArrayLike, NDArray

from memory.tokens import tokenize

__all__ = ["Hits", "LexicalIndex", "VectorIndex"]


class Hits(NamedTuple):
    """Notes and how well they match.

    Attributes:
        node_ids: int64 (M,).
        scores: float32 (M,), higher is better.
    """

    node_ids: NDArray[np.int64]
    scores: NDArray[np.float32]

    def top(self, k: int) -> "Hits":
        """The k best, best first; equal scores in the order of node ids."""
        order = np.lexsort((self.node_ids, -self.scores))[:k]
        return Hits(self.node_ids[order], self.scores[order])

    def scores_of(self, node_ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """The scores of some notes, 0 for one that is not among the hits; float32 of the shape of `node_ids`."""
        size = max(int(self.node_ids.max(initial=-1)), int(node_ids.max(initial=-1))) + 1
        table = np.zeros(size, np.float32)
        table[self.node_ids] = self.scores
        return table[node_ids]


class VectorIndex:
    """Exact cosine search. Vectors lie in one array; removing moves the last one into the gap."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self._vectors = np.zeros((16, dim), np.float32)
        self._node_ids = np.zeros(16, np.int64)
        self._row: dict[int, int] = {}
        self._is_ascending = True

    def __len__(self) -> int:
        return len(self._row)

    def __contains__(self, node_id: int) -> bool:
        return node_id in self._row

    def node_ids(self) -> list[int]:
        """The notes in the index, in no particular order."""
        return list(self._row)

    def check(self, vector: ArrayLike) -> NDArray[np.float32]:
        """Return `vector` scaled to length 1; a zero vector stays zero and has cosine 0 with everything.

        Raises:
            ValueError: It has another dimension than the index, or holds NaN or infinity.
        """
        vector = np.asarray(vector, np.float32)
        if vector.shape != (self.dim,):
            raise ValueError(f"the vector has shape {vector.shape}, this memory holds vectors of dimension {self.dim}")
        # In float64, so that no finite vector overflows its own length.
        exact = vector.astype(np.float64)
        norm = math.sqrt(exact @ exact)
        if not math.isfinite(norm):
            raise ValueError("the vector holds NaN or infinity")
        return vector if norm == 0 else np.asarray(exact / norm, np.float32)

    def add(self, node_id: int, vector: ArrayLike) -> None:
        """Add a note, or replace its vector.

        Raises:
            ValueError: As `check`.
        """
        vector = self.check(vector)
        row = self._row.get(node_id, len(self._row))
        self._is_ascending &= row < len(self._row) or row == 0 or node_id > self._node_ids[row - 1]
        if row == len(self._vectors):
            self._vectors = np.concatenate([self._vectors, np.zeros_like(self._vectors)])
            self._node_ids = np.concatenate([self._node_ids, np.zeros_like(self._node_ids)])
        self._vectors[row], self._node_ids[row], self._row[node_id] = vector, node_id, row

    def remove(self, node_id: int) -> None:
        """Remove a note.

        Raises:
            KeyError: It is not in the index.
        """
        row, last = self._row.pop(node_id), len(self._row)
        if row != last:
            self._is_ascending = False
            moved = int(self._node_ids[last])
            self._vectors[row], self._node_ids[row], self._row[moved] = self._vectors[last], moved, row

    def vector(self, node_id: int) -> NDArray[np.float32]:
        """The unit vector of a note, float32 (dim,)."""
        vector: NDArray[np.float32] = self._vectors[self._row[node_id]].copy()
        return vector

    def cosines(self, query: NDArray[np.float32], node_ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """The cosine of some notes to a unit vector, float32 of the shape of `node_ids`."""
        rows = [self._row[node_id] for node_id in node_ids.tolist()]
        return np.asarray(self._vectors[rows] @ query, np.float32)

    def scores(self, query: ArrayLike) -> Hits:
        """The cosine of every note, in ascending order of node ids."""
        query, size = self.check(query), len(self._row)
        if size == 0:
            return Hits(np.zeros(0, np.int64), np.zeros(0, np.float32))
        node_ids, scores = self._node_ids[:size], self._vectors[:size] @ query
        if self._is_ascending:
            return Hits(node_ids.copy(), scores)
        order = np.argsort(node_ids)
        return Hits(node_ids[order], scores[order])

    def search(self, query: ArrayLike, k: int) -> Hits:
        """The k notes of highest cosine, best first; all of them where k is larger.

        Raises:
            ValueError: k is negative, or as `check`.
        """
        if k < 0:
            raise ValueError(f"k is {k}; it must be 0 or more")
        query, size = self.check(query), len(self._row)
        if min(k, size) == 0:
            return Hits(np.zeros(0, np.int64), np.zeros(0, np.float32))
        scores, rows = faiss.knn(query[None], self._vectors[:size], min(k, size), metric=faiss.METRIC_INNER_PRODUCT)
        return Hits(self._node_ids[rows[0]], scores[0]).top(k)

    def state(self) -> dict[str, Any]:
        """Everything that this index is, for `memory.store`."""
        size = len(self._row)
        return {"node_ids": self._node_ids[:size], "vectors": self._vectors[:size]}

    @classmethod
    def from_state(cls, state: Mapping[str, Any], dim: int) -> "VectorIndex":
        """The index that `state` describes.

        Raises:
            ValueError: Its vectors have another dimension, or are not finite.
        """
        index = cls(dim)
        for node_id, vector in zip(state["node_ids"].tolist(), state["vectors"], strict=True):
            index.add(node_id, vector)
        # As they were to the last bit: adding scales to length 1 once more.
        index._vectors[: len(index)] = state["vectors"]
        return index


class LexicalIndex:
    """BM25 (Robertson and Zaragoza 2009) in Lucene's variant, by bm25s.

    A change only marks the index; it is built again, from terms kept per note, before the next search: document
    frequencies are then exact.
    """

    def __init__(self, k1: float = 0.9, b: float = 0.4) -> None:
        self.k1, self.b = k1, b
        self._terms: dict[int, list[str]] = {}
        self._node_ids = np.zeros(0, np.int64)
        self._bm25: bm25s.BM25 | None = None
        self._is_stale = False

    def __len__(self) -> int:
        return len(self._terms)

    def __contains__(self, node_id: int) -> bool:
        return node_id in self._terms

    def add(self, node_id: int, text: str) -> None:
        """Add a note, or replace its text."""
        self._terms[node_id] = tokenize(text)
        self._is_stale = True

    def remove(self, node_id: int) -> None:
        """Remove a note.

        Raises:
            KeyError: It is not in the index.
        """
        del self._terms[node_id]
        self._is_stale = True

    def scores(self, query: str) -> Hits:
        """The BM25 score of every note, 0 where no term is shared; in ascending order of node ids."""
        if self._is_stale:
            self._build()
        scores = np.zeros(len(self._node_ids), np.float32)
        if self._bm25 is not None:
            terms = [term for term in tokenize(query) if term in self._bm25.vocab_dict]
            if terms:
                scores = np.asarray(self._bm25.get_scores(terms), np.float32)
        return Hits(self._node_ids.copy(), scores)

    def search(self, query: str, k: int) -> Hits:
        """The k notes of highest score above 0, best first.

        Raises:
            ValueError: k is negative.
        """
        if k < 0:
            raise ValueError(f"k is {k}; it must be 0 or more")
        hits = self.scores(query)
        found = hits.scores > 0
        return Hits(hits.node_ids[found], hits.scores[found]).top(k)

    def _build(self) -> None:
        self._node_ids = np.array(sorted(self._terms), np.int64)
        documents: Sequence[list[str]] = [self._terms[node_id] for node_id in self._node_ids.tolist()]
        self._bm25 = None
        if any(documents):
            self._bm25 = bm25s.BM25(k1=self.k1, b=self.b, method="lucene")
            self._bm25.index(documents, show_progress=False)
        self._is_stale = False
