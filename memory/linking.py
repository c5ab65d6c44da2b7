"""Which edges a new note gets. Linkers propose; the memory system checks every proposal and writes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from memory.edge_type import EdgeType
from memory.surface import Surface

__all__ = ["Link", "Linker", "Linkers", "NearestNeighbours", "Temporal", "link_note"]


class Link(NamedTuple):
    """A proposed edge."""

    src: int
    dst: int
    edge_type: EdgeType
    weight: float


class Linker(Protocol):
    """Proposes edges for a note that has just been written."""

    def propose(self, surface: Surface, node_id: int, previous: int | None) -> Sequence[Link]:
        """Edges for `node_id`; `previous` is the note before it in its session, if there is one."""
        ...


@dataclass(frozen=True)
class Temporal:
    """Previous note of the session to the new one, weight 1 (All-Mem, arXiv 2603.19595)."""

    def propose(self, surface: Surface, node_id: int, previous: int | None) -> Sequence[Link]:
        """See `Linker`."""
        return [] if previous is None else [Link(previous, node_id, EdgeType.TEMPORAL, 1.0)]


@dataclass(frozen=True)
class NearestNeighbours:
    """Semantic edges both ways to the k notes of highest cosine, weight = cosine (A-MEM takes k = 5, arXiv 2502.12110).

    Attributes:
        k: Largest number of neighbours.
        threshold: Smallest cosine.
    """

    k: int = 5
    threshold: float = 0.5

    def __post_init__(self) -> None:
        if self.k < 0:
            raise ValueError(f"k is {self.k}; it must be 0 or more")

    def propose(self, surface: Surface, node_id: int, previous: int | None) -> Sequence[Link]:
        """See `Linker`."""
        hits = surface.vectors.search(surface.vectors.vector(node_id), self.k + 1)
        links: list[Link] = []
        for neighbour, cosine in zip(hits.node_ids.tolist(), hits.scores.tolist(), strict=True):
            if neighbour != node_id and cosine >= self.threshold and len(links) < 2 * self.k:
                weight = min(1.0, cosine)
                links += [
                    Link(node_id, neighbour, EdgeType.SEMANTIC, weight),
                    Link(neighbour, node_id, EdgeType.SEMANTIC, weight),
                ]
        return links


class Linkers:
    """Several linkers, each under its own name, so that one can be taken out."""

    def __init__(self, **parts: Linker | None) -> None:
        """Combine named linkers, in order; None leaves one out."""
        self.parts = {name: part for name, part in parts.items() if part is not None}

    def propose(self, surface: Surface, node_id: int, previous: int | None) -> Sequence[Link]:
        """See `Linker`."""
        return [link for part in self.parts.values() for link in part.propose(surface, node_id, previous)]


def link_note(surface: Surface, links: Sequence[Link], max_links: int) -> tuple[int, int]:
    """Write proposed edges; one with an unknown end, onto itself or without a finite weight is ignored and counted.

    A note with `max_links` outgoing edges of the type takes a new one only in place of its weakest, if that is weaker.

    Returns:
        How many edges were written, and how many proposals were ignored as invalid.
    """
    graph = surface.graph
    written = invalid = 0
    for src, dst, edge_type, weight in links:
        known = all(0 <= end < graph.num_nodes and graph.alive[end] for end in (src, dst))
        if not known or src == dst or not np.isfinite(weight):
            invalid += 1
            continue
        row = graph.out_edges(src)
        row = row[graph.edge_type[row] == edge_type]
        if len(row) >= max_links and graph.find_edge(src, dst, edge_type) < 0:
            present = graph.effective_weight(row)
            weakest = int(np.lexsort((-row, present))[0]) if len(row) else -1
            if weakest < 0 or present[weakest] >= weight:
                continue
            graph.remove_edge(int(row[weakest]))
        graph.add_edge(src, dst, edge_type, weight)
        written += 1
    return written, invalid
