"""Static token vectors from the package `wordllama`, read without the package's own code.

A text's vector is the mean of its tokens' vectors: no context, but thousands of texts a second and no
download. Importing the package itself costs half a second (pydantic, requests) and sets up logging for
the whole process; its two data files are all that is needed, and give the same vectors.
"""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING

from lamina import errors
from lamina.embed import base, package, tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from lamina.embed.base import Vectors

DISTRIBUTION = "wordllama"
_TENSOR = "embedding.weight"


class WordLlama:
    """The 256-dimensional model that the package ships."""

    name = "wordllama-256"
    dimension = 256
    batch = 256

    def __init__(self, folder: Path) -> None:
        self._weights = package.present(folder / "weights" / "l2_supercat_256.safetensors", DISTRIBUTION)
        self._words = package.present(
            folder / "tokenizers" / "l2_supercat_tokenizer_config.json", DISTRIBUTION
        )

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Embed; a question is treated as any text."""
        del query
        return base.fill(self, texts, self._encode)

    def weigh(self, text: str, worth: Mapping[str, float]) -> Vectors:
        """Embed a question by its telling words alone, each by its worth."""
        import numpy as np

        total = np.zeros((1, self.dimension), dtype=np.float32)
        for word, value in worth.items():
            ids = self._tokenizer.encode(base.clean(word), add_special_tokens=False).ids
            total += value * self._table.take(ids, axis=0, mode="clip").sum(axis=0)
        row: Vectors = base.normalise(total)[0] if total.any() else self.embed([text])[0]
        return row

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return tokens.load(self._words)

    @cached_property
    def _table(self) -> Vectors:
        table = read_tensor(self._weights)
        if table.ndim != 2 or table.shape[1] != self.dimension:
            raise _damaged(self._weights, f"its vectors have the shape {table.shape}")
        return table

    def _encode(self, texts: list[str]) -> Vectors:
        import numpy as np

        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            # One by one: the batch call starts threads, whose locks warn in every later fork.
            ids = self._tokenizer.encode(text, add_special_tokens=False).ids
            if ids:
                self._table.take(ids, axis=0, mode="clip").mean(axis=0, out=row)
        return rows


def find() -> WordLlama:
    """Return the embedder of the installed package. Raises EmbedderUnavailable."""
    return WordLlama(package.folder("wordllama", DISTRIBUTION))


def read_tensor(path: Path) -> NDArray[np.float32]:
    """Read the token vectors from a safetensors file: header length, JSON header, raw numbers."""
    import numpy as np

    try:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(min(size, path.stat().st_size)))[_TENSOR]
            kind = {"F16": "<f2", "F32": "<f4"}[header["dtype"]]
            start, end = header["data_offsets"]
            file.seek(8 + size + start)
            numbers = np.frombuffer(file.read(end - start), dtype=kind)
        return numbers.reshape(header["shape"]).astype(np.float32)
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise _damaged(path, str(fault)) from fault


def _damaged(path: Path, why: str) -> errors.EmbedderUnavailable:
    return errors.EmbedderUnavailable(
        f"{path} can't be read as token vectors: {why}",
        f"run `pip install --force-reinstall {DISTRIBUTION}`, or choose another embedder",
    )
