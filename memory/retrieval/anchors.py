"""Anchors: where a question enters the graph. Each scores the visible notes against the question alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memory.index import Hits
from memory.surface import Query, Surface

__all__ = ["Anchors", "ConvexCombination", "Dense", "Lexical", "Recent", "ReciprocalRankFusion"]


class Anchors(Protocol):
    """Scores notes against a question."""

    def score(self, surface: Surface, query: Query) -> Hits:
        """Scores of the visible notes, in ascending order of node ids."""
        ...


@dataclass(frozen=True)
class Dense:
    """Cosine of the embeddings."""

    def score(self, surface: Surface, query: Query) -> Hits:
        """See `Anchors`."""
        return surface.vectors.scores(query.vector)


@dataclass(frozen=True)
class Lexical:
    """BM25."""

    def score(self, surface: Surface, query: Query) -> Hits:
        """See `Anchors`."""
        return surface.lexical.scores(query.text)


@dataclass(frozen=True)
class Recent:
    """The newest notes first, whatever is asked."""

    def score(self, surface: Surface, query: Query) -> Hits:
        """See `Anchors`."""
        graph = surface.graph
        node_ids = np.flatnonzero(graph.visible[: graph.num_nodes])
        return Hits(node_ids, ((node_ids + 1) / max(1, graph.num_nodes)).astype(np.float32))


@dataclass(frozen=True)
class ReciprocalRankFusion:
    """Sum over the parts of weight / (k + rank) (Cormack et al. 2009, doi 10.1145/1571941.1572114).

    Attributes:
        parts: What is fused.
        weights: One weight per part; None for equal ones.
        k: Dampens the lead of the first ranks.
    """

    parts: Sequence[Anchors]
    weights: Sequence[float] | None = None
    k: float = 60.0

    def __post_init__(self) -> None:
        _check_weights(self.parts, self.weights)

    def score(self, surface: Surface, query: Query) -> Hits:
        """See `Anchors`."""
        hits = [part.score(surface, query) for part in self.parts]
        scores = np.zeros(len(hits[0].node_ids))
        for part, weight in zip(hits, self.weights or [1.0] * len(hits), strict=True):
            rank = np.empty(len(part.scores))
            rank[np.lexsort((part.node_ids, -part.scores))] = np.arange(1, len(rank) + 1)
            scores += weight / (self.k + rank)
        return Hits(hits[0].node_ids, scores.astype(np.float32))


@dataclass(frozen=True)
class ConvexCombination:
    """Weighted mean of the parts' z-scores (Bruch et al. 2023, arXiv 2210.11934, compare such fusions).

    Attributes:
        parts: What is combined.
        weights: One weight per part; None for equal ones. They are scaled to the sum 1.
    """

    parts: Sequence[Anchors]
    weights: Sequence[float] | None = None

    def __post_init__(self) -> None:
        _check_weights(self.parts, self.weights)

    def score(self, surface: Surface, query: Query) -> Hits:
        """See `Anchors`."""
        hits = [part.score(surface, query) for part in self.parts]
        weights = np.asarray(self.weights or [1.0] * len(hits))
        scores = sum(
            weight * _standardise(part.scores) for part, weight in zip(hits, weights / weights.sum(), strict=True)
        )
        return Hits(hits[0].node_ids, np.asarray(scores, np.float32))


def _standardise(scores: NDArray[np.float32]) -> NDArray[np.float64]:
    centred = scores - scores.mean(dtype=np.float64) if len(scores) else scores.astype(np.float64)
    deviation = float(centred.std()) if len(scores) else 0.0
    return np.asarray(centred / deviation if deviation > 1e-12 else np.zeros(len(scores)), np.float64)


def _check_weights(parts: Sequence[Anchors], weights: Sequence[float] | None) -> None:
    if not parts:
        raise ValueError("a fusion needs at least one part")
    if weights is not None and (len(weights) != len(parts) or min(weights) < 0 or sum(weights) <= 0):
        raise ValueError(f"weights {list(weights)} must be {len(parts)} numbers of 0 or more, not all 0")
