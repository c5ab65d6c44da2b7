"""Adjacency rows that grow in place: one contiguous row of edge ids per node in a shared pool.

A row that is full moves to the end of the pool with twice its room, so adding is amortised O(1), a row is read without
a pointer chase, and removing swaps with the row's last entry. The pool is compacted when half of it is abandoned rows.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.columns import kernel

__all__ = ["AdjacencyRows"]

_FIRST_ROOM = 4


@kernel
def _position(pool: Any, start: int, length: int, edge: int) -> int:
    for position in range(start, start + length):
        if pool[position] == edge:
            return position
    return -1


@kernel
def _compact(pool: Any, start: Any, length: Any, room: Any) -> Any:
    total = 0
    for node in range(start.shape[0]):
        total += room[node]
    packed = np.empty(max(total * 2, 16), np.int32)
    used = 0
    for node in range(start.shape[0]):
        for offset in range(length[node]):
            packed[used + offset] = pool[start[node] + offset]
        start[node] = used
        used += room[node]
    return packed, used


class AdjacencyRows:
    """Rows of edge ids, one per node.

    Attributes:
        pool: int32 (P,), the rows.
        start: int64 (C,), where each node's row begins in the pool.
        length: int32 (C,), how many edges the row holds.
    """

    def __init__(self, num_nodes: int = 16) -> None:
        """Make `num_nodes` empty rows."""
        self.pool: NDArray[np.int32] = np.empty(max(16, num_nodes * _FIRST_ROOM), np.int32)
        self.start: NDArray[np.int64] = np.zeros(num_nodes, np.int64)
        self.length: NDArray[np.int32] = np.zeros(num_nodes, np.int32)
        self._room: NDArray[np.int32] = np.zeros(num_nodes, np.int32)
        self._used = 0
        self._abandoned = 0

    def resize(self, num_nodes: int) -> None:
        """Make room for `num_nodes` rows; existing rows stay as they are."""
        extra = num_nodes - len(self.start)
        self.start = np.concatenate([self.start, np.zeros(extra, np.int64)])
        self.length = np.concatenate([self.length, np.zeros(extra, np.int32)])
        self._room = np.concatenate([self._room, np.zeros(extra, np.int32)])

    def row(self, node: int) -> NDArray[np.int32]:
        """The edge ids of `node`, a read-only view that the next change may invalidate."""
        start = self.start[node]
        view = self.pool[start : start + self.length[node]]
        view.flags.writeable = False
        return view

    def add(self, node: int, edge: int) -> None:
        """Append `edge` to the row of `node`."""
        length = int(self.length[node])
        if length == self._room[node]:
            self._move(node, max(_FIRST_ROOM, 2 * length))
        self.pool[self.start[node] + length] = edge
        self.length[node] = length + 1

    def remove(self, node: int, edge: int) -> None:
        """Take `edge` out of the row of `node`; the row's last edge takes its place."""
        start, length = int(self.start[node]), int(self.length[node])
        position = _position(self.pool, start, length, edge)
        if position < 0:
            raise KeyError(f"edge {edge} is not in the row of node {node}")
        self.pool[position] = self.pool[start + length - 1]
        self.length[node] = length - 1

    def state(self, num_nodes: int) -> dict[str, Any]:
        """The rows of the first `num_nodes` nodes, one behind the other, and their lengths."""
        rows = [self.row(node) for node in range(num_nodes)]
        return {"edges": np.concatenate([np.empty(0, np.int32), *rows]), "lengths": self.length[:num_nodes]}

    @classmethod
    def from_state(cls, state: Mapping[str, Any], num_nodes: int) -> "AdjacencyRows":
        """The rows that `state` describes, with room for `num_nodes`.

        Raises:
            ValueError: Lengths and edges do not fit each other.
        """
        lengths = state["lengths"]
        if lengths.min(initial=0) < 0 or lengths.sum() != len(state["edges"]):
            raise ValueError(f"rows of {lengths.sum()} edges in all, but {len(state['edges'])} are given")
        rows = cls(num_nodes)
        rows.length[: len(lengths)] = rows._room[: len(lengths)] = lengths
        rows.start[: len(lengths)] = np.cumsum(lengths) - lengths
        rows.pool = np.concatenate([state["edges"].astype(np.int32), np.empty(16, np.int32)])
        rows._used = len(state["edges"])
        return rows

    def agrees(self, ends: NDArray[np.int32], edges: NDArray[np.int32], num_nodes: int) -> bool:
        """Whether the rows hold each of `edges` once, at the node that `ends` names."""
        state = self.state(num_nodes)
        owner = np.repeat(np.arange(num_nodes), state["lengths"])
        order = np.argsort(state["edges"], kind="stable")
        return np.array_equal(state["edges"][order], edges) and np.array_equal(owner[order], ends[edges])

    def _move(self, node: int, room: int) -> None:
        if self._abandoned > 1024 and 2 * self._abandoned > self._used:
            self.pool, self._used = _compact(self.pool, self.start, self.length, self._room)
            self._abandoned = 0
        if self._used + room > len(self.pool):
            grown = np.empty(max(2 * len(self.pool), self._used + room), np.int32)
            grown[: self._used] = self.pool[: self._used]
            self.pool = grown
        start, length = int(self.start[node]), int(self.length[node])
        self.pool[self._used : self._used + length] = self.pool[start : start + length]
        self._abandoned += int(self._room[node])
        self.start[node], self._room[node] = self._used, room
        self._used += room
