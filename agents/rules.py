"""Baselines that follow a fixed rule, each through the environment's own observations and actions."""

from typing import Any

import gymnasium as gym
import numpy as np

from agents.agent import Observation, RuleAgent
from envs.observations import FEATURES

__all__ = ["Nothing", "Oracle", "Ranked", "Uniform"]


def _stop(observation: Observation) -> np.int64:
    return np.int64(len(observation["action_mask"]) - 1)


class Nothing(RuleAgent):
    """Closes every context empty: what an answer is worth without memory."""

    def act(self, observation: Observation) -> np.int64:
        """Close."""
        return _stop(observation)


class Uniform(RuleAgent):
    """Picks any candidate with equal chance until the context is full."""

    def begin(self, env: gym.Env[Any, Any], seed: int) -> None:
        """Seed the choice."""
        self._rng = np.random.default_rng(seed)

    def act(self, observation: Observation) -> np.int64:
        """Pick at random; close where nothing is left."""
        valid = np.flatnonzero(observation["action_mask"][:-1])
        return np.int64(self._rng.choice(valid)) if len(valid) else _stop(observation)


class Ranked(Uniform):
    """Picks candidates in the order of one observed quantity until the context is full.

    With probability `explore` a pick is uniform instead: without it, notes that no rule favours are never tried.
    """

    def __init__(self, key: str = "score", *, descending: bool = True, explore: float = 0.0) -> None:
        """Choose the order.

        Args:
            key: Which entry of the observation ranks the candidates, one of `envs.observations.FEATURES`.
            descending: Largest first.
            explore: Probability of a uniform pick, in [0, 1].
        """
        if key not in FEATURES:
            raise ValueError(f"key {key!r} is unknown; choose from {FEATURES}")
        if not 0 <= explore <= 1:
            raise ValueError(f"explore {explore} is outside [0, 1]")
        self.key, self.descending, self.explore = key, descending, explore

    def act(self, observation: Observation) -> np.int64:
        """Pick the best candidate left; equal ones in the retriever's order."""
        if self.explore and self._rng.random() < self.explore:
            return super().act(observation)
        is_valid, values = observation["action_mask"][:-1] > 0, observation[self.key]
        best = np.where(is_valid, values if self.descending else -values, -np.inf).argmax()
        return np.int64(best) if is_valid[best] else _stop(observation)


class Oracle(RuleAgent):
    """Picks exactly the candidates that hold evidence: the ceiling."""

    def begin(self, env: gym.Env[Any, Any], seed: int) -> None:
        """Be told the hidden truth."""
        self._gold_mask = env.get_wrapper_attr("gold_mask")

    def act(self, observation: Observation) -> np.int64:
        """Pick the next note with evidence, then close."""
        gold = np.flatnonzero(self._gold_mask() & (observation["action_mask"][:-1] > 0))
        return np.int64(gold[0]) if len(gold) else _stop(observation)
