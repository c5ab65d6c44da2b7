"""The activated notes as text for a prompt, under a token budget."""

import re
from collections.abc import Callable, Sequence

from memory.graph import MemoryGraph
from memory.timestamps import from_timestamp
from memory.tokens import count_tokens

__all__ = ["render"]

_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s*")


def render(
    graph: MemoryGraph,
    node_ids: Sequence[int],
    *,
    max_tokens: int | None = None,
    count: Callable[[str], int] = count_tokens,
) -> str:
    """Render notes one a line, quoted and attributed: `[2023-05-08 13:56 Ada] "text"`.

    The first note that does not fit whole is cut at the end of a sentence, or left out where not one sentence fits.

    Args:
        graph: The memory graph.
        node_ids: Notes in the order of the text.
        max_tokens: Largest number of tokens of the whole text, None for no limit.
        count: Counts the tokens of a text.

    Raises:
        KeyError: One of the notes does not exist.
        ValueError: `max_tokens` is negative.
    """
    if max_tokens is not None and max_tokens < 0:
        raise ValueError(f"max_tokens is {max_tokens}; it must be 0 or more")
    lines: list[str] = []
    for node_id in node_ids:
        note = graph.note(node_id)
        head = f"[{from_timestamp(note.timestamp):%Y-%m-%d %H:%M}{' ' + note.source if note.source else ''}]"
        content = " ".join(note.content.split())
        if max_tokens is None or count("\n".join([*lines, _line(head, content)])) <= max_tokens:
            lines.append(_line(head, content))
            continue
        kept = ""
        for sentence in _SENTENCE_END.split(content):
            longer = f"{kept} {sentence}".strip()
            if count("\n".join([*lines, _line(head, longer)])) > max_tokens:
                break
            kept = longer
        if kept:
            lines.append(_line(head, kept))
        break
    return "\n".join(lines)


def _line(head: str, content: str) -> str:
    # Quotes inside are escaped, so that no note can end its own quotation.
    escaped = content.replace("\\", "\\\\").replace('"', '\\"')
    return f'{head} "{escaped}"'
