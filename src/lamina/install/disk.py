"""Files of other programs: read, written through links in one step, and put back."""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lamina import errors
from lamina.store import files

_serial = itertools.count()
_LARGEST = 64 * 1024 * 1024


class Held(NamedTuple):
    """What stands at a path: `data` None for nothing. `target` is the file behind the links."""

    target: Path
    data: bytes | None
    mode: int = 0


def look(path: Path) -> Held:
    """Read a file through its links. Raises UnreadableFile, UnsafePath for anything but a plain file."""
    target = Path(os.path.realpath(path))
    try:
        info = target.stat()
        if not stat.S_ISREG(info.st_mode):
            what = "a folder" if stat.S_ISDIR(info.st_mode) else "no plain file"
            raise errors.UnsafePath(f"{path}: is {what}, where a file is needed", "move it away")
        if info.st_size > _LARGEST:
            raise errors.UnreadableFile(f"{path}: is larger than 64 MiB", "look at what is in it")
        return Held(target, target.read_bytes(), stat.S_IMODE(info.st_mode))
    except FileNotFoundError:
        return Held(target, None)
    except NotADirectoryError:
        raise errors.UnsafePath(f"{path}: a file stands where a folder is needed", "move it away") from None
    except OSError as problem:
        raise errors.UnreadableFile(f"{path}: can't be read ({problem.strerror or problem})") from problem


def check_writable(path: Path, held: Held) -> None:
    """Raise UnwritableStore for a file that is read-only, or in a folder in which nothing can be made."""
    if held.data is not None and not held.mode & 0o222:
        raise errors.UnwritableStore(
            f"{path}: is read-only", "make it writable if Lamina may change it: chmod u+w"
        )
    folder = held.target.parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise errors.UnsafePath(f"{folder}: is a file where a folder is needed", "move it away")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise errors.UnwritableStore(f"{folder}: can't be written to", "give yourself write permission on it")


def replace(held: Held, data: bytes, *, mode: int, private: bool) -> None:
    """Put new bytes into the place of those that were read, in one step.

    Raises ChangedMeanwhile if somebody wrote in between, UnwritableStore if the disk refuses.
    """
    target = held.target
    make_folders(target.parent, private=private)
    staged = target.parent / f"{files.TEMPORARY}{os.getpid()}-{next(_serial)}.tmp"
    try:
        handle = os.open(staged, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        staged.chmod(mode)
        _check(held)
        staged.replace(target)
    except OSError as problem:
        raise files.unwritable(target, problem) from problem
    finally:
        files.discard(staged)
    files.sync_folder(target.parent)


def remove(held: Held) -> None:
    """Remove the file that was read. Raises ChangedMeanwhile, UnwritableStore."""
    _check(held)
    try:
        held.target.unlink(missing_ok=True)
    except OSError as problem:
        raise files.unwritable(held.target, problem) from problem


def make_folders(folder: Path, *, private: bool) -> None:
    """Make a folder and its parents: for the person alone, or as the system's mask says."""
    try:
        for missing in reversed(missing_folders(folder)):
            missing.mkdir(0o700 if private else 0o777, exist_ok=True)
    except OSError as problem:
        raise files.unwritable(folder, problem) from problem


def missing_folders(folder: Path) -> list[Path]:
    """Return the folders of a path that are not there yet, deepest first."""
    return [place for place in (folder, *folder.parents) if not os.path.lexists(place)]


def drop_folders(folders: list[Path]) -> None:
    """Remove folders that are empty, deepest first; what others put into them stays."""
    for folder in sorted(set(folders), key=lambda each: len(each.parts), reverse=True):
        with contextlib.suppress(OSError):
            folder.rmdir()


def drop_leftovers(folders: list[Path]) -> None:
    """Remove the half-written files that a killed run of ours left in these folders."""
    for folder in set(folders):
        for path in _leftovers(folder):
            files.discard(path)


def new_mode(*, private: bool, executable: bool) -> int:
    """Return the mode of a new file."""
    if private:
        return 0o700 if executable else 0o600
    mask = os.umask(0)
    os.umask(mask)
    return (0o777 if executable else 0o666) & ~mask


def _leftovers(folder: Path) -> Iterator[Path]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        process = name.removeprefix(files.TEMPORARY).split("-")[0]
        if name.startswith(files.TEMPORARY) and name.endswith(".tmp") and not _is_alive(process):
            yield folder / name


def _is_alive(process: str) -> bool:
    if not process.isdigit():
        return True  # not of our making
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _check(held: Held) -> None:
    if look(held.target).data != held.data:
        raise files.changed(held.target)
