"""What the lexical index sees of a note."""

from dataclasses import dataclass
from typing import Protocol

from memory.note import Note
from memory.timestamps import from_timestamp

__all__ = ["Content", "DatedContent", "IndexText"]


class IndexText(Protocol):
    """Makes the text that is indexed for a note."""

    def __call__(self, note: Note) -> str:
        """The indexed text."""
        ...


@dataclass(frozen=True)
class Content:
    """The content as it is."""

    def __call__(self, note: Note) -> str:
        """See `IndexText`."""
        return note.content


@dataclass(frozen=True)
class DatedContent:
    """The note's day in front of the content, so that questions that name a date find it.

    Example:
        >>> DatedContent()(Note("We met.", timestamp=0.0))
        '1 January, 1970 We met.'
    """

    def __call__(self, note: Note) -> str:
        """See `IndexText`."""
        day = from_timestamp(note.timestamp)
        return f"{day.day} {day:%B, %Y} {note.content}"
