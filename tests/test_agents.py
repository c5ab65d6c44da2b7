"""Rule agents, each through the real environment."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from scipy.stats import hypergeom

import envs  # noqa: F401 (registers the environments)
from agents.rules import Nothing, Oracle, Ranked, Uniform
from envs.memory_env import default_memory
from envs.observations import FEATURES
from envs.recall import RecallEnv
from envs.tasks.locomo import Locomo
from envs.tasks.task import Question, Turn
from envs.tasks.world import World
from memory.retrieval import Recent, Retriever
from memory.system import MemorySystem

SMALL = World(num_sessions=3, notes_per_session=6, num_skills=4, num_tasks=12, tasks_per_session=4, dim=8)
AGENTS = {
    "nothing": Nothing,
    "uniform": Uniform,
    "score": Ranked,
    "oldest": lambda: Ranked("recency", descending=False),
    "exploring": lambda: Ranked(explore=0.5),
    "oracle": Oracle,
}


def play(env: gym.Env[Any, Any], agent: Any, seed: int = 0, agent_seed: int = 0, **options: Any) -> list[Any]:
    """Every step of an episode as (observation, action, info)."""
    observation, _ = env.reset(seed=seed, options=options)
    agent.begin(env, agent_seed)
    steps, over = [], False
    while not over:
        action = agent.act(observation)
        after, reward, over, _, info = env.step(action)
        agent.observe(reward, over, info)
        steps.append((observation, action, info))
        observation = after
    assert agent.update() == {}
    return steps


def actions(steps: list[Any]) -> list[int]:
    return [int(action) for _, action, _ in steps]


def recalls(steps: list[Any]) -> list[float]:
    return [info["recall"] for _, _, info in steps if "question" in info]


@pytest.mark.parametrize("make", AGENTS.values(), ids=AGENTS)
def test_every_action_is_inside_the_mask(make: Any) -> None:
    env = gym.make("envs:HebbGym/Recall-v0", task=SMALL)
    for observation, action, info in play(env, make()):
        assert env.action_space.contains(action)
        assert observation["action_mask"][action] == 1
        assert "invalid_action" not in info


def test_nothing_closes_every_context_empty() -> None:
    steps = play(RecallEnv(SMALL), Nothing())
    assert len(steps) == SMALL.num_tasks
    assert all(info["context"] == [] and info["tokens"] == 0 for _, _, info in steps)
    assert recalls(steps) == [0.0] * SMALL.num_tasks


@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("key", FEATURES)
def test_picks_follow_the_observed_quantity_with_ties_in_the_retrievers_order(key: str, descending: bool) -> None:
    env = RecallEnv(SMALL, num_candidates=None, max_notes=5, with_lexical=True)
    steps = play(env, Ranked(key, descending=descending))
    distinct = 0
    for question in range(SMALL.num_tasks):
        of_question = steps[5 * question : 5 * question + 5]
        observation = of_question[0][0]
        values = observation[key][: int(observation["candidate_mask"].sum())]
        assert actions(of_question) == np.argsort(-values if descending else values, kind="stable")[:5].tolist()
        distinct += len(np.unique(values)) > 1
    assert distinct > 0


def test_the_context_lists_the_notes_in_the_order_of_the_picks() -> None:
    env = RecallEnv(SMALL, num_candidates=None, max_notes=3)
    newest = play(env, Ranked("recency"))[2][2]["context"]
    assert newest == ["n5", "n4", "n3"]
    assert play(env, Ranked("recency", descending=False))[2][2]["context"] == ["n0", "n1", "n2"]


@pytest.mark.parametrize("seed", range(3))
def test_the_oracle_finds_all_evidence_of_the_world_and_nothing_else(seed: int) -> None:
    env = gym.make("envs:HebbGym/Recall-v0", task=SMALL, num_candidates=None)
    steps = play(env, Oracle(), seed)
    assert recalls(steps) == [1.0] * SMALL.num_tasks
    evidence = [event.evidence for event in env.unwrapped._events if isinstance(event, Question)]  # type: ignore[attr-defined]
    contexts = [info["context"] for _, _, info in steps if "question" in info]
    assert [set(context) for context in contexts] == [set(each) for each in evidence]
    assert [len(context) for context in contexts] == [len(each) for each in evidence]


@pytest.mark.data
@pytest.mark.parametrize(("name", "max_notes"), [("conv-30", 10), ("conv-30", 1), ("conv-42", 10)])
def test_the_oracle_reaches_the_ceiling_that_the_data_allows(name: str, max_notes: int, data_dir: Path) -> None:
    task = Locomo(data_dir, split=name, protocol="static")
    events = task.events(name, np.random.default_rng(0))
    known = {event.id for event in events if isinstance(event, Turn)}
    golds = [set(event.evidence) for event in events if isinstance(event, Question)]
    ceiling = [min(len(gold & known), max_notes) / len(gold) if gold else 0.0 for gold in golds]
    memory = MemorySystem(retriever=Retriever(anchors=Recent()), dedupe="none")
    steps = play(RecallEnv(task, memory, num_candidates=None, max_notes=max_notes), Oracle())
    assert recalls(steps) == pytest.approx(ceiling, abs=1e-12)
    assert np.mean(ceiling) > 0
    assert (np.mean(ceiling) < 1) == ((name, max_notes) != ("conv-30", 10))


@pytest.mark.parametrize("make", [Uniform, lambda: Ranked(explore=1.0)], ids=["uniform", "always exploring"])
def test_uniform_picks_find_evidence_as_often_as_chance_does(make: Any) -> None:
    num_seeds, places = 100, 5
    env = RecallEnv(SMALL, num_candidates=None, max_notes=places)
    found = [recalls(play(env, make(), seed, agent_seed=seed)) for seed in range(num_seeds)]
    notes, mean, variance = 0, 0.0, 0.0
    for event in SMALL.events("world", np.random.default_rng(0)):
        notes += isinstance(event, Turn)
        if isinstance(event, Question):
            gold, drawn = len(event.evidence), min(places, notes)
            mean += drawn / notes
            variance += hypergeom(notes, gold, drawn).var() / gold**2
    error = np.sqrt(variance * num_seeds) / (num_seeds * SMALL.num_tasks)
    assert abs(np.mean(found) - mean / SMALL.num_tasks) < 4 * error
    assert error < 0.01


@pytest.mark.parametrize("explore", [-0.01, 1.01, float("nan")])
def test_an_exploration_that_is_no_probability_is_refused(explore: float) -> None:
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        Ranked(explore=explore)


@pytest.mark.parametrize("make", AGENTS.values(), ids=AGENTS)
def test_one_seed_gives_the_same_actions(make: Any) -> None:
    env, agent = RecallEnv(SMALL), make()
    first = actions(play(env, agent, agent_seed=1))
    assert actions(play(env, agent, agent_seed=1)) == first
    assert actions(play(RecallEnv(SMALL), make(), agent_seed=1)) == first


@pytest.mark.parametrize("name", AGENTS)
def test_another_seed_changes_the_actions_of_those_that_draw(name: str) -> None:
    env = RecallEnv(SMALL)
    one, two = (actions(play(env, AGENTS[name](), agent_seed=seed)) for seed in (1, 2))
    assert (one != two) == (name in ("uniform", "exploring"))


@pytest.mark.parametrize("name", AGENTS)
def test_a_saved_agent_goes_on_alike(name: str, tmp_path: Path) -> None:
    agent, twin = AGENTS[name](), AGENTS[name]()
    before = actions(play(RecallEnv(SMALL), agent, agent_seed=3))
    agent.save(tmp_path / "agent")
    twin.load(tmp_path / "agent")
    assert actions(play(RecallEnv(SMALL), twin, agent_seed=3)) == before


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_that_was_never_saved_cannot_be_loaded(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        AGENTS[name]().load(tmp_path / "missing")


def test_only_the_exploring_agent_leaves_its_order() -> None:
    def greedy_share(explore: float) -> float:
        env = RecallEnv(SMALL, default_memory(SMALL), num_candidates=None, max_notes=1)
        steps = [step for seed in range(20) for step in play(env, Ranked(explore=explore), seed, agent_seed=seed)]
        return float(np.mean([action == np.argmax(observation["score"]) for observation, action, _ in steps]))

    assert greedy_share(0.0) == 1.0
    # A uniform pick out of 6, 12 or 18 notes hits the best one now and then.
    chance = np.mean([1 / 6, 1 / 12, 1 / 18])
    assert greedy_share(0.5) == pytest.approx(0.5 + 0.5 * chance, abs=4 * np.sqrt(0.25 / 240))
