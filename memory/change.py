"""What a plasticity rule proposes and the graph alone applies: sparse weight deltas and cuts."""

from dataclasses import dataclass, field, replace

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
    the edge `src[k] -> dst[k]` of type `edge_type[k]` with weight `delta[k]`.

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
        """This change with more rows."""
        return replace(
            self,
            edge=np.concatenate([self.edge, edge]),
            src=np.concatenate([self.src, src]),
            dst=np.concatenate([self.dst, dst]),
            edge_type=np.concatenate([self.edge_type, edge_type]),
            delta=np.concatenate([self.delta, delta]),
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
