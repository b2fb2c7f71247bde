"""Search by meaning beside the words: embed what has no vector yet, and find what lies near a question."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress

from lamina import errors
from lamina.formats.frozen import NamedTuple
from lamina.index import tables
from lamina.index.base import Query
from lamina.index.conditions import Conditions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lamina.embed.base import Embedder
    from lamina.index.lookup import Likeness
    from lamina.index.nearest import Nearest
    from lamina.index.vectors import Codes, Floats, Numbers, Vectors

Lend = Callable[[], AbstractContextManager[sqlite3.Connection]]
"""Gives the index to one thread for a moment."""

_AWAY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY)


class _Todo(NamedTuple):
    """Rows without a vector, all numbers (None if only changes were looked at), and what is complete then."""

    rows: list[int]
    all: Numbers | None
    complete: tuple[sqlite3.Connection, Vectors, int]


class Meanings:
    """The embedder of one index with its vectors; nothing is loaded before it is asked for."""

    def __init__(self, home: os.PathLike[str] | str, embedder: Embedder, wait_s: float = 10.0) -> None:
        self._home = home
        self._wait_s = wait_s
        self._embedder = embedder
        self._dimension = 0
        self._vectors: Vectors | None = None
        self._nearest: tuple[sqlite3.Connection, Nearest] | None = None
        self._complete: tuple[sqlite3.Connection, Vectors, int] | None = None

    @property
    def in_memory(self) -> bool:
        """Tell whether vectors were made that the disk did not take."""
        return self._vectors is not None and self._vectors.in_memory

    def close(self) -> None:
        """Close the file of vectors."""
        if self._vectors is not None:
            self._vectors.close()
        self._vectors = self._nearest = self._complete = None

    def catch_up(
        self,
        lend: Lend,
        *,
        until: float | None = None,
        told: Callable[[int, int], None] = lambda _done, _all: None,
        waiting: bool = False,
    ) -> tuple[int, int]:
        """Embed what has no vector, newest first, until `until` (of time.monotonic); each batch stays.

        One batch is made however late it is, so that every call gets on. The index is borrowed before and
        after each batch, so that others search meanwhile. `told` hears of each batch. An endpoint is given up
        earlier if a person is `waiting`. Returns how many were embedded and how many are left. A damaged file
        of vectors is made anew. Raises EmbedderUnavailable, and UnwritableStore where the disk takes no more.
        """
        from lamina.embed.http import Remote

        embedder = self._embedder
        if waiting and isinstance(embedder, Remote):
            embedder = embedder.hurried()
        with _Told():
            self._measured(embedder)
            try:
                return self._catch_up(embedder, lend, until, told)
            except sqlite3.DatabaseError as problem:
                with lend():
                    if not self._renewed(problem):
                        raise
            return self._catch_up(embedder, lend, until, told)

    def _catch_up(
        self, embedder: Embedder, lend: Lend, until: float | None, told: Callable[[int, int], None]
    ) -> tuple[int, int]:
        from lamina.index.vectors import encode

        with lend() as db:
            todo = self._todo(db)
        done = 0
        while done < len(todo.rows) and (until is None or not done or time.monotonic() < until):
            part = todo.rows[done : done + embedder.batch]
            with lend() as db:
                texts = _wordings(db, part)
                lacking = self._open().missing(list(texts))  # another process may have come first
            codes: Mapping[int, Codes] = {}
            if lacking:
                rows = embedder.embed([texts[each] for each in lacking])
                self._dimension = rows.shape[1]
                codes = dict(zip(lacking, encode(rows), strict=True))
            with lend() as db:
                still = _wordings(db, part)  # what was purged meanwhile must not come back as a vector
                if not _put(self._open(), {each: code for each, code in codes.items() if each in still}):
                    break
            with lend() as db:  # as it is now: what was purged while the batch was written goes again
                self._take_back(db, part, codes)
            done += len(part)
            told(done, len(todo.rows))
        if done == len(todo.rows):
            with lend() as db:
                self._finish(db, todo)
        return (done, len(todo.rows) - done)

    def _take_back(self, db: sqlite3.Connection, rows: list[int], written: Mapping[int, Codes]) -> None:
        """Remove the vectors of rows that are gone, unless another row says the same."""
        from lamina.index.vectors import MEANT

        gone = written.keys() - _wordings(db, rows).keys()
        if gone:
            said = {meaning for (meaning,) in db.execute(f"SELECT meaning FROM doc WHERE {MEANT}")}  # noqa: S608
            self._open().remove(gone - said)

    def _todo(self, db: sqlite3.Connection) -> _Todo:
        """Return what has no vector: of everything at first, later of what changed since all had one."""
        import numpy as np

        from lamina.index.vectors import MEANT

        vectors = self._open()
        known = self._complete is not None and self._complete[:2] == (db, vectors)
        now, lines = tables.changes(db, self._complete[2] if self._complete and known else -1)
        pair = np.dtype([("meaning", np.int64), ("row", np.int64)])
        if lines is not None and _any_forgotten(db, [row for row, _ in lines]):
            lines = None  # its vector goes, unless another one says the same: everything is looked at
        if lines is None:
            found = np.fromiter(db.execute(f"SELECT meaning, row FROM doc WHERE {MEANT}"), pair)  # noqa: S608
        else:
            found = np.array([(meaning, row) for row, meaning in lines if meaning is not None], pair)
        meanings, first = np.unique(found["meaning"], return_index=True)
        lacking = first[np.isin(meanings, vectors.missing(meanings.tolist() if lines else meanings))]
        rows = np.sort(found["row"][lacking])[::-1].tolist()
        return _Todo(rows, meanings if lines is None else None, (db, vectors, now))

    def _finish(self, db: sqlite3.Connection, todo: _Todo) -> None:
        """Note that all has its vector, and drop what nobody says any more if everything was looked at."""
        if todo.complete[:2] == (db, self._open()):
            self._complete = todo.complete
            if todo.all is not None and tables.changes(db, -1)[0] == todo.complete[2]:
                with suppress(sqlite3.OperationalError):  # the next one does it
                    self._open().prune(todo.all)

    def likeness(
        self, text: str, live: Callable[[], sqlite3.Connection], missing: list[str]
    ) -> Likeness | None:
        """Make a question's vector, and return how to look for what is like it in `live()`.

        Where that can't be done, `missing` hears why, and words answer.
        """
        try:
            vector = self.ask(text)
        except errors.EmbedderUnavailable as problem:
            missing.append(_by_words(problem))
            return None

        def alike(query: Query, worth: Mapping[str, float], conditions: Conditions) -> Mapping[int, float]:
            try:
                return self.alike(live(), query, worth, conditions, vector)
            except errors.EmbedderUnavailable as problem:
                missing.append(_by_words(problem))
                return {}

        return alike

    def ask(self, text: str) -> Floats | None:
        """Return the vector of a question, however long it takes; None if its words are to be weighed first.

        Raises EmbedderUnavailable.
        """
        from lamina.embed.question import Weighing

        return None if isinstance(self._embedder, Weighing) else self._asked(text, {})

    def _asked(self, text: str, worth: Mapping[str, float]) -> Floats:
        _need_numpy()
        from lamina.embed.question import ask

        vector = ask(self._embedder, text, worth)
        self._dimension = len(vector)
        return vector

    def alike(
        self,
        db: sqlite3.Connection,
        query: Query,
        worth: Mapping[str, float],
        conditions: Conditions,
        vector: Floats | None = None,
    ) -> Mapping[int, float]:
        """Return the rows that a query is most like in meaning; `worth` weighs its words by rarity.

        `vector` is what `ask` gave for its text. Raises EmbedderUnavailable, also while the vectors can't be
        read, and DatabaseError where it is the words that are damaged.
        """
        asked = self._asked(query.text, worth) if vector is None else vector
        try:
            return self._alike(db, asked, conditions)
        except sqlite3.DatabaseError as problem:
            with _Told():
                renewed = self._renewed(problem)
            if not renewed:
                raise
        with _Told():
            return self._alike(db, asked, conditions)

    def _alike(self, db: sqlite3.Connection, asked: Floats, conditions: Conditions) -> Mapping[int, float]:
        self._dimension = len(asked)
        vectors = self._open()
        from lamina.index.nearest import Nearest

        if self._nearest is None or self._nearest[0] is not db:
            self._nearest = db, Nearest(db, vectors)
        return self._nearest[1].likest(asked, conditions)

    def _renewed(self, problem: sqlite3.DatabaseError) -> bool:
        """Tell whether it was the vectors that are damaged; they start anew then.

        Raises the problem again where others keep the file or it can't be opened.
        """
        vectors = self._vectors
        if vectors is None or _is_away(problem):
            raise problem
        if vectors.sound:
            return False
        self.close()
        vectors.discard()
        return True

    def _open(self) -> Vectors:
        dimension = self._measured(self._embedder)
        held = self._vectors
        if held is not None and (held.replaced or held.dropped or held.dimension != dimension):
            self.close()
        if self._vectors is None:
            from lamina.index.vectors import Vectors

            self._vectors = Vectors(self._home, self._embedder.name, dimension, wait_s=self._wait_s)
        return self._vectors

    def _measured(self, embedder: Embedder) -> int:
        """Return how long vectors are: as the last one, as the stored ones, else as the embedder says."""
        if not self._dimension:
            _need_numpy()
            from lamina.index.vectors import stored_dimension

            stored = stored_dimension(self._home, embedder.name, self._wait_s)
            self._dimension = stored or embedder.dimension
        return self._dimension


class _Told:
    """Tell a person what keeps the vectors from being used, instead of SQLite's own error."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, problem: BaseException | None, traceback: object) -> None:
        if not isinstance(problem, sqlite3.Error):
            return
        if _is_away(problem):
            raise errors.EmbedderUnavailable(f"the vectors are in use ({problem})", "try again") from problem
        hint = "run `lamina index rebuild --vectors`; searching by words goes on"
        raise errors.EmbedderUnavailable(f"the vectors can't be read ({problem})", hint) from problem


def _put(vectors: Vectors, codes: Mapping[int, Codes]) -> bool:
    """Store a batch; False while another process keeps the file for too long."""
    try:
        vectors.put(codes)
    except sqlite3.OperationalError as problem:
        if _is_away(problem):
            return False
        hint = "make room on the disk; searching by words goes on"
        raise errors.UnwritableStore(f"the vectors can't be written ({problem})", hint) from problem
    return True


def _is_away(problem: sqlite3.Error) -> bool:
    return getattr(problem, "sqlite_errorcode", 0) & 0xFF in _AWAY


def _by_words(problem: errors.EmbedderUnavailable) -> str:
    return f"searched by words only: {problem.message}: {problem.hint}"


def _need_numpy() -> None:
    try:
        import numpy  # noqa: F401, ICN001
    except ImportError as fault:
        hint = "run `pip install numpy` in Lamina's environment; searching by words goes on"
        raise errors.EmbedderUnavailable(f"vectors need the Python package numpy: {fault}", hint) from fault


def _any_forgotten(db: sqlite3.Connection, rows: list[int]) -> bool:
    from lamina.index.vectors import MEANT

    sql = f"SELECT 1 FROM doc WHERE NOT ({MEANT}) AND row IN ({','.join(map(str, rows))})"  # noqa: S608
    return db.execute(sql).fetchone() is not None


def _wordings(db: sqlite3.Connection, rows: list[int]) -> dict[int, str]:
    """Return what an embedder reads of some rows, by its number; what is gone or forgotten is not read."""
    from lamina.index.vectors import MEANT

    marks = ",".join("?" * len(rows))
    sql = (
        "SELECT d.meaning, b.heading, b.text FROM doc d JOIN body b USING (row) "  # noqa: S608
        f"WHERE {MEANT} AND row IN ({marks})"
    )
    return {meaning: tables.wording(heading, text) for meaning, heading, text in db.execute(sql, rows)}
