"""What the embedded index needs of the disk: which file is there, whose turn it is, what is damage."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable

from lamina.errors import Busy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _thread import RLock
    from contextlib import AbstractContextManager

_CACHE_KIB = 65_536  # at most; the default of 2 MiB makes a warm search read each page again


class Lent:
    """The index for one thread at a time, as it is on disk right now."""

    def __init__(self, one: RLock, reopened: Callable[[], sqlite3.Connection | None]) -> None:
        self._one = one
        self._reopened = reopened

    def __enter__(self) -> sqlite3.Connection:
        self._one.acquire()
        db = self._reopened()
        if db is None:
            self._one.release()
            raise Busy("the index was taken away", "try again")
        return db

    def __exit__(self, kind: object, problem: object, traceback: object) -> None:
        self._one.release()


class Sense:
    """Take values that no index ever wrote, out of overwritten pages, for the damage that they are."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, problem: BaseException | None, traceback: object) -> None:
        if isinstance(problem, (TypeError, ValueError)):
            raise sqlite3.DatabaseError(f"it holds nonsense: {problem!r}") from problem


def inode(path: str) -> tuple[int, int] | None:
    """Return which file a path is, None for none."""
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return (found.st_dev, found.st_ino)


def is_one_of(problem: sqlite3.Error, *codes: int) -> bool:
    """Tell whether a problem has one of SQLite's codes."""
    return getattr(problem, "sqlite_errorcode", 0) & 0xFF in codes


def discard(path: str) -> None:
    """Delete a file that may not be there."""
    try:
        os.unlink(path)  # noqa: PTH108
    except FileNotFoundError:
        return


def connected(path: str, wait_s: float) -> sqlite3.Connection:
    """Open the index of words as it is used: by several threads in turn, its transactions begun by hand."""
    db = sqlite3.connect(path, timeout=wait_s, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA secure_delete = ON")
        db.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    except BaseException:
        db.close()
        raise
    return db


def locked(path: str, wait_s: float) -> AbstractContextManager[object]:
    """Hold the lock of an index's writers."""
    from pathlib import Path

    from lamina.store.locks import lock

    return lock(Path(f"{path}.lock"), timeout_s=wait_s)


def put_in_place(beside: str, path: str, now: int) -> None:
    """Rename a finished file over the one in use; a folder that stands there is kept under another name."""
    sync(beside)
    os.chmod(beside, 0o600)  # noqa: PTH101
    if os.path.isdir(path):  # noqa: PTH112
        os.replace(path, f"{path}.{now}")  # noqa: PTH105
    discard(f"{path}-journal")
    os.replace(beside, path)  # noqa: PTH105


def sync(path: str) -> None:
    """Wait until a file is on the disk for good."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
