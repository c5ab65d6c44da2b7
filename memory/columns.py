"""The graph's arrays as compiled code reads them, and what every kernel asks of them."""

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

__all__ = ["Columns", "add_deltas", "faded", "faded_weights", "find_edge", "kernel"]

kernel: Any = numba.njit(cache=True)
"""Compiles a function; the result is kept on disk."""


class Columns(NamedTuple):
    """Views of a graph, valid until its next change; fields as `MemoryGraph`.

    Attributes:
        pool: int32, edge ids of all rows of outgoing edges.
        start: int64 (C,), where each node's row begins in the pool.
        length: int32 (C,), how many edges leave each node.
        in_length: int32 (C,), how many enter.
        src: int32, source of each edge.
        dst: int32, target.
        edge_type: int8, values of `EdgeType`.
        weight: float32, as of the stamp.
        stamp: float64, seconds since the epoch.
        created: float64, seconds since the epoch.
        rate: float64 (num_edge_types,), fading rate, 1/second.
        now: The graph's clock.
        num_nodes: Rows of nodes in use.
    """

    pool: NDArray[np.int32]
    start: NDArray[np.int64]
    length: NDArray[np.int32]
    in_length: NDArray[np.int32]
    src: NDArray[np.int32]
    dst: NDArray[np.int32]
    edge_type: NDArray[np.int8]
    weight: NDArray[np.float32]
    stamp: NDArray[np.float64]
    created: NDArray[np.float64]
    rate: NDArray[np.float64]
    now: float
    num_nodes: int


@kernel
def faded(columns: Any, edge: int) -> Any:
    """The weight of an edge as faded until now."""
    age = columns.now - columns.stamp[edge]
    return np.float32(columns.weight[edge] * np.exp(-columns.rate[columns.edge_type[edge]] * age))


@kernel
def find_edge(columns: Any, src: int, dst: int, edge_type: int) -> Any:
    """The id of the edge `src -> dst` of this type, or -1."""
    for position in range(columns.start[src], columns.start[src] + columns.length[src]):
        edge = columns.pool[position]
        if columns.dst[edge] == dst and columns.edge_type[edge] == edge_type:
            return edge
    return np.int32(-1)


@kernel
def faded_weights(columns: Any, edges: Any) -> Any:
    """The weights of edges (M,) as faded until now, float32 (M,)."""
    weights = np.empty(edges.shape[0], np.float32)
    for place in range(edges.shape[0]):
        weights[place] = faded(columns, edges[place])
    return weights


@kernel
def add_deltas(columns: Any, alive: Any, edges: Any, srcs: Any, dsts: Any, edge_types: Any, deltas: Any) -> Any:
    """Add deltas to the edges that exist.

    Returns whether every row is valid (else nothing was done), how many edges grew, how many shrank, and the rows of
    edges that are new.
    """
    new = np.empty(edges.shape[0], np.int64)
    strengthened = weakened = used = 0
    for row in range(edges.shape[0]):
        is_pair = edges[row] >= 0 or (srcs[row] != dsts[row] and alive[srcs[row]] and alive[dsts[row]])
        if not (is_pair and np.isfinite(deltas[row])):
            return False, strengthened, weakened, new[:0]
    for row in range(edges.shape[0]):
        edge, delta = edges[row], deltas[row]
        if edge < 0:
            edge = find_edge(columns, srcs[row], dsts[row], edge_types[row])
        if edge >= 0 and delta != 0:
            columns.weight[edge], columns.stamp[edge] = faded(columns, edge) + delta, columns.now
            strengthened += delta > 0
            weakened += delta < 0
        elif edge < 0 and delta > 0:
            new[used] = row
            used += 1
    return True, strengthened, weakened, new[:used]
