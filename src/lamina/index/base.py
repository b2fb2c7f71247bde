"""What every search engine is given and gives back.

The index is derived: an engine may drop all it holds and build it again from its source with the
same answers. Engines find and score by what stands in the text; trust, freshness, importance and
scope are weighed afterwards, by `pipeline.recall`, for all engines alike.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    import datetime as dt

CURRENT = frozenset({"approved", "candidate"})
TRUSTS = frozenset({"approved", "candidate", "superseded", "forgotten"})


Stamp = tuple[int, int, int, int]
"""What a file looked like from outside: mtime in ns, size, inode, ctime in ns. Equal ones: not read again."""


class Document(NamedTuple):
    """One entry as the engines see it; `scope` is a scope's name, `file` relative to the store.

    `more` is text that finds the entry without being part of it: earlier ids, its quote, unknown fields.
    """

    id: str
    scope: str
    layer: str
    topic: str
    heading: str
    text: str
    file: str
    line: int
    date: dt.date | None = None
    importance: int = 3
    trust: str = "approved"
    volatility: str = ""
    verified: dt.date | None = None
    valid_until: dt.date | None = None
    source: str = ""
    branch: str = ""
    more: str = ""


class Reading(NamedTuple):
    """The documents of one file with a checksum of the bytes that they were read from."""

    documents: Sequence[Document]
    checksum: int


class Source(Protocol):
    """Where an engine reads the truth: files with stamps, and the documents in each."""

    def stamps(self, only: Collection[str] | None = None) -> dict[str, Stamp]:
        """List every indexable file by its relative path, or those of `only` that are there."""

    def read(self, rel: str) -> Reading:
        """Read one file; OSError and LaminaError are that file's problem and stop nothing else."""

    def checksum(self, rel: str) -> int:
        """Return the checksum of the file's bytes alone, cheaper than `read`."""


class Query(NamedTuple):
    """A question with its filters; an empty filter lets everything through.

    `trust` holds the states that may be found. `branches` names the branches whose unmerged entries
    may be found (None: all); entries without a branch always may. `limit` is the number of matches
    wanted from an engine, in its own order.
    """

    text: str
    limit: int = 10
    scopes: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    topic: str = ""
    trust: frozenset[str] = CURRENT
    since: dt.date | None = None
    until: dt.date | None = None
    branches: frozenset[str] | None = frozenset()


class Match(NamedTuple):
    """One document found; a higher score is better, comparable within one answer only."""

    document: Document
    score: float
    parts: Mapping[str, float] = {}


class Answer(NamedTuple):
    """Matches, best first with a stable order among equals, and the engines that looked.

    `terms` are the words that were looked for, `dropped` those left out because they say too little;
    `notes` tell what a person should know (an engine that was missing, say).
    """

    matches: Sequence[Match] = ()
    engines: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Changes(NamedTuple):
    """What a refresh did: numbers of files, why all was built anew ("" if it was not), and problems.

    `busy` is true when another process was writing for too long, so the answers may be a moment old.
    """

    added: int = 0
    changed: int = 0
    removed: int = 0
    documents: int = 0
    rebuilt: str = ""
    problems: tuple[str, ...] = ()
    busy: bool = False


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
