"""What a retriever reads: the graph and the two indexes over its visible notes."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory.graph import MemoryGraph
from memory.index import LexicalIndex, VectorIndex

__all__ = ["Query", "Surface"]


class Query(NamedTuple):
    """What is asked.

    Attributes:
        text: The question as text; may be empty where the vector says all.
        vector: float32 (d,), its embedding.
    """

    text: str
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Surface:
    """The graph with its indexes. Only visible notes are in the indexes.

    Attributes:
        graph: All notes and edges.
        vectors: Embeddings of the visible notes.
        lexical: Terms of the visible notes.
    """

    graph: MemoryGraph
    vectors: VectorIndex
    lexical: LexicalIndex
