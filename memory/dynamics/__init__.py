"""Plasticity rules as composable transforms: one idea, one file."""

from memory.dynamics.base import NamedChain, Signal, Stage, Transform, as_tree, from_tree, named_chain
from memory.dynamics.bound import Clip
from memory.dynamics.decay import Decay
from memory.dynamics.hebbian import Hebbian
from memory.dynamics.prune import Prune

__all__ = [
    "Clip",
    "Decay",
    "Hebbian",
    "NamedChain",
    "Prune",
    "Signal",
    "Stage",
    "Transform",
    "as_tree",
    "from_tree",
    "named_chain",
]
