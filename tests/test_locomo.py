from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from envs.tasks.locomo import SPLITS, Locomo, _evidence
from envs.tasks.task import Pause, Question, Turn


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.data
def test_the_counts_are_the_published_ones(data_dir: Path) -> None:
    task = Locomo(data_dir, split="all", protocol="static")
    events = [event for name in task.episodes for event in task.events(name, rng())]
    assert Counter(type(event) for event in events) == {Turn: 5882, Question: 1986, Pause: 272}
    categories = Counter(event.category for event in events if isinstance(event, Question))
    assert categories == {1: 282, 2: 321, 3: 96, 4: 841, 5: 446}
    assert task.max_notes == 689
    skipped = Locomo(data_dir, split="all", protocol="static", empty_gold="skip")
    left = [event for name in skipped.episodes for event in skipped.events(name, rng()) if isinstance(event, Question)]
    assert len(left) == 1982


@pytest.mark.data
def test_evidence_that_no_turn_has_is_reported_and_stays_gold(data_dir: Path) -> None:
    task = Locomo(data_dir, split="conv-42+conv-47", protocol="static")
    lost = {(name, number): text for name, number, text in task.unreachable}
    assert lost == {("conv-42", 58): "D10:19", ("conv-42", 88): "D", ("conv-47", 38): "D4:36"}
    questions = {event.id: event for event in task.events("conv-42", rng()) if isinstance(event, Question)}
    assert "D10:19" in questions["q58"].evidence


def test_several_ids_in_one_string_are_split_and_odd_spellings_read() -> None:
    known = {"D8:6", "D9:17", "D11:26", "D30:5"}
    assert _evidence(["D8:6; D9:17", "D:11:26", "D30:05", "D8:6"], known) == (
        ("D8:6", "D9:17", "D11:26", "D30:5"),
        [],
    )


@pytest.mark.data
@pytest.mark.parametrize("protocol", ["static", "prequential"])
def test_no_question_comes_before_its_evidence(protocol: str, data_dir: Path) -> None:
    task = Locomo(data_dir, split="all", protocol=protocol)  # type: ignore[arg-type]
    for name in task.episodes:
        every = {event.id for event in task.events(name, rng()) if isinstance(event, Turn)}
        heard: set[str] = set()
        time = 0.0
        for event in task.events(name, rng()):
            assert event.time >= time
            time = event.time
            if isinstance(event, Turn):
                heard.add(event.id)
            elif isinstance(event, Question):
                assert set(event.evidence) & every <= heard


@pytest.mark.data
def test_the_order_of_due_questions_follows_the_seed_alone(data_dir: Path) -> None:
    task = Locomo(data_dir, split="validation")
    first, again, other = (task.events("conv-26", rng(seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.data
def test_speaker_caption_and_session_date_are_kept(data_dir: Path) -> None:
    turns = [event for event in Locomo(data_dir, split="all").events("conv-26", rng()) if isinstance(event, Turn)]
    assert turns[0].text.startswith(f"{turns[0].speaker}: ")
    assert any("[shares image: " in turn.text for turn in turns)
    assert datetime.fromtimestamp(turns[0].time, tz=UTC) == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def test_validation_and_test_are_apart() -> None:
    assert set(SPLITS["validation"]).isdisjoint(SPLITS["test"])
    assert len(SPLITS["all"]) == 10


def test_a_missing_file_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"experiments\.download locomo"):
        Locomo(tmp_path)


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "locomo10.json").write_text("[]")
    with pytest.raises(ValueError, match="sha256"):
        Locomo(tmp_path)


@pytest.mark.parametrize("wrong", [{"split": "train"}, {"protocol": "online"}, {"empty_gold": "drop"}])
def test_unknown_choices_are_refused_with_the_known_ones(wrong: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="choose"):
        Locomo(tmp_path, **wrong)  # type: ignore[arg-type]
