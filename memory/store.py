"""One file for the state of a memory: arrays and plain values in an npz archive, never a pickle.

A state is a tree of dictionaries, lists, numbers, strings, None and arrays. The archive holds each array under a number
and a header in JSON with the tree, the format's version and what kind of thing it is the state of.
"""

import hashlib
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["VERSION", "digest", "read", "write"]

VERSION = 1
"""Version of the format; a newer one is refused."""

_FORMAT, _HEADER, _ARRAY = "hebbgym", "header", "__array__"

Array = NDArray[Any]


def write(path: str | Path, kind: str, state: Mapping[str, Any]) -> None:
    """Write a state; the file is replaced as a whole, or stays as it was.

    Args:
        path: The file.
        kind: What the state is of, e.g. `memory`; `read` asks for the same.
        state: The tree.
    """
    path = Path(path)
    header, arrays = _encoded(kind, state)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    partial = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, allow_pickle=False, **{_HEADER: np.frombuffer(header, np.uint8)}, **arrays)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes files private; the umask says what this one should be.
        umask = os.umask(0)
        os.umask(umask)
        partial.chmod(0o666 & ~umask)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def read(path: str | Path, kind: str) -> dict[str, Any]:
    """Read a state that `write` wrote.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: The file is broken, is no state, is one of another kind or of a newer version, or holds objects.
    """
    path = Path(path)
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.namelist()
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError) as error:
        raise ValueError(f"{path} is no state of HebbGym, or a broken one: {error}") from None
    header = _header(path, arrays.pop(_HEADER, None))
    if header["kind"] != kind:
        raise ValueError(f"{path} holds the state of another kind of thing, {header['kind']!r}, not {kind!r}")
    if unknown := {f"{each}.npy" for each in header["arrays"]} ^ (set(entries) - {f"{_HEADER}.npy"}):
        raise ValueError(f"{path} and its header disagree about the arrays {sorted(unknown)}; it is broken")
    state: dict[str, Any] = _decoded(header["state"], arrays)
    return state


def digest(kind: str, state: Mapping[str, Any]) -> str:
    """SHA-256 of a state, equal for equal states, in hexadecimal."""
    header, arrays = _encoded(kind, state)
    sha = hashlib.sha256(header)
    for array in arrays.values():
        sha.update(f"{array.dtype.str}{array.shape}".encode())
        sha.update(array.tobytes())
    return sha.hexdigest()


def _header(path: Path, content: Array | None) -> dict[str, Any]:
    try:
        header = json.loads(content.tobytes()) if content is not None else {}
        found = header.get("format"), header.get("version")
    except (ValueError, AttributeError):
        header, found = {}, (None, None)
    if found[0] != _FORMAT or not isinstance(found[1], int):
        raise ValueError(f"{path} is the file of another program: its header names the format {found[0]!r}")
    if found[1] > VERSION:
        raise ValueError(f"{path} has version {found[1]}, this program reads up to {VERSION}; install a newer HebbGym")
    return dict(header)


def _encoded(kind: str, state: Mapping[str, Any]) -> tuple[bytes, dict[str, Array]]:
    arrays: dict[str, Array] = {}

    def encode(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            if value.dtype.hasobject:
                raise TypeError("an array of objects cannot be stored")
            arrays[name := f"a{len(arrays)}"] = value
            return {_ARRAY: name}
        if isinstance(value, Mapping):
            return {str(key): encode(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [encode(each) for each in value]
        return value.item() if isinstance(value, np.generic) else value

    tree = encode(state)
    header = {"format": _FORMAT, "version": VERSION, "kind": kind, "arrays": list(arrays), "state": tree}
    return json.dumps(header, ensure_ascii=True).encode(), arrays


def _decoded(value: Any, arrays: Mapping[str, Array]) -> Any:
    if isinstance(value, dict):
        if set(value) == {_ARRAY}:
            return arrays[value[_ARRAY]]
        return {key: _decoded(each, arrays) for key, each in value.items()}
    return [_decoded(each, arrays) for each in value] if isinstance(value, list) else value
