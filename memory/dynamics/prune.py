"""Pruning: weak edges are cut, and a note keeps only its strongest ones."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from memory.change import Change
from memory.dynamics.base import Signal, Stage
from memory.edge_type import RECOVERY, EdgeType, as_edge_types
from memory.graph import MemoryGraph

__all__ = ["Prune"]


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

    def init(self, graph: MemoryGraph) -> None:
        """The rule keeps no state."""

    def update(self, change: Change, state: None, graph: MemoryGraph, signal: Signal) -> tuple[Change, None]:
        """Propose cuts; a proposed edge that would be cut at once is not created."""
        kinds = as_edge_types(self.edge_types)
        nodes = np.arange(graph.num_nodes) if signal.event == "pause" else signal.node_ids
        rows = [graph.out_edges(int(node)) for node in nodes]
        edge = np.concatenate([*rows, np.empty(0, np.int32)])
        edge = edge[np.isin(graph.edge_type[edge], kinds)]
        new = np.flatnonzero((change.edge < 0) & np.isin(change.edge_type, kinds) & (change.delta > 0))
        weight = np.concatenate([self._weight_after(change, graph, edge), change.delta[new]])
        src = np.concatenate([graph.src[edge], change.src[new]])
        age = np.concatenate([graph.now - graph.created[edge], np.zeros(len(new))])
        cut = (weight < self.threshold) & (age >= self.grace * 86_400.0)
        cut |= self._beyond_max_links(src, np.where(cut, -np.inf, weight), age)
        delta = change.delta.copy()
        delta[new[cut[len(edge) :]]] = 0
        cuts = np.union1d(change.cut, edge[cut[: len(edge)]]).astype(np.int32)
        return replace(change, delta=delta, cut=cuts), state

    @staticmethod
    def _weight_after(change: Change, graph: MemoryGraph, edge: NDArray[np.int32]) -> NDArray[np.float32]:
        weight = graph.effective_weight(edge)
        order = np.argsort(edge)
        place = np.searchsorted(edge, change.edge, sorter=order)
        hit = place < len(edge)
        hit[hit] = edge[order[place[hit]]] == change.edge[hit]
        np.add.at(weight, order[place[hit]], change.delta[hit])
        return weight

    def _beyond_max_links(
        self, src: NDArray[np.int32], weight: NDArray[np.float32], age: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        order = np.lexsort((-age, -weight, src))
        ordered = src[order]
        first = np.searchsorted(ordered, ordered)
        beyond = np.zeros(len(src), bool)
        beyond[order] = np.arange(len(src)) - first >= self.max_links
        return beyond
