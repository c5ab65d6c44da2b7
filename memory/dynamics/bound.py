"""Bounds: weights stay within a range."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from memory.change import Change
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
        present = graph.effective_weight(np.maximum(change.edge, 0))
        weight = np.where(change.edge >= 0, present, np.float32(0))
        bounded = np.clip(weight + change.delta, self.low, self.high) - weight
        return replace(change, delta=bounded.astype(np.float32)), state
