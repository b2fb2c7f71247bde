"""Asking the resident process of a store, if there is one. Cheap: nothing is loaded where nobody listens."""

from __future__ import annotations

import os
import time

from lamina import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from lamina.pipeline.recall import Found

    Json = dict[str, Any]

WITHIN_S = 0.3
"""How long an answer may take before the cold way is faster."""
ASKED_S = 5.0
"""The same where vectors were asked for by name: missing ones are made first."""


def ask(
    standpoint: Json, request: Json, *, env: Mapping[str, str], within_s: float = WITHIN_S
) -> Json | None:
    """Return the answer of the store's resident process, None if there is none that can answer.

    `standpoint` says from where the store is seen (`Memory.standpoint`), `request` what to do. None stands
    for all that can go wrong: nobody there, somebody else's socket, another version, another store, too late.
    """
    from lamina.resident.place import is_private, socket_path

    if not hasattr(os, "getuid"):
        return None  # no sockets of this kind
    path = socket_path(standpoint["root"], env)
    if not is_private(path):
        return None
    from _socket import AF_UNIX, SOCK_STREAM, socket

    from lamina.resident import line

    until = time.monotonic() + within_s
    asked = {"protocol": line.PROTOCOL, "lamina": __version__, "within_s": within_s, **standpoint, **request}
    connection = socket(AF_UNIX, SOCK_STREAM)
    try:
        connection.settimeout(within_s)
        connection.connect(path)
        if line.peer(connection) not in (None, os.getuid()):
            return None
        line.send(connection, asked, until=until)
        answer = line.receive(connection, most=line.ANSWER, until=until)
    except (OSError, line.Broken):
        return None
    finally:
        connection.close()
    return answer if answer.get("ok") is True and answer.get("lamina") == __version__ else None


def search(
    standpoint: Json,
    query: str,
    *,
    limit: int,
    vectors: bool,
    filters: Mapping[str, Any],
    env: Mapping[str, str],
) -> Found | None:
    """Search through the resident process; None if there is none."""
    request = {"do": "search", "query": query, "limit": limit, "vectors": vectors, "filters": filters}
    answer = ask(standpoint, request, env=env, within_s=ASKED_S if vectors else WITHIN_S)
    return None if answer is None else _found(answer)


def stop(standpoint: Json, *, env: Mapping[str, str], within_s: float = ASKED_S) -> bool:
    """End the store's resident process, of whatever version; tells whether there was one that ended."""
    from lamina.resident.place import is_private, socket_path

    path = socket_path(standpoint["root"], env)
    if not hasattr(os, "getuid") or not is_private(path) or not _listens(path):
        return False
    until = time.monotonic() + within_s
    ask(standpoint, {"do": "stop"}, env=env, within_s=within_s)
    while _listens(path) and time.monotonic() < until:
        time.sleep(0.02)
    return not _listens(path)


def _listens(path: str) -> bool:
    """Tell whether somebody may listen there; a killed process leaves a socket that refuses."""
    from _socket import AF_UNIX, SOCK_STREAM, socket

    knock = socket(AF_UNIX, SOCK_STREAM)
    try:
        knock.settimeout(1.0)
        knock.connect(path)
    except (ConnectionRefusedError, FileNotFoundError):
        return False
    except OSError:
        return True  # too busy to answer
    finally:
        knock.close()
    return True


def _found(answer: Json) -> Found | None:
    from lamina.pipeline.recall import Found, Hit

    try:
        said = answer["found"]
        hits = tuple(Hit(**hit) for hit in said["hits"])
        lists = {name: tuple(said[name]) for name in ("engines", "terms", "dropped", "notes")}
        return Found(**{**said, **lists, "hits": hits})
    except (KeyError, TypeError):
        return None
