"""What the parts of the store need of a write batch, told without importing it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Protocol


class Rooted(Protocol):
    """What has a root folder: a store."""

    @property
    def root(self) -> Path:
        """Its folder."""
        ...


class Batch(Protocol):
    """What changing these files needs of a write batch."""

    @property
    def store(self) -> Rooted:
        """The store that is written to."""
        ...

    @property
    def at(self) -> datetime:
        """The time of the batch."""
        ...

    def text(self, rel: str) -> str | None:
        """Return a file's text as this batch sees it, or None."""
        ...

    def edit(self, rel: str, fn: Callable[[str | None], str | None]) -> None:
        """Change a file's text by a function, which may be applied again."""
        ...
