"""Tracking: numbers, tables and figures to a JSON Lines file always, and to Weights & Biases where asked."""

import json
import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

__all__ = ["JsonlTracker", "NoTracker", "Tracker", "WandbTracker"]

log = logging.getLogger(__name__)


class Tracker(Protocol):
    """Receives what a run reports. Used as a context manager, so that it is finished on an error too."""

    def __enter__(self) -> "Tracker": ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Finish; a run that ends by an error is marked as failed."""
        ...

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        """Report numbers named `group/name` at a step."""
        ...

    def table(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Report a table; rows may differ in their columns."""
        ...

    def figure(self, name: str, path: Path) -> None:
        """Report a picture."""
        ...


class NoTracker:
    """Reports nowhere."""

    def __enter__(self) -> "Tracker":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to finish."""

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        """Drop."""

    def table(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Drop."""

    def figure(self, name: str, path: Path) -> None:
        """Drop."""


class JsonlTracker(NoTracker):
    """One JSON object a line in `metrics.jsonl`, and whatever another tracker does besides."""

    def __init__(self, directory: Path, also: Tracker) -> None:
        self._path, self._also = directory / "metrics.jsonl", also

    def __enter__(self) -> "Tracker":
        self._also.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Finish the other tracker."""
        self._also.__exit__(kind, error, trace)

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        """Append a line."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"step": step, **metrics}) + "\n")
        self._also.log(metrics, step)

    def table(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Pass on; the run's folder holds the table already."""
        self._also.table(name, rows)

    def figure(self, name: str, path: Path) -> None:
        """Pass on; the run's folder holds the figure already."""
        self._also.figure(name, path)


class WandbTracker(NoTracker):
    """A Weights & Biases run, offline unless asked: `wandb sync DIR` sends it later.

    A server that cannot be reached costs at most `init_timeout` seconds; the run then goes on offline.
    """

    def __init__(
        self,
        directory: Path,
        run_config: Mapping[str, Any],
        *,
        project: str = "hebbgym",
        mode: str = "offline",
        group: str | None = None,
        name: str | None = None,
        init_timeout: float = 15.0,
    ) -> None:
        """Describe the run; it starts when the tracker is entered.

        Args:
            directory: Folder under which W&B writes.
            run_config: Resolved configuration.
            project: W&B project.
            mode: `offline`, `online` or `disabled`.
            group: Joins the runs of one ablation.
            name: Name of the run.
            init_timeout: Seconds to wait for the server.
        """
        if mode not in ("offline", "online", "disabled"):
            raise ValueError(f"mode {mode!r} is unknown; choose 'offline', 'online' or 'disabled'")
        self._directory, self._mode, self._timeout = directory, mode, init_timeout
        self._options: dict[str, Any] = {"project": project, "group": group, "name": name, "config": dict(run_config)}
        self._run: Any = None

    def __enter__(self) -> "Tracker":
        import wandb

        os.environ.setdefault("WANDB_SILENT", "true")
        settings = wandb.Settings(init_timeout=self._timeout, console="off")
        start: dict[str, Any] = {"dir": str(self._directory), "reinit": "finish_previous", **self._options}
        try:
            self._run = wandb.init(settings=settings, **start, mode=self._mode)  # type: ignore[arg-type]
        except Exception as error:
            if self._mode != "online":
                raise
            log.warning("W&B could not be reached (%s); this run is kept offline", type(error).__name__)
            self._run = wandb.init(mode="offline", settings=settings, **start)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Finish the run, with exit code 1 where it failed."""
        if self._run is not None:
            self._run.finish(exit_code=0 if kind is None else 1)
            self._run = None

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        """Log numbers."""
        self._run.log(dict(metrics), step=step)

    def table(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Log a table."""
        import wandb

        columns: list[Any] = list(dict.fromkeys(column for row in rows for column in row))
        self._run.log({name: wandb.Table(columns=columns, data=[[row.get(each) for each in columns] for row in rows])})

    def figure(self, name: str, path: Path) -> None:
        """Log a picture."""
        import wandb

        self._run.log({name: wandb.Image(str(path))})
