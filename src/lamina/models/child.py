"""A program run to its end: a text in, bounded output out, and nothing of it left behind.

This is the only module of the models that starts processes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from subprocess import Popen

MOST_BYTES = 1_000_000
"""What a program may print on each of its outputs; it is ended when it goes on."""

_GRACE_S = 2.0
_LOOK_S = 0.05


@dataclass(frozen=True, slots=True)
class Ran:
    """What one run came to: its exit code (below 0: ended by that signal), and what it printed.

    `late` says that the time was up, `flooded` that it printed too much: either way it was ended.
    """

    code: int
    out: str
    err: str
    late: bool = False
    flooded: bool = False


def run(
    command: Sequence[str],
    text: str,
    *,
    env: Mapping[str, str],
    folder: Path,
    within_s: float,
    scratch: Path | None = None,
) -> Ran:
    """Run a program in `folder` with `text` on its standard input, for `within_s` seconds at most.

    What goes in and comes out passes through files without a name in `scratch`, the folder's parent if None.
    Whatever happens, its process group has ended when this returns or raises; only a kill of this process
    leaves it. Raises OSError if the program can't be started, ValueError if an argument or a variable holds a
    NUL, and SystemExit where this process was told to end meanwhile.
    """
    import subprocess
    import tempfile

    # Files without a name, not pipes: a grandchild that keeps its end open holds nobody up, a program that
    # never reads can't block us, and a kill leaves nothing behind.
    with ExitStack() as stack:
        told = stack.enter_context(_heeding())
        given, out, err = (
            stack.enter_context(tempfile.TemporaryFile(dir=scratch or folder.parent)) for _ in range(3)
        )
        given.write(text.encode("utf-8", "replace"))
        given.seek(0)
        until = time.monotonic() + within_s
        process = subprocess.Popen(
            list(command),
            stdin=given,
            stdout=out,
            stderr=err,
            env=dict(env),
            cwd=folder,
            start_new_session=True,
            umask=0o077,
        )
        try:
            late, flooded = _watch(process, (out, err), until, told)
        finally:
            _end(process)
        return Ran(process.returncode, _head(out), _tail(err), late, flooded)


@contextmanager
def _heeding() -> Iterator[list[int]]:
    """Note signals that would end this process at once, and end it a moment later, once all is cleared up.

    The program has a session of its own, so that it would live on. A signal that somebody else handles or
    ignores stays theirs; only the main thread can take any.
    """
    import signal
    import threading

    told: list[int] = []
    taken = []
    if threading.current_thread() is threading.main_thread():
        ending = (getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP"))
        taken = [number for number in ending if number and signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, lambda number, _frame: told.append(number))
    try:
        yield told
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)
        if told:
            raise SystemExit(128 + told[0])


def _watch(
    process: Popen[bytes], outputs: Sequence[IO[bytes]], until: float, told: Sequence[int]
) -> tuple[bool, bool]:
    """Wait for the end; tell whether the time was up first, and whether it printed too much.

    Ends at once when this process was told to end.
    """
    import subprocess

    while not told:
        left = until - time.monotonic()
        try:
            process.wait(max(0.0, min(left, _LOOK_S)))
        except subprocess.TimeoutExpired:
            pass
        else:
            return False, _is_flooded(outputs)
        if _is_flooded(outputs):
            return False, True
        if left <= 0:
            return True, False
    return True, False


def _is_flooded(outputs: Sequence[IO[bytes]]) -> bool:
    return any(os.fstat(output.fileno()).st_size > MOST_BYTES for output in outputs)


def _head(output: IO[bytes]) -> str:
    output.seek(0)
    return output.read(MOST_BYTES).decode("utf-8", "replace")


def _tail(output: IO[bytes]) -> str:
    size = os.fstat(output.fileno()).st_size
    output.seek(max(0, size - MOST_BYTES))
    return output.read(MOST_BYTES).decode("utf-8", "replace")


def _end(process: Popen[bytes]) -> None:
    """End the whole group, politely first, also when its leader has ended well: it may have left others."""
    import signal

    for name in ("SIGTERM", "SIGKILL"):
        if not _signal(process, getattr(signal, name, signal.SIGTERM)):
            break
        until = time.monotonic() + _GRACE_S
        while time.monotonic() < until and _is_there(process):
            time.sleep(_LOOK_S / 5)
    process.wait()


def _is_there(process: Popen[bytes]) -> bool:
    """Tell whether anything of the group still runs; the leader is reaped on the way."""
    if process.poll() is None:
        return True
    return hasattr(os, "killpg") and _signal(process, 0)


def _signal(process: Popen[bytes], number: int) -> bool:
    """Send a signal to the group; False if nobody is left to take it."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        elif process.poll() is None:
            process.terminate()
        else:
            return False
    except (ProcessLookupError, PermissionError):  # macOS says the latter of a group of zombies
        return False
    return True
