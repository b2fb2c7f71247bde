"""The records behind a project's digest: `vectors.db` in its memory folder.

    candidate → approved → superseded → purged

A record is known by the hash of its content. Content and vector of a purged one are gone, the row and the
events tell that it was there. Only candidates and approved records can be found, so what a query answers
depends on them alone, whatever came before.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from lamina.formats.dates import render_time
from lamina.index import words
from lamina.index.coredisk import WAIT_S, WORDS, connected, is_whole, told
from lamina.index.vectors import directions, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lamina.embed.base import Embedder

    Floats = NDArray[np.float32]

CANDIDATE, APPROVED, SUPERSEDED, PURGED = "candidate", "approved", "superseded", "purged"
FOUND: Final = (APPROVED, CANDIDATE)
_COUNT = "SELECT count(*) FROM record WHERE status IN (?, ?)"
_MATCHES = (
    "SELECT r.hash FROM words w JOIN record r ON r.id = w.rowid WHERE words MATCH ? AND r.status IN (?, ?)"
)
_NEAR = (
    "SELECT v.hash, v.code FROM vector v JOIN record r ON r.hash = v.hash"
    " WHERE v.model = ? AND v.dimension = ? AND r.status IN (?, ?) ORDER BY v.hash"
)
_KEEP_VECTOR = (  # not of a record that was retired while its vector was made
    "INSERT OR REPLACE INTO vector SELECT hash, ?, ?, ? FROM record WHERE hash = ? AND status IN (?, ?)"
)
_DIGITS = 6
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
        with told(self._path):
            self._db.execute("BEGIN IMMEDIATE")
            self._purged = False
            try:
                yield
                if self._purged:  # a deleted word stays in the lists of FTS5 until they are merged
                    self._db.execute("INSERT INTO words (words) VALUES ('optimize')")
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:  # a full disk has taken it back already
                    self._db.execute("ROLLBACK")
                raise

    def get(self, hash: str) -> Row | None:
        """Return a record by its hash."""
        sql = "SELECT hash, content, source, item, kind, status, confidence FROM record WHERE hash = ?"
        with told(self._path):
            found = self._db.execute(sql, (hash,)).fetchone()
            if found and not _are(str, *found[:6]):
                raise sqlite3.DatabaseError("a record holds nonsense")
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

    def restore(self, rows: Sequence[Row]) -> None:
        """Have these records in force and no others, whatever there was; what else was known is purged.

        Events stay, and so do the vectors of what stays. Raises CoreUnavailable for a damaged file.
        """
        if not is_whole(self._db):
            raise sqlite3.DatabaseError("it is not whole")
        wanted = {row.hash: row for row in rows}
        self._db.execute("DROP TABLE words")
        self._db.execute(WORDS)
        for (known,) in self._db.execute("SELECT hash FROM record WHERE status IN (?, ?)", FOUND).fetchall():
            if known not in wanted:
                self.supersede(known, reason="not in the digest")
                self.purge(known)
        for row in wanted.values():
            old = self.get(row.hash)
            if old and old.content != row.content:
                self._db.execute("DELETE FROM vector WHERE hash = ?", (row.hash,))
            self._put(row, "" if old == row else "restored")
        self._purged = False  # the lists of words are new

    def without_vector(self, model: str, dimension: int, most: int) -> list[tuple[str, str]]:
        """Return hash and content of records in force that this model has not embedded."""
        sql = (
            "SELECT r.hash, r.content FROM record r LEFT JOIN vector v ON v.hash = r.hash AND v.model = ?"
            " AND v.dimension = ? WHERE v.hash IS NULL AND r.status IN (?, ?) ORDER BY r.id LIMIT ?"
        )
        with told(self._path):
            found = self._db.execute(sql, (model, dimension, *FOUND, most)).fetchall()
            if not all(_are(str, *each) for each in found):
                raise sqlite3.DatabaseError("a record holds nonsense")
        return found

    def unembedded(self, model: str | None) -> frozenset[str]:
        """Return the records in force that have no vector of a model, None: of no model at all."""
        sql = (
            "SELECT hash FROM record r WHERE status IN (?, ?) AND NOT EXISTS"
            " (SELECT 1 FROM vector v WHERE v.hash = r.hash AND v.model = coalesce(?, v.model))"
        )
        with told(self._path):
            return frozenset(each for (each,) in self._db.execute(sql, (*FOUND, model)))

    def put_vectors(self, model: str, hashes: Sequence[str], rows: Floats) -> None:
        """Store the vectors of records, one row each."""
        codes = zip(hashes, encode(rows), strict=True)
        self._db.executemany(
            _KEEP_VECTOR, ((model, code.size, code.tobytes(), each, *FOUND) for each, code in codes)
        )

    def query(
        self, text: str, *, limit: int, candidates: bool, embedder: Embedder | None, least: float = 0.0
    ) -> tuple[str, list[Scored]]:
        """Find records by words, and by meaning where they have vectors of the embedder.

        Returns `fts` or `hybrid` and the best ones; equal scores are in the order of their hashes. With an
        embedder the score is the mean of both, and that of the words where a record has no vector yet. Raises
        EmbedderUnavailable.
        """
        statuses = (APPROVED, CANDIDATE if candidates else APPROVED)
        asked = embedder.embed([text], query=True) if embedder else None  # before anybody is kept waiting
        with told(self._path), self._snapshot():
            said = self._by_words(text, statuses)
            meant = {} if asked is None or embedder is None else self._near(asked, embedder.name, statuses)
            scores = {each: round(score, _DIGITS) for each, score in _joined(said, meant).items()}
            ranked = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
            best = [(each, score) for each, score in ranked if score >= least and score > 0][:limit]
            found = [(self.get(each), score) for each, score in best]
        mode = "hybrid" if embedder else "fts"
        return mode, [Scored(row, score) for row, score in found if row is not None]

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
        if what:
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

    def _near(self, asked: Floats, model: str, statuses: tuple[str, str]) -> dict[str, float]:
        """Score records by how close their vectors point to the query's."""
        import numpy as np

        dimension = asked.shape[1]
        found = self._db.execute(_NEAR, (model, dimension, *statuses)).fetchall()
        found = [(each, code) for each, code in found if _are(bytes, code) and len(code) == dimension]
        if not found:
            return {}
        codes = np.frombuffer(b"".join(code for _, code in found), np.int8).reshape(-1, dimension)
        near = np.clip(directions(codes).astype(np.float64) @ asked[0].astype(np.float64), 0.0, 1.0)
        return {each: float(one) for (each, _), one in zip(found, near, strict=True)}

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        """Read as if nobody wrote meanwhile."""
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.execute("ROLLBACK")


def _are(kind: type, *values: object) -> bool:
    """Tell whether values are of a kind; those of a damaged file may be of any."""
    return all(isinstance(each, kind) for each in values)


def _joined(said: Mapping[str, float], meant: Mapping[str, float]) -> dict[str, float]:
    """Return one score a record: both halves where it has a vector, else that of its words."""
    return dict(said) | {each: (said.get(each, 0.0) + near) / 2 for each, near in meant.items()}


@contextmanager
def opened(path: Path, *, at: datetime, make: bool = True, wait_s: float = WAIT_S) -> Iterator[Records]:
    """Open the records at `path`; `make` makes them where there are none.

    Raises NoSuchFile without them, UnsafePath for a link or a special file, CoreUnavailable while another
    process keeps them or for a damaged file or one of a newer version, UnwritableStore.
    """
    with connected(path, make=make, wait_s=wait_s) as db:
        yield Records(db, path, render_time(at))
