"""Reward-modulated Hebbian learning: notes that earn a reward together are wired together."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from memory.change import Change
from memory.columns import faded, find_edge, kernel
from memory.dynamics.base import Signal, Stage
from memory.edge_type import EdgeType
from memory.graph import MemoryGraph

__all__ = ["Hebbian", "HebbianState"]

_NO_CREDIT = np.empty(0, np.float32)


class HebbianState(NamedTuple):
    """The running mean of the reward, None before the first."""

    mean_reward: float | None


@dataclass(frozen=True)
class Hebbian:
    """Three-factor rule (Fremaux and Gerstner 2016, doi 10.3389/fncir.2015.00085) with soft bounds.

    For every ordered pair of active notes i, j:

        dw_ij = rate * delta * a_i * a_j * (high - w_ij   if delta > 0 else   w_ij - low)

    where delta is the reward r (`reward`) or the reward prediction error r - r_bar (`rpe`), r_bar the running mean of
    the rewards before. Where the signal tells each note's credit, delta is the lesser of the two notes' credits: an
    edge is strengthened only if both were right. A pair without an edge has w_ij = 0; it gets one if strengthened.

    Attributes:
        rate: Learning rate, above 0.
        delta: `reward` or `rpe`.
        mean_rate: How fast r_bar follows the rewards, in (0, 1].
        edge_type: The type of the edges that learn.
        low: Smallest weight the rule approaches.
        high: Largest weight the rule approaches.
    """

    rate: float = 0.1
    delta: Literal["reward", "rpe"] = "rpe"
    mean_rate: float = 0.05
    edge_type: EdgeType = EdgeType.TASK
    low: float = 0.0
    high: float = 1.0
    stage: ClassVar[Stage] = Stage.LEARN

    def __post_init__(self) -> None:
        if self.delta not in ("reward", "rpe"):
            raise ValueError(f"delta {self.delta!r} is unknown; choose 'reward' or 'rpe'")
        if not self.rate > 0 or not 0 < self.mean_rate <= 1 or not self.low < self.high:
            raise ValueError(f"{self} needs rate > 0, 0 < mean_rate <= 1 and low < high")

    def init(self, graph: MemoryGraph) -> HebbianState:
        """No reward was seen yet."""
        del graph
        return HebbianState(None)

    def update(
        self, change: Change, state: HebbianState, graph: MemoryGraph, signal: Signal
    ) -> tuple[Change, HebbianState]:
        """Propose to strengthen or weaken the edges among the active notes."""
        if signal.reward is None:
            return change, state
        # The first reward is its own expectation: nothing is learned from a single sample.
        mean = signal.reward if state.mean_reward is None else state.mean_reward
        new_state = HebbianState(mean + self.mean_rate * (signal.reward - mean))
        error = signal.reward - mean if self.delta == "rpe" else signal.reward
        credit = _NO_CREDIT if signal.credit is None else np.asarray(signal.credit, np.float32)
        proposed = _propose(
            graph.columns(),
            signal.node_ids,
            signal.activation,
            error,
            credit,
            int(self.edge_type),
            self.rate,
            self.low,
            self.high,
        )
        return change.extended(*proposed), new_state


@kernel
def _propose(
    columns: Any,
    node_ids: Any,
    activation: Any,
    error: float,
    credit: Any,
    edge_type: int,
    rate: float,
    low: float,
    high: float,
) -> Any:
    size = node_ids.shape[0]
    room = size * size
    edges, srcs, dsts = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32)
    proposed = np.empty(room, np.float32)
    used = 0
    for i in range(size):
        for j in range(size):
            if i == j:
                continue
            edge = find_edge(columns, node_ids[i], node_ids[j], edge_type)
            weight = faded(columns, edge) if edge >= 0 else np.float32(0)
            delta = min(credit[i], credit[j]) if credit.shape[0] else error
            distance = high - weight if delta > 0 else weight - low
            value = np.float32(rate * delta * activation[i] * activation[j] * distance)
            if value > 0 or (value < 0 and edge >= 0):
                edges[used], srcs[used], dsts[used], proposed[used] = edge, node_ids[i], node_ids[j], value
                used += 1
    kinds = np.full(used, edge_type, np.int8)
    return edges[:used].copy(), srcs[:used].copy(), dsts[:used].copy(), kinds, proposed[:used].copy()
