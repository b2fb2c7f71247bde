"""Embedders for tests: quick, and alike for texts that share words or a group of words."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from lamina.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from numpy.typing import NDArray

GROUPS = ("car vehicle automobile", "gateway proxy", "怪我 負傷", "port socket")
_GROUP = {word: f"group {n}" for n, group in enumerate(GROUPS) for word in group.split()}


class Hashed:
    """Adds up a vector of each word; the words of a group have one vector."""

    def __init__(
        self, dimension: int = 64, name: str = "hashed", batch: int = 16, pause_s: float = 0.0
    ) -> None:
        self.name = f"{name}-{dimension}"
        self.dimension = dimension
        self.batch = batch
        self.embedded: list[str] = []
        self._pause_s = pause_s

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        if not query:
            self.embedded += texts
        time.sleep(self._pause_s)
        rows = np.stack([self._vector(text) for text in texts]) if texts else np.zeros((0, self.dimension))
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        return (rows / np.where(length > 0, length, 1)).astype(np.float32)

    def _vector(self, text: str) -> NDArray[np.float64]:
        total = np.zeros(self.dimension)
        for word in text.lower().split():
            seed = crc32(f"{self.name}{_GROUP.get(word, word)}".encode("utf-8", "replace"))
            total += np.random.default_rng(seed).standard_normal(self.dimension)
        return total


class Broken(Hashed):
    """An embedder whose model can't be loaded."""

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        del texts, query
        raise EmbedderUnavailable("the model is missing", "install it")
