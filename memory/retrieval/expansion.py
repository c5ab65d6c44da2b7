"""Expansion: from the anchors along weighted edges to notes that the question alone would not find."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numba
import numpy as np
from numpy.typing import NDArray

from memory.edge_type import EdgeType, as_edge_types
from memory.graph import MemoryGraph

__all__ = ["Activation", "Expansion", "PersonalizedPageRank", "SpreadingActivation", "TypedBreadthFirst"]

_kernel: Any = numba.njit(cache=True)


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

    def spread(self, graph: MemoryGraph, seeds: NDArray[np.int64], activation: NDArray[np.float32]) -> Activation:
        """See `Expansion`."""
        arguments = (seeds, activation, self.hops, self.fan_out, self.damping)
        return Activation(*_spread(*_arrays(graph, self.edge_types), *arguments))


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

    def spread(self, graph: MemoryGraph, seeds: NDArray[np.int64], activation: NDArray[np.float32]) -> Activation:
        """See `Expansion`."""
        total = float(activation.sum())
        share = activation / total if total > 0 else activation
        arguments = (seeds, share.astype(np.float64), self.alpha, self.eps)
        values, hops = _push(*_arrays(graph, self.edge_types), *arguments)
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

    def spread(self, graph: MemoryGraph, seeds: NDArray[np.int64], activation: NDArray[np.float32]) -> Activation:
        """See `Expansion`."""
        followed = as_edge_types(self.edge_types)
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
                for end in np.unique(ends[np.isin(kinds, followed)]).tolist():
                    if hops[end] < 0 and left > 0:
                        hops[end] = hop
                        left -= 1
                        reached.append(end)
            frontier = reached
        return Activation(np.where(hops >= 0, 1 / np.maximum(1 + hops, 1), 0).astype(np.float32), hops)


def _arrays(graph: MemoryGraph, edge_types: Sequence[EdgeType | str]) -> tuple[Any, ...]:
    """The first arguments of the kernels: the graph's columns, and which types of edges are followed."""
    followed = np.zeros(len(EdgeType), bool)
    followed[list(as_edge_types(edge_types))] = True
    rows = graph.out_rows
    adjacency = (rows.pool, rows.start, rows.length, graph.dst, graph.edge_type)
    weights = (graph.weight, graph.stamp, graph.rate, graph.now)
    return (*adjacency, *weights, followed, graph.num_nodes)


@_kernel
def _faded(edge: int, edge_type: Any, weight: Any, stamp: Any, rate: Any, now: float) -> Any:
    return weight[edge] * np.exp(-rate[edge_type[edge]] * (now - stamp[edge]))


@_kernel
def _spread(
    pool: Any,
    start: Any,
    length: Any,
    dst: Any,
    edge_type: Any,
    weight: Any,
    stamp: Any,
    rate: Any,
    now: float,
    followed: Any,
    num_nodes: int,
    seeds: Any,
    activation: Any,
    num_hops: int,
    fan_out: int,
    damping: float,
) -> Any:
    values = np.zeros(num_nodes, np.float32)
    hops = np.full(num_nodes, -1, np.int32)
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
        changed = np.zeros(num_nodes, np.bool_)
        for place in range(frontier.shape[0]):
            node = frontier[place]
            kept = 0
            for position in range(start[node], start[node] + length[node]):
                edge = pool[position]
                if not followed[edge_type[edge]]:
                    continue
                value = _faded(edge, edge_type, weight, stamp, rate, now)
                # Insertion into the short list of the strongest; equal weights in the order of their ends.
                slot = kept
                while slot > 0 and (
                    best_weight[slot - 1] < value
                    or (best_weight[slot - 1] == value and dst[best_edge[slot - 1]] > dst[edge])
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
                end = dst[best_edge[slot]]
                arriving = np.float32(damping * best_weight[slot] * sent[place])
                if arriving > values[end]:
                    values[end] = arriving
                    changed[end] = True
                    if hops[end] < 0:
                        hops[end] = hop
        frontier = np.flatnonzero(changed)
    return values, hops


@_kernel
def _push(
    pool: Any,
    start: Any,
    length: Any,
    dst: Any,
    edge_type: Any,
    weight: Any,
    stamp: Any,
    rate: Any,
    now: float,
    followed: Any,
    num_nodes: int,
    seeds: Any,
    share: Any,
    alpha: float,
    eps: float,
) -> Any:
    values = np.zeros(num_nodes, np.float64)
    residual = np.zeros(num_nodes, np.float64)
    hops = np.full(num_nodes, -1, np.int32)
    is_queued = np.zeros(num_nodes, np.bool_)
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
        for position in range(start[node], start[node] + length[node]):
            edge = pool[position]
            if followed[edge_type[edge]]:
                total += max(0.0, _faded(edge, edge_type, weight, stamp, rate, now))
        if total <= 0.0:
            # A dead end keeps what it has.
            values[node] += mass
            continue
        values[node] += alpha * mass
        for position in range(start[node], start[node] + length[node]):
            edge = pool[position]
            if not followed[edge_type[edge]]:
                continue
            value = max(0.0, _faded(edge, edge_type, weight, stamp, rate, now))
            end = dst[edge]
            residual[end] += (1.0 - alpha) * mass * value / total
            if hops[end] < 0:
                hops[end] = hops[node] + 1
            if residual[end] > eps and not is_queued[end]:
                is_queued[end] = True
                queue.append(np.int64(end))
    return values, hops
