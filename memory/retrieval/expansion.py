"""Expansion: from the anchors along weighted edges to notes that the question alone would not find."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from memory.columns import faded, kernel
from memory.edge_type import EdgeType, edge_type_mask
from memory.graph import MemoryGraph

__all__ = ["Activation", "Expansion", "PersonalizedPageRank", "SpreadingActivation", "TypedBreadthFirst"]


class Activation(NamedTuple):
    """What an expansion reached.

    Attributes:
        values: float32 (num_nodes,), activation of every note, 0 where it did not arrive; seeds keep what they had.
        hops: int32 (num_nodes,), edges from the nearest seed, -1 where it did not arrive.
    """

    values: NDArray[np.float32]
    hops: NDArray[np.int32]


class Expansion(Protocol):
    """Spreads activation over the graph."""

    def spread(self, graph: MemoryGraph, seeds: NDArray[np.int64], activation: NDArray[np.float32]) -> Activation:
        """Spread from `seeds` (S,), no note twice, which have `activation` (S,) in [0, 1]."""
        ...


@dataclass(frozen=True)
class SpreadingActivation:
    """Activation of the best path: a_j = max_i damping * w_ij * a_i, over `hops` steps.

    After Collins and Loftus 1975 (doi 10.1037/0033-295X.82.6.407), with the maximum in place of the sum, so that values
    stay in [0, 1] and name the path they came by.

    Attributes:
        hops: Number of steps.
        fan_out: How many of a note's strongest edges are followed.
        damping: Factor per step, in (0, 1].
        edge_types: Types of edges that are followed.
    """

    hops: int = 2
    fan_out: int = 5
    damping: float = 0.5
    edge_types: Sequence[EdgeType | str] = tuple(EdgeType)

    def __post_init__(self) -> None:
        if self.hops < 0 or self.fan_out < 0 or not 0 < self.damping <= 1:
            raise ValueError(f"{self} needs hops >= 0, fan_out >= 0 and 0 < damping <= 1")

    @cached_property
    def _followed(self) -> NDArray[np.bool_]:
        return edge_type_mask(self.edge_types)

    def spread(self, graph: MemoryGraph, seeds: NDArray[np.int64], activation: NDArray[np.float32]) -> Activation:
        """See `Expansion`."""
        arguments = (seeds, activation, self.hops, self.fan_out, self.damping)
        return Activation(*_spread(graph.columns(), self._followed, *arguments))


@dataclass(frozen=True)
class PersonalizedPageRank:
    """Personalised PageRank by forward local push (Andersen et al. 2006, doi 10.1109/FOCS.2006.44).

    A push at i with residual r_i keeps alpha * r_i and sends (1 - alpha) * r_i * w_ij / sum_k w_ik along each edge, as
    long as r_i > eps. Values are scaled so that the largest is 1.

    Attributes:
        alpha: Restart probability, in (0, 1); HippoRAG uses 0.5.
        eps: Largest residual that is left.
        edge_types: Types of edges that are followed.
    """

    alpha: float = 0.5
    eps: float = 1e-4
    edge_types: Sequence[EdgeType | str] = tuple(EdgeType)

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1 or not self.eps > 0:
            raise ValueError(f"{self} needs 0 < alpha < 1 and eps > 0")

    @cached_property
    def _followed(self) -> NDArray[np.bool_]:
        return edge_type_mask(self.edge_types)

    def spread(self, graph: MemoryGraph, seeds: NDArray[np.int64], activation: NDArray[np.float32]) -> Activation:
        """See `Expansion`."""
        total = float(activation.sum())
        share = activation / total if total > 0 else activation
        arguments = (seeds, share.astype(np.float64), self.alpha, self.eps)
        values, hops = _push(graph.columns(), self._followed, *arguments)
        peak = values.max(initial=0.0)
        return Activation((values / peak if peak > 0 else values).astype(np.float32), hops)


@dataclass(frozen=True)
class TypedBreadthFirst:
    """All-Mem's expansion (Lv et al. 2026, arXiv 2603.19595): breadth first along typed links, under two budgets.

    A note reached after h hops has activation 1 / (1 + h).

    Attributes:
        hops: Largest distance from a seed.
        budget: Largest number of notes reached, seeds included.
        edge_types: Types of edges that are followed, in both directions.
    """

    hops: int = 4
    budget: int = 40
    edge_types: Sequence[EdgeType | str] = tuple(EdgeType)

    def __post_init__(self) -> None:
        if self.hops < 0 or self.budget < 0:
            raise ValueError(f"{self} needs hops >= 0 and budget >= 0")

    @cached_property
    def _followed(self) -> NDArray[np.bool_]:
        return edge_type_mask(self.edge_types)

    def spread(self, graph: MemoryGraph, seeds: NDArray[np.int64], activation: NDArray[np.float32]) -> Activation:
        """See `Expansion`."""
        hops = np.full(graph.num_nodes, -1, np.int32)
        frontier = seeds[np.lexsort((seeds, -activation))][: self.budget].tolist()
        hops[frontier] = 0
        left = self.budget - len(frontier)
        for hop in range(1, self.hops + 1):
            reached: list[int] = []
            for node in frontier:
                out, into = graph.out_edges(node), graph.in_edges(node)
                ends = np.concatenate([graph.dst[out], graph.src[into]])
                kinds = np.concatenate([graph.edge_type[out], graph.edge_type[into]])
                for end in np.unique(ends[self._followed[kinds]]).tolist():
                    if hops[end] < 0 and left > 0:
                        hops[end] = hop
                        left -= 1
                        reached.append(end)
            frontier = reached
        return Activation(np.where(hops >= 0, 1 / np.maximum(1 + hops, 1), 0).astype(np.float32), hops)


@kernel
def _spread(
    columns: Any,
    followed: Any,
    seeds: Any,
    activation: Any,
    num_hops: int,
    fan_out: int,
    damping: float,
) -> Any:
    values = np.zeros(columns.num_nodes, np.float32)
    hops = np.full(columns.num_nodes, -1, np.int32)
    for place in range(seeds.shape[0]):
        values[seeds[place]] = activation[place]
        hops[seeds[place]] = 0
    frontier = seeds.copy()
    best_weight = np.empty(fan_out, np.float64)
    best_edge = np.empty(fan_out, np.int64)
    for hop in range(1, num_hops + 1):
        # Read the values of the step before, so that the order of the frontier does not matter.
        sent = np.empty(frontier.shape[0], np.float32)
        for place in range(frontier.shape[0]):
            sent[place] = values[frontier[place]]
        changed = np.zeros(columns.num_nodes, np.bool_)
        for place in range(frontier.shape[0]):
            node = frontier[place]
            kept = 0
            for position in range(columns.start[node], columns.start[node] + columns.length[node]):
                edge = columns.pool[position]
                if not followed[columns.edge_type[edge]]:
                    continue
                value = faded(columns, edge)
                # Insertion into the short list of the strongest; equal weights in the order of their ends.
                slot = kept
                while slot > 0 and (
                    best_weight[slot - 1] < value
                    or (best_weight[slot - 1] == value and columns.dst[best_edge[slot - 1]] > columns.dst[edge])
                ):
                    slot -= 1
                if slot < fan_out:
                    last = min(kept, fan_out - 1)
                    for shift in range(last, slot, -1):
                        best_weight[shift] = best_weight[shift - 1]
                        best_edge[shift] = best_edge[shift - 1]
                    best_weight[slot] = value
                    best_edge[slot] = edge
                    kept = min(kept + 1, fan_out)
            for slot in range(kept):
                end = columns.dst[best_edge[slot]]
                arriving = np.float32(damping * best_weight[slot] * sent[place])
                if arriving > values[end]:
                    values[end] = arriving
                    changed[end] = True
                    if hops[end] < 0:
                        hops[end] = hop
        frontier = np.flatnonzero(changed)
    return values, hops


@kernel
def _push(
    columns: Any,
    followed: Any,
    seeds: Any,
    share: Any,
    alpha: float,
    eps: float,
) -> Any:
    values = np.zeros(columns.num_nodes, np.float64)
    residual = np.zeros(columns.num_nodes, np.float64)
    hops = np.full(columns.num_nodes, -1, np.int32)
    is_queued = np.zeros(columns.num_nodes, np.bool_)
    queue = [np.int64(0)]
    queue.pop()
    for place in range(seeds.shape[0]):
        residual[seeds[place]] = share[place]
        hops[seeds[place]] = 0
        is_queued[seeds[place]] = True
        queue.append(seeds[place])
    head = 0
    while head < len(queue):
        node = queue[head]
        head += 1
        is_queued[node] = False
        mass = residual[node]
        if mass <= eps:
            continue
        residual[node] = 0.0
        total = 0.0
        for position in range(columns.start[node], columns.start[node] + columns.length[node]):
            edge = columns.pool[position]
            if followed[columns.edge_type[edge]]:
                total += max(0.0, faded(columns, edge))
        if total <= 0.0:
            # A dead end keeps what it has.
            values[node] += mass
            continue
        values[node] += alpha * mass
        for position in range(columns.start[node], columns.start[node] + columns.length[node]):
            edge = columns.pool[position]
            if not followed[columns.edge_type[edge]]:
                continue
            value = max(0.0, faded(columns, edge))
            end = columns.dst[edge]
            residual[end] += (1.0 - alpha) * mass * value / total
            if hops[end] < 0:
                hops[end] = hops[node] + 1
            if residual[end] > eps and not is_queued[end]:
                is_queued[end] = True
                queue.append(np.int64(end))
    return values, hops
