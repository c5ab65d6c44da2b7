"""What every experiment's entry point shares: Hydra's run folder, progress, and errors a user can act on."""

import functools
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import InstantiationException
from omegaconf import DictConfig
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

__all__ = ["entry_point", "progress_bar", "run_directory"]


def entry_point(name: str) -> Callable[[Callable[[DictConfig], None]], Callable[[], None]]:
    """Make a function of a configuration the main function of the experiment `conf/NAME.yaml`.

    Data or a package that is missing, and values that a part refuses, end in one line instead of a traceback, which
    HYDRA_FULL_ERROR=1 brings back.
    """

    def decorate(function: Callable[[DictConfig], None]) -> Callable[[], None]:
        @functools.wraps(function)
        def guarded(config: DictConfig) -> None:
            # Libraries below are chatty on the level INFO.
            for noisy in ("faiss", "httpx", "sentence_transformers", "bm25s"):
                logging.getLogger(noisy).setLevel(logging.WARNING)
            try:
                function(config)
            except (FileNotFoundError, ModuleNotFoundError, ValueError) as error:
                if os.environ.get("HYDRA_FULL_ERROR") == "1":
                    raise
                sys.exit(f"{name}: {error}")
            except InstantiationException as error:
                # Hydra puts its own text round the part's; the part's says what to do.
                cause = error.__cause__ or error
                if isinstance(cause, FileNotFoundError | ModuleNotFoundError | ValueError):
                    sys.exit(f"{name}: {cause}")
                raise

        main: Callable[[], None] = hydra.main(config_path="pkg://conf", config_name=name, version_base="1.3")(guarded)
        return main

    return decorate


def run_directory() -> Path:
    """The folder of the present Hydra run."""
    return Path(HydraConfig.get().runtime.output_dir)


@contextmanager
def progress_bar(description: str, total: int) -> Iterator[Callable[[str], None]]:
    """Show progress on the error stream; yields a function that counts one step done and says what it was."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(description, total=total)

        def advance(what: str) -> None:
            progress.update(task, advance=1, description=f"{description}: {what}")

        yield advance
