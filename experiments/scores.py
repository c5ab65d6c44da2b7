"""From question records to numbers: means, categories, and intervals by a seeded cluster bootstrap."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from envs.measures import ndcg_at, recall_at, reciprocal_rank

__all__ = ["MEASURES", "Interval", "Record", "difference", "estimate", "mean_of_rows", "summarise"]


@dataclass(frozen=True, slots=True)
class Record:
    """One question, as it went.

    Attributes:
        seed: Of the run.
        episode: Name of the episode.
        question: Id of the question, unique within seed and episode.
        category: Number of its kind.
        hits: Whether each note of the context is evidence, in order.
        num_gold: How much evidence there is.
        tokens: Tokens of the context.
        reward: What the task paid.
        edges: Edges of the graph afterwards.
        progress: Its place among the questions of its episode, in (0, 1].
    """

    seed: int
    episode: str
    question: str
    category: int
    hits: tuple[bool, ...]
    num_gold: int
    tokens: int
    reward: float
    edges: int
    progress: float


def _hits(record: Record) -> NDArray[np.bool_]:
    return np.array(record.hits, bool)


MEASURES: dict[str, Callable[[Record], float]] = {
    "recall@5": lambda record: recall_at(_hits(record), record.num_gold, 5),
    "recall@10": lambda record: recall_at(_hits(record), record.num_gold, 10),
    "ndcg@5": lambda record: ndcg_at(_hits(record), record.num_gold, 5),
    "ndcg@10": lambda record: ndcg_at(_hits(record), record.num_gold, 10),
    "mrr": lambda record: reciprocal_rank(_hits(record)),
    "tokens": lambda record: float(record.tokens),
    "reward": lambda record: record.reward,
    "edges": lambda record: float(record.edges),
}
"""What is computed of every record; means are macro averages over questions."""

_LATE = 7 / 8


class Interval(NamedTuple):
    """An estimate with its 95 % interval, whose ends are NaN where there is nothing to judge them by."""

    mean: float
    low: float
    high: float

    def text(self, sign: str = "") -> str:
        """As in a table; `sign="+"` for differences."""
        ends = f" [{self.low:{sign}.3f}, {self.high:{sign}.3f}]" if math.isfinite(self.low) else ""
        return f"{self.mean:{sign}.3f}{ends}"

    def metrics(self, name: str) -> dict[str, float]:
        """As logged: `name`, and where they are known `name/low` and `name/high`."""
        ends = {f"{name}/low": self.low, f"{name}/high": self.high} if math.isfinite(self.low) else {}
        return {name: self.mean, **ends}


def summarise(records: Sequence[Record]) -> dict[str, float]:
    """Means over all records, over the last eighth of the episodes (`late/`), and over categories.

    Categories stand as `cat1/recall@5`; `cat1-4/` and `cat1-5/` are over the questions of those categories together.
    """
    groups: dict[str, Callable[[Record], bool]] = {"": lambda record: True, "late/": _is_late}
    categories = sorted({record.category for record in records})
    for category in categories:
        groups[f"cat{category}/"] = _in_categories({category})
    if set(categories) - {1}:
        groups["cat1-4/"] = _in_categories({1, 2, 3, 4})
        groups["cat1-5/"] = _in_categories({1, 2, 3, 4, 5})
    summary: dict[str, float] = {}
    for prefix, belongs in groups.items():
        chosen = [record for record in records if belongs(record)]
        if chosen:
            summary |= {prefix + name: _mean(map(measure, chosen)) for name, measure in MEASURES.items()}
            summary[prefix + "n"] = len(chosen)
    return summary


def estimate(records: Sequence[Record], measure: str, *, num_samples: int = 10_000, seed: int = 0) -> Interval:
    """The mean of a measure over questions with its 95 % percentile interval.

    The bootstrap (Efron and Tibshirani 1993) draws whole clusters: episodes where there are several, since questions of
    one conversation are alike, else seeds. One cluster says nothing of the spread: its interval has no ends.
    """
    return _bootstrap(_clusters(records), [MEASURES[measure](each) for each in records], num_samples, seed)


def difference(
    records: Sequence[Record],
    base: Sequence[Record],
    measure: str,
    *,
    num_samples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """The mean difference `records - base` of a measure, paired by question, with its interval as `estimate`.

    Raises:
        ValueError: The two do not hold the same questions.
    """
    values = {_key(each): MEASURES[measure](each) for each in base}
    if len(values) != len(records) or any(_key(each) not in values for each in records):
        raise ValueError("the two runs were not asked the same questions; they cannot be paired")
    pairs = [MEASURES[measure](each) - values[_key(each)] for each in records]
    return _bootstrap(_clusters(records), pairs, num_samples, seed)


def _bootstrap(clusters: Sequence[str], values: Sequence[float], num_samples: int, seed: int) -> Interval:
    if not values:
        raise ValueError("there are no records to estimate from")
    names = sorted(set(clusters))
    place = {name: number for number, name in enumerate(names)}
    index = np.array([place[each] for each in clusters])
    total = np.bincount(index, weights=np.asarray(values), minlength=len(names))
    count = np.bincount(index, minlength=len(names))
    mean = float(total.sum() / count.sum())
    if len(names) < 2:
        return Interval(mean, math.nan, math.nan)
    draws = np.random.default_rng(seed).integers(len(names), size=(num_samples, len(names)))
    means = total[draws].sum(axis=1) / count[draws].sum(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Interval(mean, float(low), float(high))


def _clusters(records: Iterable[Record]) -> list[str]:
    records = list(records)
    by_episode = len({record.episode for record in records}) > 1
    return [record.episode if by_episode else str(record.seed) for record in records]


def _key(record: Record) -> tuple[int, str, str]:
    return record.seed, record.episode, record.question


def _is_late(record: Record) -> bool:
    return record.progress > _LATE


def _in_categories(categories: set[int]) -> Callable[[Record], bool]:
    return lambda record: record.category in categories


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(np.fromiter(values, float)))


def mean_of_rows(rows: Sequence[Mapping[str, object]]) -> dict[str, float]:
    """The mean over rows of every number that all rows have."""
    shared = [
        name for name in rows[0] if name != "seed" and all(isinstance(row.get(name), int | float) for row in rows)
    ]
    return {name: _mean(float(row[name]) for row in rows) for name in shared}  # type: ignore[arg-type]
