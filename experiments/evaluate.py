"""`python -m experiments.evaluate`: one agent on one task, with intervals and by category."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from omegaconf import DictConfig

from experiments import report
from experiments.app import entry_point, progress_bar, run_directory
from experiments.build import build, build_tracker, resolved
from experiments.loop import live
from experiments.scores import Interval, Record, estimate, mean_of_rows, summarise
from experiments.tracking import Tracker

__all__ = ["label_of", "main", "measured_rows", "num_episodes", "run_records"]

_SHOWN = ("recall@5", "recall@10", "ndcg@5", "ndcg@10", "mrr", "tokens", "n")


def run_records(config: DictConfig, tracker: Tracker, advance: Callable[[str], None]) -> list[Record]:
    """Run all seeds of a configuration; reports what each seed came to."""
    env, agent = build(config)
    records: list[Record] = []
    for number, seed in enumerate(config.seeds):
        start = time.perf_counter()
        of_seed = live(
            env,
            agent,
            [seed],
            limit_questions=config.limit_questions,
            on_episode=lambda seed, episode: advance(f"{episode}, seed {seed}"),
        )
        seconds = time.perf_counter() - start
        summary = {f"retrieval/{name}": value for name, value in summarise(of_seed).items() if "/" not in name}
        tracker.log({**summary, "time/questions_per_second": len(of_seed) / seconds}, step=number)
        records += of_seed
    return records


def num_episodes(config: DictConfig) -> int:
    """How many episodes `run_records` will run."""
    return len(config.seeds) * len(build(config).env.task.episodes)


def label_of(config: DictConfig) -> dict[str, Any]:
    """The columns that say what a row is of."""
    task = config.task
    name = str(task["_target_"]).rpartition(".")[2].lower()
    return {
        "agent": config.agent_name,
        "task": name,
        "split": task.get("split", "generated"),
        "protocol": task.get("protocol", "prequential"),
    }


def measured_rows(label: Mapping[str, Any], records: Sequence[Record]) -> list[dict[str, Any]]:
    """One row per seed: the label, the seed, and all means."""
    seeds = list(dict.fromkeys(record.seed for record in records))
    return [
        {**label, "seed": seed, **summarise([record for record in records if record.seed == seed])} for seed in seeds
    ]


@entry_point("evaluate")
def main(config: DictConfig) -> None:
    """Evaluate, write the run's folder and print the table."""
    directory, label = run_directory(), label_of(config)
    with (
        build_tracker(config, directory, name=config.agent_name) as tracker,
        progress_bar(str(config.agent_name), num_episodes(config)) as advance,
    ):
        records = run_records(config, tracker, advance)
        rows = measured_rows(label, records)
        intervals = {name: estimate(records, name) for name in ("recall@5", "ndcg@5", "recall@10", "ndcg@10", "mrr")}
        metrics = {name if "/" in name else f"retrieval/{name}": value for name, value in mean_of_rows(rows).items()}
        for name, interval in intervals.items():
            metrics |= interval.metrics(f"retrieval/{name}")
        report.write_results(
            directory,
            experiment=config.experiment_name,
            config=resolved(config),
            seeds=config.seeds,
            metrics=metrics,
            rows=rows,
        )
        title = f"{label['agent']} on {label['task']} ({label['split']}, {label['protocol']}), {len(rows)} seed(s)"
        report.write_table(directory, _table(mean_of_rows(rows)), caption=title)
        plot = report.plot_bars(directory, "measures", title, intervals, "mean over questions, 95 % interval")
        tracker.table("results", rows)
        tracker.figure("measures", plot)
    report.show(_table(mean_of_rows(rows), intervals), title=title)
    print(f"results: {directory}")


def _table(means: Mapping[str, float], intervals: Mapping[str, Interval] | None = None) -> report.Table:
    groups = ["", *dict.fromkeys(name.rpartition("/")[0] + "/" for name in means if "/" in name)]
    table = []
    for group in groups:
        cells = {"questions": group.rstrip("/") or "all"}
        for name in _SHOWN:
            value = means.get(group + name)
            cells[name] = "" if value is None else f"{value:.0f}" if name in ("tokens", "n") else f"{value:.3f}"
            if intervals and not group and name in intervals:
                cells[name] = intervals[name].text()
        table.append(cells)
    return table


if __name__ == "__main__":
    main()
