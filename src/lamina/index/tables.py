"""The embedded index's tables: how documents become rows and rows become documents.

A document's row number is made of its day and a checksum of what it is, so it does not depend on the
order of writing: an index that grew gives the same answers as one built anew, newest first among
equals, and a range of days is a range of rows.
"""

from __future__ import annotations

import marshal
import sqlite3
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date

from lamina.index import words
from lamina.index.base import Document, Stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEMA = 3
_DAY_BITS = 28
_MARSHAL = 2  # the last version whose bytes depend on the values alone
_LOW = (1 << _DAY_BITS) - 1
FIRST_DAY = 1 << _DAY_BITS
_DAYS = [Document._fields.index(name) for name in ("date", "verified", "valid_until")]
_MONTHS = "January February March April May June July August September October November December"
# Columns of `words` and their weights in bm25; chosen on questions about sessions and entries.
WEIGHTS = (2.5, 1.5, 1.0, 0.5)

_LISTED = 2_000
"""Changes of rows that are kept; whoever missed more reads all rows again."""
_ASKS = ("?", "？", "؟")

_TABLES = f"""
CREATE TABLE file (
    id INTEGER PRIMARY KEY, rel TEXT UNIQUE NOT NULL, mtime_ns INTEGER, size INTEGER, inode INTEGER,
    ctime_ns INTEGER, checksum INTEGER, racy INTEGER);
CREATE TABLE doc (
    row INTEGER PRIMARY KEY, file INTEGER NOT NULL, line INTEGER, scope TEXT, layer TEXT, topic TEXT,
    trust TEXT, branch TEXT, session TEXT, seq INTEGER, length INTEGER, meaning INTEGER);
CREATE INDEX doc_file ON doc (file);
CREATE INDEX doc_session ON doc (session, seq) WHERE session IS NOT NULL;
CREATE TABLE body (
    row INTEGER PRIMARY KEY, id TEXT, topic TEXT, heading TEXT, text TEXT, date TEXT, importance INTEGER,
    volatility TEXT, verified TEXT, valid_until TEXT, source TEXT, more TEXT);
CREATE TABLE change (n INTEGER PRIMARY KEY, row INTEGER NOT NULL, meaning INTEGER);
CREATE TABLE meta (name TEXT PRIMARY KEY, value);
CREATE VIRTUAL TABLE words USING fts5 (
    heading, topic, text, place, content='', tokenize="{words.TOKENIZER}");
INSERT INTO words (words, rank) VALUES ('rank', 'bm25{WEIGHTS}');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (words, row);
"""  # noqa: S608 - constants of this module

_ADD_DOC = "INSERT OR IGNORE INTO doc VALUES (?,?,?,?,?,?,?,?,?,?,?,?)"
_ADD_BODY = "INSERT INTO body VALUES (?,?,?,?,?,?,?,?,?,?,?,?)"
_SELECT = (
    "SELECT b.row, b.id, d.scope, d.layer, b.topic, b.heading, b.text, f.rel, d.line, b.date, b.importance, "
    "d.trust, b.volatility, b.verified, b.valid_until, b.source, d.branch, b.more "
    "FROM body b JOIN doc d ON d.row = b.row JOIN file f ON f.id = d.file WHERE "
)


def create(db: sqlite3.Connection) -> None:
    """Make the tables of an empty index."""
    db.executescript(_TABLES)
    db.execute("INSERT INTO meta VALUES ('words', ?)", (words.VERSION,))
    db.execute(f"PRAGMA user_version = {SCHEMA}")


def fits(db: sqlite3.Connection) -> bool:
    """Tell whether the tables are those of this version; raises DatabaseError when they are damaged."""
    if db.execute("PRAGMA user_version").fetchone() != (SCHEMA,):
        return False
    return bool(
        db.execute("SELECT value = ? FROM meta WHERE name = 'words'", (words.VERSION,)).fetchone() == (1,)
    )


def put_listing(db: sqlite3.Connection, stamps: dict[str, Stamp] | None) -> None:
    """Store how the whole disk looked, when every file was read and none was too young to be sure."""
    listing = None if stamps is None else marshal.dumps(stamps, _MARSHAL)
    db.execute("INSERT OR REPLACE INTO meta VALUES ('listing', ?)", (listing,))


def is_listed(db: sqlite3.Connection, stamps: dict[str, Stamp]) -> bool:
    """Tell cheaply whether the disk looks as it did; False may also mean: not sure."""
    row = db.execute("SELECT value FROM meta WHERE name = 'listing'").fetchone()
    return row is not None and row[0] == marshal.dumps(stamps, _MARSHAL)


Known = tuple[str, int, int, int, int, int, int]
"""A file's path, its stamp's four numbers, its checksum, and whether it was too young to be sure."""


def known(db: sqlite3.Connection, only: Collection[str] | None = None) -> dict[str, Known]:
    """Return what is stored about every indexed file, or about some."""
    sql = "SELECT rel, mtime_ns, size, inode, ctime_ns, checksum, racy FROM file"
    if only is None:
        return {row[0]: row for row in db.execute(sql)}
    found = (db.execute(f"{sql} WHERE rel = ?", (rel,)).fetchone() for rel in only)
    return {row[0]: row for row in found if row}


def changes(db: sqlite3.Connection, seen: int) -> tuple[int, list[tuple[int, int | None]] | None]:
    """Return how often rows changed until now, and what changed after the first `seen` times, in order.

    A row that came has its meaning, one that went has None. The list is None if it does not reach back
    so far.
    """
    row = db.execute("SELECT value FROM meta WHERE name = 'changes'").fetchone()
    now = int(row[0]) if row else 0
    if not 0 <= seen <= now or now - seen > _LISTED:
        return now, None
    lines = db.execute("SELECT row, meaning FROM change WHERE n > ? ORDER BY n", (seen,)).fetchall()
    return now, lines if len(lines) == now - seen else None


def count(db: sqlite3.Connection) -> int:
    """Return the number of indexed documents, as of the last write."""
    row = db.execute("SELECT value FROM meta WHERE name = 'documents'").fetchone()
    return int(row[0]) if row else 0


def put_stamp(db: sqlite3.Connection, rel: str, stamp: Stamp, *, checksum: int, racy: bool) -> int:
    """Store what a file looked like when it was read; returns its number."""
    db.execute(
        "INSERT INTO file (rel, mtime_ns, size, inode, ctime_ns, checksum, racy) VALUES (?,?,?,?,?,?,?) "
        "ON CONFLICT (rel) DO UPDATE SET mtime_ns = excluded.mtime_ns, size = excluded.size, inode = "
        "excluded.inode, ctime_ns = excluded.ctime_ns, checksum = excluded.checksum, racy = excluded.racy",
        (rel, *stamp, checksum, racy),
    )
    return file_number(db, rel)


def file_number(db: sqlite3.Connection, rel: str) -> int:
    """Return the number of an indexed file."""
    return int(db.execute("SELECT id FROM file WHERE rel = ?", (rel,)).fetchone()[0])


def differences(db: sqlite3.Connection, fresh: sqlite3.Connection) -> list[str]:
    """Tell what an index holds too much or lacks, compared with a fresh one."""
    told: list[str] = []
    have, want = set(everything(db)), set(everything(fresh))
    told += [f"{d.file}:{d.line}: {d.id or d.heading} is indexed but not in the file" for d in have - want]
    told += [f"{d.file}:{d.line}: {d.id or d.heading} is not indexed" for d in want - have]
    sql = "SELECT term, doc, cnt FROM vocabulary"
    words_differ = set(db.execute(sql)) ^ set(fresh.execute(sql))
    told += [
        f"the word {term!r} is counted wrongly" for term in sorted({row[0] for row in words_differ})[:20]
    ]
    return sorted(told)


class Batch:
    """The changes of one transaction; the words follow in row order when it is finished.

    FTS5 writes a segment whenever a row comes before its forerunner, so the order is what makes a
    build fast.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._count = count(db)
        self._old: dict[int, tuple[str, ...]] = {}
        self._new: list[int] = []

    def replace(self, file: int, documents: Sequence[Document]) -> None:
        """Make a file's rows those of the documents; rows that stay the same are not touched."""
        wanted = _numbered(documents)
        before = dict(_in_file(self._db, file))
        for row, old in before.items():
            new = wanted.get(row)
            if new is None or new._replace(line=0) != old._replace(line=0):
                self._drop(row)
            else:
                del wanted[row]
                if new.line != old.line:
                    self._db.execute("UPDATE doc SET line = ? WHERE row = ?", (new.line, row))
        for row, document in wanted.items():
            self._new.append(self._add(file, row, document))

    def remove(self, file: int) -> None:
        """Remove a file with its rows."""
        self.replace(file, ())
        self._db.execute("DELETE FROM file WHERE id = ?", (file,))

    def finish(self) -> None:
        """Bring the words and the counters in line with the rows."""
        self._db.executemany(
            "INSERT INTO words (words, rowid, heading, topic, text, place) VALUES ('delete', ?, ?, ?, ?, ?)",
            ((row, *self._old[row]) for row in sorted(self._old)),
        )
        self._db.executemany(
            "INSERT INTO words (rowid, heading, topic, text, place) VALUES (?, ?, ?, ?, ?)",
            _expanded(self._db, sorted(self._new)),
        )
        total = self._count - len(self._old) + len(self._new)
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('documents', ?)", (total,))
        self._list_changes()

    def _list_changes(self) -> None:
        """Note which rows went and came, for those who keep them in memory."""
        before, _ = changes(self._db, -1)
        now = before + len(self._old) + len(self._new)
        if now - before <= _LISTED:
            new = ",".join(map(str, self._new))
            came = self._db.execute(f"SELECT row, meaning FROM doc WHERE row IN ({new})")  # noqa: S608
            lines = [*((row, None) for row in self._old), *came]
            self._db.executemany(
                "INSERT INTO change VALUES (?, ?, ?)",
                ((n, *line) for n, line in enumerate(lines, before + 1)),
            )
        self._db.execute("DELETE FROM change WHERE n <= ?", (now - _LISTED,))
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('changes', ?)", (now,))

    def _drop(self, row: int) -> None:
        ((_, *columns),) = _expanded(self._db, [row])
        self._old[row] = tuple(columns)
        self._db.execute("DELETE FROM doc WHERE row = ?", (row,))
        self._db.execute("DELETE FROM body WHERE row = ?", (row,))

    def _add(self, file: int, row: int, document: Document) -> int:
        d = document
        session, seq = _session(d.source)
        while True:
            values = (
                row,
                file,
                d.line,
                d.scope,
                d.layer,
                topic_key(d.topic),
                d.trust,
                d.branch,
                session,
                seq,
                length(d.text),
                meaning(d),
            )
            if self._db.execute(_ADD_DOC, values).rowcount:
                break
            row += 1
        date_, verified, until = [day and day.isoformat() for day in (d.date, d.verified, d.valid_until)]
        self._db.execute(
            _ADD_BODY,
            (
                row,
                d.id,
                d.topic,
                d.heading,
                d.text,
                date_,
                d.importance,
                d.volatility,
                verified,
                until,
                d.source,
                d.more,
            ),
        )
        return row


def length(text: str) -> int:
    """Return how many characters a text has, below zero if it ends with a question."""
    return -len(text) if text.rstrip().endswith(_ASKS) else len(text)


def meaning(document: Document) -> int:
    """Return the number of what a document says, under which its vectors are kept."""
    from _blake2 import blake2b

    said = wording(document.heading, document.text).encode("utf-8", "replace")
    return int.from_bytes(blake2b(said, digest_size=8).digest(), "big", signed=True)


def wording(heading: str, text: str) -> str:
    """Return what an embedder reads of a document."""
    return text if text.startswith(heading) else f"{heading}: {text}"


def row_of(day: date | None) -> int:
    """Return the first row number of a day; documents without a date come before all days."""
    return day.toordinal() << _DAY_BITS if day else 0


def topic_key(topic: str) -> str:
    """Return a topic's title as filters compare it."""
    return topic if topic.isascii() and topic.islower() else unicodedata.normalize("NFC", topic).casefold()


def documents(db: sqlite3.Connection, rows: Sequence[int]) -> dict[int, Document]:
    """Return the documents of the given rows."""
    found: dict[int, Document] = {}
    for start in range(0, len(rows), 500):
        part = rows[start : start + 500]
        where = f"b.row IN ({','.join('?' * len(part))})"
        found.update(_documents(db.execute(_SELECT + where, part)))
    return found


def everything(db: sqlite3.Connection) -> Iterator[Document]:
    """Return all documents in the order of their files and lines."""
    return (document for _, document in _documents(db.execute(_SELECT + "1 ORDER BY f.rel, d.line, b.row")))


def _in_file(db: sqlite3.Connection, file: int) -> list[tuple[int, Document]]:
    return list(_documents(db.execute(_SELECT + "d.file = ? ORDER BY b.row", (file,))))


def _documents(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, Document]]:
    day = date.fromisoformat
    for row, *values in rows:
        for column in _DAYS:
            values[column] = day(values[column]) if values[column] else None
        yield row, Document(*values)


def _numbered(documents: Sequence[Document]) -> dict[int, Document]:
    """Give each document of a file the row number that it has in any index, but for rare collisions."""
    from zlib import crc32

    rows: dict[int, Document] = {}
    seen: dict[str, int] = {}
    for document in documents:
        name = f"{document.file}\0{document.id}\0{document.heading}"
        seen[name] = seen.get(name, 0) + 1
        checksum = crc32(f"{name}\0{seen[name]}".encode("utf-8", "replace"))
        row = row_of(document.date) + (checksum & _LOW)
        while row in rows:
            row += 1
        rows[row] = document
    return rows


def _session(source: str) -> tuple[str | None, int | None]:
    """Return the first session that a Source field names, and where in it."""
    if "session:" not in source:
        return None, None
    ref = source[source.index("session:") :].partition(",")[0]
    name, _, place = ref.partition("#")
    first = place.partition("-")[0].strip()
    return (name.strip(), int(first)) if first.isdecimal() and len(first) < 16 else (None, None)


def _expanded(db: sqlite3.Connection, rows: Sequence[int]) -> Iterator[tuple[int, str, str, str, str]]:
    expand = words.expand
    months = _MONTHS.split()
    for start in range(0, len(rows), 500):
        part = rows[start : start + 500]
        found = db.execute(
            f"SELECT b.row, b.heading, b.topic, b.text, b.id, d.scope, b.date, b.more FROM body b "  # noqa: S608
            f"JOIN doc d ON d.row = b.row WHERE b.row IN ({','.join('?' * len(part))}) ORDER BY b.row",
            part,
        ).fetchall()
        for row, heading, topic, text, id_, scope, day, more in found:
            month = months[int(day[5:7]) - 1] if day else ""
            place = f"{id_} {scope.removeprefix('workspace:')} {day or ''} {month} {more}"
            yield row, expand(heading), expand(topic), expand(text), expand(place)
