"""The memory graph: notes as rows, typed, weighted, stamped, directed edges as columns. The only writer of weights."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memory.adjacency import AdjacencyRows
from memory.change import Applied, Change
from memory.columns import Columns, add_deltas, faded_weights, find_edge
from memory.edge_type import EdgeType
from memory.note import Note

__all__ = ["MemoryGraph"]

_NODE_COLUMNS = {"accessed": np.float64, "access_count": np.int32, "visible": np.bool_, "alive": np.bool_}
_EDGE_COLUMNS = {
    "src": np.int32,
    "dst": np.int32,
    "edge_type": np.int8,
    "weight": np.float32,
    "stamp": np.float64,
    "created": np.float64,
    "born": np.int64,
}


class MemoryGraph:
    """Notes and their edges as arrays that grow without a ceiling.

    A node id is the note's row and is never used twice. An edge id is a slot; a freed slot is used again, and `born`
    tells one life of a slot from the next. Weights fade lazily: an edge stores its weight as of its `stamp`, and
    `effective_weight` evaluates `weight * exp(-rate[edge_type] * (now - stamp))` when it is read.

    Attributes:
        notes: The note of each node id, None once removed.
        accessed, access_count, visible, alive: Columns per node, valid up to `num_nodes`.
        src, dst, edge_type, weight, stamp, created, born: Columns per edge slot; a free slot has `src == -1`.
        out_rows, in_rows: Edge ids that leave and enter each node.
        now: The graph's clock, seconds since the epoch; it never runs back.
        num_clock_reversals: How often it was asked to.
        rate: float64 (num_edge_types,), fading rate per edge type, 1/second.
    """

    accessed: NDArray[np.float64]
    access_count: NDArray[np.int32]
    visible: NDArray[np.bool_]
    alive: NDArray[np.bool_]
    src: NDArray[np.int32]
    dst: NDArray[np.int32]
    edge_type: NDArray[np.int8]
    weight: NDArray[np.float32]
    stamp: NDArray[np.float64]
    created: NDArray[np.float64]
    born: NDArray[np.int64]

    def __init__(self) -> None:
        """Make an empty graph."""
        self.notes: list[Note | None] = []
        self.now = float("-inf")
        self.num_clock_reversals = 0
        self.num_edges = 0
        self.rate: NDArray[np.float64] = np.zeros(len(EdgeType))
        self.out_rows, self.in_rows = AdjacencyRows(), AdjacencyRows()
        self._by_id: dict[str, int] = {}
        self._free: list[int] = []
        self._edge_slots = 0
        self._next_born = 0
        for name, dtype in _NODE_COLUMNS.items():
            setattr(self, name, np.zeros(16, dtype))
        for name, dtype in _EDGE_COLUMNS.items():
            setattr(self, name, np.zeros(16, dtype))

    # Notes ---------------------------------------------------------------------------------------------------------

    @property
    def num_nodes(self) -> int:
        """Rows in use, removed notes included: the next node id."""
        return len(self.notes)

    @property
    def num_notes(self) -> int:
        """Notes that exist, archived ones included."""
        return int(self.alive[: self.num_nodes].sum())

    def add_note(self, note: Note) -> int:
        """Add a note and return its node id; a note without `id` gets its node id as name.

        Raises:
            ValueError: Another note has the same id.
        """
        node_id = self.num_nodes
        name = note.id or str(node_id)
        if name in self._by_id:
            raise ValueError(f"note id {name!r} exists already as node {self._by_id[name]}; choose another id")
        if node_id == len(self.alive):
            self._grow_nodes()
        self.advance(note.timestamp)
        self.notes.append(note)
        self._by_id[name] = node_id
        self.accessed[node_id] = note.timestamp
        self.access_count[node_id] = 1
        self.visible[node_id] = self.alive[node_id] = True
        return node_id

    def node_id(self, note_id: str) -> int:
        """The node id of the note called `note_id`.

        Raises:
            KeyError: No note has that id.
        """
        try:
            return self._by_id[note_id]
        except KeyError:
            raise KeyError(f"no note has the id {note_id!r}; this memory holds {self.num_notes} notes") from None

    def note_id(self, node_id: int) -> str:
        """The id of the note at `node_id`."""
        return self.note(node_id).id or str(node_id)

    def note(self, node_id: int) -> Note:
        """The note at `node_id`.

        Raises:
            KeyError: There is none, or it was removed.
        """
        note = self.notes[node_id] if 0 <= node_id < self.num_nodes else None
        if note is None:
            raise KeyError(f"no note at node {node_id}; node ids run from 0 to {self.num_nodes - 1}, less removed ones")
        return note

    def remove_note(self, node_id: int) -> None:
        """Remove a note for good, with every edge that touches it."""
        name = self.note_id(node_id)
        for edge in [*self.out_edges(node_id).tolist(), *self.in_edges(node_id).tolist()]:
            if self.src[edge] >= 0:
                self.remove_edge(edge)
        self.notes[node_id] = None
        self.alive[node_id] = self.visible[node_id] = False
        del self._by_id[name]

    def set_visible(self, node_id: int, visible: bool) -> None:
        """Archive a note (it leaves the visible surface but stays in the graph) or bring it back."""
        self.note(node_id)
        self.visible[node_id] = visible

    def touch(self, node_ids: Iterable[int]) -> None:
        """Count one access of each note, at the present time."""
        for node_id in node_ids:
            self.access_count[node_id] += 1
            self.accessed[node_id] = max(self.accessed[node_id], self.now)

    def advance(self, time: float) -> None:
        """Move the clock to `time`; a time in the past is ignored and counted."""
        if time < self.now:
            self.num_clock_reversals += 1
        else:
            self.now = time

    # Edges ---------------------------------------------------------------------------------------------------------

    def out_edges(self, node_id: int) -> NDArray[np.int32]:
        """Ids of the edges that leave `node_id`; int32 (out_degree,), a view until the next change."""
        return self.out_rows.row(node_id)

    def in_edges(self, node_id: int) -> NDArray[np.int32]:
        """Ids of the edges that enter `node_id`; int32 (in_degree,), a view until the next change."""
        return self.in_rows.row(node_id)

    def edges(self) -> NDArray[np.int32]:
        """Ids of all edges in ascending order, int32 (num_edges,)."""
        return np.flatnonzero(self.src[: self._edge_slots] >= 0).astype(np.int32)

    def find_edge(self, src: int, dst: int, edge_type: EdgeType) -> int:
        """The id of the edge `src -> dst` of this type, or -1."""
        return int(find_edge(self.columns(), src, dst, int(edge_type)))

    def add_edge(self, src: int, dst: int, edge_type: EdgeType, weight: float) -> int:
        """Add an edge and return its id; one that exists keeps the larger of the two weights.

        Raises:
            KeyError: One of the notes does not exist.
            ValueError: The weight is not finite, or the edge is a self-loop.
        """
        self.note(src), self.note(dst)
        if src == dst:
            raise ValueError(f"edge {src} -> {dst} is a self-loop; a note cannot be linked to itself")
        if not math.isfinite(weight):
            raise ValueError(f"edge weight {weight!r} is not finite")
        edge = self.find_edge(src, dst, edge_type)
        if edge < 0:
            return self._insert(src, dst, edge_type, weight)
        self.weight[edge] = max(weight, float(self.effective_weight([edge])[0]))
        self.stamp[edge] = self.now
        return edge

    def _insert(self, src: int, dst: int, edge_type: int, weight: float) -> int:
        """Add an edge that does not exist yet."""
        edge = self._new_slot()
        self.src[edge], self.dst[edge], self.edge_type[edge] = src, dst, edge_type
        self.weight[edge], self.stamp[edge], self.created[edge] = weight, self.now, self.now
        self.born[edge] = self._next_born
        self._next_born += 1
        self.out_rows.add(src, edge)
        self.in_rows.add(dst, edge)
        self.num_edges += 1
        return edge

    def remove_edge(self, edge: int) -> None:
        """Remove an edge.

        Raises:
            KeyError: There is no such edge.
        """
        if not 0 <= edge < self._edge_slots or self.src[edge] < 0:
            raise KeyError(f"there is no edge {edge}")
        self.out_rows.remove(int(self.src[edge]), edge)
        self.in_rows.remove(int(self.dst[edge]), edge)
        self.src[edge] = -1
        self._free.append(edge)
        self.num_edges -= 1

    def effective_weight(self, edges: ArrayLike) -> NDArray[np.float32]:
        """Weights of `edges` as faded until now, float32 of the same shape."""
        edges = np.asarray(edges, np.int64)
        weights: NDArray[np.float32] = faded_weights(self.columns(), edges.reshape(-1)).reshape(edges.shape)
        return weights

    def columns(self) -> Columns:
        """The graph's arrays for compiled code."""
        rows = self.out_rows
        return Columns(
            rows.pool,
            rows.start,
            rows.length,
            self.in_rows.length,
            self.src,
            self.dst,
            self.edge_type,
            self.weight,
            self.stamp,
            self.created,
            self.rate,
            self.now,
            len(self.notes),
        )

    # The one place where rules act ---------------------------------------------------------------------------------

    def apply(self, change: Change) -> Applied:
        """Apply what the rules proposed and count it.

        Raises:
            ValueError: A delta is NaN or infinite, or an end of a new edge does not exist; nothing is changed then.
        """
        proposed = (change.edge, change.src, change.dst, change.edge_type, change.delta)
        is_valid, strengthened, weakened, new = add_deltas(self.columns(), self.alive, *proposed)
        if not is_valid:
            raise ValueError(
                "the change holds a weight delta that is not finite, or a new edge without two different notes; "
                f"nothing was applied: {change}"
            )
        applied = Applied(strengthened, weakened, created=len(new))
        for row in zip(*(column[new].tolist() for column in proposed[1:]), strict=True):
            self._insert(*row)
        for edge in sorted(set(change.cut.tolist())):
            self.remove_edge(edge)
            applied.cut += 1
        if change.retention is not None and not np.array_equal(change.retention, self.rate):
            self._set_rate(change.retention)
        return applied

    def _set_rate(self, rate: NDArray[np.float64]) -> None:
        edges = self.edges()
        self.weight[edges], self.stamp[edges] = self.effective_weight(edges), self.now
        self.rate = rate.copy()

    # Keeping -------------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Everything that this graph is, as a tree of arrays and plain values for `memory.store`."""
        nodes, slots = self.num_nodes, self._edge_slots
        return {
            "notes": [None if note is None else asdict(note) for note in self.notes],
            "nodes": {name: getattr(self, name)[:nodes] for name in _NODE_COLUMNS},
            "edges": {name: getattr(self, name)[:slots] for name in _EDGE_COLUMNS},
            "free": np.array(self._free, np.int32),
            "out_rows": self.out_rows.state(nodes),
            "in_rows": self.in_rows.state(nodes),
            "rate": self.rate,
            "now": self.now,
            "next_born": self._next_born,
            "num_clock_reversals": self.num_clock_reversals,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> "MemoryGraph":
        """The graph that `state` describes.

        Raises:
            ValueError: The parts of the state contradict each other.
        """
        graph = cls()
        notes = [None if each is None else Note(**_as_tuples(each)) for each in state["notes"]]
        for note in notes:
            graph.notes.append(note)
            if note is not None:
                graph._by_id[note.id or str(len(graph.notes) - 1)] = len(graph.notes) - 1
        for columns, dtypes in ((state["nodes"], _NODE_COLUMNS), (state["edges"], _EDGE_COLUMNS)):
            for name, dtype in dtypes.items():
                spare: NDArray[Any] = np.zeros(max(16, len(columns[name])), dtype)
                spare[: len(columns[name])] = columns[name]
                setattr(graph, name, spare)
        graph._edge_slots = len(state["edges"]["src"])
        graph._free = state["free"].tolist()
        graph.num_edges = graph._edge_slots - len(graph._free)
        graph.out_rows = AdjacencyRows.from_state(state["out_rows"], len(graph.alive))
        graph.in_rows = AdjacencyRows.from_state(state["in_rows"], len(graph.alive))
        graph.rate, graph.now = state["rate"].astype(np.float64), float(state["now"])
        graph._next_born, graph.num_clock_reversals = state["next_born"], state["num_clock_reversals"]
        graph.check()
        return graph

    def check(self) -> None:
        """Check that rows and columns tell the same story.

        Raises:
            ValueError: They do not, e.g. after a file was damaged.
        """
        nodes, edges = self.num_nodes, self.edges()
        living = np.array([note is not None for note in self.notes], bool)
        problems = {
            "notes and their columns differ": not np.array_equal(living, self.alive[:nodes]),
            "a note id stands twice": len(self._by_id) != int(living.sum()),
            "the free slots are wrong": sorted(self._free) != np.flatnonzero(self.src[: self._edge_slots] < 0).tolist(),
            "an edge has an end that does not exist": not all(
                ((ends[edges] >= 0) & (ends[edges] < nodes)).all() and living[ends[edges]].all()
                for ends in (self.src, self.dst)
            ),
            "a weight is not finite": not np.isfinite(self.weight[edges]).all(),
            "a rate is negative or not finite": not (np.isfinite(self.rate) & (self.rate >= 0)).all(),
            "an edge has an unknown type": not np.isin(self.edge_type[edges], list(EdgeType)).all(),
            "rows and edges differ": not (
                self.out_rows.agrees(self.src, edges, nodes) and self.in_rows.agrees(self.dst, edges, nodes)
            ),
        }
        if found := [problem for problem, holds in problems.items() if holds]:
            raise ValueError(f"the graph is broken: {'; '.join(found)}")

    # Room ----------------------------------------------------------------------------------------------------------

    def _grow_nodes(self) -> None:
        for name in _NODE_COLUMNS:
            column = getattr(self, name)
            setattr(self, name, np.concatenate([column, np.zeros_like(column)]))
        self.out_rows.resize(len(self.alive))
        self.in_rows.resize(len(self.alive))

    def _new_slot(self) -> int:
        if self._free:
            return self._free.pop()
        if self._edge_slots == len(self.src):
            for name in _EDGE_COLUMNS:
                column = getattr(self, name)
                setattr(self, name, np.concatenate([column, np.zeros_like(column)]))
        self._edge_slots += 1
        return self._edge_slots - 1


def _as_tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    """JSON knows lists only; a note holds tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
