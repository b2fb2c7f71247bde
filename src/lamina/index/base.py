"""What every search engine is given and gives back.

The index is derived: an engine may drop all it holds and build it again from its source with the
same answers. Engines find and score by what stands in the text; trust, freshness, importance and
scope are weighed afterwards, by `pipeline.recall`, for all engines alike.
"""

from __future__ import annotations

from lamina.formats.frozen import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping, Sequence

CURRENT = frozenset({"approved", "candidate"})
TRUSTS = frozenset({"approved", "candidate", "superseded", "forgotten"})


Stamp = tuple[int, int, int, int]
"""What a file looked like from outside: mtime in ns, size, inode, ctime in ns. Equal ones: not read again."""


class Document(NamedTuple):
    """One entry as the engines see it; `scope` is a scope's name.

    `file` is relative to the store, absolute for what stands outside it. `more` is text that finds the entry
    without being part of it: earlier ids, its quote, unknown fields.
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
    """The documents of one file with a checksum of the bytes that they were read from.

    `problem` tells what of the file could not be understood; it is read again when it changes.
    """

    documents: Sequence[Document]
    checksum: int
    problem: str = ""


class Query(NamedTuple):
    """A question with its filters; an empty filter lets everything through.

    `trust` holds the states that may be found. `branches` names the branches whose unmerged entries
    may be found (None: all); entries without a branch always may. With `vectors`, meaning is asked as well
    as words, by an engine that has an embedder. `limit` is the number of matches
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
    vectors: bool = False


class Match(NamedTuple):
    """One document found; a higher score is better, comparable within one answer only."""

    document: Document
    score: float
    parts: Mapping[str, float] = {}


class Answer(NamedTuple):
    """Matches, best first with a stable order among equals, and the engines that looked.

    `terms` are the words that were looked for, `dropped` those left out because they say too little;
    `notes` tell what a person should know (an engine that was missing, say). `worth` says how rare each term
    is, `weights` what each signal was multiplied with.
    """

    matches: Sequence[Match] = ()
    engines: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    worth: Mapping[str, float] = {}
    weights: Mapping[str, float] = {}


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
