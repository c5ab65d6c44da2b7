"""`python -m experiments.bench`: speeds, each beside a baseline of the same run; writes bench.json.

Machines differ and so do their moods: what counts is the ratio. Value and baseline are measured in turn, several times,
in seconds of CPU time; the row gives medians, and the ratio is the median of the pairs' ratios.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

import envs  # noqa: F401 (registers the environments)
from envs.memory_env import default_memory
from envs.tasks.world import World
from experiments import report
from memory.change import Change
from memory.dynamics import Clip, Decay, Hebbian, Prune, Signal, Transform, named_chain
from memory.edge_type import EdgeType
from memory.graph import MemoryGraph
from memory.index import VectorIndex
from memory.note import Note

__all__ = ["main", "measure"]

Run = Callable[[], float]
"""Does some work and returns how much."""


class Bench(NamedTuple):
    """One thing that is measured, beside its baseline."""

    name: str
    run: Run
    unit: str
    baseline: str
    run_baseline: Run


def measure(bench: Bench, pairs: int) -> dict[str, Any]:
    """Measure a bench and its baseline in turn; work per CPU-second."""
    _per_second(bench.run), _per_second(bench.run_baseline)
    values, baselines = zip(
        *((_per_second(bench.run), _per_second(bench.run_baseline)) for _ in range(pairs)), strict=True
    )
    ratios = [value / baseline for value, baseline in zip(values, baselines, strict=True)]
    return {
        "name": bench.name,
        "value": statistics.median(values),
        "unit": bench.unit,
        "baseline": bench.baseline,
        "baseline_value": statistics.median(baselines),
        "ratio": statistics.median(ratios),
    }


def _per_second(run: Run) -> float:
    start = time.process_time()
    work = run()
    return work / (time.process_time() - start)


def benches() -> Sequence[Bench]:
    """Everything that is measured."""
    recall, num_edges = _recall_env()
    cartpole = _rollout(gym.make("CartPole-v1", disable_env_checker=True), 12_000)
    chain = named_chain(hebbian=Hebbian(), decay=Decay(), bound=Clip(), prune=Prune())
    size = "2,000 notes, 20,000 edges"
    return [
        Bench(
            f"Recall-v0 on world, 64 notes, {num_edges} edges, random actions",
            _rollout(recall, 1_750),
            "steps/s",
            "CartPole-v1, random actions",
            cartpole,
        ),
        Bench(
            "the same, random actions within the mask",
            _rollout(recall, 1_750, masked=True),
            "steps/s",
            "CartPole-v1, random actions",
            cartpole,
        ),
        Bench(
            f"full plasticity chain, {size}",
            _plasticity(chain),
            "steps/s",
            "empty chain, the same graph",
            _plasticity(named_chain()),
        ),
        Bench("cosine to 100,000 notes of 384 dimensions", _dense(), "GB/s", "numpy.copyto of the vectors", _copy()),
    ]


def _recall_env() -> tuple[gym.Env[Any, Any], int]:
    """The environment after a warm-up, which fills its graph, and how many edges that gave."""
    task = World(num_sessions=8, notes_per_session=8)
    chain = named_chain(hebbian=Hebbian(), decay=Decay(), bound=Clip(), prune=Prune(max_links=4))
    env = gym.make("HebbGym/Recall-v0", task=task, memory=default_memory(task, chain), disable_env_checker=True)
    env.reset(seed=0)
    env.action_space.seed(0)
    terminated, num_edges = False, 0
    while not terminated:
        num_edges = env.get_wrapper_attr("memory").graph.num_edges
        terminated = env.step(env.action_space.sample())[2]
    return env, num_edges


def _rollout(env: gym.Env[Any, Any], steps: int, *, masked: bool = False) -> Run:
    def run() -> float:
        _, info = env.reset(seed=0)
        for _ in range(steps):
            action = env.action_space.sample(info["action_mask"]) if masked else env.action_space.sample()
            _, _, terminated, truncated, info = env.step(action)
            if terminated or truncated:
                _, info = env.reset()
        return steps

    return run


def _plasticity(chain: Transform, steps: int = 1_000) -> Run:
    rng = np.random.default_rng(0)
    graph = MemoryGraph()
    for number in range(2_000):
        graph.add_note(Note(f"note {number}", timestamp=float(number)))
    while graph.num_edges < 20_000:
        src, dst = rng.integers(2_000, size=2).tolist()
        if src != dst:
            graph.add_edge(src, dst, EdgeType.TASK, float(rng.random()))
    contexts = [rng.choice(2_000, 5, replace=False) for _ in range(steps)]
    rewards = rng.random(steps).tolist()
    activation = np.ones(5, np.float32)
    state = chain.init(graph)

    def run() -> float:
        nonlocal state
        for nodes, reward in zip(contexts, rewards, strict=True):
            graph.advance(graph.now + 60.0)
            change, state = chain.update(Change(), state, graph, Signal("task", nodes, activation, reward))
            graph.apply(change)
        return steps

    return run


def _vectors() -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.random.default_rng(0).standard_normal((100_000, 384), np.float32)


def _dense(repeats: int = 5) -> Run:
    vectors = _vectors()
    index = VectorIndex(vectors.shape[1])
    for number, vector in enumerate(vectors):
        index.add(number, vector)

    def run() -> float:
        for _ in range(repeats):
            index.scores(vectors[0])
        return repeats * vectors.nbytes / 1e9

    return run


def _copy(repeats: int = 5) -> Run:
    vectors = _vectors()
    target = np.empty_like(vectors)

    def run() -> float:
        for _ in range(repeats):
            np.copyto(target, vectors)
        return repeats * vectors.nbytes / 1e9

    return run


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure everything, print a table and write the rows as JSON."""
    parser = argparse.ArgumentParser(prog="python -m experiments.bench", description=__doc__)
    parser.add_argument("--pairs", type=int, default=15, help="how often each is measured (default: 15)")
    parser.add_argument("--output", type=Path, default=Path("bench.json"), help="default: bench.json")
    options = parser.parse_args(arguments)
    if options.pairs < 1:
        parser.error(f"--pairs {options.pairs} must be 1 or more")
    rows = [measure(bench, options.pairs) for bench in benches()]
    options.output.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    shown = [
        {
            "what": row["name"],
            "speed": f"{row['value']:,.4g} {row['unit']}",
            "beside": row["baseline"],
            "its speed": f"{row['baseline_value']:,.4g} {row['unit']}",
            "ratio": f"{row['ratio']:.3f}",
        }
        for row in rows
    ]
    report.show(shown, title="Work per CPU-second")
    print(f"written: {options.output}")


if __name__ == "__main__":
    main()
