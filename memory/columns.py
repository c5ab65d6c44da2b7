"""The graph's arrays as compiled code reads them, and the two questions that every kernel asks of them."""

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

__all__ = ["Columns", "faded", "find_edge", "kernel"]

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
