"""The semantic core as the stages of the project's memory see it: facts go in, outcomes come out.

A core never raises for a failure of its own: whatever goes wrong with one fact is that fact's outcome, so a
digest stands whatever becomes of the core.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

BUILTIN = "builtin"


class Fact(NamedTuple):
    """One item as the core gets it. `hash` is what the digest says it is, `source` its first reference."""

    content: str
    hash: str
    source: str
    item: str
    kind: str
    confidence: float | None = None


class Promote(NamedTuple):
    """Approve what was ingested."""

    hash: str
    confidence: float


class Update(NamedTuple):
    """Put new words in the place of an approved record."""

    old: str
    fact: Fact


class Supersede(NamedTuple):
    """Take a record out of force."""

    hash: str
    by: str = ""
    reason: str = ""


class Purge(NamedTuple):
    """Remove the content of a record that is out of force, or was never approved."""

    hash: str


Operation = Promote | Update | Supersede | Purge


def hash_of(operation: Operation) -> str:
    """Return the hash of the record that an operation is about; of an update that of the new words."""
    return operation.fact.hash if isinstance(operation, Update) else operation.hash


class Outcome(NamedTuple):
    """What became of one fact or operation: `error` is a machine's word, "" if it is `ok`."""

    hash: str
    ok: bool
    status: str = ""
    error: str = ""


class Record(NamedTuple):
    """A fact with its standing, as a digest tells it."""

    fact: Fact
    approved: bool


class Core(Protocol):
    """A semantic core. `name` is `builtin` or `env:NAME`."""

    @property
    def name(self) -> str:
        """How it is called in settings and reports."""

    @property
    def broken(self) -> str:
        """Why its records can't be read: `missing`, `damaged`, or "" while they can, or nobody can tell."""

    def ingest(self, facts: Sequence[Fact]) -> list[Outcome]:
        """Store facts as candidates, each known one only once; one outcome a fact, in their order."""

    def refine(self, operations: Sequence[Operation]) -> list[Outcome]:
        """Do operations, all or none of them; one outcome each, in their order."""

    def rebuild(self, records: Sequence[Record]) -> list[Outcome]:
        """Make its records anew, where that can be done; a damaged file is kept under another name."""
