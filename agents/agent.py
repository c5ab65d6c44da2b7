"""What an agent is: it acts on observations, may see what came of it, may learn, and can be kept."""

from pathlib import Path
from typing import Any, Protocol

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

__all__ = ["Agent", "Observation", "RuleAgent"]

Observation = dict[str, NDArray[Any]]


class Agent(Protocol):
    """Chooses actions of HebbGym/Recall-v0."""

    def begin(self, env: gym.Env[Any, Any], seed: int) -> None:
        """Start an episode; `env` is for agents that are told hidden truth, such as an oracle."""
        ...

    def act(self, observation: Observation) -> np.int64:
        """The action for an observation."""
        ...

    def observe(self, reward: float, terminated: bool, info: dict[str, Any]) -> None:
        """See what came of the last action."""
        ...

    def update(self) -> dict[str, float]:
        """Learn from what was observed; returns what to log."""
        ...

    def save(self, path: str | Path) -> None:
        """Write the agent to a file."""
        ...

    def load(self, path: str | Path) -> None:
        """Take on the state that `save` wrote."""
        ...


class RuleAgent:
    """An agent that learns nothing: all of `Agent` but `act`."""

    def begin(self, env: gym.Env[Any, Any], seed: int) -> None:
        """Start an episode; a rule needs no preparation."""

    def observe(self, reward: float, terminated: bool, info: dict[str, Any]) -> None:
        """See what came of it; a rule does not look."""

    def update(self) -> dict[str, float]:
        """Learn nothing."""
        return {}

    def save(self, path: str | Path) -> None:
        """Write an empty file: a rule has no state."""
        Path(path).write_bytes(b"")

    def load(self, path: str | Path) -> None:
        """Check that the file is there: a rule has no state."""
        Path(path).read_bytes()
