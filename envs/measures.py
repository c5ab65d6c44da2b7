"""Retrieval measures of one question, from which places of a ranking hold evidence."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["f1", "ndcg_at", "recall_at", "reciprocal_rank"]


def recall_at(hits: NDArray[np.bool_], num_gold: int, k: int | None = None) -> float:
    """Share of the evidence among the first k notes: hits / |gold|; 0 without gold.

    Args:
        hits: bool (M,), whether each place of the ranking holds evidence.
        num_gold: |gold|, evidence that no note holds included.
        k: Length that counts, None for the whole ranking.

    Example:
        >>> recall_at(np.array([False, True, True]), num_gold=4, k=2)
        0.25
    """
    return float(hits[:k].sum() / num_gold) if num_gold else 0.0


def ndcg_at(hits: NDArray[np.bool_], num_gold: int, k: int | None = None) -> float:
    """Normalised discounted cumulative gain with binary gain and discount log2(rank + 1) (doi 10.1145/582415.582418).

    The ideal ranking has all evidence in front, whether or not a note holds it. Arguments as `recall_at`;
    0 without gold.
    """
    ideal = num_gold if k is None else min(k, num_gold)
    if not ideal:
        return 0.0
    discount = _discount(max(len(hits), ideal))
    return float(discount[: len(hits[:k])][hits[:k]].sum() / discount[:ideal].sum())


@cache
def _discount(length: int) -> NDArray[np.float64]:
    return np.asarray(1.0 / np.log2(np.arange(2, length + 2)), np.float64)


def reciprocal_rank(hits: NDArray[np.bool_]) -> float:
    """1 / rank of the first evidence, 0 if there is none."""
    return 1.0 / (int(np.argmax(hits)) + 1) if hits.any() else 0.0


def f1(hits: NDArray[np.bool_], num_gold: int) -> float:
    """Harmonic mean of precision and recall of the whole ranking: 2 hits / (M + |gold|)."""
    total = len(hits) + num_gold
    return 2.0 * float(hits.sum()) / total if total else 0.0
