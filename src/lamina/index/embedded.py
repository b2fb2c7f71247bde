"""The default engine: SQLite's full-text search in one file that may vanish at any time.

Rules that keep it alive among several processes:
- writers hold a lock file, so no rollback journal of a live writer ever meets a new database;
- a full build happens in a file beside and is renamed over the old one; readers notice the new inode;
- the rollback journal is used, not the write-ahead log: closing a deleted database would delete the
  log of its successor, and every cold command would pay for a checkpoint;
- the file is never opened but by SQLite (closing it otherwise would drop this process's locks);
- where the disk takes no write, the index lives in memory.
"""

from __future__ import annotations

import os
import sqlite3
import time
from _thread import RLock
from collections.abc import Callable, Collection, Mapping
from functools import partial

from lamina.errors import Busy, LaminaError
from lamina.index import disk, tables
from lamina.index.base import Answer, Changes, Match, Query
from lamina.index.intake import Look, apply, look_at, plan
from lamina.index.lookup import Lookup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lamina.embed.base import Embedder
    from lamina.index.engine import Source
    from lamina.index.lookup import Likeness
    from lamina.index.meanings import Meanings

    Embedding = tuple[int, int]
    """Texts embedded now, and texts that still have no vector."""

NAME = "lamina.db"
ENGINE = "words"
VECTORS = "vectors"
_WAIT_S = 10.0
_BUILD_WAIT_S = 60.0


class Embedded:
    """The index of one store in `<home>/lamina.db`."""

    def __init__(
        self,
        home: os.PathLike[str] | str,
        *,
        clock: Callable[[], int] = time.time_ns,
        wait_s: float = _WAIT_S,
        embedder: Embedder | None = None,
    ) -> None:
        self._home = home
        self._path = os.path.join(home, NAME)  # noqa: PTH118 - pathlib costs a tenth of a cold search
        self._clock = clock
        self._wait_s = wait_s
        self._db: sqlite3.Connection | None = None
        self._lookup: Lookup | None = None
        self._inode: tuple[int, int] | None = None
        self._source: Source | None = None
        self._looked = 0.0
        self._one = RLock()  # threads of a server take turns: they share one transaction
        self._known: tuple[int, Mapping[str, tables.Known]] | None = None
        self._meanings = None if embedder is None else _meanings(home, embedder, wait_s)

    @property
    def in_memory(self) -> bool:
        """Tell whether the disk took no index, so it lasts as long as this process."""
        return self._db is not None and self._inode is None

    @property
    def loses_vectors(self) -> bool:
        """Tell whether the disk took no vectors, so they last as long as this process."""
        return self._meanings is not None and self._meanings.in_memory

    def refresh(self, source: Source, touched: Collection[str] | None = None) -> Changes:
        """Take in what changed since the last refresh; a missing or damaged index is built anew.

        Threads that ask while another one is at it share the next look.
        """
        asked = time.monotonic()
        with self._one:
            if touched is None and self._looked > asked:
                return Changes()
            began = time.monotonic()
            changes = self._refresh(source, touched)
            if touched is None:
                self._looked = began
            return changes

    def _refresh(self, source: Source, touched: Collection[str] | None = None) -> Changes:
        self._source = source
        reason = self._open()
        if reason:
            return self._build(source, reason)
        try:
            with disk.Sense():
                return self._catch_up(source, touched)
        except Busy:
            return Changes(busy=True)
        except sqlite3.DatabaseError as problem:
            if disk.is_one_of(problem, sqlite3.SQLITE_BUSY):
                return Changes(busy=True)
            return self._recover(source, problem)

    def rebuild(self, source: Source) -> Changes:
        """Build everything anew beside the old index and put it in its place."""
        with self._one:
            self._source = source
            self._open()
            return self._build(source, "asked", anyway=True)

    def search(self, query: Query) -> Answer:
        """Answer from what is indexed, best first, the newer one first among equals."""
        missing: list[str] = []
        alike: Likeness | None = None
        if query.vectors and self._meanings is not None:
            alike = self._meanings.likeness(query.text, self._live, missing)  # others do not wait for it
        with self._one:
            if self._open():
                if self._source is None:
                    return _silent("the word index is not built yet: run lamina index rebuild")
                self._refresh(self._source)
            try:
                with disk.Sense():
                    return self._search(query, alike, missing)
            except sqlite3.DatabaseError as problem:
                if self._source is None or disk.is_one_of(problem, sqlite3.SQLITE_BUSY):
                    return _silent(f"the word index could not be read ({problem})")
                self._recover(self._source, problem)
                return self._search(query, alike, missing)

    def embed(
        self,
        *,
        within_s: float | None = None,
        told: Callable[[int, int], None] = lambda _done, _all: None,
        waiting: bool = False,
    ) -> Embedding:
        """Embed what is indexed and has no vector yet, for `within_s` seconds at most (None: to the end).

        Each batch stays, whatever comes after it. `told` hears how many of how many are done. An endpoint is
        given up earlier if a person is `waiting`. Raises EmbedderUnavailable; without an embedder there is
        nothing to do.
        """
        if self._meanings is None:
            return (0, 0)
        with self._one:
            if self._open():
                return (0, 0)
        until = None if within_s is None else time.monotonic() + within_s
        lend = partial(disk.Lent, self._one, self._reopened)
        return self._meanings.catch_up(lend, until=until, told=told, waiting=waiting)

    def coverage(self, name: str) -> tuple[int, int]:
        """Return how many texts have a vector of the embedder `name`, and how many have none."""
        from lamina.index import held

        with self._one:
            texts = self._texts()
            stored = len(texts & held.numbers(self._home, name))
            return stored, len(texts) - stored

    def forget_vectors(self) -> None:
        """Remove the vectors of what is forgotten or not indexed any more, whoever made them."""
        from lamina.index import held

        with self._one:
            held.forget(self._home, self._texts())

    def check(self, source: Source) -> list[str]:
        """Compare documents and words with an index built from the source right now."""
        with self._one:
            reason = self._open()
            if reason:
                return [f"{self._path}: {reason}"]
            fresh = Embedded("", clock=self._clock)
            fresh._fill_memory(source)
            try:
                with disk.Sense():
                    return tables.differences(self._live(), fresh._live())
            except sqlite3.DatabaseError as problem:
                return [f"{self._path}: {problem}"]
            finally:
                fresh.close()

    def close(self) -> None:
        """Close the databases."""
        if self._meanings is not None:
            self._meanings.close()
        self._leave()

    def _leave(self) -> None:
        """Close the database of words."""
        if self._db is not None:
            self._db.close()
        self._db = self._lookup = self._inode = self._known = None

    def _texts(self) -> set[int]:
        """Return the numbers of what is indexed and not forgotten, under which vectors are kept."""
        from lamina.index.vectors import MEANT

        if self._open():
            return set()
        found = self._live().execute(f"SELECT meaning FROM doc WHERE {MEANT}")  # noqa: S608
        return {meaning for (meaning,) in found}

    def _live(self) -> sqlite3.Connection:
        if self._db is None:
            raise sqlite3.InterfaceError("the index is closed")
        return self._db

    def _search(self, query: Query, alike: Likeness | None, missing: list[str]) -> Answer:
        lookup = self._lookup or Lookup(self._live())
        self._lookup = lookup
        ranked = lookup.rank(query, alike)
        documents = tables.documents(self._live(), [row for row, _, _ in ranked.rows])
        matches = [
            Match(documents[row], score, parts) for row, score, parts in ranked.rows if row in documents
        ]
        engines = (ENGINE,) if alike is None or missing else (ENGINE, VECTORS)
        return Answer(
            matches, engines, ranked.terms, ranked.dropped, tuple(missing), ranked.worth, ranked.weights
        )

    # opening

    def _open(self) -> str:
        """Have a live connection to the file that is there now; returns why there is none."""
        if self._db is not None and (self.in_memory or self._inode == disk.inode(self._path)):
            return ""
        self._leave()
        for _ in range(5):
            before = disk.inode(self._path)
            if before is None:
                return "missing"
            try:
                with disk.Sense():
                    self._connect(self._path)
                    if not tables.fits(self._live()):
                        self._leave()
                        return "of another version"
            except sqlite3.DatabaseError as problem:
                self._leave()
                return f"locked or damaged: {problem}"
            if disk.inode(self._path) == before:
                self._inode = before
                return ""
            self._leave()
        return "replaced all the time"

    def _reopened(self) -> sqlite3.Connection | None:
        """Return a connection to what is there now."""
        self._open()
        return self._db

    def _connect(self, path: str) -> None:
        self._db = disk.connected(path, self._wait_s)

    # taking in changes

    def _catch_up(self, source: Source, touched: Collection[str] | None) -> Changes:
        look = look_at(source, touched, self._clock(), self._version())
        if touched is None and tables.is_listed(self._live(), look.stamps):
            return Changes()
        found = plan(self._files(touched), look, source)
        if not found.any and not look.settled:
            return Changes()
        try:
            return self._write(source, look)
        except (Busy, sqlite3.OperationalError):
            if found.read or found.gone:
                raise
            return Changes()  # only what makes the next look cheaper was to be noted

    def _files(self, touched: Collection[str] | None) -> Mapping[str, tables.Known]:
        """Return what is known of the files; of all, it is read again only when somebody wrote."""
        if touched is not None:
            return tables.known(self._live(), touched)
        version = self._version()
        if self._known is None or self._known[0] != version:
            self._known = version, tables.known(self._live())
        return self._known[1]

    def _version(self) -> int:
        return int(self._live().execute("PRAGMA data_version").fetchone()[0])

    def _write(self, source: Source, look: Look) -> Changes:
        """Bring the rows up to date in one transaction."""
        if self.in_memory:
            return self._transact(source, look)
        try:
            with disk.locked(self._path, self._wait_s):
                if self._inode != disk.inode(self._path):
                    reason = self._open()
                    if reason:
                        raise sqlite3.DatabaseError(reason)
                    look = look_at(source, look.touched, self._clock(), self._version())
                return self._transact(source, look)
        except (LaminaError, sqlite3.OperationalError, OSError) as problem:
            if isinstance(problem, Busy):
                raise
            if isinstance(problem, sqlite3.OperationalError):
                if disk.is_one_of(problem, sqlite3.SQLITE_BUSY):
                    raise Busy(f"{self._path}: another process is writing", "try again") from problem
                if not disk.is_one_of(
                    problem, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN
                ):
                    raise
            self._move_to_memory()
            return self._transact(source, look)

    def _transact(self, source: Source, look: Look) -> Changes:
        db = self._live()
        db.execute("BEGIN IMMEDIATE")
        try:
            if self._version() != look.version:
                # Somebody indexed meanwhile what we have not seen: never undo it by an older look.
                look = look_at(source, look.touched, self._clock(), self._version())
            known = self._files(look.touched)
            changes = apply(db, known, plan(known, look, source), look, source)
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
        finally:
            self._known = None
        return changes

    def _move_to_memory(self) -> None:
        """Go on in memory with what the unwritable file holds."""
        old, self._db = self._live(), None
        self._connect(":memory:")
        old.backup(self._live())
        old.close()
        self._lookup = self._inode = self._known = None

    # building

    def _recover(self, source: Source, problem: sqlite3.DatabaseError) -> Changes:
        self._leave()
        return self._build(source, self._open() or f"damaged: {problem}", anyway=True)

    def _build(self, source: Source, reason: str, *, anyway: bool = False) -> Changes:
        """Build a new file and put it in place, once among all processes that find it missing."""
        before = disk.inode(self._path)
        try:
            with disk.locked(self._path, _BUILD_WAIT_S):
                if (not anyway or before != disk.inode(self._path)) and not self._open():
                    return self._transact(source, look_at(source, None, self._clock(), self._version()))
                changes = self._fill_file(source)
                self._leave()
                if self._open():
                    return self._fill_memory(source)._replace(rebuilt=reason)
                return changes._replace(rebuilt=reason)
        except (LaminaError, OSError, sqlite3.DatabaseError):
            return self._fill_memory(source)._replace(rebuilt=reason)

    def _fill_file(self, source: Source) -> Changes:
        beside = f"{self._path}.new"
        disk.discard(beside)
        disk.discard(f"{beside}-journal")
        db = sqlite3.connect(beside, isolation_level=None)
        try:
            db.executescript(
                "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;"
            )
            changes = self._fill(db, source)
        finally:
            db.close()
        self._leave()
        disk.put_in_place(beside, self._path, self._clock())
        return changes

    def _fill_memory(self, source: Source) -> Changes:
        self._leave()
        self._connect(":memory:")
        return self._fill(self._live(), source)

    def _fill(self, db: sqlite3.Connection, source: Source) -> Changes:
        tables.create(db)
        look = look_at(source, None, self._clock())
        db.execute("BEGIN")
        changes = apply(db, {}, plan({}, look, source), look, source)
        db.execute("COMMIT")
        return changes


def _meanings(home: os.PathLike[str] | str, embedder: Embedder, wait_s: float) -> Meanings:
    from lamina.index.meanings import Meanings

    return Meanings(home, embedder, wait_s)


def _silent(note: str) -> Answer:
    return Answer(engines=(ENGINE,), notes=(note,))
