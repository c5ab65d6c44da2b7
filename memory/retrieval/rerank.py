"""Re-ranking: the first notes of the list are scored anew."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from memory.index import Hits
from memory.surface import Query, Surface

__all__ = ["MaximalMarginalRelevance", "ReRanker"]


class ReRanker(Protocol):
    """Scores a short list anew."""

    def rerank(self, surface: Surface, query: Query, hits: Hits) -> Hits:
        """The same notes in the same order with new scores; `hits` come best first."""
        ...


@dataclass(frozen=True)
class MaximalMarginalRelevance:
    """Prefers notes that say something new (Carbonell and Goldstein 1998, doi 10.1145/290941.291025).

    The list is built greedily; the next note is the one with the largest

        relevance * s_i - (1 - relevance) * max_j cos(i, j),   j over the notes chosen before

    with s_i the score so far, scaled to [0, 1]. The new score of a note is 1 / rank.

    Attributes:
        relevance: Weight of the score against novelty, in [0, 1]; 1 leaves the order as it is.
    """

    relevance: float = 0.7

    def __post_init__(self) -> None:
        if not 0 <= self.relevance <= 1:
            raise ValueError(f"relevance {self.relevance} is outside [0, 1]")

    def rerank(self, surface: Surface, query: Query, hits: Hits) -> Hits:
        """See `ReRanker`."""
        size = len(hits.node_ids)
        if not size:
            return hits
        vectors = np.stack([surface.vectors.vector(node) for node in hits.node_ids.tolist()])
        cosine = vectors @ vectors.T
        low, high = hits.scores.min(), hits.scores.max()
        own = self.relevance * (hits.scores - low) / (high - low if high > low else 1)
        closest = np.zeros(size, np.float32)
        scores = np.zeros(size, np.float32)
        is_left = np.ones(size, bool)
        for rank in range(1, size + 1):
            value = np.where(is_left, own - (1 - self.relevance) * closest, -np.inf)
            best = int(np.argmax(value))
            scores[best], is_left[best] = 1 / rank, False
            closest = cosine[best] if rank == 1 else np.maximum(closest, cosine[best])
        return Hits(hits.node_ids, scores)
