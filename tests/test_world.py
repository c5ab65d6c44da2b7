from collections import Counter

import numpy as np
import pytest

from envs.tasks.task import Event, Pause, Question, Turn
from envs.tasks.world import World


def live(world: World, seed: int = 0) -> list[Event]:
    return list(world.events("world", np.random.default_rng(seed)))


def evidence(events: list[Event]) -> list[tuple[str, ...]]:
    return [event.evidence for event in events if isinstance(event, Question)]


def test_the_seed_is_the_whole_life() -> None:
    world = World(num_tasks=50)
    first, again, other = live(world), live(world), live(world, seed=1)
    assert evidence(first) == evidence(again) != evidence(other)
    for one, two in zip(first, again, strict=True):
        assert type(one) is type(two)
        if not isinstance(one, Pause):
            assert one.text == two.text
            np.testing.assert_array_equal(one.vector, two.vector)


def test_time_runs_forward_and_evidence_was_told_before() -> None:
    told: set[str] = set()
    time = 0.0
    for event in live(World(num_tasks=300, drift_every=50)):
        assert event.time >= time
        time = event.time
        if isinstance(event, Turn):
            told.add(event.id)
        elif isinstance(event, Question):
            assert set(event.evidence) <= told
            assert len(set(event.evidence)) == 3


def test_the_counts_are_the_knobs() -> None:
    counts = Counter(type(event) for event in live(World(num_sessions=4, notes_per_session=6, num_tasks=70)))
    assert counts == {Turn: 24, Question: 70, Pause: 7}


def test_a_question_resembles_its_cue_and_not_its_associates() -> None:
    events = live(World(num_tasks=300, question_noise=0.3))
    vectors = {event.id: event.vector for event in events if isinstance(event, Turn)}
    cosines = [
        [float(np.dot(event.vector, vectors[each])) for each in event.evidence]  # type: ignore[arg-type]
        for event in events
        if isinstance(event, Question) and event.vector is not None
    ]
    cue, *associates = np.mean(cosines, axis=0)
    assert cue > 0.9
    assert max(associates) < 0.3


def test_drift_changes_a_third_of_the_skills_and_only_then() -> None:
    still = World(num_tasks=400, num_skills=9, zipf=0.0)
    assert len({each for each in evidence(live(still))}) == 9
    moved = World(num_tasks=400, num_skills=9, zipf=0.0, drift_every=300, drift_share=1 / 3)
    assert len({each for each in evidence(live(moved))}) == 12


def test_zipf_makes_some_skills_frequent() -> None:
    counts = Counter(evidence(live(World(num_tasks=2000, zipf=1.0))))
    equal = Counter(evidence(live(World(num_tasks=2000, zipf=0.0))))
    assert max(counts.values()) > 2 * max(equal.values())


def test_without_vectors_there_is_text_alone() -> None:
    assert all(isinstance(each, Pause) or each.vector is None for each in live(World(with_vectors=False, num_tasks=5)))


@pytest.mark.parametrize("wrong", [{"num_tasks": 0}, {"num_associates": 120}, {"drift_share": 2.0}, {"dim": 0}])
def test_knobs_out_of_range_are_refused_by_name(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        World(**wrong)  # type: ignore[arg-type]
