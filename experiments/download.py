"""`python -m experiments.download NAME`: fetch a public data set by URL, checked by its sha256."""

import argparse
import hashlib
import os
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.progress import DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from envs.tasks import locomo

__all__ = ["SOURCES", "Source", "fetch", "main"]

_CHUNK_BYTES = 1 << 16


class Source(NamedTuple):
    """Where a data set comes from.

    Attributes:
        url: Address of the file, at a fixed commit.
        sha256: Its checksum, lower-case hexadecimal.
        path: Where it goes below the data folder.
        licence: What its authors allow.
    """

    url: str
    sha256: str
    path: str
    licence: str


SOURCES = {
    "locomo": Source(
        "https://raw.githubusercontent.com/snap-research/locomo/3eb6f2c585f5e1699204e3c3bdf7adc5c28cb376/data/locomo10.json",
        locomo.SHA256,
        "locomo/locomo10.json",
        "CC BY-NC 4.0",
    )
}
"""The data sets that can be fetched, by name."""


def fetch(source: Source, folder: Path, *, timeout: float = 20.0) -> bool:
    """Put a data set into a folder; the file appears whole and checked, or not at all.

    Args:
        source: What to fetch.
        folder: The data folder; it is made where it is missing.
        timeout: Seconds to wait for the server's next bytes.

    Returns:
        Whether it was fetched; False if the right file was there already, in its place or right in the folder.

    Raises:
        FileExistsError: Another file has its place; it is left alone.
        OSError: The server cannot be reached, or the folder not be written.
        ValueError: The server sent another file than the published one.
    """
    target = folder / source.path
    flat = folder / target.name
    target = flat if flat.exists() and not target.exists() else target
    if target.exists():
        found = hashlib.sha256(target.read_bytes()).hexdigest()
        if found != source.sha256:
            raise FileExistsError(
                f"{target} has sha256 {found}, the published file has {source.sha256}; "
                "it was left alone: move it away and run this again"
            )
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    partial = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            found = _copy(source.url, file.write, timeout)
        if found != source.sha256:
            raise ValueError(f"{source.url} has sha256 {found}, expected {source.sha256}; nothing was kept")
        # mkstemp makes files private; data is not.
        partial.chmod(0o644)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return True


def _copy(url: str, write: Callable[[bytes], object], timeout: float) -> str:
    """Hand the bytes at `url` to `write`; returns their sha256."""
    digest = hashlib.sha256()
    columns = (TextColumn("{task.description}"), DownloadColumn(), TransferSpeedColumn())
    with (
        urllib.request.urlopen(url, timeout=timeout) as response,
        Progress(*columns, console=Console(stderr=True), transient=True) as progress,
    ):
        size = response.headers.get("Content-Length")
        task = progress.add_task("download", total=int(size) if size else None)
        while chunk := response.read(_CHUNK_BYTES):
            write(chunk)
            digest.update(chunk)
            progress.update(task, advance=len(chunk))
    return digest.hexdigest()


def main(arguments: Sequence[str] | None = None) -> int:
    """Fetch what the command line names; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m experiments.download", description=__doc__)
    parser.add_argument("name", choices=sorted(SOURCES), help="the data set")
    parser.add_argument(
        "--data-dir",
        type=Path,
        default=Path(os.environ.get("HEBBGYM_DATA") or "data"),
        help="where data sets lie (default: HEBBGYM_DATA, else ./data)",
    )
    options = parser.parse_args(arguments)
    source = SOURCES[options.name]
    try:
        is_new = fetch(source, options.data_dir)
    except (OSError, ValueError) as error:
        print(f"download: {options.name} is not to be had: {error}", file=sys.stderr)
        return 1
    print(f"{options.name} {'was fetched into' if is_new else 'is in'} {options.data_dir} ({source.licence})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
