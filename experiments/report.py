"""What a run leaves in its folder: results.json, results.csv, Markdown and LaTeX tables, plots."""

import csv
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from experiments.scores import Interval

__all__ = ["Table", "git_commit", "plot_bars", "show", "versions", "write_results", "write_table"]

_ROOT = Path(__file__).parent.parent
_PACKAGES = ("hebbgym", "numpy", "numba", "faiss-cpu", "bm25s", "gymnasium", "torch", "sentence-transformers")

Table = Sequence[Mapping[str, str]]
"""Rows of text cells; the first row's keys are the columns."""


def versions() -> dict[str, str]:
    """Versions of the packages that a number depends on; a package that is not installed is left out."""
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def git_commit() -> str | None:
    """The commit of the code, with `-dirty` behind it where files were changed; None outside a repository."""
    try:
        done = subprocess.run(
            ["git", "-C", str(_ROOT), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def write_results(
    directory: Path,
    *,
    experiment: str,
    config: Mapping[str, Any],
    seeds: Sequence[int],
    metrics: Mapping[str, float],
    rows: Sequence[Mapping[str, Any]],
) -> None:
    """Write results.json and results.csv; equal runs give equal bytes.

    Args:
        directory: The run's folder.
        experiment: Name of the experiment.
        config: Resolved configuration.
        seeds: Seeds of the runs.
        metrics: Numbers named `group/name`.
        rows: One mapping per agent or variant and seed; rows may differ in their columns.
    """
    results = {
        "experiment": experiment,
        "config": config,
        "seeds": list(seeds),
        "git": git_commit(),
        "versions": versions(),
        "metrics": dict(metrics),
        "rows": [dict(row) for row in rows],
    }
    (directory / "results.json").write_text(json.dumps(results, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    with (directory / "results.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(
            file, list(dict.fromkeys(column for row in rows for column in row)), lineterminator="\n"
        )
        writer.writeheader()
        writer.writerows(rows)


def write_table(directory: Path, table: Table, *, name: str = "table", caption: str = "") -> None:
    """Write a table as Markdown and as LaTeX (booktabs)."""
    columns = list(table[0])
    rule = "|".join(["---"] + ["---:"] * (len(columns) - 1))
    lines = [f"| {' | '.join(columns)} |", f"|{rule}|", *(f"| {' | '.join(row.values())} |" for row in table)]
    text = "\n".join([caption, "", *lines] if caption else lines)
    (directory / f"{name}.md").write_text(text + "\n", encoding="utf-8")
    body = [" & ".join(map(_latex, row)) + r" \\" for row in (columns, *(row.values() for row in table))]
    latex = [
        r"\begin{table}",
        rf"\caption{{{_latex(caption)}}}",
        rf"\begin{{tabular}}{{l{'r' * (len(columns) - 1)}}}",
        r"\toprule",
        body[0],
        r"\midrule",
        *body[1:],
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    (directory / f"{name}.tex").write_text("\n".join(latex) + "\n", encoding="utf-8")


def show(table: Table, *, title: str) -> None:
    """Print a table to the screen."""
    from rich.console import Console
    from rich.table import Table as RichTable

    drawn = RichTable(title=title)
    for number, column in enumerate(table[0]):
        drawn.add_column(column, justify="right" if number else "left")
    for row in table:
        drawn.add_row(*row.values())
    # A pipe has no width of its own; rather than fold a number, print the line whole.
    Console(width=None if sys.stdout.isatty() else 200).print(drawn)


def plot_bars(directory: Path, name: str, title: str, bars: Mapping[str, Interval], label: str) -> Path:
    """Draw estimates with their intervals as PNG and SVG; returns the PNG.

    Args:
        directory: The run's folder.
        name: File name without ending.
        title: Above the plot.
        bars: Estimate by name, drawn from top to bottom.
        label: Of the axis.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # A fixed salt and no date, so that equal numbers give equal bytes.
    with rc_context({"svg.hashsalt": "hebbgym"}):
        figure = Figure(figsize=(7, 0.8 + 0.35 * len(bars)), dpi=120, layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        places = range(len(bars))
        for place, each in zip(places, bars.values(), strict=True):
            axes.plot([each.low, each.high], [place, place], color="0.6", linewidth=3, solid_capstyle="butt")
            axes.plot(each.mean, place, "o", color="C0")
        axes.set(yticks=list(places), yticklabels=list(bars), xlabel=label, title=title)
        axes.invert_yaxis()
        axes.grid(axis="x", alpha=0.3)
        figure.savefig(directory / f"{name}.svg", metadata={"Date": None})
        figure.savefig(directory / f"{name}.png", metadata={"Software": None})
    return directory / f"{name}.png"


def _latex(text: str) -> str:
    escaped = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(escaped.get(each, f"\\{each}" if each in "_%&#{}$" else each) for each in text)
