"""Fading: what is not reinforced loses weight with the stream's own time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from memory.change import Change
from memory.dynamics.base import Signal, Stage
from memory.edge_type import EdgeType, as_edge_types
from memory.graph import MemoryGraph

__all__ = ["Decay"]

_SECONDS_PER_DAY = 86_400.0


@dataclass(frozen=True)
class Decay:
    """Exponential decay, w(t) = w(t0) * 2 ** (-(t - t0) / half_life).

    It is lazy: the rule proposes the rate, the graph evaluates the weight when it is read, so a step costs only what it
    touches.

    Attributes:
        half_life: Days after which half of the weight is left; `inf` for none.
        edge_types: The types of edges that fade.
    """

    half_life: float = 30.0
    edge_types: Sequence[EdgeType | str] = (EdgeType.TASK,)
    stage: ClassVar[Stage] = Stage.LEARN

    def __post_init__(self) -> None:
        if not self.half_life > 0:
            raise ValueError(f"half_life {self.half_life!r} must be above 0 days (inf for no decay)")

    def init(self, graph: MemoryGraph) -> None:
        """The rule keeps no state."""

    def update(self, change: Change, state: None, graph: MemoryGraph, signal: Signal) -> tuple[Change, None]:
        """Propose the fading rate of this rule's types of edges."""
        rate = (graph.rate if change.retention is None else change.retention).copy()
        rate[list(as_edge_types(self.edge_types))] = math.log(2) / (self.half_life * _SECONDS_PER_DAY)
        return (change, state) if np.array_equal(rate, graph.rate) else (replace(change, retention=rate), state)
