"""The families of edges between notes."""

from collections.abc import Iterable
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

__all__ = ["RECOVERY", "EdgeType", "as_edge_types", "edge_type_mask"]


class EdgeType(IntEnum):
    """Why one note points to another. Several types may coexist between one ordered pair."""

    SEMANTIC = 0
    """Similar content (A-MEM's link generation, All-Mem's semantic links)."""
    TEMPORAL = 1
    """The previous note of the same session to the next."""
    CAUSAL = 2
    """One led to the other."""
    TASK = 3
    """Needed together by a task: what Hebbian learning writes."""
    VERSION = 4
    """New note to the one it replaces (All-Mem)."""
    SIBLING = 5
    """Pieces of one split note, both ways (All-Mem)."""
    CONTRADICTS = 6
    """The two cannot both hold."""
    ABSTRACTS = 7
    """A summary or pattern note to what it stands for."""


RECOVERY: frozenset[EdgeType] = frozenset({EdgeType.VERSION, EdgeType.SIBLING})
"""Edges by which archived notes stay reachable; no rule may cut them."""


def as_edge_types(types: Iterable[EdgeType | str]) -> tuple[EdgeType, ...]:
    """Edge types from members or names in any case, as configurations give them.

    Raises:
        ValueError: A name is no edge type.

    Example:
        >>> as_edge_types(["task"])
        (<EdgeType.TASK: 3>,)
    """
    known = EdgeType.__members__
    unknown = [each for each in types if isinstance(each, str) and each.upper() not in known]
    if unknown:
        raise ValueError(f"edge types {unknown} are unknown; choose from {[name.lower() for name in known]}")
    return tuple(known[each.upper()] if isinstance(each, str) else EdgeType(each) for each in types)


def edge_type_mask(types: Iterable[EdgeType | str]) -> NDArray[np.bool_]:
    """Which types are among `types`, bool (num_edge_types,); raises as `as_edge_types`."""
    mask = np.zeros(len(EdgeType), bool)
    mask[list(as_edge_types(types))] = True
    return mask
