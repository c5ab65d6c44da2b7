"""HebbGym/Recall-v0: which of the candidates enter the context, in which order, and when to stop."""

import operator
from typing import Any, Literal

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from envs import rendering
from envs.measures import ndcg_at, recall_at
from envs.memory_env import MemoryEnv
from envs.observations import STATISTICS, Candidates, candidate_space, describe_candidates
from envs.rewards import Reward
from envs.tasks.task import Task
from memory.change import Applied
from memory.retrieval import Budget
from memory.surface import Query
from memory.system import MemorySystem

__all__ = ["RecallEnv"]

Observation = dict[str, NDArray[Any]]


class RecallEnv(MemoryEnv[Observation, np.int64]):
    """Fill a context for each question of a stream.

    ## Description
    The memory lives through a stream of turns and pauses. At each question its retriever proposes K candidates; the
    agent picks notes into the context one by one and says when to stop. The context's reward then drives the memory's
    dynamics, so that what was useful together is found together later.

    ## Action space
    `Discrete(K + 1)`: 0 to K-1 puts that candidate into the context, K closes it. It closes by itself when it is full
    or no candidate is left. An action outside the mask puts nothing in, but uses up a place.

    ## Observation space
    A `Dict` of padded arrays, K candidates with room for E edges:

    | key | shape, dtype | range | meaning |
    |---|---|---|---|
    | `query` | (d,) float32 | [-1, 1] | embedding of the question |
    | `similarity` | (K,) float32 | [-1, 1] | cosine to the question |
    | `lexical` | (K,) float32 | [0, 1] | BM25, as a share of the best candidate's |
    | `score` | (K,) float32 | [0, 1] | the retriever's score, by which the slots are ordered |
    | `edge_weight` | (K,) float32 | [0, 1] | strongest edge that leads here from an anchor |
    | `hop` | (K,) float32 | [0, 1] | h / (1 + h), h edges from the nearest anchor; 1 where no path led here |
    | `recency` | (K,) float32 | [0, 1] | place in the order of writing, 1 is the newest |
    | `access` | (K,) float32 | [0, 1] | c / (1 + c), c times written, or used in a context |
    | `degree` | (K,) float32 | [0, 1] | n / (1 + n), n edges in and out |
    | `edge_source`, `edge_target` | (E,) int64 | [0, K-1] | edges among the candidates, as slots |
    | `edge_weights` | (E,) float32 | [0, 1] | their weights |
    | `edge_mask` | (E,) int8 | {0, 1} | which edges there are |
    | `candidate_mask` | (K,) int8 | {0, 1} | which candidates there are |
    | `context_mask` | (K,) int8 | {0, 1} | which were picked |
    | `graph` | (5,) float32 | [0, 1] | `envs.observations.STATISTICS` |
    | `action_mask` | (K+1,) int8 | {0, 1} | which actions are valid; closing always is |

    ## Reward
    0 for a pick; at the close of a context the reward object's value, by default the share of the evidence found.

    ## Starting state
    `reset(seed=s)` starts episode 0 of seed s, each further `reset()` the next one. `options={"episode": name}` chooses
    a conversation by name. The memory is empty.

    ## Episode end
    Terminates after the last question; never truncates.

    ## Info
    Always `action_mask`. After a close also `question`, `category`, `recall`, `ndcg`, `tokens`, `num_gold`, `context`
    (ids of the notes), `strengthened`, `weakened`, `created`, `cut`. After an action outside the mask `invalid_action`.

    ## Example
    >>> import gymnasium as gym
    >>> env = gym.make("envs:HebbGym/Recall-v0")
    >>> observation, info = env.reset(seed=0)
    >>> action = env.action_space.sample(mask=info["action_mask"])
    >>> observation, reward, terminated, truncated, info = env.step(action)

    ## Version history
    * v0: first version.
    """

    def __init__(
        self,
        task: Task | None = None,
        memory: MemorySystem | None = None,
        reward: Reward | None = None,
        *,
        num_candidates: int | None = 16,
        max_notes: int | None = 5,
        max_edges: int | None = None,
        with_lexical: bool | None = None,
        feedback: Literal["scalar", "evidence"] = "scalar",
        render_mode: str | None = None,
    ) -> None:
        """Make the environment.

        Args:
            task: See `MemoryEnv`.
            memory: See `MemoryEnv`.
            reward: See `MemoryEnv`.
            num_candidates: K; None for as many as the task's longest episode has notes.
            max_notes: Places of the context; None for K.
            max_edges: E; None for 4 K.
            with_lexical: Whether the lexical score is computed; None where the task comes as text alone.
            feedback: See `MemoryEnv`.
            render_mode: See `MemoryEnv`.
        """
        super().__init__(task, memory, reward, feedback=feedback, render_mode=render_mode)
        self.num_candidates = self.task.max_notes if num_candidates is None else num_candidates
        self.max_notes = self.num_candidates if max_notes is None else max_notes
        self.max_edges = 4 * self.num_candidates if max_edges is None else max_edges
        for name in ("num_candidates", "max_notes", "max_edges"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be 1 or more")
        self.with_lexical = self.task.vector_dim is None if with_lexical is None else with_lexical
        self.stop = self.num_candidates
        self._budget = Budget(notes=self.num_candidates)
        self.action_space = gym.spaces.Discrete(self.num_candidates + 1)
        self.observation_space = gym.spaces.Dict(
            {
                **candidate_space(self.memory.encoder.dim, self.num_candidates, self.max_edges),
                "context_mask": gym.spaces.MultiBinary(self.num_candidates),
                "graph": gym.spaces.Box(0.0, 1.0, (len(STATISTICS),), np.float32),
                "action_mask": gym.spaces.MultiBinary(self.num_candidates + 1),
            }
        )  # type: ignore[assignment]  # Gymnasium types Dict by its values
        self._pose()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode at its first question; see the class."""
        super().reset(seed=seed)
        self._start_episode(seed, options)
        if not self._walk_to_question():
            raise ValueError(f"episode {self.episode!r} of task {self.task.name!r} has no question")
        self._pose()
        return self._observe(), {"action_mask": self.action_masks()}

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Pick a candidate or close the context; see the class."""
        if self.question is None:
            raise RuntimeError("the episode is over or was never started; call reset()")
        slot = self._as_slot(action)
        info: dict[str, Any] = {}
        reward, terminated = 0.0, False
        if not self._action_mask[slot]:
            info["invalid_action"] = True
            self._places_left -= 1
        elif slot != self.stop:
            self._pick(slot)
        if slot == self.stop or self._places_left <= 0 or len(self._context) == len(self._node_ids):
            reward = self._close(info)
            terminated = not self._walk_to_question()
            self._pose()
        info["action_mask"] = self.action_masks()
        return self._observe(), reward, terminated, False, info

    def action_masks(self) -> NDArray[np.int8]:
        """Which actions are valid, int8 (K+1,), a copy; closing always is."""
        return self._action_mask.copy()

    def gold_mask(self) -> NDArray[np.bool_]:
        """Which candidates hold evidence, bool (K,). Hidden from the agent: for oracles."""
        gold, _ = self.gold()
        mask = np.zeros(self.num_candidates, bool)
        mask[: len(self._node_ids)] = [node in gold for node in self._node_ids.tolist()]
        return mask

    def render(self) -> Any:
        """The present question with its candidates as text, or the graph as a picture (H, W, 3) uint8."""
        if self.render_mode == "ansi":
            return rendering.as_text(self.memory.graph, self.question, self.candidate_nodes, self._context)
        if self.render_mode == "rgb_array":
            return rendering.as_image(self.memory.graph, self.task.max_notes, self.candidate_nodes, self._context)
        return None

    @property
    def context(self) -> list[int]:
        """Nodes picked so far, in order."""
        return list(self._context)

    @property
    def candidate_nodes(self) -> list[int]:
        """Node ids of the candidates, best first by the retriever."""
        ids: list[int] = self._node_ids.tolist()
        return ids

    def _pose(self) -> None:
        """Set out the candidates of the present question, none where there is none."""
        self._context: list[int] = []
        self._places_left = self.max_notes
        self._context_mask = np.zeros(self.num_candidates, np.int8)
        self._action_mask = np.zeros(self.num_candidates + 1, np.int8)
        self._action_mask[self.stop] = 1
        self._described = self._describe()
        self._action_mask[: len(self._node_ids)] = 1

    def _describe(self) -> Candidates:
        surface = self.memory.surface
        empty = np.zeros(0, np.float32)
        if self.question is None or self.question_vector is None:
            self._node_ids = np.zeros(0, np.int64)
            query, signals, hops = np.zeros(self.memory.encoder.dim, np.float32), (empty,) * 3, np.zeros(0, np.int32)
        else:
            query = surface.vectors.check(self.question_vector)
            asked = Query(self.question.text, query)
            recall = self.memory.retriever.recall(surface, asked, self._budget)
            self._node_ids, hops = recall.node_ids, recall.hops
            lexical = np.zeros(len(recall.node_ids), np.float32)
            if self.with_lexical:
                lexical = surface.lexical.scores(self.question.text).scores_of(recall.node_ids)
            signals = (surface.vectors.cosines(query, recall.node_ids), lexical, recall.scores)
        return describe_candidates(
            surface.graph,
            query,
            self._node_ids,
            signals,
            hops,
            num_candidates=self.num_candidates,
            num_edges=self.max_edges,
        )

    def _observe(self) -> Observation:
        graph = self.memory.graph
        statistics = (
            self.progress,
            graph.num_nodes / self.task.max_notes,
            graph.num_edges / (graph.num_edges + graph.num_nodes + 1),
            len(self._context) / self.max_notes,
            min(max(self.mean_reward, 0.0), 1.0),
        )
        return {
            **self._described.observe(),
            "context_mask": self._context_mask.copy(),
            "graph": np.array(statistics, np.float32),
            "action_mask": self._action_mask.copy(),
        }

    def _as_slot(self, action: Any) -> int:
        try:
            slot = operator.index(action)
        except TypeError:
            slot = -1
        if not 0 <= slot <= self.stop:
            raise ValueError(f"action {action!r} is not one of the integers from 0 to {self.stop}")
        return slot

    def _pick(self, slot: int) -> None:
        self._context.append(int(self._node_ids[slot]))
        self._context_mask[slot] = 1
        self._action_mask[slot] = 0
        self._places_left -= 1

    def _close(self, info: dict[str, Any]) -> float:
        assert self.question is not None
        outcome, reward = self._judge(self._context)
        learns = self._context or self.feedback == "evidence"
        applied = self._reinforce(self._context, outcome, reward) if learns else Applied()
        info |= {
            "question": self.question.id,
            "category": self.question.category,
            "recall": recall_at(outcome.hits, outcome.num_gold),
            "ndcg": ndcg_at(outcome.hits, outcome.num_gold),
            "tokens": outcome.tokens,
            "num_gold": outcome.num_gold,
            "context": [self.memory.graph.note_id(node) for node in self._context],
            "hits": outcome.hits.tolist(),
            "strengthened": applied.strengthened,
            "weakened": applied.weakened,
            "created": applied.created,
            "cut": applied.cut,
        }
        return reward
