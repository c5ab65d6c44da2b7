"""What a plasticity rule proposes and the graph alone applies: sparse weight deltas and cuts."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Applied", "Change"]


def _empty_int() -> NDArray[np.int32]:
    return np.empty(0, np.int32)


def _empty_float() -> NDArray[np.float32]:
    return np.empty(0, np.float32)


@dataclass(slots=True)
class Change:
    """A proposed change of edge weights, at the graph's present time.

    Row k proposes to add `delta[k]` to the effective weight of edge `edge[k]`, or, where `edge[k]` is -1, to create
    the edge `src[k] -> dst[k]` of type `edge_type[k]` with weight `delta[k]`. No edge has two rows.

    Attributes:
        edge: int32 (M,), edge ids or -1.
        src: int32 (M,), node ids.
        dst: int32 (M,), node ids.
        edge_type: int8 (M,), values of `EdgeType`.
        delta: float32 (M,), what is added to the effective weight.
        cut: int32 (C,), edge ids to remove; applied after the deltas.
        retention: float64 (num_edge_types,) or None, fading rate per edge type in 1/second from now on.
    """

    edge: NDArray[np.int32] = field(default_factory=_empty_int)
    src: NDArray[np.int32] = field(default_factory=_empty_int)
    dst: NDArray[np.int32] = field(default_factory=_empty_int)
    edge_type: NDArray[np.int8] = field(default_factory=lambda: np.empty(0, np.int8))
    delta: NDArray[np.float32] = field(default_factory=_empty_float)
    cut: NDArray[np.int32] = field(default_factory=_empty_int)
    retention: NDArray[np.float64] | None = None

    def extended(
        self,
        edge: NDArray[np.int32],
        src: NDArray[np.int32],
        dst: NDArray[np.int32],
        edge_type: NDArray[np.int8],
        delta: NDArray[np.float32],
    ) -> "Change":
        """This change with more rows; deltas of the same edge, or of the same new edge, add up."""
        if not len(self.edge):
            return Change(edge, src, dst, edge_type, delta, self.cut, self.retention)
        joined = Change(
            np.concatenate([self.edge, edge]),
            np.concatenate([self.src, src]),
            np.concatenate([self.dst, dst]),
            np.concatenate([self.edge_type, edge_type]),
            np.concatenate([self.delta, delta]),
            self.cut,
            self.retention,
        )
        return joined._added_up()

    def _added_up(self) -> "Change":
        """This change with one row per edge, in the order in which the edges came first."""
        is_new = self.edge < 0
        pairs = np.stack([self.edge, self.src * is_new, self.dst * is_new, self.edge_type * is_new], axis=1)
        _, first, group = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)
        delta = np.bincount(group.reshape(-1), self.delta)[order].astype(np.float32)
        rows = first[order]
        return Change(
            self.edge[rows], self.src[rows], self.dst[rows], self.edge_type[rows], delta, self.cut, self.retention
        )

    @property
    def is_identity(self) -> bool:
        """Whether applying it would leave the graph as it is."""
        return self.retention is None and not len(self.cut) and not self.delta.any()


@dataclass(slots=True)
class Applied:
    """How many edges a change touched, for logs and `info`."""

    strengthened: int = 0
    weakened: int = 0
    created: int = 0
    cut: int = 0
