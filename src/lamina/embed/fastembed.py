"""Any text model that the package `fastembed` knows; the package downloads it at first use."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from lamina import errors
from lamina.embed import base, package

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from lamina.embed.base import Vectors

DISTRIBUTION = "fastembed"


class FastEmbed:
    """One model, loaded when it is first used; kept below `cache` if given."""

    batch = 32

    def __init__(self, model: str, cache: Path | None, threads: int) -> None:
        self.name = f"fastembed/{model}"
        self._name = model
        self._cache = cache
        self._threads = threads

    @cached_property
    def dimension(self) -> int:
        """The length of the model's vectors, from the package's list or from a first vector."""
        for known in self._package.TextEmbedding.list_supported_models():
            if str(known.get("model", "")).lower() == self._name.lower():
                return int(known["dim"])
        return int(self._encode(["a"], query=False).shape[1])

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Embed with the package's own treatment of questions and passages."""
        return base.fill(self, texts, lambda kept: self._encode(kept, query=query))

    @cached_property
    def _package(self) -> Any:
        return package.load("fastembed", DISTRIBUTION)

    @cached_property
    def _model(self) -> Any:
        cache = str(self._cache / "fastembed") if self._cache else None
        try:
            return self._package.TextEmbedding(self._name, cache_dir=cache, threads=self._threads)
        except (ValueError, OSError, RuntimeError) as fault:
            raise errors.EmbedderUnavailable(
                f"fastembed can't load {self._name}: {fault}",
                "check the model's name, and the network for the first download",
            ) from fault

    def _encode(self, texts: list[str], *, query: bool) -> NDArray[np.floating]:
        import numpy as np

        make = self._model.query_embed if query else self._model.passage_embed
        return np.stack(list(make(texts)))


def find(model: str, cache: Path | None, threads: int) -> FastEmbed:
    """Return the embedder of the installed package. Raises EmbedderUnavailable."""
    package.folder("fastembed", DISTRIBUTION)
    return FastEmbed(model, cache, threads)
