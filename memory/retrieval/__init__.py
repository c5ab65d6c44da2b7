"""Retrieval: anchors, context of adjacent turns, expansion over weighted edges, re-ranking, budget."""

from memory.retrieval.anchors import Anchors, ConvexCombination, Dense, Lexical, Recent, ReciprocalRankFusion
from memory.retrieval.context import AdjacentTurns
from memory.retrieval.expansion import (
    Activation,
    Expansion,
    PersonalizedPageRank,
    SpreadingActivation,
    TypedBreadthFirst,
)
from memory.retrieval.rerank import MaximalMarginalRelevance, ReRanker
from memory.retrieval.retriever import Budget, Recall, Retriever

__all__ = [
    "Activation",
    "AdjacentTurns",
    "Anchors",
    "Budget",
    "ConvexCombination",
    "Dense",
    "Expansion",
    "Lexical",
    "MaximalMarginalRelevance",
    "PersonalizedPageRank",
    "ReRanker",
    "Recall",
    "Recent",
    "ReciprocalRankFusion",
    "Retriever",
    "SpreadingActivation",
    "TypedBreadthFirst",
]
