"""What a search engine is and what it reads: for type checkers and for whoever writes an engine."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from lamina.index.base import Answer, Changes, Query, Reading, Stamp


class Source(Protocol):
    """Where an engine reads the truth: files with stamps, and the documents in each."""

    def stamps(self, only: Collection[str] | None = None) -> dict[str, Stamp]:
        """List every indexable file by its relative path, or those of `only` that are there."""

    def read(self, rel: str) -> Reading:
        """Read one file; OSError and LaminaError are that file's problem and stop nothing else."""

    def checksum(self, rel: str) -> int:
        """Return the checksum of the file's bytes alone, cheaper than `read`."""


class Index(Protocol):
    """A search engine over a source. The embedded one is the default."""

    def refresh(self, source: Source, touched: Collection[str] | None = None) -> Changes:
        """Take in what changed since the last refresh; cheap when nothing did.

        A writer names the files that it `touched` (written or deleted), and no other is looked at.
        """

    def rebuild(self, source: Source) -> Changes:
        """Build everything anew; the answers stay the same."""

    def search(self, query: Query) -> Answer:
        """Answer from what is indexed; no text of a query raises."""

    def check(self, source: Source) -> list[str]:
        """Compare with the source and tell each difference; empty when all is well."""

    def close(self) -> None:
        """Let go of files; a closed index is not used again."""
