"""Locks between processes that a killed holder lets go by itself."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from lamina import errors
from lamina.store import files

_UNSUPPORTED = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}
_FIRST_WAIT_S = 0.0005
_WAIT_AT_GATE_S = 0.01
_WAIT_AT_LOCK_S = 0.002
"""Only one process at a time waits at the lock itself, so it may look often."""


class _Taken(Exception):
    """Somebody else holds the lock."""


class Held(NamedTuple):
    """A lock that is held. Deleting its file lets somebody else take a new one."""

    handle: int
    path: Path

    @property
    def is_lost(self) -> bool:
        """Whether the lock's file was deleted, so that it no longer keeps others away."""
        return not _still_there(self.handle, self.path)


@contextmanager
def lock(path: Path, *, timeout_s: float = 30.0, shared: bool = False) -> Iterator[Held]:
    """Hold the lock file `path`; 0 seconds means: try once.

    Threads of one process exclude each other too; it can't be taken twice by one holder. A disk that knows
    no locks gets one in the temporary folder instead, which guards the processes of this machine.
    Raises Busy naming the lock.
    """
    held = _acquire(path, timeout_s, shared=shared)
    try:
        yield held
    finally:
        os.close(held.handle)


@contextmanager
def folder_lock(path: Path, *, timeout_s: float = 30.0) -> Iterator[None]:
    """Hold a folder itself, so that no file of ours has to lie in it.

    A disk or a system that can't lock folders gets a lock in the temporary folder. Raises Busy naming the
    folder, NoSuchFile where there is none.
    """
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        raise errors.NoSuchFile(f"{path}: no such folder") from None
    except OSError:
        handle = -1  # some systems open no folder
    deadline = time.monotonic() + timeout_s
    wait = _FIRST_WAIT_S
    try:
        while handle >= 0:
            try:
                _take(handle, shared=False)
            except OSError as problem:
                if problem.errno not in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
                    break
                if time.monotonic() >= deadline:
                    raise errors.Busy(
                        f"{path}: another command works in this folder",
                        "wait until it is done and run the command again",
                    ) from None
                time.sleep(wait)
                wait = min(wait * 2, _WAIT_AT_GATE_S)
            else:
                yield
                return
        with lock(_elsewhere(path), timeout_s=timeout_s):
            yield
    finally:
        if handle >= 0:
            os.close(handle)


def is_held(path: Path) -> bool:
    """Tell whether somebody holds the lock right now."""
    if not files.is_there(path):
        return False
    try:
        os.close(_acquire(path, 0, shared=False).handle)
    except errors.Busy:
        return True
    return False


def _acquire(path: Path, timeout_s: float, *, shared: bool) -> Held:
    """Wait for the lock behind a gate: who has just let it go can't overtake the one who waits for it."""
    deadline = time.monotonic() + timeout_s
    try:
        if timeout_s <= 0:
            return _try(path, shared=shared)
        gate = _wait(path.with_name(f"{path.name}.gate"), deadline, _WAIT_AT_GATE_S, shared=False)
        try:
            return _wait(path, deadline, _WAIT_AT_LOCK_S, shared=shared)
        finally:
            os.close(gate.handle)
    except _Taken:
        raise errors.Busy(
            f"{path}: another process holds this lock",
            "wait until it is done and run the command again",
        ) from None


def _wait(path: Path, deadline: float, longest_s: float, *, shared: bool) -> Held:
    wait = _FIRST_WAIT_S
    while True:
        try:
            return _try(path, shared=shared)
        except _Taken:
            if time.monotonic() >= deadline:
                raise
        time.sleep(wait)
        wait = min(wait * 2, longest_s)


def _try(path: Path, *, shared: bool) -> Held:
    while True:
        handle = _open(path)
        try:
            _take(handle, shared=shared)
            if _still_there(handle, path):
                return Held(handle, path)
        except OSError as problem:
            os.close(handle)
            if problem.errno in _UNSUPPORTED and (other := _elsewhere(path)) != path:
                path = other
                continue
            if problem.errno in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
                raise _Taken from None
            raise files.unwritable(path, problem) from problem
        os.close(handle)  # the file was deleted between opening and locking: lock the new one


def _open(path: Path) -> int:
    flags = os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    files.make_dir(path.parent)
    try:
        return os.open(path, flags, 0o600)
    except OSError as problem:
        raise files.unwritable(path, problem) from problem


def _still_there(handle: int, path: Path) -> bool:
    try:
        now = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    held = os.fstat(handle)
    return (now.st_ino, now.st_dev) == (held.st_ino, held.st_dev)


def _elsewhere(path: Path) -> Path:
    import tempfile

    name = sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:24]
    owner = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"lamina-locks-{owner}"
    files.make_dir(folder)
    if folder.is_symlink() or (owner and folder.stat().st_uid != owner):
        raise errors.UnsafePath(
            f"{folder}: belongs to somebody else", "remove it, or set TMPDIR to a folder of yours"
        )
    return folder / f"{name}.lock"


if sys.platform == "win32":

    def _take(handle: int, *, shared: bool) -> None:
        import msvcrt

        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBRLCK if shared else msvcrt.LK_NBLCK, 1)

else:

    def _take(handle: int, *, shared: bool) -> None:
        import fcntl

        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
