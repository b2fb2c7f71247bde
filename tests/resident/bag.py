"""An embedder that needs no model: texts that share words lie near each other."""

from __future__ import annotations

import time
from zlib import crc32

import numpy as np

from lamina.embed import base


class Bag:
    """Counts words, hashed into as many places as it has dimensions; waits a while with each batch."""

    def __init__(self, dimension: int = 64, *, batch: int = 4, slow_s: float = 0.0) -> None:
        self.name = f"bag-{dimension}"
        self.dimension = dimension
        self.batch = batch
        self.slow_s = slow_s
        self.slow_question_s = 0.0
        self.embedded = 0

    def embed(self, texts, *, query=False):
        self.embedded += 0 if query else len(texts)
        time.sleep(self.slow_question_s if query else self.slow_s)
        return base.fill(self, texts, self._encode)

    def _encode(self, texts):
        rows = np.zeros((len(texts), self.dimension))
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().split():
                row[crc32(word.strip(".,").encode()) % self.dimension] += 1
        return rows
