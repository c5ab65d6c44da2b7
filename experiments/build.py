"""From a configuration to living objects: the only place where parts are joined."""

from pathlib import Path
from typing import Any, NamedTuple, cast

from hydra.utils import instantiate, to_absolute_path
from omegaconf import DictConfig, OmegaConf

from agents.agent import Agent
from envs.recall import RecallEnv
from experiments.tracking import JsonlTracker, NoTracker, Tracker

__all__ = ["Setup", "build", "build_tracker", "resolved"]


class Setup(NamedTuple):
    """What a run needs."""

    env: RecallEnv
    agent: Agent


def build(config: DictConfig) -> Setup:
    """Make environment and agent.

    Raises:
        FileNotFoundError: The task's data is not there; the message says what to run.
        ValueError: A part refuses its arguments, or the run's seeds or limit are none.
    """
    if not config.seeds or len(set(config.seeds)) != len(config.seeds):
        raise ValueError(f"seeds {list(config.seeds)} must be one or more, each once")
    if config.limit_questions is not None and config.limit_questions < 1:
        raise ValueError(f"limit_questions {config.limit_questions} must be 1 or more, or null for all")
    parts = OmegaConf.create(resolved(config))
    if "data_dir" in parts.task:
        parts.task.data_dir = to_absolute_path(str(parts.task.data_dir))
    task, memory, reward = (instantiate(parts[part], _convert_="all") for part in ("task", "memory", "reward"))
    # Partial, since Hydra would make configurations of dataclasses that it is handed.
    env = instantiate(parts.env, _partial_=True, _convert_="all")(task=task, memory=memory, reward=reward)
    return Setup(env, instantiate(parts.agent, _convert_="all"))


def build_tracker(config: DictConfig, directory: Path, *, group: str | None = None, name: str | None = None) -> Tracker:
    """Make the tracker: JSON Lines always, and what the configuration names."""
    also: Tracker = NoTracker()
    if config.tracker.get("_target_"):
        # Partial, since Hydra would make objects of the run's configuration too.
        make = instantiate(config.tracker, _partial_=True)
        also = make(directory=directory, run_config=resolved(config), group=group, name=name)
    return JsonlTracker(directory, also)


def resolved(config: DictConfig) -> dict[str, Any]:
    """The configuration as plain values, every interpolation resolved."""
    return cast(dict[str, Any], OmegaConf.to_container(config, resolve=True, throw_on_missing=True))
