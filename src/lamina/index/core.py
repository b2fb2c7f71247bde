"""The records behind a project's digest: `vectors.db` in its memory folder.

    candidate → approved → superseded → purged

A record is known by the hash of its content. Content and vector of a purged one are gone, the row and the
events tell that it was there. Only candidates and approved records can be found, so what a query answers
depends on them alone, whatever came before.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from lamina import errors
from lamina.formats.dates import render_time
from lamina.index import disk, words
from lamina.index.vectors import directions, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lamina.embed.base import Embedder

CANDIDATE, APPROVED, SUPERSEDED, PURGED = "candidate", "approved", "superseded", "purged"
FOUND: Final = (APPROVED, CANDIDATE)
SCHEMA: Final = 1
WAIT_S: Final = 2.0
_APPLICATION = 0x4C414D43
_TABLES = f"""
CREATE TABLE record (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, content TEXT NOT NULL,
    source TEXT NOT NULL, item TEXT NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL, confidence REAL,
    created TEXT NOT NULL, by TEXT NOT NULL DEFAULT '', reason TEXT NOT NULL DEFAULT '');
CREATE TABLE vector (hash TEXT NOT NULL, model TEXT NOT NULL, dimension INTEGER NOT NULL, code BLOB NOT NULL,
    PRIMARY KEY (hash, model, dimension)) WITHOUT ROWID;
CREATE TABLE event (id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, hash TEXT NOT NULL,
    what TEXT NOT NULL, detail TEXT NOT NULL DEFAULT '');
CREATE VIRTUAL TABLE words USING fts5(said, tokenize="{words.TOKENIZER}");
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {SCHEMA};
"""


_COUNT = "SELECT count(*) FROM record WHERE status IN (?, ?)"
_MATCHES = (
    "SELECT r.hash FROM words w JOIN record r ON r.id = w.rowid WHERE words MATCH ? AND r.status IN (?, ?)"
)
_NEAR = (
    "SELECT v.hash, v.code FROM vector v JOIN record r ON r.hash = v.hash"
    " WHERE v.model = ? AND v.dimension = ? AND r.status IN (?, ?)"
)
_IN_PARTS = 0.7


class Fault(NamedTuple):
    """Why one operation can't be done: a machine's word and what it is about."""

    error: str
    hash: str = ""


class Refusal(Exception):
    """An operation that the states of a record don't allow; the transaction is taken back."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.error)
        self.fault = fault


class Row(NamedTuple):
    """A record as it is stored."""

    hash: str
    content: str
    source: str
    item: str
    kind: str
    status: str
    confidence: float | None


class Scored(NamedTuple):
    """A record found; the score is from 0 to 1."""

    row: Row
    score: float


class Records:
    """One open database. Use `opened`; every change happens in `change`, all of it or nothing."""

    def __init__(self, db: sqlite3.Connection, path: Path, at: str) -> None:
        self._db = db
        self._path = path
        self._at = at
        self._purged = False

    @contextmanager
    def change(self) -> Iterator[None]:
        """Hold the database for one transaction."""
        with _told(self._path):
            self._db.execute("BEGIN IMMEDIATE")
            self._purged = False
            try:
                yield
                if self._purged:  # a deleted word stays in the lists of FTS5 until they are merged
                    self._db.execute("INSERT INTO words (words) VALUES ('optimize')")
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def get(self, hash: str) -> Row | None:
        """Return a record by its hash."""
        sql = "SELECT hash, content, source, item, kind, status, confidence FROM record WHERE hash = ?"
        with _told(self._path):
            found = self._db.execute(sql, (hash,)).fetchone()
        return Row(*found) if found else None

    def ingest(self, row: Row) -> tuple[str, bool]:
        """Store a candidate; returns the status it has now, and whether it is new.

        A known candidate or approved record stays as it is; one that was superseded or purged is a candidate
        again.
        """
        old = self.get(row.hash)
        if old is not None and old.status in FOUND:
            return old.status, False
        self._put(row._replace(status=CANDIDATE), "revived" if old else "ingested")
        return CANDIDATE, True

    def promote(self, hash: str, confidence: float) -> str:
        """Approve a candidate. Raises Refusal for an unknown record or one that is out of force."""
        row = self._known(hash)
        if row.status not in FOUND:
            raise Refusal(Fault("not_a_candidate", hash))
        self._set(hash, APPROVED, confidence=confidence)
        if row.status != APPROVED or row.confidence != confidence:
            self._note(hash, "promoted", f"{confidence:g}")
        return APPROVED

    def update(self, old: str, new: Row) -> str:
        """Put approved words in the place of an older record, which is superseded. Raises Refusal."""
        before = self._known(old)
        if before.status == PURGED:
            raise Refusal(Fault("purged", old))
        self.ingest(new)
        self.promote(new.hash, 0.8 if new.confidence is None else new.confidence)
        if old != new.hash:
            self.supersede(old, by=new.hash, reason="updated")
        return APPROVED

    def supersede(self, hash: str, *, by: str = "", reason: str = "") -> str:
        """Take a record out of force. Raises Refusal for an unknown or purged one."""
        row = self._known(hash)
        if row.status == PURGED:
            raise Refusal(Fault("purged", hash))
        if row.status != SUPERSEDED:
            self._set(hash, SUPERSEDED, by=by, reason=reason)
            self._note(hash, "superseded", by or reason)
        return SUPERSEDED

    def purge(self, hash: str) -> str:
        """Remove a record's content for ever. Raises Refusal for an unknown or an approved one."""
        row = self._known(hash)
        if row.status == APPROVED:
            raise Refusal(Fault("must_supersede_first", hash))
        if row.status != PURGED:
            self._set(hash, PURGED)
            sql = "UPDATE record SET content = '', source = '', item = '', reason = '' WHERE hash = ?"
            self._db.execute(sql, (hash,))
            self._purged = True
            self._note(hash, "purged")
        return PURGED

    def without_vector(self, model: str, dimension: int, most: int) -> list[tuple[str, str]]:
        """Return hash and content of records in force that this model has not embedded."""
        sql = (
            "SELECT r.hash, r.content FROM record r LEFT JOIN vector v ON v.hash = r.hash AND v.model = ?"
            " AND v.dimension = ? WHERE v.hash IS NULL AND r.status IN (?, ?) ORDER BY r.id LIMIT ?"
        )
        with _told(self._path):
            return self._db.execute(sql, (model, dimension, *FOUND, most)).fetchall()

    def embedded(self, hashes: Collection[str], model: str) -> frozenset[str]:
        """Return which of some records have a vector of a model."""
        found: set[str] = set()
        listed = list(hashes)
        with _told(self._path):
            for start in range(0, len(listed), 500):
                part = listed[start : start + 500]
                marks = ",".join("?" * len(part))
                sql = f"SELECT hash FROM vector WHERE model = ? AND hash IN ({marks})"  # noqa: S608 - marks only
                found.update(each for (each,) in self._db.execute(sql, (model, *part)))
        return frozenset(found)

    def put_vectors(self, model: str, hashes: Sequence[str], rows: NDArray[np.float32]) -> None:
        """Store the vectors of records, one row each."""
        codes = encode(rows)
        self._db.executemany(
            "INSERT OR REPLACE INTO vector VALUES (?, ?, ?, ?)",
            ((each, model, codes.shape[1], code.tobytes()) for each, code in zip(hashes, codes, strict=True)),
        )

    def query(
        self, text: str, *, limit: int, candidates: bool, embedder: Embedder | None, least: float = 0.0
    ) -> tuple[str, list[Scored]]:
        """Find records by words, and by meaning where they have vectors of the embedder.

        Returns `fts` or `hybrid` and the best ones; equal scores are in the order of their hashes. Raises
        EmbedderUnavailable.
        """
        statuses = (APPROVED, CANDIDATE if candidates else APPROVED)
        with _told(self._path):
            said = self._by_words(text, statuses)
            meant = self._by_meaning(text, statuses, embedder) if embedder else {}
            mode = "hybrid" if meant else "fts"
            scores = {
                each: (said.get(each, 0.0) + meant.get(each, 0.0)) / 2 if meant else said[each]
                for each in {**said, **meant}
            }
            ranked = sorted(scores.items(), key=lambda pair: (-round(pair[1], 9), pair[0]))
            best = [(each, score) for each, score in ranked if score >= least and score > 0][:limit]
            found = [(self.get(each), score) for each, score in best]
        return mode, [Scored(row, round(score, 6)) for row, score in found if row is not None]

    # --- inside

    def _known(self, hash: str) -> Row:
        row = self.get(hash)
        if row is None:
            raise Refusal(Fault("not_found", hash))
        return row

    def _put(self, row: Row, what: str) -> None:
        sql = (
            "INSERT INTO record (hash, content, source, item, kind, status, confidence, created)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO UPDATE SET content = excluded.content,"
            " source = excluded.source, item = excluded.item, kind = excluded.kind, status = excluded.status,"
            " confidence = excluded.confidence, by = '', reason = '' RETURNING id"
        )
        (number,) = self._db.execute(sql, (*row, self._at)).fetchone()
        sql = "INSERT INTO words (rowid, said) VALUES (?, ?)"
        self._db.execute(sql, (number, words.expand(row.content)))
        self._note(row.hash, what)

    def _set(
        self, hash: str, status: str, *, by: str = "", reason: str = "", confidence: float | None = None
    ) -> None:
        sql = "UPDATE record SET status = ?, by = ?, reason = ? WHERE hash = ? RETURNING id"
        (number,) = self._db.execute(sql, (status, by, reason, hash)).fetchone()
        if confidence is not None:
            self._db.execute("UPDATE record SET confidence = ? WHERE hash = ?", (confidence, hash))
        if status not in FOUND:
            self._db.execute("DELETE FROM words WHERE rowid = ?", (number,))
            self._db.execute("DELETE FROM vector WHERE hash = ?", (hash,))

    def _note(self, hash: str, what: str, detail: str = "") -> None:
        sql = "INSERT INTO event (at, hash, what, detail) VALUES (?, ?, ?, ?)"
        self._db.execute(sql, (self._at, hash, what, detail))

    def _by_words(self, text: str, statuses: tuple[str, str]) -> dict[str, float]:
        """Score records by the share of the query's words that they hold, rare words counting more.

        A word that is found only in parts counts by the share of its parts, and less.
        """
        from math import log

        asked = words.parse(text)
        count = self._db.execute(_COUNT, statuses).fetchone()[0]
        total, scores = 0.0, dict[str, float]()
        for term in [term for term in asked if not term.weak] or list(asked):
            held = dict.fromkeys(
                self._matches(" OR ".join(filter(None, (term.whole, term.prefix))), statuses), 1.0
            )
            for part in term.parts:
                for each in self._matches(part, statuses):
                    if held.get(each, 0.0) < 1.0:
                        held[each] = held.get(each, 0.0) + _IN_PARTS / len(term.parts)
            worth = log(1 + (count - len(held) + 0.5) / (len(held) + 0.5))
            total += worth
            for each, share in held.items():
                scores[each] = scores.get(each, 0.0) + worth * share
        return {each: score / total for each, score in scores.items()} if total else {}

    def _matches(self, expression: str, statuses: tuple[str, str]) -> list[str]:
        return [each for (each,) in self._db.execute(_MATCHES, (expression, *statuses))]

    def _by_meaning(self, text: str, statuses: tuple[str, str], embedder: Embedder) -> dict[str, float]:
        """Score records by how close their vectors point to the query's."""
        import numpy as np

        dimension = embedder.dimension
        found = self._db.execute(_NEAR, (embedder.name, dimension, *statuses)).fetchall()
        found = [(each, code) for each, code in found if len(code) == dimension]
        if not found:
            return {}
        codes = np.frombuffer(b"".join(code for _, code in found), np.int8).reshape(-1, dimension)
        near = directions(codes) @ embedder.embed([text], query=True)[0]
        return {each: float(max(0.0, min(1.0, one))) for (each, _), one in zip(found, near, strict=True)}


@contextmanager
def opened(path: Path, *, at: datetime, make: bool = True, wait_s: float = WAIT_S) -> Iterator[Records]:
    """Open the records at `path`; `make` makes them where there are none.

    Raises NoSuchFile without them, UnsafePath for a link or a special file, CoreUnavailable while another
    process keeps them or for a damaged file or one of a newer version, UnwritableStore.
    """
    _require_plain(path, make=make)
    with _told(path):
        db = sqlite3.connect(path, timeout=wait_s, isolation_level=None)
    try:
        with _told(path):
            _prepare(db, path, make=make)
        yield Records(db, path, render_time(at))
    finally:
        db.close()


def broken(path: Path, *, wait_s: float = WAIT_S) -> str:
    """Say why records can't be read: `missing`, `damaged`, or "" while they can (or are only busy)."""
    from datetime import UTC

    try:
        with opened(path, at=datetime.now(UTC), make=False, wait_s=wait_s) as records, _told(path):
            checked = records._db.execute("PRAGMA quick_check(1)").fetchone()  # noqa: SLF001
            return "" if checked == ("ok",) else "damaged"
    except errors.NoSuchFile:
        return "missing"
    except errors.CoreUnavailable as problem:
        return "damaged" if problem.damaged else ""
    except errors.LaminaError:
        return "damaged"


def _require_plain(path: Path, *, make: bool) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        if not make:
            raise errors.NoSuchFile(
                f"{path}: there are no records yet", "`lamina digest` makes them"
            ) from None
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600))
        except FileExistsError:
            return _require_plain(path, make=False)
        except OSError as problem:
            raise _unwritable(path, problem) from problem
        return None
    except OSError as problem:
        raise _unwritable(path, problem) from problem
    if not stat.S_ISREG(mode):
        raise errors.UnsafePath(f"{path}: is no plain file", "move it out of the memory folder")
    return None


def _prepare(db: sqlite3.Connection, path: Path, *, make: bool) -> None:
    db.execute("PRAGMA secure_delete = ON")
    db.execute("PRAGMA synchronous = FULL")
    (version,) = db.execute("PRAGMA user_version").fetchone()
    (kind,) = db.execute("PRAGMA application_id").fetchone()
    if version == SCHEMA and kind == _APPLICATION:
        return
    tables = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if not (version == kind == tables == 0):
        newer = kind == _APPLICATION and version > SCHEMA
        raise errors.CoreUnavailable(
            f"{path}: was written by a newer Lamina" if newer else f"{path}: is no database of Lamina",
            "update Lamina" if newer else "move it away; `lamina semantic rebuild` makes it from the digest",
            damaged=not newer,
        )
    if not make:
        raise errors.NoSuchFile(f"{path}: there are no records yet", "`lamina digest` makes them")
    db.execute("BEGIN IMMEDIATE")
    if db.execute("PRAGMA user_version").fetchone() == (0,):
        for statement in _TABLES.split(";\n"):
            if statement.strip():
                db.execute(statement)
    db.execute("COMMIT")


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turn what SQLite says into an error for a person."""
    try:
        yield
    except sqlite3.DatabaseError as problem:
        if disk.is_one_of(problem, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise errors.CoreUnavailable(
                f"{path}: another process keeps it", "wait until it is done and run the command again"
            ) from problem
        if disk.is_one_of(
            problem,
            sqlite3.SQLITE_FULL,
            sqlite3.SQLITE_IOERR,
            sqlite3.SQLITE_READONLY,
            sqlite3.SQLITE_CANTOPEN,
        ):
            raise errors.UnwritableStore(
                f"{path}: can't be written ({problem})", "free some space or give yourself permission on it"
            ) from problem
        raise errors.CoreUnavailable(
            f"{path}: is damaged ({problem})",
            "`lamina semantic rebuild` makes it anew from the digest",
            damaged=True,
        ) from problem


def _unwritable(path: Path, problem: OSError) -> errors.UnwritableStore:
    return errors.UnwritableStore(
        f"{path}: can't be written ({problem.strerror})", "check the folder's permissions"
    )
