"""What the hook command does on the disk: the spool, small files, the worker's lock, starting programs.

Standard library only, and little of it: a copy of this module runs as `python -I -S`.
"""

# os.path and os.open cost less than pathlib, which the hook does not import.
# ruff: noqa: PTH103, PTH105, PTH108, PTH116, PTH120

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAX_PAYLOAD = 32 * 1024 * 1024
INPUT_S = 2
MAX_TEXT = 4 * 1024 * 1024
MAX_PIPE = 16 * 1024
"""What goes through a pipe without waiting for its other end."""
_APPEND = os.O_RDWR | os.O_CREAT | os.O_APPEND
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)  # a pipe is no reason to wait
_PYTHON = "PYTHON"
_PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_TRIES = 1000
_POLL_S = 0.01


def read_input() -> bytes:
    """Read standard input to its end, or what came within 2 s: a host may never close it.

    What is beyond 32 MiB is no payload.
    """
    parts, size = [], 0
    end_in(INPUT_S, TimeoutError)
    try:
        while size <= MAX_PAYLOAD and (part := os.read(0, 1 << 20)):
            parts.append(part)
            size += len(part)
    except TimeoutError:
        pass
    return b"".join(parts) if size <= MAX_PAYLOAD else b""


def end_in(seconds: int, failure: type[Exception] | None = None) -> None:
    """Raise a failure after so many seconds; without one, end the process."""
    import _signal  # type: ignore[import-not-found]  # `signal` itself imports `enum`, which costs a third

    def ring(*_: object) -> None:
        if failure is not None:
            raise failure
        os._exit(0)

    if hasattr(_signal, "SIGALRM"):
        _signal.signal(_signal.SIGALRM, ring)
        _signal.alarm(seconds)


def write_output(text: str) -> None:
    """Write a text to standard output, whole."""
    data = text.encode("utf-8", "replace")
    while data:
        data = data[os.write(1, data) :]


def read_text(path: str) -> str:
    """Read a small plain file, "" if there is none."""
    try:
        handle = os.open(path, _READ | _PLAIN)
    except OSError:
        return ""
    try:
        return os.read(handle, MAX_TEXT).decode("utf-8", "replace") if _is_file(handle) else ""
    except OSError:
        return ""
    finally:
        os.close(handle)


def read_from(path: str, offset: int) -> tuple[bytes, str]:
    """Read what stands in a file from `offset` on, the last 4 MiB at most, and where its end is, as text."""
    try:
        handle = os.open(path, _READ | _PLAIN)
    except OSError:
        return b"", str(max(offset, 0))
    try:
        if not _is_file(handle):
            return b"", str(max(offset, 0))
        end = os.fstat(handle).st_size
        os.lseek(handle, max(0, offset, end - MAX_TEXT), os.SEEK_SET)
        return (os.read(handle, MAX_TEXT) if offset >= 0 else b""), str(end)
    except OSError:
        return b"", str(max(offset, 0))
    finally:
        os.close(handle)


def append(path: str, line: bytes) -> None:
    """Append a line to the spool so that none is lost when a worker takes the file away at this moment."""
    for _ in range(_TRIES):
        handle = _opened(path, _APPEND)
        try:
            lock(handle, shared=True)
            if is_at(handle, path):
                size = os.fstat(handle).st_size
                if size and os.pread(handle, 1, size - 1) != b"\n":
                    line = b"\n" + line  # a full disk cut the line before: it takes no other with it
                _write(handle, line)
                return
        finally:
            os.close(handle)
    raise OSError("the spool was taken away again and again")


def replace(path: str, text: str) -> None:
    """Write a small file in one step."""
    fresh = f"{path}.{os.getpid()}.tmp"
    handle = _opened(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        _write(handle, text.encode("utf-8", "replace"))
    except OSError:
        os.unlink(fresh)
        raise
    finally:
        os.close(handle)
    os.replace(fresh, path)


def take(path: str) -> int | None:
    """Take a lock file, None while somebody holds it; it is free when the last holder of the handle ends."""
    handle = _opened(path, os.O_RDWR | os.O_CREAT)
    try:
        lock(handle, shared=False, wait=False)
    except OSError:
        os.close(handle)
        return None
    if is_at(handle, path):
        return handle
    os.close(handle)
    return None


def lock(handle: int, *, shared: bool, wait: bool = True) -> None:
    """Lock an open file; on a system or a disk without such locks this does nothing."""
    try:
        import fcntl
    except ImportError:
        return
    how = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB)
    try:
        fcntl.flock(handle, how)
    except BlockingIOError:
        raise
    except OSError:
        if not wait:
            raise


def is_at(handle: int, path: str) -> bool:
    """Tell whether an open file still is the one at this path."""
    try:
        there, here = os.stat(path), os.fstat(handle)
    except OSError:
        return False
    return (there.st_ino, there.st_dev) == (here.st_ino, here.st_dev)


def start(
    command: Sequence[str], env: Mapping[str, str], *, wait_s: float = 0.0, keep: int | None = None
) -> bool:
    """Start a program on its own, cut off from the host's pipes and terminal.

    With `wait_s`, wait so long for its end and tell whether it went well; it is never killed. `keep` is a
    handle that the program inherits.
    """
    if not os.access(command[0], os.X_OK):
        return False
    child = os.fork()
    if child == 0:
        _become(command, env, (None, None), keep)
    return not wait_s or _ended(child, wait_s)


def ask(command: Sequence[str], env: Mapping[str, str], text: str, *, wait_s: float) -> str:
    """Give a program a text on standard input; returns what it prints, "" if it fails or takes too long."""
    if not os.access(command[0], os.X_OK):
        return ""
    (asked, question), (answer, told) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        _become(command, env, (asked, told), None)
    os.close(asked)
    os.close(told)
    os.write(question, text.encode("utf-8", "replace")[:MAX_PIPE])
    os.close(question)
    well = _ended(child, wait_s)
    return os.read(answer, MAX_PIPE).decode("utf-8", "replace") if well else ""


def _ended(child: int, wait_s: float) -> bool:
    """Wait for a program, which is never killed; tell whether it ended well in time."""
    end = time.monotonic() + wait_s
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(_POLL_S)
    return False


def _become(
    command: Sequence[str],
    env: Mapping[str, str],
    pipes: tuple[int | None, int | None],
    keep: int | None,
) -> None:
    """Turn the forked child into the program; it never returns."""
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for handle, pipe in zip((0, 1, 2), (*pipes, None), strict=True):
            os.dup2(nothing if pipe is None else pipe, handle)
        if keep is None:
            os.closerange(3, 256)
        else:
            os.set_inheritable(keep, True)
            os.closerange(3, keep)
            os.closerange(keep + 1, 256)
        # What the shell of a project says of Python must not decide which code runs here.
        own = {name: value for name, value in env.items() if not name.startswith(_PYTHON)}
        os.execve(command[0], list(command), own)  # noqa: S606 - no shell
    finally:
        os._exit(127)


def _write(handle: int, data: bytes) -> None:
    """Write all of it or raise: a full disk takes a part and says nothing."""
    if os.write(handle, data) < len(data):
        raise OSError("the disk took only a part")


def _is_file(handle: int) -> bool:
    return os.fstat(handle).st_mode & 0o170000 == 0o100000


def _opened(path: str, flags: int) -> int:
    try:
        return os.open(path, flags | _PLAIN, 0o600)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        return os.open(path, flags | _PLAIN, 0o600)
