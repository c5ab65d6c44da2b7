"""The contract of every registered environment."""

import copy
import pickle
import subprocess
import sys
import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import envs
from envs.recall import RecallEnv
from envs.tasks.world import World
from memory.encoder import HashingEncoder
from memory.system import MemorySystem

IDS = sorted(envs._ENTRY_POINTS)
SMALL = World(num_sessions=3, notes_per_session=6, num_skills=4, num_tasks=12, tasks_per_session=4, dim=8)


def make(env_id: str, **kwargs: Any) -> gym.Env[Any, Any]:
    return gym.make(env_id, task=SMALL, **kwargs)


def rollout(env: gym.Env[Any, Any], num_steps: int, seed: int = 0) -> list[Any]:
    """Everything a seeded random policy sees."""
    rng = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed)
    seen: list[Any] = [(observation, info)]
    for _ in range(num_steps):
        step = env.step(rng.choice(np.flatnonzero(info["action_mask"])))
        seen.append(step)
        info = step[4]
        if step[2]:
            observation, info = env.reset()
            seen.append((observation, info))
    return seen


def assert_equal(one: Any, two: Any) -> None:
    assert type(one) is type(two)
    if isinstance(one, dict):
        assert list(one) == list(two)
        for key in one:
            assert_equal(one[key], two[key])
    elif isinstance(one, list | tuple):
        for left, right in zip(one, two, strict=True):
            assert_equal(left, right)
    elif isinstance(one, np.ndarray):
        assert one.dtype == two.dtype
        np.testing.assert_array_equal(one, two)
    else:
        assert one == two


@pytest.mark.parametrize("env_id", IDS)
@pytest.mark.parametrize("render_mode", [None, "ansi", "rgb_array"])
def test_both_checkers_pass_without_a_warning(env_id: str, render_mode: str | None) -> None:
    sb3_checker = pytest.importorskip("stable_baselines3.common.env_checker")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(env_id, render_mode=render_mode).unwrapped)
        sb3_checker.check_env(make(env_id).unwrapped)


@pytest.mark.parametrize("env_id", IDS)
def test_it_is_made_by_id_alone_in_a_fresh_interpreter(env_id: str) -> None:
    code = f"import gymnasium as gym; env = gym.make('envs:{env_id}'); env.reset(seed=0); print(env.spec.id)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == env_id


@pytest.mark.parametrize("env_id", IDS)
def test_one_seed_gives_the_same_bytes(env_id: str) -> None:
    assert_equal(rollout(make(env_id), 200), rollout(make(env_id), 200))
    env = make(env_id)
    assert_equal(rollout(env, 200), rollout(env, 200))


@pytest.mark.parametrize("env_id", IDS)
def test_a_thousand_random_steps_stay_in_the_space(env_id: str) -> None:
    env = make(env_id)
    for each in rollout(env, 1000):
        observation, info = each[0], each[-1]
        assert env.observation_space.contains(observation)
        np.testing.assert_array_equal(info["action_mask"], observation["action_mask"])
        assert info["action_mask"].any()


@pytest.mark.parametrize("env_id", IDS)
def test_returned_arrays_belong_to_the_caller(env_id: str) -> None:
    def spoil(value: Any) -> None:
        if isinstance(value, dict):
            for each in value.values():
                spoil(each)
        elif isinstance(value, np.ndarray):
            value[...] = 1

    env, spoiled = make(env_id), make(env_id)
    clean = rollout(env, 60)
    rng = np.random.default_rng(0)
    observation, info = spoiled.reset(seed=0)
    for each in clean[1:]:
        if len(each) == 2:
            observation, info = spoiled.reset()
            continue
        action = rng.choice(np.flatnonzero(info["action_mask"]))
        spoil(observation)
        spoil(info)
        step = spoiled.step(action)
        assert_equal(step, each)
        observation, info = copy.deepcopy(step[0]), copy.deepcopy(step[4])
        spoil(step[0])
        spoil(step[4])


@pytest.mark.parametrize("env_id", IDS)
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_in_mid_episode_goes_on_alike(env_id: str, duplicate: Any) -> None:
    env = make(env_id).unwrapped
    _, info = env.reset(seed=3)
    for _ in range(10):
        info = env.step(np.flatnonzero(info["action_mask"])[0])[4]
    twin = duplicate(env)
    for _ in range(10):
        action = np.flatnonzero(info["action_mask"])[-2]
        one, two = env.step(action), twin.step(action)
        assert_equal(one, two)
        info = one[4]


@pytest.mark.parametrize("env_id", IDS)
def test_the_stream_of_an_episode_does_not_depend_on_the_policy(env_id: str) -> None:
    def streams(pick: int) -> list[Any]:
        env: Any = make(env_id).unwrapped
        questions = []
        _, info = env.reset(seed=5)
        while env._episode < 2:
            questions.append((env._episode, env.question.id, env.question.evidence))
            _, _, over, _, info = env.step(np.flatnonzero(info["action_mask"])[pick])
            if over:
                env.reset()
        return [*dict.fromkeys(questions)]

    assert streams(0) == streams(-1)


@pytest.mark.parametrize("env_id", IDS)
def test_global_random_states_are_left_alone(env_id: str) -> None:
    np.random.seed(7)  # noqa: NPY002 (the global state is what is watched)
    before = np.random.get_state()[1].copy()  # type: ignore[index]  # noqa: NPY002
    rollout(make(env_id), 50)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # type: ignore[index]  # noqa: NPY002


@pytest.mark.parametrize("context", ["spawn", "fork"])
def test_it_runs_in_other_processes(context: str) -> None:
    with warnings.catch_warnings():
        # Forking with threads alive is the caller's choice here.
        warnings.simplefilter("ignore", DeprecationWarning)
        vector = gym.make_vec("envs:HebbGym/Recall-v0", 2, "async", vector_kwargs={"context": context}, task=SMALL)
        observation, _ = vector.reset(seed=0)
        assert not np.array_equal(observation["query"][0], observation["query"][1])
        vector.step(vector.action_space.sample())
        vector.close()


def test_sync_vector_keeps_masks_together() -> None:
    vector = gym.make_vec("HebbGym/Recall-v0", 3, "sync", task=SMALL)
    _, info = vector.reset(seed=0)
    for _ in range(200):
        _, _, _, _, info = vector.step([np.flatnonzero(mask)[0] for mask in info["action_mask"]])
        assert info["action_mask"].shape == (3, 17)


@pytest.mark.parametrize("action", [-1, 17, 1.5, None, np.array([0, 1])])
def test_an_action_outside_the_space_is_refused(action: Any) -> None:
    env = RecallEnv(SMALL)
    env.reset(seed=0)
    with pytest.raises(ValueError, match="from 0 to 16"):
        env.step(action)


def test_an_action_outside_the_mask_uses_up_a_place_and_is_flagged() -> None:
    env = RecallEnv(SMALL, max_notes=3)
    env.reset(seed=0)
    env.step(np.int64(2))
    info = env.step(np.int64(2))[4]
    assert info["invalid_action"]
    assert len(env.context) == 1
    info = env.step(np.int64(2))[4]
    assert len(info["context"]) == 1


def test_a_step_before_reset_or_after_the_end_says_so() -> None:
    env = RecallEnv(SMALL)
    with pytest.raises(RuntimeError, match="reset"):
        env.step(np.int64(0))
    env.reset(seed=0)
    for _ in range(SMALL.num_tasks):
        over = env.step(np.int64(env.stop))[2]
    assert over
    with pytest.raises(RuntimeError, match="reset"):
        env.step(np.int64(0))


def test_vectors_that_do_not_fit_the_memory_are_refused_with_both_numbers() -> None:
    with pytest.raises(ValueError, match=r"8.*256"):
        RecallEnv(SMALL, MemorySystem(encoder=HashingEncoder(256)))


@pytest.mark.parametrize(
    "wrong", [{"feedback": "x"}, {"render_mode": "x"}, {"num_candidates": 0}, {"max_notes": 0}, {"max_edges": -1}]
)
def test_unknown_arguments_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"unknown|1 or more"):
        RecallEnv(SMALL, **wrong)


def test_picking_the_gold_pays_the_ceiling_and_learning_writes_edges() -> None:
    env = RecallEnv(SMALL, num_candidates=None, max_notes=10, feedback="evidence")
    _, info = env.reset(seed=0)
    rewards, over = [], False
    while not over:
        gold = np.flatnonzero(env.gold_mask() & (info["action_mask"][:-1] > 0))
        _, reward, over, _, info = env.step(gold[0] if len(gold) else np.int64(env.stop))
        if "recall" in info:
            rewards.append(reward)
            assert info["num_gold"] == 3
    assert rewards == [1.0] * SMALL.num_tasks
    assert env.memory.graph.num_edges > 0


@pytest.mark.parametrize(("feedback", "learns"), [("scalar", False), ("evidence", True)])
def test_evidence_feedback_wires_what_an_empty_handed_agent_missed(feedback: Any, learns: bool) -> None:
    env = RecallEnv(SMALL, num_candidates=None, feedback=feedback)
    env.reset(seed=0)
    wrong = int(np.flatnonzero(~env.gold_mask()[: len(env.candidate_nodes)])[0])
    gold = [node for node, right in zip(env.candidate_nodes, env.gold_mask(), strict=False) if right]
    env.step(np.int64(wrong))
    env.step(np.int64(env.stop))
    graph = env.memory.graph
    ends = {(int(graph.src[edge]), int(graph.dst[edge])) for edge in graph.edges() if graph.edge_type[edge] == 3}
    assert ends == ({(i, j) for i in gold for j in gold if i != j} if learns else set())
    assert len(gold) > 1


def test_headless_training_never_imports_matplotlib() -> None:
    code = (
        "import sys, gymnasium as gym; env = gym.make('envs:HebbGym/Recall-v0'); env.reset(seed=0); env.step(0);"
        "assert 'matplotlib' not in sys.modules and 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_pictures_keep_their_notes_in_place() -> None:
    env: Any = RecallEnv(SMALL, render_mode="rgb_array")
    env.reset(seed=0)
    first = env.render()
    assert first.shape == (480, 480, 3)
    assert first.dtype == np.uint8
    np.testing.assert_array_equal(first, env.render())
    env.step(np.int64(0))
    assert (env.render() != first).any()
    env.close()
    env.close()
