"""The vectors of what documents say, in a file of their own beside the words.

A vector is kept under the number of what was embedded (`tables.meaning`) and its model, not under a row:
building the index anew, moving an entry or switching a branch and back embeds nothing twice, and vectors of
two models are never mixed. They are stored as one byte a number, since only their direction counts. The file
may vanish or be damaged at any time: then it starts empty and is filled again.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Collection, Iterator, Mapping, Sequence

from lamina.formats.frozen import NamedTuple
from lamina.index import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Codes = NDArray[np.int8]
    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int64]

NAME = "vectors.db"
MEANT = "trust <> 'forgotten'"
"""Which rows of `doc` have a vector: no embedder reads what was forgotten."""
_SCHEMA = 3
_TABLES = f"""
CREATE TABLE model (id INTEGER PRIMARY KEY, name TEXT NOT NULL, dimension INTEGER NOT NULL,
    UNIQUE (name, dimension));
CREATE TABLE vector (id INTEGER PRIMARY KEY AUTOINCREMENT, model INTEGER NOT NULL, meaning INTEGER NOT NULL,
    code BLOB NOT NULL, UNIQUE (meaning, model));
PRAGMA user_version = {_SCHEMA};
"""
_ADD_MODEL = "INSERT OR IGNORE INTO model VALUES (?, ?, ?)"
_NOWHERE = (0, 0)  # the file was taken away as it was opened
_FETCH = 500
_CHUNK = 20_000
_CACHE_KIB = 16_384


class Chunk(NamedTuple):
    """Some vectors: ids that ascend in the order of writing, what they stand for, and a row of codes each."""

    ids: Numbers
    meanings: Numbers
    codes: Codes


class Vectors:
    """The vectors of one model in `<home>/vectors.db`; where the disk takes none, they live in memory."""

    def __init__(
        self,
        home: os.PathLike[str] | str,
        name: str,
        dimension: int,
        *,
        wait_s: float = 10.0,
        read_only: bool = False,
    ) -> None:
        self._path = os.path.join(home, NAME)  # noqa: PTH118 - as the index beside it
        self._wait_s = wait_s
        self._read_only = read_only
        self._name = name
        self.dimension = dimension
        self._inode: tuple[int, int] | None = None
        self._db = self._open()
        try:
            self._register()
        except sqlite3.OperationalError as problem:
            if problem.sqlite_errorcode & 0xFF not in _UNWRITABLE:
                raise
            self._db.close()
            self._inode, self._db = None, self._connect(":memory:")
            self._register()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @property
    def version(self) -> tuple[int, int]:
        """A value that changes with whatever any process writes."""
        (version,) = self._db.execute("PRAGMA data_version").fetchone()
        return (int(version), self._db.total_changes)

    @property
    def sound(self) -> bool:
        """Whether what is stored can be read. Raises OperationalError while another process keeps it."""
        try:
            return bool(self._db.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
        except sqlite3.DatabaseError as problem:
            if is_kept(problem):
                raise  # nothing is wrong with it, and others use it
            return False

    @property
    def replaced(self) -> bool:
        """Whether the file that was opened is not the one that is there now."""
        return self._inode is not None and self._inode != disk.inode(self._path)

    @property
    def dropped(self) -> bool:
        """Whether the file knows nothing of this model; another one may have taken over."""
        sql = "SELECT 1 FROM model WHERE id = ?"
        try:
            return self._db.execute(sql, (self._model,)).fetchone() is None
        except sqlite3.DatabaseError:
            return False  # in use or damaged: whoever asks for more will hear it

    def discard(self) -> None:
        """Delete the file; what it held can be made again."""
        self.close()
        discard(self._path)

    def missing(self, meanings: Collection[int] | Numbers) -> list[int]:
        """Return which of the numbers have no vector yet, once each, ascending."""
        import numpy as np

        wanted = np.unique(np.fromiter(meanings, np.int64, len(meanings)))
        if len(wanted) <= _FETCH:
            have = [meaning for chunk in self.find(wanted.tolist()) for meaning in chunk.meanings.tolist()]
            return sorted(set(wanted.tolist()) - set(have))
        missing: list[int] = np.setdiff1d(wanted, self._have(), assume_unique=True).tolist()
        return missing

    def put(self, codes: Mapping[int, Codes]) -> None:
        """Store vectors; all of them are there afterwards, or none."""
        rows = [(self._model, meaning, code.tobytes()) for meaning, code in codes.items()]
        with self._db:
            self._db.execute(_ADD_MODEL, (self._model, self._name, self.dimension))  # if it was dropped
            self._db.executemany("INSERT OR IGNORE INTO vector (model, meaning, code) VALUES (?, ?, ?)", rows)

    def remove(self, meanings: Collection[int]) -> None:
        """Remove the vectors of some numbers."""
        with self._db:
            self._db.executemany(
                "DELETE FROM vector WHERE model = ? AND meaning = ?",
                ((self._model, each) for each in meanings),
            )

    def codes(self, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the stored codes of some ids."""
        found: dict[int, bytes] = {}
        for start in range(0, len(ids), _FETCH):
            part = ids[start : start + _FETCH]
            sql = f"SELECT id, code FROM vector WHERE id IN ({','.join('?' * len(part))})"  # noqa: S608
            found.update(self._db.execute(sql, part))
        return found

    def find(self, meanings: Sequence[int]) -> Iterator[Chunk]:
        """Yield what is stored for some numbers."""
        for start in range(0, len(meanings), _FETCH):
            part = meanings[start : start + _FETCH]
            yield from self._chunks(f"meaning IN ({','.join('?' * len(part))})", *part)

    def since(self, last: int) -> Iterator[Chunk]:
        """Yield what was stored behind an id, in the order of writing, some thousands at a time."""
        return self._chunks("id > ? ORDER BY id", last)

    def until(self, meaning: int) -> Iterator[Chunk]:
        """Yield what is stored for the numbers up to `meaning`."""
        return self._chunks("meaning <= ?", meaning)

    def prune(self, keep: Numbers) -> int:
        """Remove what no document says any more, and other models once this one has all; returns how many."""
        import numpy as np

        have = self._have()
        gone = np.setdiff1d(have, keep).tolist()
        if not gone and not self._db.execute("SELECT 1 FROM model WHERE id <> ?", (self._model,)).fetchone():
            return 0
        self.remove(gone)
        with self._db:
            if not len(np.setdiff1d(keep, have)):
                self._db.execute("DELETE FROM vector WHERE model <> ?", (self._model,))
                self._db.execute("DELETE FROM model WHERE id <> ?", (self._model,))
        return len(gone)

    def _have(self) -> Numbers:
        """Return the numbers that have a vector, in no order."""
        import numpy as np

        found = self._db.execute("SELECT meaning FROM vector WHERE model = ?", (self._model,))
        return np.fromiter((meaning for (meaning,) in found), np.int64)

    def _chunks(self, where: str, *values: int) -> Iterator[Chunk]:
        """Yield what is stored under a condition; a code of another length counts as zeros."""
        import numpy as np

        blank = bytes(self.dimension)
        sql = f"SELECT id, meaning, code FROM vector WHERE model = ? AND {where}"  # noqa: S608
        rows = self._db.execute(sql, (self._model, *values))
        while chunk := rows.fetchmany(_CHUNK):
            ids, meanings, codes = zip(*chunk, strict=True)
            whole = b"".join(code if len(code) == len(blank) else blank for code in codes)
            yield Chunk(
                np.array(ids, np.int64),
                np.array(meanings, np.int64),
                np.frombuffer(whole, np.int8).reshape(-1, self.dimension),
            )

    def _open(self) -> sqlite3.Connection:
        self._clear_the_way()
        for attempt in range(2):
            try:
                db = self._connect(self._path)
            except sqlite3.DatabaseError as problem:
                if is_kept(problem):
                    raise
                if isinstance(problem, sqlite3.OperationalError) or attempt:
                    break
                discard(self._path)  # damaged: what it held can be made again
            else:
                self._inode = disk.inode(self._path) or _NOWHERE
                return db
        return self._connect(":memory:")

    def _clear_the_way(self) -> None:
        """Keep a folder that stands where the file belongs under another name."""
        if os.path.isdir(self._path) and not self._read_only:  # noqa: PTH112
            try:
                os.replace(self._path, f"{self._path}.{time.time_ns()}")  # noqa: PTH105
            except OSError:
                return  # then they live in memory

    @property
    def in_memory(self) -> bool:
        """Tell whether the disk took none, so they last as long as this process."""
        return self._inode is None

    def _connect(self, path: str) -> sqlite3.Connection:
        if path != ":memory:":
            _make(path)
        db = sqlite3.connect(path, timeout=self._wait_s, check_same_thread=False)
        try:
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            db.execute(f"PRAGMA query_only = {int(self._read_only and path == self._path)}")
            db.execute("PRAGMA secure_delete = ON")  # a purged text leaves no vector behind
            (version,) = db.execute("PRAGMA user_version").fetchone()
            if version not in (0, _SCHEMA):
                raise sqlite3.DatabaseError(f"it has the version {version}")  # noqa: TRY301 - closed below
            if not version:
                db.executescript(f"BEGIN IMMEDIATE; {_TABLES.replace('CREATE TABLE', _CREATE)} COMMIT;")
            db.execute("SELECT count(*) FROM model").fetchone()
        except BaseException:
            db.close()
            raise
        return db

    def _register(self) -> None:
        """Have the model in the file, written only if it is new, as the disk may take no writes.

        Its number is made of what it is, so it never becomes another one's.
        """
        from _blake2 import blake2b

        said = f"{self._name}\0{self.dimension}".encode("utf-8", "replace")
        self._model = int.from_bytes(blake2b(said, digest_size=7).digest(), "big")
        if not self.dropped:
            return
        with self._db:
            self._db.execute(_ADD_MODEL, (self._model, self._name, self.dimension))


_CREATE = "CREATE TABLE IF NOT EXISTS"
_UNWRITABLE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)


def encode(rows: NDArray[np.float32]) -> Codes:
    """Return vectors as bytes: each scaled so that its largest number is 127."""
    import numpy as np

    peak = np.abs(rows).max(axis=1, keepdims=True)
    return np.rint(rows * (127 / np.where(peak > 0, peak, 1))).astype(np.int8)


def directions(codes: Codes) -> NDArray[np.float32]:
    """Return stored vectors with length 1; a vector of zeros stays one."""
    import numpy as np

    rows = codes.astype(np.float32)
    length = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    rows /= np.where(length > 0, length, 1)[:, None]
    return rows


def stored_dimension(home: os.PathLike[str] | str, name: str, wait_s: float) -> int:
    """Return how long the vectors of a model are, 0 if the file does not tell; asking an endpoint is slow.

    Raises OperationalError while another process keeps the file.
    """
    path = os.path.join(home, NAME)  # noqa: PTH118
    if not os.path.isfile(path):  # noqa: PTH113
        return 0
    try:
        db = sqlite3.connect(path, timeout=wait_s)
        try:
            rows = db.execute("SELECT dimension FROM model WHERE name = ?", (name,)).fetchall()
        finally:
            db.close()
    except sqlite3.DatabaseError as problem:
        if is_kept(problem):
            raise
        return 0
    return rows[0][0] if len(rows) == 1 and isinstance(rows[0][0], int) else 0


def is_kept(problem: sqlite3.Error) -> bool:
    """Tell whether another connection keeps the file to itself for now."""
    return disk.is_one_of(problem, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _make(path: str) -> None:
    """Have the file there with the rights of everything in a store."""
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120
        # Only a new file: closing one that SQLite has open in this process would drop its locks.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return
    except OSError as problem:
        raise sqlite3.OperationalError(str(problem)) from problem


def discard(path: str) -> None:
    """Delete a database with its journal."""
    for each in (path, f"{path}-journal"):
        disk.discard(each)
