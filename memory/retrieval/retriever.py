"""Retrieval from question to ranked notes: anchors, context, expansion, re-ranking, budget."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory.columns import kernel
from memory.index import Hits
from memory.retrieval.anchors import Anchors, Dense
from memory.retrieval.context import AdjacentTurns
from memory.retrieval.expansion import Expansion
from memory.retrieval.rerank import ReRanker
from memory.surface import Query, Surface
from memory.tokens import count_tokens

__all__ = ["Budget", "Recall", "Retriever"]


class Recall(NamedTuple):
    """What a question activated, best first.

    Attributes:
        node_ids: int64 (M,).
        scores: float32 (M,), by which the notes are ranked.
        hops: int32 (M,), edges from the nearest anchor, -1 where no path led there.
    """

    node_ids: NDArray[np.int64]
    scores: NDArray[np.float32]
    hops: NDArray[np.int32]


@dataclass(frozen=True)
class Budget:
    """How much may be recalled; the first note beyond a limit ends the list.

    Attributes:
        notes: Largest number of notes, None for no limit.
        tokens: Largest sum of the notes' tokens, None for no limit.
        count: Counts the tokens of a text.
    """

    notes: int | None = 10
    tokens: int | None = None
    count: Callable[[str], int] = field(default=count_tokens, repr=False)

    def __post_init__(self) -> None:
        for name, limit in (("notes", self.notes), ("tokens", self.tokens)):
            if limit is not None and limit < 0:
                raise ValueError(f"a budget of {limit} {name} is negative; give 0 or more, or None for no limit")

    def keep(self, surface: Surface, node_ids: NDArray[np.int64]) -> int:
        """How many of the ranked notes fit."""
        most = len(node_ids) if self.notes is None else min(self.notes, len(node_ids))
        if self.tokens is None:
            return most
        spent = 0
        for place, node_id in enumerate(node_ids[:most].tolist()):
            spent += self.count(surface.graph.note(node_id).content)
            if spent > self.tokens:
                return place
        return most


@dataclass(frozen=True)
class Retriever:
    """The pipeline; a part given as None is left out.

    Anchor scores s are scaled to [0, 1]. The best `num_seeds` notes spread their score over the graph, and what arrives
    at a note, a, brings it nearer to 1, so that no edge lifts a note above the best anchor:

        s + (1 - s) * min(1, expansion_weight * a)

    Attributes:
        anchors: Scores notes against the question.
        context: Smooths the scores over adjacent turns.
        expansion: Spreads from the anchors over the graph.
        num_seeds: How many anchors spread.
        expansion_weight: Gain on what arrives by edges.
        reranker: Scores the first `rerank_depth` notes anew.
        rerank_depth: Length of that list.
        budget: Where the list ends.
    """

    anchors: Anchors = field(default_factory=Dense)
    context: AdjacentTurns | None = None
    expansion: Expansion | None = None
    num_seeds: int = 5
    expansion_weight: float = 1.0
    reranker: ReRanker | None = None
    rerank_depth: int = 40
    budget: Budget = field(default_factory=Budget)

    def recall(self, surface: Surface, query: Query, budget: Budget | None = None) -> Recall:
        """Rank the visible notes for a question, up to the budget."""
        hits = self.anchors.score(surface, query)
        if not len(hits.node_ids):
            return Recall(hits.node_ids, hits.scores, np.zeros(0, np.int32))
        if self.context is not None:
            hits = self.context.smooth(surface.graph, hits)
        hits, hops = self._expand(surface, hits)
        # Anchors come in ascending order of node ids, so a stable sort puts equal scores in that order.
        order = np.argsort(-hits.scores, kind="stable")
        if self.reranker is not None:
            head = order[: self.rerank_depth]
            scores = self.reranker.rerank(surface, query, Hits(hits.node_ids[head], hits.scores[head])).scores
            hits.scores[head] = _above(scores, hits.scores[order[self.rerank_depth :]])
            order = np.argsort(-hits.scores, kind="stable")
        order = order[: (budget or self.budget).keep(surface, hits.node_ids[order])]
        return Recall(hits.node_ids[order], hits.scores[order], hops[order])

    def _expand(self, surface: Surface, hits: Hits) -> tuple[Hits, NDArray[np.int32]]:
        scores = _scale(hits.scores)
        first = np.argsort(-scores, kind="stable")[: self.num_seeds]
        seeds, activation = hits.node_ids[first], scores[first]
        if self.expansion is None:
            hops = np.full(len(scores), -1, np.int32)
            hops[first] = 0
            return Hits(hits.node_ids, scores), hops
        values, hops = self.expansion.spread(surface.graph, seeds, activation)
        _lift(scores, hits.node_ids, values, first, self.expansion_weight)
        return Hits(hits.node_ids, scores), hops[hits.node_ids]


@kernel
def _scale(scores: Any) -> Any:
    """Scores in [0, 1]; equal ones become 0."""
    low, high = scores.min(), scores.max()
    span = high - low if high > low else np.float32(1)
    return ((scores - low) / span).astype(np.float32)


@kernel
def _lift(scores: Any, node_ids: Any, values: Any, seeds: Any, weight: float) -> None:
    """Lift the scores by what arrived by edges; at a seed only by what exceeds its own."""
    own = np.zeros(scores.shape[0], np.float32)
    for place in seeds:
        own[place] = scores[place]
    for place in range(scores.shape[0]):
        arrived = min(np.float32(1), np.float32(weight) * max(values[node_ids[place]] - own[place], np.float32(0)))
        scores[place] += (1 - scores[place]) * arrived


def _above(scores: NDArray[np.float32], rest: NDArray[np.float32]) -> NDArray[np.float32]:
    """Shift `scores` so that all of them lie above `rest`."""
    return np.asarray(scores - scores.min(initial=0) + rest.max(initial=0) + 1, np.float32)
