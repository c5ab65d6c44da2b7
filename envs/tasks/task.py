"""What a task stream is: episodes of events in time order, each episode from a name and a seed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Event", "Pause", "Question", "Task", "Turn"]


@dataclass(frozen=True, slots=True)
class Turn:
    """A text to remember.

    Attributes:
        id: Unique within the episode.
        text: What the memory stores.
        time: Seconds since the epoch, UTC.
        speaker: Who said it.
        session: Which session it belongs to.
        vector: float32 (d,), its embedding where the stream knows it.
    """

    id: str
    text: str
    time: float
    speaker: str = ""
    session: int = 0
    vector: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A task with hidden truth.

    Attributes:
        id: Unique within the episode.
        text: What is asked.
        time: Seconds since the epoch, UTC.
        evidence: Ids of the turns that answer it; ids that no turn has are gold that cannot be reached.
        answer: The gold answer.
        category: Number of the question's kind.
        vector: float32 (d,), its embedding where the stream knows it.
    """

    id: str
    text: str
    time: float
    evidence: tuple[str, ...]
    answer: str = ""
    category: int = 0
    vector: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    """A session ends.

    Attributes:
        time: Seconds since the epoch, UTC.
    """

    time: float


Event: TypeAlias = Turn | Question | Pause


class Task(Protocol):
    """A stream of events."""

    @property
    def name(self) -> str:
        """Names the task in tables."""
        ...

    @property
    def episodes(self) -> tuple[str, ...]:
        """Names of the episodes; a generated stream has one, which each seed makes anew."""
        ...

    @property
    def max_notes(self) -> int:
        """Largest number of turns of an episode."""
        ...

    @property
    def vector_dim(self) -> int | None:
        """Dimension of the events' own vectors, None where an encoder has to make them."""
        ...

    def events(self, episode: str, rng: np.random.Generator) -> Sequence[Event]:
        """The events of an episode in time order; equal for equal states of `rng`."""
        ...
