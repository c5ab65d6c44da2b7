"""The conductor of every environment: it walks the task's events and lets the memory write, pause and learn.

It holds no rule of its own: what is good says the reward, what is linked the linker, what changes the dynamics.
"""

from collections.abc import Sequence
from typing import Any, Generic, Literal, TypeVar

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from envs.rewards import EvidenceRecall, Outcome, Reward
from envs.tasks.task import Event, Pause, Question, Task, Turn
from envs.tasks.world import World
from memory.change import Applied
from memory.dynamics import Clip, Decay, Hebbian, Prune, Transform, named_chain
from memory.encoder import HashingEncoder
from memory.linking import Temporal
from memory.note import Note
from memory.retrieval import Retriever, SpreadingActivation
from memory.system import MemorySystem
from memory.tokens import count_tokens

__all__ = ["MemoryEnv", "default_memory"]

ObsType = TypeVar("ObsType")
ActType = TypeVar("ActType")


class MemoryEnv(gym.Env[ObsType, ActType], Generic[ObsType, ActType]):
    """Walks the events of a task; subclasses put a decision where theirs is.

    Episode k after `reset(seed=s)` is made from (s, k) alone, whatever was done before.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}  # noqa: RUF012 (Gymnasium's)

    def __init__(
        self,
        task: Task | None = None,
        memory: MemorySystem | None = None,
        reward: Reward | None = None,
        *,
        feedback: Literal["scalar", "evidence"] = "scalar",
        render_mode: str | None = None,
    ) -> None:
        """Join a task, a memory and a reward.

        Args:
            task: Where the events come from; None for the generated `World`.
            memory: The memory; None for one that spreads over edges and learns by the default chain.
            reward: What is good; None for the recall of the evidence.
            feedback: What comes back to the memory's dynamics once a context is closed: `scalar`, the reward alone, or
                `evidence`, which notes were right, those that the context missed included.
            render_mode: None, `ansi` or `rgb_array`.

        Raises:
            ValueError: An argument is unknown, or the task's vectors do not fit the memory.
        """
        if feedback not in ("scalar", "evidence"):
            raise ValueError(f"feedback {feedback!r} is unknown; choose 'scalar' or 'evidence'")
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(f"render_mode {render_mode!r} is unknown; choose from {self.metadata['render_modes']}")
        self.task: Task = World() if task is None else task
        self.memory = memory or default_memory(self.task)
        self.reward: Reward = reward or EvidenceRecall()
        self.feedback, self.render_mode = feedback, render_mode
        dim = self.memory.encoder.dim
        if self.task.vector_dim not in (None, dim):
            raise ValueError(
                f"the task's vectors have dimension {self.task.vector_dim}, the memory's encoder has {dim}; "
                "give the memory an encoder of the task's dimension"
            )
        self.question: Question | None = None
        self._episode = -1
        self._begin("", [])

    def _begin(self, episode: str, events: Sequence[Event]) -> None:
        self.episode, self._events, self._vectors = episode, events, self._embed(events)
        self._place = 0
        self._node_of: dict[str, int] = {}
        self._tokens: list[int] = []
        self.question = None
        self.mean_reward, self._num_rewards = 0.0, 0

    def _start_episode(self, seed: int | None, options: dict[str, Any] | None) -> None:
        """Empty the memory and begin the next episode, or the one that `options["episode"]` names."""
        if seed is not None:
            self._episode = -1
        self._episode += 1
        # The first access of np_random seeds an environment that nobody seeded.
        _ = self.np_random
        rng = np.random.default_rng([self.np_random_seed, self._episode])
        episode = (options or {}).get("episode", self.task.episodes[self._episode % len(self.task.episodes)])
        if episode not in self.task.episodes:
            raise ValueError(f"episode {episode!r} is unknown; choose from {self.task.episodes}")
        self.memory.reset()
        self._begin(episode, self.task.events(episode, rng))

    def _embed(self, events: Sequence[Event]) -> list[NDArray[np.float32] | None]:
        """Embeddings of all events, the encoder's in one batch; None for pauses."""
        texts = [event.text for event in events if not isinstance(event, Pause) and event.vector is None]
        encoded = iter(self.memory.encoder.encode(texts) if texts else ())
        return [
            None if isinstance(event, Pause) else event.vector if event.vector is not None else next(encoded)
            for event in events
        ]

    def _walk_to_question(self) -> bool:
        """Let the memory live through the events up to the next question; False where the stream ends before one."""
        self.question = None
        while self._place < len(self._events):
            event, vector = self._events[self._place], self._vectors[self._place]
            self._place += 1
            if isinstance(event, Turn):
                self._write(event, vector)
            elif isinstance(event, Pause):
                self.memory.consolidate(event.time)
            else:
                self.memory.graph.advance(event.time)
                self.question, self.question_vector = event, vector
                return True
        return False

    def _write(self, turn: Turn, vector: NDArray[np.float32] | None) -> None:
        note = Note(turn.text, timestamp=turn.time, source=turn.speaker, id=turn.id)
        node_id = self.memory.write(note, vector=vector).node_id
        self._node_of[turn.id] = node_id
        if node_id == len(self._tokens):
            self._tokens.append(count_tokens(turn.text))

    @property
    def progress(self) -> float:
        """Share of the events that have passed."""
        return self._place / max(1, len(self._events))

    def gold(self) -> tuple[set[int], int]:
        """The nodes that hold the present question's evidence, and how much evidence there is, unreachable included.

        Hidden from the agent: for oracles and scores.
        """
        evidence = self.question.evidence if self.question is not None else ()
        nodes = {self._node_of[each] for each in evidence if each in self._node_of}
        return nodes, len(nodes) + sum(each not in self._node_of for each in evidence)

    def _judge(self, context: Sequence[int]) -> tuple[Outcome, float]:
        """Score a context of node ids, in order, for the present question."""
        gold, num_gold = self.gold()
        hits = np.array([node in gold for node in context], bool)
        tokens = sum(self._tokens[node] for node in context)
        outcome = Outcome(hits, num_gold, tokens, self.memory.graph.num_edges)
        reward = float(self.reward(outcome))
        self._num_rewards += 1
        self.mean_reward += (reward - self.mean_reward) / self._num_rewards
        return outcome, reward

    def _reinforce(self, context: Sequence[int], outcome: Outcome, reward: float) -> Applied:
        self.memory.graph.touch(context)
        if self.feedback == "scalar":
            return self.memory.reinforce(context, reward)
        missed = sorted(self.gold()[0].difference(context))
        credit = np.concatenate([np.where(outcome.hits, 1.0, -1.0), np.ones(len(missed))])
        return self.memory.reinforce([*context, *missed], reward, credit=credit)


def default_memory(task: Task, dynamics: Transform | None = None) -> MemorySystem:
    """The memory of an environment that is given none.

    Args:
        task: The task, whose vectors' dimension it takes.
        dynamics: Another chain of plasticity rules; None for the default one.
    """
    return MemorySystem(
        encoder=HashingEncoder(task.vector_dim or 256),
        linker=Temporal(),
        retriever=Retriever(expansion=SpreadingActivation()),
        dynamics=dynamics or named_chain(hebbian=Hebbian(), decay=Decay(), bound=Clip(), prune=Prune()),
    )
