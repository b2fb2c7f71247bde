"""An embedder that is fast enough to embed a million texts in a benchmark.

Its vectors have the dimension of the built-in embedder's and depend on the words of a text alone, so texts
that share words are alike. What it makes is as costly to store and to compare as a real model's.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from zlib import crc32

import numpy as np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

_WORDS = 8_192


class StandIn:
    """Adds up a vector of each word."""

    name = "benchmark"
    dimension = 768
    batch = 512

    @cached_property
    def _table(self) -> NDArray[np.float32]:
        return np.random.default_rng(7).standard_normal((_WORDS, self.dimension), dtype=np.float32)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Return a row of length 1 for each text."""
        del query
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            words = [crc32(word.encode()) % _WORDS for word in text.lower().split()]
            if words:
                self._table.take(words, axis=0).sum(axis=0, out=row)
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        scaled: NDArray[np.float32] = rows / np.where(length > 0, length, 1)
        return scaled
