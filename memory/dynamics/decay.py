"""Fading: what is not reinforced loses weight with the stream's own time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from memory.change import Change
from memory.dynamics.base import Signal, Stage
from memory.edge_type import EdgeType, edge_type_mask
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

    @cached_property
    def _fades(self) -> NDArray[np.bool_]:
        return edge_type_mask(self.edge_types)

    def init(self, graph: MemoryGraph) -> None:
        """The rule keeps no state."""

    def update(self, change: Change, state: None, graph: MemoryGraph, signal: Signal) -> tuple[Change, None]:
        """Propose the fading rate of this rule's types of edges."""
        present = graph.rate if change.retention is None else change.retention
        rate = np.where(self._fades, math.log(2) / (self.half_life * _SECONDS_PER_DAY), present)
        return (change, state) if (rate == present).all() else (replace(change, retention=rate), state)
