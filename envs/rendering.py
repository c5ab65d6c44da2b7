"""Pictures of an environment; matplotlib is imported only when one is drawn."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from envs.tasks.task import Question
from memory.graph import MemoryGraph

__all__ = ["as_image", "as_text"]

_WIDTH = 76


def as_text(graph: MemoryGraph, question: Question | None, candidates: Sequence[int], context: Sequence[int]) -> str:
    """The question, its candidates by slot, and the place in the context of those that were picked."""
    lines = [f"{graph.num_notes} notes, {graph.num_edges} edges", f"? {question.text if question else 'no question'}"]
    for slot, node in enumerate(candidates):
        place = f"{context.index(node) + 1:>2}" if node in context else "  "
        lines.append(f"{place} [{slot:>3}] {graph.note(node).content}"[:_WIDTH])
    return "\n".join(lines)


def as_image(
    graph: MemoryGraph, max_notes: int, candidates: Sequence[int], context: Sequence[int], *, size: int = 480
) -> NDArray[np.uint8]:
    """The graph on a circle in the order of writing, so that a note never moves; uint8 (size, size, 3).

    Width is an edge's weight, colour its type; candidates are larger, picked notes red.

    Args:
        graph: The memory graph.
        max_notes: Places on the circle.
        candidates: Node ids of the candidates.
        context: Node ids of the picked notes.
        size: Height and width in pixels.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.collections import LineCollection
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise ModuleNotFoundError("rgb_array needs matplotlib; run: pip install 'hebbgym[experiments]'") from None
    # The angle depends on the episode's final size, not on how much was written so far.
    angle = 2 * np.pi * np.arange(graph.num_nodes) / max(1, max_notes)
    spots = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    figure = Figure(figsize=(size / 100, size / 100), dpi=100)
    canvas: Any = FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-1.1, 1.1), ylim=(-1.1, 1.1))
    axes.axis("off")
    edges = graph.edges()
    lines = np.stack([spots[graph.src[edges]], spots[graph.dst[edges]]], axis=1)
    colours = [f"C{kind}" for kind in graph.edge_type[edges]]
    axes.add_collection(LineCollection(list(lines), linewidths=2 * graph.effective_weight(edges), colors=colours))
    sizes, colour = np.full(graph.num_nodes, 8.0), np.full(graph.num_nodes, "0.6", object)
    sizes[list(candidates)], colour[list(candidates)] = 25, "black"
    sizes[list(context)], colour[list(context)] = 60, "red"
    alive = np.flatnonzero(graph.alive[: graph.num_nodes])
    axes.scatter(spots[alive, 0], spots[alive, 1], sizes[alive], list(colour[alive]), zorder=2)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba(), np.uint8)[..., :3].copy()
