"""The loop: an agent lives through the episodes of a task, and every question is recorded."""

from collections.abc import Callable, Sequence
from typing import Any

from agents.agent import Agent
from envs.recall import RecallEnv
from experiments.scores import Record

__all__ = ["live"]


def live(
    env: RecallEnv,
    agent: Agent,
    seeds: Sequence[int],
    *,
    limit_questions: int | None = None,
    on_episode: Callable[[int, str], None] | None = None,
) -> list[Record]:
    """Run every episode of the task once per seed.

    Args:
        env: The environment.
        agent: The agent.
        seeds: Seeds of the runs.
        limit_questions: How many questions of an episode are asked, to try a change; None for all.
        on_episode: Called with seed and name when an episode is over, e.g. to show progress.

    Returns:
        A record per question, in the order they were asked.
    """
    records: list[Record] = []
    for seed in seeds:
        for episode in env.task.episodes:
            observation, _ = env.reset(seed=seed, options={"episode": episode})
            agent.begin(env, seed)
            closed: list[tuple[float, dict[str, Any], int]] = []
            terminated = False
            while not terminated and len(closed) != limit_questions:
                observation, reward, terminated, _, info = env.step(agent.act(observation))
                agent.observe(reward, terminated, info)
                if "question" in info:
                    closed.append((reward, info, env.memory.graph.num_edges))
            agent.update()
            records += [
                _record(seed, episode, (place + 1) / len(closed), *outcome) for place, outcome in enumerate(closed)
            ]
            if on_episode is not None:
                on_episode(seed, episode)
    return records


def _record(seed: int, episode: str, progress: float, reward: float, info: dict[str, Any], edges: int) -> Record:
    return Record(
        seed=seed,
        episode=episode,
        question=info["question"],
        category=info["category"],
        hits=tuple(info["hits"]),
        num_gold=info["num_gold"],
        tokens=info["tokens"],
        reward=reward,
        edges=edges,
        progress=progress,
    )
