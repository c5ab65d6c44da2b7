"""Context of adjacent turns: a turn is also judged by what was said just before and after it."""

from dataclasses import dataclass

import numpy as np

from memory.edge_type import EdgeType
from memory.graph import MemoryGraph
from memory.index import Hits

__all__ = ["AdjacentTurns"]


@dataclass(frozen=True)
class AdjacentTurns:
    """Adds a share of the neighbours' scores along temporal edges, which join the turns of one session.

        s'_i = s_i + previous * s_(i-1) + following * s_(i+1)

    Attributes:
        previous: Share of the turn before.
        following: Share of the turn after.
    """

    previous: float = 0.6
    following: float = 0.15

    def smooth(self, graph: MemoryGraph, hits: Hits) -> Hits:
        """Return the hits with smoothed scores, in the same order."""
        edges = graph.edges()
        edges = edges[graph.edge_type[edges] == EdgeType.TEMPORAL]
        own = np.zeros(graph.num_nodes, np.float32)
        own[hits.node_ids] = hits.scores
        smoothed = own.copy()
        np.add.at(smoothed, graph.dst[edges], np.float32(self.previous) * own[graph.src[edges]])
        np.add.at(smoothed, graph.src[edges], np.float32(self.following) * own[graph.dst[edges]])
        return Hits(hits.node_ids, smoothed[hits.node_ids])
