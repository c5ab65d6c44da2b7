"""The unit of memory: A-MEM's note with provenance (Xu et al. 2025, arXiv 2502.12110, section 3.1)."""

from dataclasses import dataclass

__all__ = ["MAX_CONTENT_CHARS", "Note", "check_content"]

MAX_CONTENT_CHARS = 100_000


@dataclass(frozen=True, slots=True)
class Note:
    """One note. Of A-MEM's seven fields two live elsewhere: the embedding in the vector index, the links in the graph.

    Attributes:
        content: The raw text, never rewritten.
        timestamp: Seconds since the epoch, UTC.
        keywords: Key terms, most important first.
        tags: Broad categories.
        context: One sentence that says what the note is about.
        source: Who or what said it, e.g. a speaker or a tool.
        kind: What sort of note it is, e.g. `turn`, `task`, `summary`.
        confidence: How far the source is trusted, in [0, 1].
        id: The caller's name for it, unique within one memory, e.g. `D3:12`.
    """

    content: str
    timestamp: float
    keywords: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    context: str = ""
    source: str = ""
    kind: str = "turn"
    confidence: float = 1.0
    id: str = ""

    def __post_init__(self) -> None:
        check_content(self.content)
        if not 0.0 <= self.confidence <= 1.0:
            raise ValueError(f"confidence {self.confidence!r} is outside [0, 1]")


def check_content(content: object) -> str:
    """Return `content` if a note can hold it.

    Raises:
        TypeError: It is not a string.
        ValueError: It is empty or white space, longer than `MAX_CONTENT_CHARS`, or holds a lone surrogate
            (which no UTF-8 store can keep).
    """
    if not isinstance(content, str):
        raise TypeError(f"note content must be a str, got {type(content).__name__}")
    if not content.strip():
        raise ValueError("note content is empty; write nothing instead of an empty note")
    if len(content) > MAX_CONTENT_CHARS:
        raise ValueError(
            f"note content has {len(content)} characters, at most {MAX_CONTENT_CHARS} are allowed; "
            "split it into several notes"
        )
    try:
        content.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"note content holds a lone surrogate at position {error.start}; clean it with "
            "text.encode('utf-8', 'replace').decode()"
        ) from None
    return content
