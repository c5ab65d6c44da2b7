"""What is good: reward parts as objects, and their weighted sum."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from envs.measures import f1, ndcg_at, recall_at

__all__ = [
    "EdgeCost",
    "EvidenceF1",
    "EvidenceNdcg",
    "EvidenceRecall",
    "Outcome",
    "Reward",
    "TokenCost",
    "WeightedSum",
]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a question came to.

    Attributes:
        hits: bool (M,), whether each note of the context is evidence, in order.
        num_gold: How many notes are evidence, those that no note holds included.
        tokens: Tokens of the context.
        num_edges: Edges of the graph.
    """

    hits: NDArray[np.bool_]
    num_gold: int
    tokens: int
    num_edges: int


class Reward(Protocol):
    """One part of the reward."""

    def __call__(self, outcome: Outcome) -> float:
        """The reward of a question's outcome."""
        ...


@dataclass(frozen=True)
class EvidenceRecall:
    """Share of the evidence in the context, in [0, 1]."""

    def __call__(self, outcome: Outcome) -> float:
        """See `Reward`."""
        return recall_at(outcome.hits, outcome.num_gold)


@dataclass(frozen=True)
class EvidenceF1:
    """F1 of the context against the evidence, in [0, 1]."""

    def __call__(self, outcome: Outcome) -> float:
        """See `Reward`."""
        return f1(outcome.hits, outcome.num_gold)


@dataclass(frozen=True)
class EvidenceNdcg:
    """nDCG of the context's order, in [0, 1]."""

    def __call__(self, outcome: Outcome) -> float:
        """See `Reward`."""
        return ndcg_at(outcome.hits, outcome.num_gold)


@dataclass(frozen=True)
class TokenCost:
    """Minus 1 for every `tokens` tokens of context.

    Attributes:
        tokens: Tokens that cost 1.
    """

    tokens: float = 10_000.0

    def __call__(self, outcome: Outcome) -> float:
        """See `Reward`."""
        return -outcome.tokens / self.tokens


@dataclass(frozen=True)
class EdgeCost:
    """Minus 1 for every `edges` edges of the graph.

    Attributes:
        edges: Edges that cost 1.
    """

    edges: float = 100_000.0

    def __call__(self, outcome: Outcome) -> float:
        """See `Reward`."""
        return -outcome.num_edges / self.edges


class WeightedSum:
    """Sum of parts; each part keeps its name, so that one can be switched off or swept."""

    def __init__(self, weights: Mapping[str, float] | None = None, **parts: Reward | None) -> None:
        """Combine named parts.

        Args:
            weights: Weight by name, 1 where none is given.
            **parts: The parts by name; None leaves a part out.

        Raises:
            ValueError: A weight names no part.
        """
        self.parts = {name: part for name, part in parts.items() if part is not None}
        self.weights = dict(weights or {})
        if unknown := set(self.weights) - set(parts):
            raise ValueError(f"weights name {sorted(unknown)}, the parts are {sorted(parts)}")

    def __call__(self, outcome: Outcome) -> float:
        """See `Reward`."""
        return float(sum(self.weights.get(name, 1.0) * part(outcome) for name, part in self.parts.items()))
