"""A generated life with known truth: notes in sessions, and tasks that need notes which do not resemble them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from envs.tasks.task import Event, Pause, Question, Turn

__all__ = ["World"]

_SPEAKERS = ("Ada", "Bruno", "Chiara", "Dmitri", "Esra", "Farid")
_TOPICS = {
    "gardening": ("spade", "rose", "hedge", "compost", "trowel", "seedling", "greenhouse", "hose"),
    "sailing": ("mast", "anchor", "compass", "rudder", "harbour", "rope", "lighthouse", "dinghy"),
    "cooking": ("skillet", "oven", "ladle", "recipe", "basil", "dough", "apron", "whisk"),
    "astronomy": ("telescope", "comet", "eclipse", "lens", "planet", "galaxy", "observatory", "meteor"),
    "chess": ("bishop", "gambit", "endgame", "clock", "pawn", "opening", "knight", "board"),
    "music": ("cello", "score", "metronome", "choir", "trumpet", "rehearsal", "concert", "drum"),
    "painting": ("easel", "canvas", "brush", "fresco", "palette", "gallery", "portrait", "varnish"),
    "hiking": ("ridge", "boot", "tent", "trail", "summit", "backpack", "creek", "map"),
}
_ADJECTIVES = ("old", "red", "quiet", "broken", "tiny", "borrowed", "heavy", "golden", "dusty", "new", "odd", "bright")
_DAY, _MINUTE = 86_400.0, 60.0


@dataclass
class _Skill:
    """A recurring task: the note that its question resembles, and what the question says and needs."""

    cue: Turn
    text: str
    evidence: tuple[str, ...]
    answer: str


@dataclass(frozen=True)
class World:
    """Sessions of notes, then tasks that recur; what a task needs besides its cue can only be learned from reward.

    Every note belongs to a topic, and its vector lies round the topic's centre: topics give similarity. Every skill has
    a cue, a note that its questions resemble, and associates, notes of other topics that are needed with it. All other
    notes of a topic are distractors. Skills recur by Zipf's law. After every `drift_every` tasks a share of the skills
    gets new associates.

    Attributes:
        num_sessions: Sessions in which notes are written.
        notes_per_session: Notes of a session.
        num_skills: Tasks that recur.
        num_associates: Notes a skill needs besides its cue.
        num_tasks: Questions of an episode.
        tasks_per_session: Questions between two pauses.
        zipf: Exponent of Zipf's law over the skills, 0 for equal frequency.
        drift_every: Tasks between two drifts, 0 for none.
        drift_share: Share of the skills that drift.
        dim: Dimension of the vectors.
        note_noise: Length of a note's own part beside its topic's unit vector.
        question_noise: Length of a question's own part beside its cue's unit vector.
        with_vectors: Whether events carry vectors; without them an encoder reads the text.
        start: Time of the first session, seconds since the epoch.
    """

    num_sessions: int = 12
    notes_per_session: int = 10
    num_skills: int = 20
    num_associates: int = 2
    num_tasks: int = 400
    tasks_per_session: int = 10
    zipf: float = 0.7
    drift_every: int = 0
    drift_share: float = 1 / 3
    dim: int = 32
    note_noise: float = 0.8
    question_noise: float = 0.3
    with_vectors: bool = True
    start: float = 1_700_000_000.0

    def __post_init__(self) -> None:
        positive = ("num_sessions", "notes_per_session", "num_skills", "num_tasks", "tasks_per_session", "dim")
        for name in positive:
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be 1 or more")
        if not 0 <= self.num_associates < self.max_notes:
            raise ValueError(f"num_associates is {self.num_associates}; it must be from 0 to {self.max_notes - 1}")
        if self.drift_every < 0 or not 0 <= self.drift_share <= 1:
            raise ValueError(f"drift_every {self.drift_every} must be 0 or more and drift_share in [0, 1]")

    @property
    def name(self) -> str:
        """Names the task in tables."""
        return "world"

    @property
    def episodes(self) -> tuple[str, ...]:
        """One episode, which each seed makes anew."""
        return ("world",)

    @property
    def max_notes(self) -> int:
        """Notes of an episode."""
        return self.num_sessions * self.notes_per_session

    @property
    def vector_dim(self) -> int | None:
        """Dimension of the events' vectors."""
        return self.dim if self.with_vectors else None

    def events(self, episode: str, rng: np.random.Generator) -> Sequence[Event]:
        """One generated life; see `Task`."""
        if episode not in self.episodes:
            raise ValueError(f"episode {episode!r} is unknown; choose from {self.episodes}")
        turns = self._turns(rng)
        order = rng.permutation(self.num_skills)
        luck = rng.random(self.num_tasks)
        noise = self.question_noise * _unit(rng.standard_normal((self.num_tasks, self.dim)))
        skills: list[_Skill] = []
        events: list[Event] = []
        asked = session = 0
        while asked < self.num_tasks:
            time = self.start + session * _DAY
            if session < self.num_sessions:
                written = (session + 1) * self.notes_per_session
                events += turns[written - self.notes_per_session : written]
                target = -(-self.num_skills * (session + 1) // self.num_sessions)
                while len(skills) < target:
                    skills.append(self._skill(turns[rng.integers(written)], turns[:written], rng))
                known = order[order < len(skills)]
                chance = np.cumsum(1.0 / np.arange(1, len(known) + 1) ** self.zipf)
            events.append(Pause(time := time + 3_600.0))
            for _ in range(min(self.tasks_per_session, self.num_tasks - asked)):
                if self.drift_every and asked and asked % self.drift_every == 0:
                    self._drift(skills, turns[:written], rng)
                skill = skills[known[chance.searchsorted(luck[asked] * chance[-1], side="right")]]
                events.append(_question(asked, time := time + _MINUTE, skill, noise[asked]))
                asked += 1
            session += 1
        return events

    def _turns(self, rng: np.random.Generator) -> list[Turn]:
        topics, size = list(_TOPICS), self.max_notes
        centres = _unit(rng.standard_normal((len(topics), self.dim)))
        topic_of = rng.integers(len(topics), size=size)
        own = _unit(rng.standard_normal((size, self.dim)))
        vectors = _unit(centres[topic_of] + self.note_noise * own).astype(np.float32)
        words = zip(rng.choice(_SPEAKERS, size), rng.choice(_ADJECTIVES, size), rng.integers(8, size=size), strict=True)
        turns = []
        for number, (speaker, adjective, thing) in enumerate(words):
            topic = topics[topic_of[number]]
            text = f"{speaker}: For {topic} I now keep the {adjective} {_TOPICS[topic][thing]} in box {number}."
            session, place = divmod(number, self.notes_per_session)
            time = self.start + session * _DAY + place * _MINUTE
            vector = vectors[number] if self.with_vectors else None
            turns.append(Turn(f"n{number}", text, time, str(speaker), session, vector))
        return turns

    def _skill(self, cue: Turn, turns: list[Turn], rng: np.random.Generator) -> _Skill:
        others = [turn for turn in turns if turn is not cue]
        picked = rng.choice(len(others), min(self.num_associates, len(others)), replace=False)
        needed = [cue, *(others[place] for place in picked)]
        thing, box = cue.text.split(" keep the ")[1].rstrip(".").split(" in box ")
        return _Skill(
            cue,
            f"What goes together with the {thing} that {cue.speaker} keeps in box {box}?",
            tuple(turn.id for turn in needed),
            ", ".join(f"box {turn.id[1:]}" for turn in needed),
        )

    def _drift(self, skills: list[_Skill], turns: list[Turn], rng: np.random.Generator) -> None:
        drifting = rng.choice(len(skills), round(self.drift_share * len(skills)), replace=False)
        for place in drifting.tolist():
            skills[place] = self._skill(skills[place].cue, turns, rng)


def _question(number: int, time: float, skill: _Skill, noise: NDArray[np.float64]) -> Question:
    vector = None
    if skill.cue.vector is not None:
        near = skill.cue.vector + noise
        vector = (near / math.sqrt(near @ near)).astype(np.float32)
    return Question(f"q{number}", skill.text, time, skill.evidence, skill.answer, 1, vector)


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(vectors / np.sqrt((vectors * vectors).sum(-1, keepdims=True)), np.float64)
