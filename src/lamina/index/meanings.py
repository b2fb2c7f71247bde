"""Search by meaning beside the words: embed what has no vector yet, and find what lies near a question."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Mapping

from lamina import errors
from lamina.index import tables
from lamina.index.base import Query
from lamina.index.conditions import Conditions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lamina.embed.base import Embedder
    from lamina.index.nearest import Nearest
    from lamina.index.vectors import Codes, Vectors

_AWAY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


class Meanings:
    """The embedder of one index with its vectors; nothing is loaded before it is asked for."""

    def __init__(self, home: os.PathLike[str] | str, embedder: Embedder) -> None:
        self._home = home
        self._embedder = embedder
        self._vectors: Vectors | None = None
        self._nearest: tuple[sqlite3.Connection, Nearest] | None = None

    def close(self) -> None:
        """Close the file of vectors."""
        if self._vectors is not None:
            self._vectors.close()
        self._vectors = self._nearest = None

    def catch_up(
        self,
        db: sqlite3.Connection,
        *,
        until: float | None = None,
        told: Callable[[int, int], None] = lambda _done, _all: None,
    ) -> tuple[int, int]:
        """Embed what has no vector, in batches that each stay; stops at `until` (of time.monotonic).

        `told` hears of each batch. Returns how many were embedded and how many are left. A damaged file of
        vectors is made anew. Raises EmbedderUnavailable, and UnwritableStore where the disk takes no more.
        """
        vectors = self._open()
        try:
            return self._catch_up(db, vectors, until, told)
        except sqlite3.DatabaseError:
            return self._catch_up(db, self._remade(vectors), until, told)

    def _catch_up(
        self,
        db: sqlite3.Connection,
        vectors: Vectors,
        until: float | None,
        told: Callable[[int, int], None],
    ) -> tuple[int, int]:
        from lamina.index.vectors import encode

        texts = {meaning: row for row, meaning in db.execute("SELECT row, meaning FROM doc ORDER BY row")}
        missing = vectors.missing(texts)
        done = 0
        while done < len(missing) and (until is None or time.monotonic() < until):
            part = missing[done : done + self._embedder.batch]
            rows = self._embedder.embed(_wordings(db, [texts[each] for each in part]))
            if not _put(vectors, dict(zip(part, encode(rows), strict=True))):
                break
            done += len(part)
            told(done, len(missing))
        if done == len(missing):
            vectors.prune(texts)
        return (done, len(missing) - done)

    def alike(
        self, db: sqlite3.Connection, query: Query, worth: Mapping[str, float], conditions: Conditions
    ) -> Mapping[int, float]:
        """Return the rows that a query is most like in meaning; `worth` weighs its words by rarity."""
        vectors = self._open()
        try:
            return self._alike(db, vectors, query, worth, conditions)
        except sqlite3.DatabaseError:
            return self._alike(db, self._remade(vectors), query, worth, conditions)

    def _alike(
        self,
        db: sqlite3.Connection,
        vectors: Vectors,
        query: Query,
        worth: Mapping[str, float],
        conditions: Conditions,
    ) -> Mapping[int, float]:
        from lamina.embed.question import ask
        from lamina.index.nearest import Nearest

        if self._nearest is None or self._nearest[0] is not db:
            self._nearest = db, Nearest(db, vectors)
        return self._nearest[1].likest(ask(self._embedder, query.text, worth), conditions)

    def _remade(self, vectors: Vectors) -> Vectors:
        """Start anew with a file of vectors that is damaged; any other problem is raised again."""
        if vectors.sound:
            raise  # noqa: PLE0704 - called while a problem is handled
        self.close()
        vectors.discard()
        return self._open()

    def _open(self) -> Vectors:
        if self._vectors is not None and self._vectors.replaced:
            self.close()
        if self._vectors is None:
            from lamina.index.vectors import Vectors

            self._vectors = Vectors(self._home, self._embedder.name, self._embedder.dimension)
        return self._vectors


def _put(vectors: Vectors, codes: Mapping[int, Codes]) -> bool:
    """Store a batch; False while another process keeps the file for too long."""
    try:
        vectors.put(codes)
    except sqlite3.OperationalError as problem:
        if problem.sqlite_errorcode & 0xFF in _AWAY:
            return False
        hint = "make room on the disk; searching by words goes on"
        raise errors.UnwritableStore(f"the vectors can't be written ({problem})", hint) from problem
    return True


def _wordings(db: sqlite3.Connection, rows: list[int]) -> list[str]:
    """Return what an embedder reads of some rows, in their order."""
    sql = f"SELECT row, heading, text FROM body WHERE row IN ({','.join('?' * len(rows))})"  # noqa: S608
    found = {row: tables.wording(heading, text) for row, heading, text in db.execute(sql, rows)}
    return [found.get(row, "") for row in rows]
