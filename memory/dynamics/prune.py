"""Pruning: weak edges are cut, and a note keeps only its strongest ones."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from memory.change import Change
from memory.columns import faded, kernel
from memory.dynamics.base import Signal, Stage
from memory.edge_type import RECOVERY, EdgeType, as_edge_types, edge_type_mask
from memory.graph import MemoryGraph

__all__ = ["Prune"]

_SECONDS_PER_DAY = 86_400.0


@dataclass(frozen=True)
class Prune:
    """Cuts edges of the notes an event touched (all notes at a pause): below `threshold`, and beyond `max_links`.

    Attributes:
        threshold: Edges of smaller effective weight are cut.
        grace: Days that an edge is safe from the threshold after its creation.
        max_links: How many edges of `edge_types` may leave one note; the weakest go first, then the newest.
        edge_types: The types of edges that may be cut.
    """

    threshold: float = 0.01
    grace: float = 0.0
    max_links: int = 20
    edge_types: Sequence[EdgeType | str] = (EdgeType.TASK, EdgeType.SEMANTIC)
    stage: ClassVar[Stage] = Stage.PRUNE

    def __post_init__(self) -> None:
        if self.max_links < 0 or self.grace < 0:
            raise ValueError(f"max_links {self.max_links} and grace {self.grace} must be 0 or more")
        if protected := set(as_edge_types(self.edge_types)) & RECOVERY:
            raise ValueError(f"edges of type {sorted(protected)} keep archived notes reachable and may not be pruned")

    @cached_property
    def _may_cut(self) -> NDArray[np.bool_]:
        return edge_type_mask(self.edge_types)

    def init(self, graph: MemoryGraph) -> None:
        """The rule keeps no state."""

    def update(self, change: Change, state: None, graph: MemoryGraph, signal: Signal) -> tuple[Change, None]:
        """Propose cuts; a proposed edge that would be cut at once is not created."""
        nodes = np.arange(graph.num_nodes) if signal.event == "pause" else signal.node_ids
        proposed = (change.edge, change.src, change.edge_type, change.delta)
        limits = (self.threshold, self.grace * _SECONDS_PER_DAY, self.max_links)
        cut, delta = _prune(graph.columns(), nodes, *proposed, self._may_cut, *limits)
        if len(change.cut):
            cut = np.union1d(change.cut, cut).astype(np.int32)
        return replace(change, delta=delta, cut=cut), state


@kernel
def _prune(
    columns: Any,
    nodes: Any,
    edges: Any,
    srcs: Any,
    edge_types: Any,
    deltas: Any,
    may_cut: Any,
    threshold: float,
    grace: float,
    max_links: int,
) -> Any:
    """Edge ids to cut, and the deltas without those of new edges that would be cut at once."""
    left = deltas.copy()
    order = np.argsort(edges, kind="mergesort")
    ordered = edges[order]
    new = order[: np.searchsorted(ordered, 0)]
    cuts = [np.int32(0)]
    cuts.pop()
    for node in np.unique(np.concatenate((nodes, srcs[new].astype(nodes.dtype)))):
        room = columns.length[node] + new.shape[0]
        owner, weight, age = np.empty(room, np.int64), np.empty(room, np.float32), np.empty(room, np.float64)
        used = 0
        for position in range(columns.start[node], columns.start[node] + columns.length[node]):
            edge = columns.pool[position]
            if may_cut[columns.edge_type[edge]]:
                place = np.searchsorted(ordered, edge)
                owner[used], weight[used] = edge, faded(columns, edge)
                age[used] = columns.now - columns.created[edge]
                if place < ordered.shape[0] and ordered[place] == edge:
                    weight[used] += deltas[order[place]]
                used += 1
        for row in new:
            if srcs[row] == node and may_cut[edge_types[row]] and deltas[row] > 0:
                owner[used], weight[used], age[used] = -1 - row, deltas[row], 0.0
                used += 1
        for place in range(used):
            if weight[place] < threshold and age[place] >= grace:
                weight[place] = -np.inf
        # The strongest first, among equals the oldest: two stable sorts, the minor key before the major one.
        rank = np.argsort(-age[:used], kind="mergesort")
        rank = rank[np.argsort(-weight[:used][rank], kind="mergesort")]
        for place in range(used):
            candidate = rank[place]
            if place >= max_links or weight[candidate] == -np.inf:
                if owner[candidate] >= 0:
                    cuts.append(np.int32(owner[candidate]))
                else:
                    left[-1 - owner[candidate]] = 0.0
    return np.sort(np.array(cuts, dtype=np.int32)), left
