"""Observations of the candidates as fixed, padded arrays with masks."""

from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from memory.columns import faded, kernel
from memory.graph import MemoryGraph

__all__ = ["FEATURES", "STATISTICS", "Candidates", "candidate_space", "describe_candidates"]

FEATURES = ("similarity", "lexical", "score", "edge_weight", "hop", "recency", "access", "degree")
"""What an observation says of each candidate, one key each."""

STATISTICS = ("progress", "notes", "edges", "context", "mean_reward")
"""Entries of `graph`."""


@dataclass(slots=True)
class Candidates:
    """The candidates of one question. K slots, of which the first are in use; E room for edges.

    Attributes:
        query: float32 (d,), the question's embedding.
        features: float32 (F, K), rows as `FEATURES`.
        edge_ends: int64 (2, E), slots of source and target.
        edge_weights: float32 (E,), weights of the edges, clipped to [0, 1].
        edge_mask: int8 (E,), 1 where there is an edge.
        candidate_mask: int8 (K,), 1 where there is a candidate.
    """

    query: NDArray[np.float32]
    features: NDArray[np.float32]
    edge_ends: NDArray[np.int64]
    edge_weights: NDArray[np.float32]
    edge_mask: NDArray[np.int8]
    candidate_mask: NDArray[np.int8]

    def observe(self) -> dict[str, NDArray[Any]]:
        """Fresh arrays by the keys of `candidate_space`."""
        source, target = self.edge_ends.copy()
        return {
            "query": self.query.copy(),
            **dict(zip(FEATURES, self.features.copy(), strict=True)),
            "edge_source": source,
            "edge_target": target,
            "edge_weights": self.edge_weights.copy(),
            "edge_mask": self.edge_mask.copy(),
            "candidate_mask": self.candidate_mask.copy(),
        }


def candidate_space(dim: int, num_candidates: int, num_edges: int) -> dict[str, gym.Space[Any]]:
    """The spaces of `Candidates.observe`, all of one dimension, as learning libraries want them."""
    slots, last = (num_candidates,), max(1, num_candidates - 1)
    return {
        "query": gym.spaces.Box(-1.0, 1.0, (dim,), np.float32),
        **{name: gym.spaces.Box(-1.0 if name == "similarity" else 0.0, 1.0, slots, np.float32) for name in FEATURES},
        "edge_source": gym.spaces.Box(0, last, (num_edges,), np.int64),
        "edge_target": gym.spaces.Box(0, last, (num_edges,), np.int64),
        "edge_weights": gym.spaces.Box(0.0, 1.0, (num_edges,), np.float32),
        "edge_mask": gym.spaces.MultiBinary(num_edges),
        "candidate_mask": gym.spaces.MultiBinary(num_candidates),
    }


def describe_candidates(
    graph: MemoryGraph,
    query: NDArray[np.float32],
    node_ids: NDArray[np.int64],
    signals: tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]],
    hops: NDArray[np.int32],
    *,
    num_candidates: int,
    num_edges: int,
) -> Candidates:
    """Describe candidates and the edges among them.

    Args:
        graph: The memory graph.
        query: float32 (d,), the question's embedding.
        node_ids: int64 (M,), the candidates, M at most `num_candidates`.
        signals: Cosine in [-1, 1], lexical score of any scale, retriever's score of any scale; float32 (M,) each.
        hops: int32 (M,), edges from the nearest anchor; 0 marks an anchor, -1 what no path reached.
        num_candidates: K.
        num_edges: E; edges beyond it are left out, those of the best candidates stay.
    """
    mask = np.zeros(num_candidates, np.int8)
    mask[: len(node_ids)] = 1
    features, *edges = _describe(
        graph.columns(), graph.access_count, node_ids, *signals, hops, num_candidates, num_edges
    )
    return Candidates(query, features, edges[0], edges[1], edges[2], mask)


@kernel
def _describe(
    columns: Any,
    access_count: Any,
    node_ids: Any,
    similarity: Any,
    lexical: Any,
    score: Any,
    hops: Any,
    num_candidates: int,
    num_edges: int,
) -> Any:
    features = np.zeros((len(FEATURES), num_candidates), np.float32)
    ends, weights, is_edge = (
        np.zeros((2, num_edges), np.int64),
        np.zeros(num_edges, np.float32),
        np.zeros(num_edges, np.int8),
    )
    size, used = node_ids.shape[0], 0
    slot_of = np.full(columns.num_nodes, -1, np.int64)
    most_lexical, low, high = 1e-9, np.inf, -np.inf
    for slot in range(size):
        slot_of[node_ids[slot]] = slot
        most_lexical = max(most_lexical, lexical[slot])
        low, high = min(low, score[slot]), max(high, score[slot])
    for slot in range(size):
        node = node_ids[slot]
        degree = columns.length[node] + columns.in_length[node]
        features[0, slot] = min(max(similarity[slot], -1.0), 1.0)
        features[1, slot] = lexical[slot] / most_lexical
        features[2, slot] = (score[slot] - low) / (high - low) if high > low else 1.0
        features[4, slot] = hops[slot] / (1.0 + hops[slot]) if hops[slot] >= 0 else 1.0
        features[5, slot] = (node + 1.0) / columns.num_nodes
        features[6, slot] = access_count[node] / (1.0 + access_count[node])
        features[7, slot] = degree / (1.0 + degree)
        for position in range(columns.start[node], columns.start[node] + columns.length[node]):
            edge = columns.pool[position]
            other = slot_of[columns.dst[edge]]
            if other < 0:
                continue
            value = min(max(faded(columns, edge), 0.0), 1.0)
            if hops[slot] == 0 and value > features[3, other]:
                features[3, other] = value
            if used < num_edges:
                ends[0, used], ends[1, used], weights[used], is_edge[used] = slot, other, value, 1
                used += 1
    return features, ends, weights, is_edge
