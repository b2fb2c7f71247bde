"""The file behind the records of a semantic core: opened, checked, told about, and set aside.

It is a plain SQLite database with a rollback journal, so nothing lies beside it while nobody writes.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from lamina import errors
from lamina.index import disk, words

SCHEMA: Final = 1
WAIT_S: Final = 2.0
_APPLICATION = 0x4C414D43
WORDS: Final = f'CREATE VIRTUAL TABLE words USING fts5(said, tokenize="{words.TOKENIZER}")'
_TABLES = f"""
CREATE TABLE record (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, content TEXT NOT NULL,
    source TEXT NOT NULL, item TEXT NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL, confidence REAL,
    created TEXT NOT NULL, by TEXT NOT NULL DEFAULT '', reason TEXT NOT NULL DEFAULT '');
CREATE TABLE vector (hash TEXT NOT NULL, model TEXT NOT NULL, dimension INTEGER NOT NULL, code BLOB NOT NULL,
    PRIMARY KEY (hash, model, dimension)) WITHOUT ROWID;
CREATE TABLE event (id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, hash TEXT NOT NULL,
    what TEXT NOT NULL, detail TEXT NOT NULL DEFAULT '');
CREATE TRIGGER event_stays BEFORE DELETE ON event BEGIN SELECT raise(ABORT, 'events stay'); END;
CREATE TRIGGER event_holds BEFORE UPDATE ON event BEGIN SELECT raise(ABORT, 'events hold'); END;
{WORDS};
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {SCHEMA};
"""
_READONLY_DBMOVED = 1032
_UNWRITABLE = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)


@contextmanager
def connected(path: Path, *, make: bool, wait_s: float = WAIT_S) -> Iterator[sqlite3.Connection]:
    """Open the file; `make` makes it where there is none, with rights for its owner alone.

    Raises NoSuchFile without it, UnsafePath for a link or a special file, CoreUnavailable while another
    process keeps it or for a damaged one or one of a newer version, UnwritableStore.
    """
    _require_plain(path, make=make)
    with told(path):
        # Never made by SQLite itself: it would have the rights of the umask.
        db = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=wait_s, isolation_level=None
        )
    with closing(db):
        with told(path):
            _prepare(db, path, make=make)
        yield db


def broken(path: Path, *, wait_s: float = WAIT_S) -> str:
    """Say why a file can't be read: `missing`, `damaged`, or "" while it can, or nobody can tell."""
    try:
        with connected(path, make=False, wait_s=wait_s) as db, told(path):
            return "" if is_whole(db, "quick_check") else "damaged"
    except errors.NoSuchFile:
        return "missing"
    except errors.CoreUnavailable as problem:
        return "damaged" if problem.damaged else ""
    except errors.LaminaError:
        return ""  # a link, a folder, no permission: nothing that making it anew would mend


def is_whole(db: sqlite3.Connection, check: str = "integrity_check") -> bool:
    """Tell whether SQLite finds nothing wrong; `quick_check` leaves the indexes out."""
    return bool(db.execute(f"PRAGMA {check}(1)").fetchone() == ("ok",))


def set_aside(path: Path, *, stamp: str) -> Path:
    """Give a damaged file the name `NAME.damaged-STAMP`, with the journal that belongs to it.

    Never done to a sound one: whoever has it open would take the journal of the next one for its own.
    """
    name, number = f"{path.name}.damaged-{stamp}", 1
    while os.path.lexists(path.with_name(name)):
        number += 1
        name = f"{path.name}.damaged-{stamp}-{number}"
    kept = path.with_name(name)
    try:
        path.replace(kept)
        journal = Path(f"{os.fspath(path)}-journal")
        if journal.exists():
            journal.replace(f"{os.fspath(kept)}-journal")
    except OSError as problem:
        raise _unwritable(path, problem) from problem
    return kept


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn what SQLite says into an error for a person."""
    try:
        yield
    except sqlite3.DatabaseError as problem:
        raise _error(path, problem) from problem
    except UnicodeDecodeError as problem:  # what SQLite says of nonsense may be no text itself
        raise _error(path, sqlite3.DatabaseError(str(problem))) from problem


def _error(path: Path, problem: sqlite3.DatabaseError) -> errors.LaminaError:
    moved = getattr(problem, "sqlite_errorcode", 0) == _READONLY_DBMOVED
    if moved or disk.is_one_of(problem, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return errors.CoreUnavailable(
            f"{path}: another process keeps it", "wait until it is done and run the command again"
        )
    if disk.is_one_of(problem, *_UNWRITABLE):
        return errors.UnwritableStore(
            f"{path}: can't be written ({problem})", "free some space or give yourself permission on it"
        )
    return errors.CoreUnavailable(
        f"{path}: is damaged ({problem})",
        "`lamina semantic rebuild` makes it anew from the digest",
        damaged=True,
    )


def _require_plain(path: Path, *, make: bool) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        if not make:
            raise _missing(path) from None
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
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
    (tables,) = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if not version == kind == tables == 0:
        if _is_made(db):  # by another process, between the questions
            return
        newer = kind == _APPLICATION and version > SCHEMA
        raise errors.CoreUnavailable(
            f"{path}: was written by a newer Lamina" if newer else f"{path}: is no database of Lamina",
            "update Lamina" if newer else "move it away; `lamina semantic rebuild` makes it from the digest",
            damaged=not newer,
        )
    if not make:
        raise _missing(path)
    db.execute("BEGIN IMMEDIATE")
    if not _is_made(db):
        for statement in _TABLES.split(";\n"):
            db.execute(statement)
    db.execute("COMMIT")


def _is_made(db: sqlite3.Connection) -> bool:
    found = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("user_version", "application_id"))
    return tuple(found) == (SCHEMA, _APPLICATION)


def _missing(path: Path) -> errors.NoSuchFile:
    return errors.NoSuchFile(f"{path}: there are no records yet", "`lamina digest` makes them")


def _unwritable(path: Path, problem: OSError) -> errors.UnwritableStore:
    return errors.UnwritableStore(
        f"{path}: can't be written ({problem.strerror})", "check the folder's permissions"
    )
