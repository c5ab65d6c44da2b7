"""The families of edges between notes."""

from enum import IntEnum

__all__ = ["RECOVERY", "EdgeType"]


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
