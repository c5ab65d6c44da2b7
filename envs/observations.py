"""Observations of the candidates as fixed, padded arrays with masks."""

from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numba
import numpy as np
from numpy.typing import NDArray

from memory.graph import MemoryGraph

__all__ = ["FEATURES", "STATISTICS", "Candidates", "candidate_space", "describe_candidates"]

FEATURES = ("similarity", "lexical", "score", "edge_weight", "hop", "recency", "access", "degree")
"""What an observation says of each candidate, one key each."""

STATISTICS = ("progress", "notes", "edges", "context", "mean_reward")
"""Entries of `graph`."""

_kernel: Any = numba.njit(cache=True)


@dataclass(slots=True)
class Candidates:
    """The candidates of one question. K slots, of which the first are in use; E room for edges.

    Attributes:
        query: float32 (d,), the question's embedding.
        features: float32 (F, K), rows as `FEATURES`.
        edges: int64 (3, E), slot of the source, slot of the target, and 1 where there is an edge.
        edge_weight: float32 (E,), weights of the edges, clipped to [0, 1].
        candidate_mask: int8 (K,), 1 where there is a candidate.
    """

    query: NDArray[np.float32]
    features: NDArray[np.float32]
    edges: NDArray[np.int64]
    edge_weight: NDArray[np.float32]
    candidate_mask: NDArray[np.int8]

    def observe(self) -> dict[str, NDArray[Any]]:
        """Fresh arrays by the keys of `candidate_space`."""
        source, target, is_edge = self.edges.copy()
        return {
            "query": self.query.copy(),
            **dict(zip(FEATURES, self.features.copy(), strict=True)),
            "edge_source": source,
            "edge_target": target,
            "edge_weights": self.edge_weight.copy(),
            "edge_mask": is_edge.astype(np.int8),
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
    features = np.zeros((len(FEATURES), num_candidates), np.float32)
    size = len(node_ids)
    similarity, lexical, score = signals
    features[0, :size] = np.clip(similarity, -1, 1)
    features[1, :size] = lexical / max(float(lexical.max(initial=0)), 1e-9)
    if size:
        low, high = score.min(), score.max()
        features[2, :size] = (score - low) / (high - low) if high > low else 1
    rows = graph.out_rows
    mask = np.zeros(num_candidates, np.int8)
    mask[:size] = 1
    edges, weights = _describe(
        rows.pool,
        rows.start,
        rows.length,
        graph.in_rows.length,
        graph.dst,
        graph.edge_type,
        graph.weight,
        graph.stamp,
        graph.rate,
        graph.now,
        graph.access_count,
        graph.num_nodes,
        node_ids,
        hops,
        features,
        num_edges,
    )
    return Candidates(query.copy(), features, edges, weights, mask)


@_kernel
def _describe(
    pool: Any,
    start: Any,
    length: Any,
    in_length: Any,
    dst: Any,
    edge_type: Any,
    weight: Any,
    stamp: Any,
    rate: Any,
    now: float,
    access_count: Any,
    num_nodes: int,
    node_ids: Any,
    hops: Any,
    features: Any,
    num_edges: int,
) -> Any:
    edges = np.zeros((3, num_edges), np.int64)
    weights = np.zeros(num_edges, np.float32)
    slot_of = np.full(num_nodes, -1, np.int64)
    for slot in range(node_ids.shape[0]):
        slot_of[node_ids[slot]] = slot
    used = 0
    for slot in range(node_ids.shape[0]):
        node = node_ids[slot]
        degree = length[node] + in_length[node]
        features[4, slot] = hops[slot] / (1.0 + hops[slot]) if hops[slot] >= 0 else 1.0
        features[5, slot] = (node + 1.0) / num_nodes
        features[6, slot] = access_count[node] / (1.0 + access_count[node])
        features[7, slot] = degree / (1.0 + degree)
        for position in range(start[node], start[node] + length[node]):
            edge = pool[position]
            other = slot_of[dst[edge]]
            if other < 0:
                continue
            value = weight[edge] * np.exp(-rate[edge_type[edge]] * (now - stamp[edge]))
            value = min(max(value, 0.0), 1.0)
            if hops[slot] == 0 and value > features[3, other]:
                features[3, other] = value
            if used < num_edges:
                edges[0, used] = slot
                edges[1, used] = other
                weights[used] = value
                edges[2, used] = 1
                used += 1
    return edges, weights
