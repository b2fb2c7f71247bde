"""Bytes on disk: every read and write of the store's files goes through here.

A read refuses symbolic links, folders and special files. A write makes a file beside (or in a staging
folder of the same disk), syncs it, compares what it is about to replace, and renames.
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import stat
import time
from pathlib import Path

from lamina import errors
from lamina.formats.frozen import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final


class _Any:
    """The type of ANY."""


ANY: Final = _Any()
"""Whatever is on disk may be replaced."""

Expected = str | None | _Any

TEMPORARY = ".lamina-"
"""How the names of files begin that are not in place yet."""

_SETTLED_NS = 60_000_000
_LOOK_AGAIN_S = 0.005
_LONGEST_SAVE_S = 2.0

_serial = itertools.count()
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_HINTS = {
    errno.EROFS: "the disk is mounted read-only; mount it for writing or choose another folder with --root",
    errno.EACCES: "give yourself write permission on it (ls -ld shows who owns it)",
    errno.EPERM: "give yourself write permission on it (ls -ld shows who owns it)",
}


class Stamp(NamedTuple):
    """What tells cheaply that a file is another one than before."""

    mtime_ns: int
    size: int
    inode: int
    ctime_ns: int


class Problem(NamedTuple):
    """Something wrong with one file, told without stopping a listing. `line` 0: the whole file."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return self.message if self.message.startswith(place) else f"{place}: {self.message}"


def stamp_of(info: os.stat_result) -> Stamp:
    """Return the stamp of a stat result."""
    return Stamp(info.st_mtime_ns, info.st_size, info.st_ino, info.st_ctime_ns)


def fingerprint(text: str | bytes) -> str:
    """Return the SHA-256 of a text as it would stand on disk."""
    from hashlib import sha256

    return sha256(text if isinstance(text, bytes) else encode(text)).hexdigest()


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a plain file.

    Raises NoSuchFile, UnsafePath (link, folder, special file) or UnreadableFile.
    """
    try:
        handle = os.open(path, os.O_RDONLY | _flags("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
    except FileNotFoundError:
        raise errors.NoSuchFile(f"{path}: no such file") from None
    except OSError as problem:
        raise _unreadable(path, problem) from problem
    try:
        info = os.fstat(handle)
        if not stat.S_ISREG(info.st_mode):
            kind = _sort(info.st_mode)
            raise errors.UnsafePath(f"{path}: is {kind}, not a file", "move it out of the store")
        return _drain(handle, info.st_size)
    except OSError as problem:
        raise _unreadable(path, problem) from problem
    finally:
        os.close(handle)


def read_text(path: Path) -> str:
    """Return the text of a plain UTF-8 file, line ends and byte order mark as they are.

    Raises what `read_bytes` raises, and UnreadableFile for bytes that are not UTF-8.
    """
    return decode(path, read_bytes(path))


def read_settled(path: Path) -> bytes:
    """Return a file's bytes when no program seems to be in the middle of writing them where they stand.

    A file saved in place is empty or cut off for a moment; one that was saved a moment ago and does not end
    in a line break is looked at again. Raises what `read_bytes` raises.
    """
    data = read_bytes(path)
    deadline = time.monotonic() + _LONGEST_SAVE_S
    while _may_grow(path, data) and time.monotonic() < deadline:
        time.sleep(_LOOK_AGAIN_S)
        data = read_bytes(path)
    return data


def _may_grow(path: Path, data: bytes) -> bool:
    if data.endswith((b"\n", b"\r")):
        return False
    now = stamp(path)
    return now is not None and 0 <= time.time_ns() - now.mtime_ns < _SETTLED_NS


def decode(path: Path, data: bytes) -> str:
    """Decode a file's bytes, or raise UnreadableFile with the line of the first bad byte."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise errors.UnreadableFile(
            f"{path}:{line}: is not UTF-8 text (byte 0x{data[problem.start]:02x})",
            "open it in an editor and save it as UTF-8",
        ) from None


def encode(text: str) -> bytes:
    """Encode a text for the disk, or raise BadInput for half a character (a lone surrogate)."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as problem:
        raise errors.BadInput(
            f"the text holds half a character (U+{ord(text[problem.start]):04X}) and can't be stored",
            "remove it and try again",
        ) from None


def parse_json(text: str | bytes) -> Any:
    """Parse JSON, or raise ValueError; nesting too deep to be parsed is a fault like any other."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None


def read_optional(path: Path) -> str | None:
    """Return the text of a plain file, or None where there is none."""
    try:
        return read_text(path)
    except errors.NoSuchFile:
        return None


def stamp(path: Path | str) -> Stamp | None:
    """Return a file's stamp, or None where there is none."""
    try:
        return stamp_of(os.lstat(path))
    except OSError:
        return None


def is_there(path: Path) -> bool:
    """Tell whether something stands at a path; what can't be looked at does not."""
    return stamp(path) is not None


def is_pipe(path: Path) -> bool:
    """Tell whether a path is something that opening would wait for."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - like the others here
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def write_text(path: Path, text: str, *, expected: Expected = ANY, durable: bool = True) -> None:
    """Replace a file's text in one step: readers see the old text or the new one.

    `expected` is the fingerprint that the file on disk must have, or None if it must not exist; otherwise
    ChangedMeanwhile is raised and nothing changed. Raises UnwritableStore with the old content intact.
    """
    staged = stage(text, path.parent, durable=durable)
    try:
        put_in_place(staged, path, expected=expected)
    except BaseException:
        discard(staged)
        raise
    if durable:
        sync_folder(path.parent)


def stage(text: str, folder: Path, *, durable: bool = True) -> Path:
    """Write a text to a new file of its own in `folder` and return its path."""
    name = f"{TEMPORARY}{os.getpid()}-{next(_serial)}-{time.monotonic_ns():x}.tmp"
    path = folder / name
    data = encode(text)
    try:
        handle = _open_own(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        try:
            _pour(handle, data)
            if durable:
                os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as problem:
        discard(path)
        raise unwritable(folder, problem) from problem
    except BaseException:
        discard(path)
        raise
    return path


def put_in_place(staged: Path, path: Path, *, expected: Expected = ANY) -> None:
    """Rename a staged file to its place if that still holds what was expected.

    What an editor saves in the very moment is not lost either where the system can exchange files.
    """
    check(path, expected)
    try:
        if isinstance(expected, str) and _exchanged(staged, path, expected):
            return
        try:
            staged.replace(path)
        except FileNotFoundError:
            make_dir(path.parent)
            staged.replace(path)
    except OSError as problem:
        raise unwritable(path, problem) from problem


def _exchanged(staged: Path, path: Path, expected: str) -> bool:
    from lamina.store.swap import exchange

    return exchange(staged, path, expected)


def remove(path: Path, *, expected: Expected = ANY) -> None:
    """Remove a plain file if it still holds what was expected; a file already gone is fine."""
    if not os.path.lexists(path):
        return
    check(path, expected)
    try:
        path.unlink(missing_ok=True)
    except OSError as problem:
        raise unwritable(path, problem) from problem


def check(path: Path, expected: Expected) -> None:
    """Raise ChangedMeanwhile if a file does not hold what was expected, UnsafePath if it is no file."""
    try:
        data: bytes | None = read_bytes(path)
    except errors.NoSuchFile:
        data = None
    if isinstance(expected, _Any):
        return
    if (None if data is None else fingerprint(data)) != expected:
        raise changed(path)


def changed(path: Path) -> errors.ChangedMeanwhile:
    """Make the error for a file that is no longer what it was."""
    return errors.ChangedMeanwhile(
        f"{path}: changed while it was being written", "nothing was overwritten; run the command again"
    )


def overwrite(path: Path, text: str) -> None:
    """Write a file where it stands: for small caches that are read under the same lock only.

    A power cut may leave a mix, so the reader must be able to do without the file.
    """
    data = encode(text)
    try:
        handle = _open_own(path, os.O_CREAT | os.O_WRONLY)
        try:
            _pour(handle, data)
            os.ftruncate(handle, len(data))
        finally:
            os.close(handle)
    except OSError as problem:
        raise unwritable(path, problem) from problem


def renew(path: Path, text: str) -> None:
    """Write a cache that readers can do without: they see the old one, none, or the new one."""
    staged = stage(text, path.parent, durable=False)
    discard(path)  # some disks flush a file that replaces another one; a cache is not worth that
    try:
        staged.replace(path)
    except OSError as problem:
        discard(staged)
        raise unwritable(path, problem) from problem


def write_new(path: Path, text: str) -> None:
    """Write a new file and sync it. After a crash it may be there in part."""
    data = encode(text)
    try:
        handle = _open_own(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        try:
            _pour(handle, data)
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as problem:
        discard(path)
        raise unwritable(path, problem) from problem


def append_line(path: Path, line: str) -> None:
    """Append one line in a single write, so that lines of several processes never mix."""
    data = encode(line) + b"\n"
    handle = _open_own(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    try:
        os.write(handle, data)
    finally:
        os.close(handle)


def make_dir(path: Path) -> None:
    """Make a folder (0700) and its parents; an existing folder is left as it is."""
    _make_dir(path, again=False)


def _make_dir(path: Path, *, again: bool) -> None:
    try:
        path.mkdir(0o700)
    except FileExistsError:
        if not path.is_dir():
            raise errors.UnsafePath(f"{path}: is a file where a folder is needed", "move it away") from None
    except FileNotFoundError as problem:
        if again:  # some disks of the system say so where nothing can be made
            raise unwritable(path, problem) from problem
        if not path.parent.is_dir():  # else somebody has just made it
            make_dir(path.parent)
        _make_dir(path, again=True)
    except OSError as problem:
        raise unwritable(path, problem) from problem


def refuse_links(root: Path, rel: str) -> None:
    """Raise UnsafePath if a folder on the way from `root` to the file `rel` is a symbolic link."""
    here = os.fspath(root)
    for part in rel.split("/")[:-1]:
        here = os.path.join(here, part)  # noqa: PTH118 - a hot path
        try:
            mode = os.lstat(here).st_mode
        except OSError:
            return
        if not stat.S_ISDIR(mode):
            raise errors.UnsafePath(f"{here}: is {_sort(mode)}, not a folder", "move it out of the store")


def sync_folder(path: Path) -> None:
    """Make renames in a folder survive a power cut, where the platform can."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        return  # some network disks can't; the journal still has the text
    finally:
        os.close(handle)


def discard(path: Path) -> None:
    """Remove a file of our own, whatever happened to it."""
    try:
        path.unlink()
    except OSError:
        return


def unwritable(path: Path, problem: OSError) -> errors.UnwritableStore:
    """Turn a failed write into the error that says what to do."""
    number = problem.errno or 0
    if number in _FULL:
        hint = "the disk is full or a quota is reached; free some space and run the command again"
    else:
        hint = _HINTS.get(number, "check the disk and the folder's permissions, then run the command again")
    return errors.UnwritableStore(f"{path}: can't be written ({problem.strerror or problem})", hint)


def _unreadable(path: Path, problem: OSError) -> errors.LaminaError:
    if problem.errno in (errno.ELOOP, errno.EMLINK):
        return errors.UnsafePath(f"{path}: is a symbolic link", "replace it by the file itself")
    if problem.errno in (errno.EISDIR, errno.ENXIO):
        return errors.UnsafePath(f"{path}: is not a plain file", "move it out of the store")
    if problem.errno == errno.ENOTDIR:
        return errors.UnsafePath(f"{path}: a file stands where a folder is needed", "move it away")
    return errors.UnreadableFile(
        f"{path}: can't be read ({problem.strerror or problem})", "give yourself read permission on it"
    )


def _open_own(path: Path, flags: int) -> int:
    """Open a file of the store for writing, making its folder first; no link, no special file."""
    flags |= _flags("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
    try:
        handle = os.open(path, flags, 0o600)
    except FileNotFoundError:
        make_dir(path.parent)
        handle = os.open(path, flags, 0o600)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise errors.UnsafePath(f"{path}: is not a plain file", "move it out of the store")
    return handle


def _drain(handle: int, size: int) -> bytes:
    """Read to the end; the size is only a first guess, the file may grow meanwhile."""
    data = os.read(handle, size + 1)
    if len(data) <= size and not (chunk := os.read(handle, 65536)):
        return data
    parts = [data] if len(data) > size else [data, chunk]
    while chunk := os.read(handle, 1 << 20):
        parts.append(chunk)
    return b"".join(parts)


def _pour(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _flags(*names: str) -> int:
    """Combine open flags that not every platform has."""
    return sum(getattr(os, name, 0) for name in names)


def _sort(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "a symbolic link"
    if stat.S_ISDIR(mode):
        return "a folder"
    return "a file" if stat.S_ISREG(mode) else "a special file"
