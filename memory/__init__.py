"""The memory itself, usable without any reinforcement learning; importing it costs no torch."""

from memory.edge_type import EdgeType
from memory.graph import MemoryGraph
from memory.note import Note
from memory.system import MemorySystem

__all__ = ["EdgeType", "MemoryGraph", "MemorySystem", "Note"]
