"""Scores by hand, and intervals against scipy."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from experiments.scores import MEASURES, Interval, Record, difference, estimate, mean_of_rows, summarise


def record(question: int = 0, hits: str = "", num_gold: int = 1, **changes: Any) -> Record:
    values: dict[str, Any] = dict(
        seed=0, episode="e", category=1, tokens=0, reward=0.0, edges=0, progress=0.0, question=f"q{question}"
    )
    return Record(hits=tuple(each == "1" for each in hits), num_gold=num_gold, **(values | changes))


def rewards(values: Any, **changes: Any) -> list[Record]:
    return [record(number, reward=float(value), **changes) for number, value in enumerate(values)]


def random_clusters(num_clusters: int, seed: int = 0) -> list[Record]:
    """Episodes of one to six questions with rewards that are alike within an episode."""
    rng = np.random.default_rng(seed)
    records = []
    for cluster in range(num_clusters):
        values = rng.random() + 0.2 * rng.random(rng.integers(1, 7))
        records += rewards(values, episode=f"e{cluster}")
    return records


FIVE = [
    record(0, "101", 2, category=1, tokens=30, reward=0.5, edges=10, progress=0.5),
    record(1, "01", 4, category=2, tokens=20, reward=1.0, edges=20, progress=0.875),
    record(2, "", 1, category=5, tokens=0, reward=0.0, edges=30, progress=0.9),
    record(3, "000001", 1, category=3, tokens=60, reward=0.25, edges=40, progress=1.0),
    record(4, "1", 1, category=6, tokens=10, reward=1.0, edges=50, progress=0.1),
]
NDCG_0 = (1 + 1 / 2) / (1 + 1 / math.log2(3))
NDCG_1 = (1 / math.log2(3)) / (1 + 1 / math.log2(3) + 1 / 2 + 1 / math.log2(5))
NDCG_3 = 1 / math.log2(7)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n", 5),
        ("recall@5", (1 + 0.25 + 0 + 0 + 1) / 5),
        ("recall@10", (1 + 0.25 + 0 + 1 + 1) / 5),
        ("ndcg@5", (NDCG_0 + NDCG_1 + 0 + 0 + 1) / 5),
        ("ndcg@10", (NDCG_0 + NDCG_1 + 0 + NDCG_3 + 1) / 5),
        ("mrr", (1 + 1 / 2 + 0 + 1 / 6 + 1) / 5),
        ("tokens", 24.0),
        ("reward", 0.55),
        ("edges", 30.0),
        ("cat1/recall@5", 1.0),
        ("cat2/recall@5", 0.25),
        ("cat2/n", 1),
        ("cat6/mrr", 1.0),
        ("cat1-4/n", 3),
        ("cat1-4/recall@10", (1 + 0.25 + 1) / 3),
        ("cat1-4/ndcg@10", (NDCG_0 + NDCG_1 + NDCG_3) / 3),
        ("cat1-5/n", 4),
        ("cat1-5/mrr", (1 + 1 / 2 + 0 + 1 / 6) / 4),
        ("cat1-5/tokens", 27.5),
        ("late/n", 2),
        ("late/recall@10", 0.5),
        ("late/edges", 35.0),
    ],
)
def test_a_summary_by_hand(name: str, value: float) -> None:
    assert summarise(FIVE)[name] == pytest.approx(value)


def test_a_summary_has_every_measure_in_every_group_that_has_questions() -> None:
    names = [*MEASURES, "n"]
    groups = ("", "late/", "cat1/", "cat2/", "cat3/", "cat5/", "cat6/", "cat1-4/", "cat1-5/")
    assert set(summarise(FIVE)) == {group + name for group in groups for name in names}
    assert set(summarise(FIVE[:1])) == {group + name for group in ("", "cat1/") for name in names}
    assert set(summarise([FIVE[2]])) == {group + name for group in ("", "late/", "cat5/", "cat1-5/") for name in names}


def test_a_summary_does_not_depend_on_the_order() -> None:
    assert summarise(FIVE[::-1]) == pytest.approx(summarise(FIVE))


@pytest.mark.parametrize("measure", MEASURES)
def test_the_mean_lies_in_its_interval_and_is_the_mean_over_questions(measure: str) -> None:
    records = [dataclasses.replace(each, episode=f"e{place % 3}") for place, each in enumerate(FIVE)]
    interval = estimate(records, measure)
    assert interval.mean == pytest.approx(summarise(FIVE)[measure])
    assert interval.low <= interval.mean <= interval.high
    assert interval.low < interval.high


def test_intervals_are_seeded() -> None:
    records = random_clusters(8)
    assert estimate(records, "reward") == estimate(records, "reward")
    assert estimate(records, "reward", seed=1) == estimate(records, "reward", seed=1)
    assert estimate(records, "reward", num_samples=50) != estimate(records, "reward", num_samples=50, seed=1)


@pytest.mark.parametrize("seed", range(3))
def test_an_interval_agrees_with_scipys_where_each_question_is_a_cluster(seed: int) -> None:
    values = np.random.default_rng(seed).exponential(size=30)
    records = [record(place, reward=value, episode=f"e{place}") for place, value in enumerate(values.tolist())]
    ours = estimate(records, "reward")
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(100 + seed)
    )
    # A percentile of 10 000 draws is known to 0.027 standard errors; two of them to 0.038.
    tolerance = 4 * 0.038 * theirs.standard_error
    assert ours.mean == pytest.approx(values.mean())
    assert ours[1:] == pytest.approx(theirs.confidence_interval, abs=tolerance)


def test_an_interval_agrees_with_scipys_over_clusters_of_different_size() -> None:
    records = random_clusters(25)
    names = sorted({each.episode for each in records})
    totals = np.array([sum(each.reward for each in records if each.episode == name) for name in names])
    counts = np.array([sum(each.episode == name for each in records) for name in names])
    theirs = stats.bootstrap(
        (totals, counts),
        lambda total, count, axis: total.sum(axis) / count.sum(axis),
        paired=True,
        n_resamples=10_000,
        method="percentile",
        rng=np.random.default_rng(7),
    )
    ours = estimate(records, "reward")
    assert ours.mean == pytest.approx(totals.sum() / counts.sum())
    assert ours[1:] == pytest.approx(theirs.confidence_interval, abs=4 * 0.038 * theirs.standard_error)


def test_whole_episodes_are_drawn_where_there_are_several_else_whole_seeds() -> None:
    # Two clusters, all 0 and all 1: both draws are the same one in half of all cases, a quarter each.
    episodes = rewards([0] * 50, episode="a") + rewards([1] * 50, episode="b")
    assert estimate(episodes, "reward") == Interval(0.5, 0.0, 1.0)
    seeds = rewards([0] * 50, seed=1) + rewards([1] * 50, seed=2)
    assert estimate(seeds, "reward") == Interval(0.5, 0.0, 1.0)
    crossed = [dataclasses.replace(each, episode="ab"[place % 2]) for place, each in enumerate(seeds)]
    assert estimate(crossed, "reward") == Interval(0.5, 0.5, 0.5)


def test_one_cluster_has_a_mean_but_no_interval() -> None:
    alone = rewards([0.25, 0.5, 1.5])
    for interval in (estimate(alone, "reward"), difference(alone, rewards([0, 0, 0]), "reward")):
        assert interval.mean == 0.75
        assert math.isnan(interval.low)
        assert math.isnan(interval.high)
        assert interval.text() == "0.750"
        assert interval.metrics("reward") == {"reward": 0.75}


def test_an_interval_as_text_and_as_metrics() -> None:
    interval = Interval(0.25, -0.5, 1.0)
    assert interval.text() == "0.250 [-0.500, 1.000]"
    assert interval.text("+") == "+0.250 [-0.500, +1.000]"
    assert interval.metrics("mrr") == {"mrr": 0.25, "mrr/low": -0.5, "mrr/high": 1.0}


def test_a_difference_to_itself_is_exactly_zero() -> None:
    records = random_clusters(10)
    assert difference(records, records, "reward") == Interval(0.0, 0.0, 0.0)
    assert difference(records, records[::-1], "reward") == Interval(0.0, 0.0, 0.0)


def test_a_difference_is_paired_by_question() -> None:
    base = random_clusters(10)
    better = [dataclasses.replace(each, reward=each.reward + 0.25) for each in base]
    assert difference(better[::-1], base, "reward") == pytest.approx((0.25, 0.25, 0.25))
    spread = estimate(base, "reward")
    assert spread.high - spread.low > 0.1


def test_a_difference_is_antisymmetric_and_the_difference_of_the_means() -> None:
    one = random_clusters(12)
    rng = np.random.default_rng(5)
    two = [dataclasses.replace(each, reward=float(rng.random())) for each in one]
    forth, back = difference(one, two, "reward"), difference(two, one, "reward")
    assert forth == pytest.approx((-back.mean, -back.high, -back.low))
    assert forth.mean == pytest.approx(estimate(one, "reward").mean - estimate(two, "reward").mean)
    assert forth.low < forth.mean < forth.high


@pytest.mark.parametrize(
    "base",
    [
        FIVE[:-1],
        [*FIVE, record(9)],
        [*FIVE[:-1], record(9)],
        [*FIVE[:-1], dataclasses.replace(FIVE[-1], seed=1)],
        [*FIVE[:-1], dataclasses.replace(FIVE[-1], episode="other")],
    ],
)
def test_runs_with_other_questions_are_not_paired(base: list[Record]) -> None:
    with pytest.raises(ValueError, match="cannot be paired"):
        difference(FIVE, base, "reward")


def test_nothing_is_estimated_from_nothing() -> None:
    with pytest.raises(ValueError, match="no records"):
        estimate([], "reward")
    with pytest.raises(ValueError, match="no records"):
        difference([], [], "reward")


def test_the_mean_of_rows_is_over_the_numbers_that_all_rows_have() -> None:
    rows = [
        {"agent": "a", "seed": 0, "recall@5": 0.5, "n": 10, "cat3/mrr": 1.0},
        {"agent": "a", "seed": 1, "recall@5": 1.0, "n": 20},
        {"agent": "a", "seed": 2, "recall@5": 0.0, "n": 60, "cat4/mrr": 1.0},
    ]
    assert mean_of_rows(rows) == {"recall@5": 0.5, "n": 30.0}
