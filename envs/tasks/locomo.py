"""LoCoMo (Maharana et al. 2024, arXiv 2402.17753): ten long conversations with questions and gold evidence."""

import hashlib
import json
import logging
import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from envs.tasks.task import Event, Pause, Question, Turn

__all__ = ["SPLITS", "Locomo"]

log = logging.getLogger(__name__)

SHA256 = "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"
_VALIDATION = ("conv-26", "conv-30", "conv-41")
_TEST = ("conv-42", "conv-43", "conv-44", "conv-47", "conv-48", "conv-49", "conv-50")
SPLITS: dict[str, tuple[str, ...]] = {"validation": _VALIDATION, "test": _TEST, "all": _VALIDATION + _TEST}
"""Fixed split by conversation: parameters are chosen on `validation`, never on `test`."""

_TURN_ID = re.compile(r"D:?(\d+):0*(\d+)")


class _Conversation(NamedTuple):
    sessions: tuple[tuple[Turn, ...], ...]
    questions: tuple[Question, ...]


class Locomo:
    """The ten conversations as task streams.

    A turn is stored as `speaker: text`, with the caption of a shared image behind it. Turns of one session carry its
    date and time, one second apart. Evidence ids are split where one string holds several; an id that no turn has stays
    in the evidence as gold that cannot be reached.

    Attributes:
        protocol: `static` writes all turns, then asks all questions, as the papers do; `prequential` asks each question
            after the session of its last evidence, so that the memory is tested, then learns. In both, questions that
            are due together come in an order drawn from the seed under `prequential` and in the file's order under
            `static`.
        unreachable: (conversation, question, evidence string) of evidence that no turn has.
    """

    name = "locomo"
    vector_dim = None

    def __init__(
        self,
        data_dir: str | Path | None = None,
        *,
        split: str = "test",
        protocol: Literal["static", "prequential"] = "prequential",
        empty_gold: Literal["count", "skip"] = "count",
    ) -> None:
        """Read the conversations of a split.

        Args:
            data_dir: Folder that holds `locomo/locomo10.json` or `locomo10.json`; None for `HEBBGYM_DATA`, else `data`.
            split: `validation`, `test`, `all`, or names of conversations joined by `+`.
            protocol: `static` or `prequential`.
            empty_gold: `count` keeps questions without any reachable evidence, `skip` leaves them out.

        Raises:
            FileNotFoundError: The file is not there.
            ValueError: An argument is unknown, or the file is not the published one.
        """
        for value, allowed in ((protocol, ("static", "prequential")), (empty_gold, ("count", "skip"))):
            if value not in allowed:
                raise ValueError(f"{value!r} is unknown; choose one of {allowed}")
        self.episodes = SPLITS.get(split, tuple(split.split("+")))
        if unknown := set(self.episodes) - set(SPLITS["all"]):
            raise ValueError(
                f"split {split!r} names {sorted(unknown)}; choose from {sorted(SPLITS)} or {SPLITS['all']}"
            )
        self.split, self.protocol, self.empty_gold = split, protocol, empty_gold
        self._path = _find(data_dir)
        conversations, self.unreachable = _read(self._path)
        self.max_notes = max(sum(map(len, conversations[name].sessions)) for name in self.episodes)

    def events(self, episode: str, rng: np.random.Generator) -> Sequence[Event]:
        """The turns, pauses and questions of a conversation; see `Task`."""
        conversation = _read(self._path)[0][episode]
        last_session = {turn.id: number for number, session in enumerate(conversation.sessions) for turn in session}
        due: list[list[Question]] = [[] for _ in conversation.sessions]
        for question in conversation.questions:
            reachable = [last_session[each] for each in question.evidence if each in last_session]
            if reachable or self.empty_gold == "count":
                due[max(reachable) if reachable and self.protocol == "prequential" else -1].append(question)
        events: list[Event] = []
        for session, questions in zip(conversation.sessions, due, strict=True):
            end = session[-1].time
            events += [*session, Pause(end)]
            asked = rng.permutation(len(questions)) if self.protocol == "prequential" else range(len(questions))
            events += [_at(questions[place], end) for place in asked]
        return events


def _at(question: Question, time: float) -> Question:
    return Question(question.id, question.text, time, question.evidence, question.answer, question.category)


def _find(data_dir: str | Path | None) -> Path:
    folder = Path(data_dir or os.environ.get("HEBBGYM_DATA") or "data")
    for path in (folder / "locomo" / "locomo10.json", folder / "locomo10.json"):
        if path.is_file():
            return path.resolve()
    raise FileNotFoundError(
        f"LoCoMo is not in {folder}; run `python -m experiments.download locomo`, or name its folder by HEBBGYM_DATA"
    )


@cache
def _read(path: Path) -> tuple[dict[str, _Conversation], tuple[tuple[str, int, str], ...]]:
    content = path.read_bytes()
    if (found := hashlib.sha256(content).hexdigest()) != SHA256:
        raise ValueError(f"{path} has sha256 {found}, the published file has {SHA256}; download it again")
    unreachable: list[tuple[str, int, str]] = []
    conversations = {}
    for sample in json.loads(content):
        name = sample["sample_id"]
        sessions = tuple(_sessions(sample["conversation"]))
        known = {turn.id for session in sessions for turn in session}
        questions = []
        for number, qa in enumerate(sample["qa"]):
            evidence, lost = _evidence(qa.get("evidence", []), known)
            unreachable += [(name, number, text) for text in lost]
            answer = str(qa.get("answer", qa.get("adversarial_answer", "")))
            questions.append(Question(f"q{number}", qa["question"], 0.0, evidence, answer, int(qa["category"])))
        conversations[name] = _Conversation(sessions, tuple(questions))
    log.warning("LoCoMo: %d evidence strings name no turn and count as gold that cannot be reached", len(unreachable))
    return conversations, tuple(unreachable)


def _sessions(conversation: dict[str, Any]) -> Sequence[tuple[Turn, ...]]:
    # The file dates sessions that it does not hold, so only lists of turns count.
    numbers = sorted(int(key[8:]) for key in conversation if re.fullmatch(r"session_\d+", key))
    sessions = []
    for number in numbers:
        start = datetime.strptime(conversation[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
        time = start.replace(tzinfo=UTC).timestamp()
        turns = conversation[f"session_{number}"]
        sessions.append(tuple(_turn(turn, time + place, number) for place, turn in enumerate(turns)))
    return [session for session in sessions if session]


def _turn(turn: dict[str, Any], time: float, session: int) -> Turn:
    caption = f" [shares image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return Turn(turn["dia_id"], f"{turn['speaker']}: {turn['text']}{caption}", time, turn["speaker"], session)


def _evidence(texts: Sequence[str], known: set[str]) -> tuple[tuple[str, ...], list[str]]:
    """Turn ids of the evidence, each once, and the strings that name no turn."""
    ids: list[str] = []
    lost: list[str] = []
    for text in texts:
        found = [f"D{session}:{turn}" for session, turn in _TURN_ID.findall(text)]
        lost += [each for each in found or [text] if each not in known]
        ids += found or [text]
    return tuple(dict.fromkeys(ids)), lost
