"""Exchange two files in one step, where the system can.

Between looking at a file and renaming another over it, an editor may save. With an exchange what it saved
is in our hands instead of gone.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from lamina import errors
from lamina.store import files

_HERE = -100  # AT_FDCWD
_EXCHANGE = 2  # RENAME_EXCHANGE and RENAME_SWAP
_GIVE_BACK_TRIES = 10
_UNKNOWN = {errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM}


def exchange(staged: Path, path: Path, expected: str) -> bool:
    """Exchange a staged file with the one in place; what came out must be as expected, else it goes back."""
    own = staged.lstat().st_ino
    try:
        if not swap(staged, path):
            return False
    except FileNotFoundError:
        raise files.changed(path) from None
    for _ in range(_GIVE_BACK_TRIES):
        if staged.lstat().st_ino == own:
            raise files.changed(path)
        try:
            if files.fingerprint(files.read_bytes(staged)) == expected:
                files.discard(staged)
                return True
        except errors.LaminaError:
            pass  # a link or a folder was put there: it goes back like a text
        swap(staged, path)
    raise files.changed(path)


def swap(one: Path, other: Path) -> bool:
    """Exchange two files of one disk; False where the system or the disk can't. Raises OSError."""
    call = _call()
    if call is None:
        return False
    number = call(os.fsencode(one), os.fsencode(other))
    if number in _UNKNOWN:
        return False
    if number:
        raise OSError(number, os.strerror(number), str(other))
    return True


@cache
def _call() -> Callable[[bytes, bytes], int] | None:
    """Return the C library's function wrapped to give the error's number, or None."""
    if sys.platform not in ("linux", "darwin"):
        return None
    try:
        import ctypes

        library = ctypes.CDLL(None, use_errno=True)
        rename = library.renameat2 if sys.platform == "linux" else library.renamex_np
    except (ImportError, OSError, AttributeError):
        return None

    def exchange(one: bytes, other: bytes) -> int:
        linux = sys.platform == "linux"
        done = rename(_HERE, one, _HERE, other, _EXCHANGE) if linux else rename(one, other, _EXCHANGE)
        return ctypes.get_errno() if done else 0

    return exchange
