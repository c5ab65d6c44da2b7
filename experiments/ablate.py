"""`python -m experiments.ablate`: one part of the memory removed or replaced at a time, paired, with intervals."""

from collections.abc import Mapping, Sequence

from hydra import compose
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from experiments import report
from experiments.app import entry_point, progress_bar, run_directory
from experiments.build import build_tracker, resolved
from experiments.evaluate import label_of, measured_rows, num_episodes, run_records
from experiments.scores import MEASURES, Interval, Record, difference, estimate

__all__ = ["main"]


@entry_point("ablate")
def main(config: DictConfig) -> None:
    """Run every variant, write the run's folder and print the table of differences."""
    directory = run_directory()
    variants = {
        str(name): _variant(list(overrides)) for name, overrides in config.variants.items() if overrides is not None
    }
    if config.base not in variants:
        raise ValueError(f"base {config.base!r} is none of the variants {sorted(variants)}")
    if unknown := set(config.measures) - set(MEASURES):
        raise ValueError(f"measures {sorted(unknown)} are unknown; choose from {sorted(MEASURES)}")
    group = f"ablate-{directory.name}"
    records: dict[str, list[Record]] = {}
    with progress_bar("ablate", len(variants) * num_episodes(config)) as advance:
        for name, variant in variants.items():
            folder = directory / "variants" / name
            folder.mkdir(parents=True, exist_ok=True)
            with build_tracker(variant, folder, group=group, name=name) as tracker:
                records[name] = run_records(variant, tracker, lambda what, name=name: advance(f"{name}, {what}"))  # type: ignore[misc]
    measures = [str(measure) for measure in config.measures]
    base = records[config.base]
    estimates = {name: {each: estimate(of, each) for each in measures} for name, of in records.items()}
    differences = {
        name: {each: difference(of, base, each) for each in measures}
        for name, of in records.items()
        if name != config.base
    }
    rows = [
        {"variant": name, **row} for name, of in records.items() for row in measured_rows(label_of(variants[name]), of)
    ]
    with build_tracker(config, directory, group=group, name="summary") as tracker:
        metrics = _metrics(estimates, differences)
        report.write_results(
            directory,
            experiment=config.experiment_name,
            config=resolved(config),
            seeds=config.seeds,
            metrics=metrics,
            rows=rows,
        )
        label = label_of(config)
        title = (
            f"Ablation on {label['task']} ({label['split']}, {label['protocol']}), {len(config.seeds)} seed(s), "
            f"n = {len(base)} questions; difference to {config.base} with 95 % interval"
        )
        table = _table(str(config.base), measures, estimates, differences)
        report.write_table(directory, table, caption=title)
        tracker.log(metrics, step=0)
        tracker.table("results", rows)
        for measure in measures:
            bars = {name: each[measure] for name, each in differences.items()}
            safe = measure.replace("@", "_at_")
            plot = report.plot_bars(directory, safe, title, bars, f"difference in {measure}")
            tracker.figure(safe, plot)
    report.show(table, title=title)
    print(f"report and plots: {directory}")
    if config.tracker.get("mode") == "offline":
        folders = " ".join(f"{directory}/{each}wandb/offline-run-*" for each in ("", "variants/*/"))
        print(f"to send the W&B runs to your account: wandb sync {folders}")


def _variant(overrides: Sequence[str]) -> DictConfig:
    """The configuration of this run with more overrides."""
    hydra = HydraConfig.get()
    return compose(hydra.job.config_name, [*hydra.overrides.task, *overrides])


def _metrics(
    estimates: Mapping[str, Mapping[str, Interval]], differences: Mapping[str, Mapping[str, Interval]]
) -> dict[str, float]:
    metrics: dict[str, float] = {}
    for group, intervals_of in (("estimate", estimates), ("difference", differences)):
        for name, intervals in intervals_of.items():
            for measure, interval in intervals.items():
                metrics |= interval.metrics(f"{group}/{name}/{measure}")
    return metrics


def _table(
    base: str,
    measures: Sequence[str],
    estimates: Mapping[str, Mapping[str, Interval]],
    differences: Mapping[str, Mapping[str, Interval]],
) -> report.Table:
    table = []
    for name, intervals in estimates.items():
        cells = {"variant": name}
        for measure in measures:
            cells[measure] = f"{intervals[measure].mean:.3f}"
            cells[f"change in {measure}"] = "" if name == base else differences[name][measure].text("+")
        table.append(cells)
    return table


if __name__ == "__main__":
    main()
