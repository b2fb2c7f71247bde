"""Where the resident process of a store listens: a socket in a folder that only its user may enter."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "resident.sock"
_LONGEST = 100
"""Bytes of a socket's path; the system takes 107 on Linux, 103 on macOS."""


def socket_path(root: os.PathLike[str] | str, env: Mapping[str, str]) -> str:
    """Return the path of a store's socket, the same for every process of one user.

    In the store's own `state/`, unless the path is too long for a socket or the disk is a network's, which
    carries no sockets: then in the user's runtime folder, under a name made from the store's path.
    """
    from lamina.index.source import index_home

    real = os.path.realpath(root)
    own = os.path.join(real, "state", NAME)  # noqa: PTH118 - pathlib costs on the cold path
    if len(os.fsencode(own)) <= _LONGEST and index_home(real, env) == f"{real}/index":
        return own
    from _blake2 import blake2b

    name = blake2b(os.fsencode(real), digest_size=8).hexdigest()
    return os.path.join(_runtime_folder(env), f"{name}.sock")  # noqa: PTH118


def is_private(path: str) -> bool:
    """Tell whether a socket is this user's own, in a folder that nobody else can change."""
    try:
        folder, own = os.stat(os.path.dirname(path)), os.lstat(path)  # noqa: PTH116, PTH120
    except OSError:
        return False
    user = os.getuid()
    return folder.st_uid == user == own.st_uid and not folder.st_mode & 0o022


def _runtime_folder(env: Mapping[str, str]) -> str:
    given = env.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(given):  # noqa: PTH117
        return os.path.join(given, "lamina")  # noqa: PTH118
    return f"/tmp/lamina-{os.getuid()}"  # noqa: S108 - made 0700 and refused if somebody else's
