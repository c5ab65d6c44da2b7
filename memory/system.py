"""The memory as one object: write, recall, reinforce, consolidate, forget. It conducts; every rule is a part."""

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from memory import store
from memory.change import Applied, Change
from memory.dynamics import Signal, Transform, as_tree, from_tree, named_chain
from memory.encoder import Encoder, HashingEncoder
from memory.graph import MemoryGraph
from memory.index import LexicalIndex, VectorIndex
from memory.index_text import Content, IndexText
from memory.linking import Linker, Linkers, NearestNeighbours, Temporal, link_note
from memory.note import Note, check_content
from memory.retrieval import Recall, Retriever
from memory.surface import Query, Surface

__all__ = ["MemorySystem", "Written"]


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a note.

    Attributes:
        node_id: Where the note is.
        is_new: False if the memory knew the text and only counted one more access.
        num_links: Edges written.
        num_invalid_links: Proposed edges that were ignored, e.g. to a note that does not exist.
    """

    node_id: int
    is_new: bool
    num_links: int = 0
    num_invalid_links: int = 0


class MemorySystem:
    """A memory that learns from reward.

    Attributes:
        surface: The graph with its indexes.
        num_echoes: How many writes were recognised as text the memory held already.

    Example:
        >>> memory = MemorySystem()
        >>> _ = memory.write(Note("Ada plays the cello.", timestamp=0.0))
        >>> _ = memory.write(Note("Bob cooks soup.", timestamp=60.0))
        >>> recall = memory.recall("who cooks soup?", k=1)
        >>> memory.graph.note(int(recall.node_ids[0])).content
        'Bob cooks soup.'
    """

    def __init__(
        self,
        *,
        encoder: Encoder | None = None,
        linker: Linker | None = None,
        retriever: Retriever | None = None,
        dynamics: Transform | None = None,
        index_text: IndexText | None = None,
        max_links: int = 20,
        dedupe: Literal["exact", "none"] = "exact",
    ) -> None:
        """Make an empty memory.

        Args:
            encoder: Text to vectors; None for the hashing encoder.
            linker: Which edges a new note gets; None for temporal edges and nearest neighbours.
            retriever: How questions are answered; None for dense retrieval.
            dynamics: The chain of plasticity rules; None for a memory that does not learn.
            index_text: What the lexical index sees of a note; None for its content.
            max_links: Largest number of outgoing edges of one type that the linker gives a note.
            dedupe: `exact` recognises a text that is held already, up to white space; `none` writes it again.
        """
        if dedupe not in ("exact", "none"):
            raise ValueError(f"dedupe {dedupe!r} is unknown; choose 'exact' or 'none'")
        self.encoder = encoder or HashingEncoder()
        self.linker = linker or Linkers(temporal=Temporal(), nearest=NearestNeighbours())
        self.retriever = retriever or Retriever()
        self.dynamics = dynamics or named_chain()
        self.index_text = index_text or Content()
        self.max_links, self.dedupe = max_links, dedupe
        self.reset()

    def reset(self) -> None:
        """Empty every part."""
        self.surface = Surface(MemoryGraph(), VectorIndex(self.encoder.dim), LexicalIndex())
        self.num_echoes = 0
        self._held: dict[str, int] = {}
        self._previous: int | None = None
        self._state: Any = self.dynamics.init(self.graph)

    @property
    def graph(self) -> MemoryGraph:
        """The memory graph."""
        return self.surface.graph

    def write(self, note: Note, *, vector: ArrayLike | None = None) -> Written:
        """Store a note, index it and link it. Either all of that happens or, on an error, nothing.

        Args:
            note: The note.
            vector: float32 (d,), its embedding; None to have the encoder make it.

        Raises:
            ValueError: The vector does not fit, or another note has the same id.
        """
        key = _key(note)
        known = self._held.get(key) if self.dedupe == "exact" else None
        if known is not None:
            self.graph.advance(note.timestamp)
            self.graph.touch([known])
            self.num_echoes += 1
            self._previous = known
            return Written(known, is_new=False)
        vector = self.surface.vectors.check(self.encoder.encode([note.content])[0] if vector is None else vector)
        node_id = self.graph.add_note(note)
        try:
            self.surface.vectors.add(node_id, vector)
            self.surface.lexical.add(node_id, self.index_text(note))
            links = self.linker.propose(self.surface, node_id, self._previous)
            written, invalid = link_note(self.surface, links, self.max_links)
        except BaseException:
            self._drop(node_id)
            raise
        self._held.setdefault(key, node_id)
        self._previous = node_id
        return Written(node_id, True, written, invalid)

    def recall(self, question: str, *, k: int | None = None, vector: ArrayLike | None = None) -> Recall:
        """Find the notes that a question needs, best first, and count an access of each.

        Args:
            question: Text; empty or white space alone finds nothing, unless a vector is given.
            k: Largest number of notes; None for the retriever's own budget.
            vector: float32 (d,), the question's embedding; None to have the encoder make it.

        Raises:
            TypeError: The question is not a string.
            ValueError: k is negative, or the vector does not fit.
        """
        if not isinstance(question, str):
            raise TypeError(f"a question must be a str, got {type(question).__name__}")
        budget = self.retriever.budget if k is None else replace(self.retriever.budget, notes=k)
        if vector is None and not question.strip():
            return Recall(np.zeros(0, np.int64), np.zeros(0, np.float32), np.zeros(0, np.int32))
        if vector is None:
            check_content(question)
            vector = self.encoder.encode([question])[0]
        recall = self.retriever.recall(self.surface, Query(question, self.surface.vectors.check(vector)), budget)
        self.graph.touch(recall.node_ids.tolist())
        return recall

    def reinforce(self, node_ids: ArrayLike, reward: float, *, credit: ArrayLike | None = None) -> Applied:
        """Let the reward of a task change the edges among the notes that were used for it.

        Args:
            node_ids: int (A,), the notes, no note twice.
            reward: What the task paid.
            credit: float (A,), what each note earned in [-1, 1], where that is known.

        Raises:
            ValueError: The reward or a credit is not finite, a note stands twice, or the shapes differ.
            KeyError: One of the notes does not exist.
        """
        nodes = np.asarray(node_ids, np.int64).reshape(-1)
        if not math.isfinite(reward):
            raise ValueError(f"reward {reward!r} is not finite; nothing was changed")
        if len(set(nodes.tolist())) != len(nodes):
            raise ValueError(f"node_ids {nodes.tolist()} name a note twice; nothing was changed")
        for node_id in nodes.tolist():
            self.graph.note(node_id)
        earned = None if credit is None else np.asarray(credit, np.float32)
        if earned is not None and (earned.shape != nodes.shape or not np.isfinite(earned).all()):
            raise ValueError(f"credit must be {len(nodes)} finite numbers, got {credit!r}; nothing was changed")
        return self._apply(Signal("task", nodes, np.ones(len(nodes), np.float32), float(reward), earned))

    def consolidate(self, time: float | None = None) -> Applied:
        """End a session: the rules may visit the whole graph, and the next note follows no other."""
        if time is not None:
            self.graph.advance(time)
        self._previous = None
        return self._apply(Signal("pause"))

    def forget(self, node_id: int) -> None:
        """Remove a note for good, with its edges.

        Raises:
            KeyError: There is no such note.
        """
        self.graph.note(node_id)
        self._drop(node_id)

    def state(self) -> dict[str, Any]:
        """Everything that this memory holds, as a tree for `memory.store`; its parts are configuration and stay out."""
        return {
            "dim": self.encoder.dim,
            "graph": self.graph.state(),
            "vectors": self.surface.vectors.state(),
            "held": np.array(list(self._held.values()), np.int64),
            "previous": self._previous,
            "num_echoes": self.num_echoes,
            "rules": as_tree(self._state),
        }

    def digest(self) -> str:
        """SHA-256 of the state, in hexadecimal."""
        return store.digest("memory", self.state())

    def save(self, path: str | Path) -> None:
        """Write the memory to a file, which is replaced as a whole or stays as it was."""
        store.write(path, "memory", self.state())

    def load(self, path: str | Path) -> None:
        """Take on what `save` wrote; this memory's parts must be like the ones it was written with.

        Raises:
            FileNotFoundError: There is no such file.
            ValueError: The file is broken, foreign or newer, its vectors have another dimension than the encoder, or
                other rules have learned in it. This memory stays as it was.
        """
        state = store.read(path, "memory")
        if state["dim"] != self.encoder.dim:
            raise ValueError(f"{path} holds vectors of dimension {state['dim']}, the encoder has {self.encoder.dim}")
        try:
            graph = MemoryGraph.from_state(state["graph"])
            surface = Surface(graph, VectorIndex.from_state(state["vectors"], state["dim"]), LexicalIndex())
            for node_id in sorted(surface.vectors.node_ids()):
                surface.lexical.add(node_id, self.index_text(graph.note(node_id)))
            held = {_key(graph.note(node_id)): node_id for node_id in state["held"].tolist()}
        except (KeyError, TypeError) as error:
            raise ValueError(f"{path} is broken: {error}") from None
        self._state = from_tree(self.dynamics.init(graph), state["rules"])
        self.surface, self._held = surface, held
        self._previous, self.num_echoes = state["previous"], state["num_echoes"]

    def _apply(self, signal: Signal) -> Applied:
        change, state = self.dynamics.update(Change(), self._state, self.graph, signal)
        applied = self.graph.apply(change)
        self._state = state
        return applied

    def _drop(self, node_id: int) -> None:
        key = _key(self.graph.note(node_id))
        self.graph.remove_note(node_id)
        if node_id in self.surface.vectors:
            self.surface.vectors.remove(node_id)
        if node_id in self.surface.lexical:
            self.surface.lexical.remove(node_id)
        if self._held.get(key) == node_id:
            del self._held[key]
        if self._previous == node_id:
            self._previous = None


def _key(note: Note) -> str:
    """What a repeated text is recognised by."""
    return " ".join(note.content.split())
