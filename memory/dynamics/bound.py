"""Bounds: weights stay within a range."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from memory.change import Change
from memory.columns import faded, kernel
from memory.dynamics.base import Signal, Stage
from memory.graph import MemoryGraph

__all__ = ["Clip"]


@dataclass(frozen=True)
class Clip:
    """Clips every changed weight to [low, high].

    Attributes:
        low: Smallest weight.
        high: Largest weight.
    """

    low: float = 0.0
    high: float = 1.0
    stage: ClassVar[Stage] = Stage.BOUND

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"low {self.low} must be below high {self.high}")

    def init(self, graph: MemoryGraph) -> None:
        """The rule keeps no state."""

    def update(self, change: Change, state: None, graph: MemoryGraph, signal: Signal) -> tuple[Change, None]:
        """Shorten the deltas that would leave the range."""
        if not len(change.edge):
            return change, state
        bounded = _clip(graph.columns(), change.edge, change.delta, self.low, self.high)
        return replace(change, delta=bounded), state


@kernel
def _clip(columns: Any, edge: Any, delta: Any, low: float, high: float) -> Any:
    bounded = np.empty_like(delta)
    for row in range(edge.shape[0]):
        weight = faded(columns, edge[row]) if edge[row] >= 0 else np.float32(0)
        bounded[row] = min(max(weight + delta[row], low), high) - weight
    return bounded
