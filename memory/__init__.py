"""The memory itself, usable without any reinforcement learning; importing it costs no torch."""

from memory.edge_type import EdgeType
from memory.graph import MemoryGraph
from memory.note import Note

__all__ = ["EdgeType", "MemoryGraph", "Note"]
