"""Finds sessions that ended without a hook: a crash, Ctrl-C, a host that tells nothing at the end."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lamina import errors
from lamina.hosts.base import Host, host_named
from lamina.store import files
from lamina.store.installed import installed

SEEN = "scanned.json"
IDLE_S = 300.0
"""Seconds without a change after which a session is looked at that no hook told of."""
OVER_S = 1800.0
"""Seconds without a change after which it counts as ended: what is still thin is kept."""
MOST = 20
"""Sessions that one run captures; the next one goes on."""
RETRY_S, LONGEST_RETRY_S = 300.0, 3600.0
TRIES = 6
"""Failures of one transcript that are no passing trouble, after which it is left alone until it changes."""
_NAMED = 8  # letters of a session's id that every host puts into the name of its transcript


class Found(NamedTuple):
    """A transcript that changed since it was last looked at; `tries` failed since then."""

    host: str
    path: Path
    stamp: tuple[int, int]
    is_over: bool
    tries: int = 0


def left_over(root: Path, home: Path, env: Mapping[str, str]) -> Iterator[Found]:
    """Yield the transcripts of installed hosts that changed after the install and then came to rest."""
    seen, now, count = _load(root), time.time(), 0
    for name, how in installed(root).items():
        host = host_named(name)
        if host is None:
            continue
        for path in host.transcripts(home, env):
            stamp = host.stamp(path)
            if stamp is None or stamp[1] / 1e9 < how.since.timestamp():
                continue
            idle = now - stamp[1] / 1e9
            idle = OVER_S if idle < -IDLE_S else idle  # a clock was ahead
            found = Found(name, path, stamp, idle >= OVER_S)
            before = seen.get(str(path), {})
            if idle < IDLE_S or _is_settled(before, found) or _rests(before, found, now):
                continue
            if not how.user and not _is_within(host, path, how.projects):
                continue
            yield found._replace(tries=before.get("tries", 0) if _is_same(before, found) else 0)
            count += 1
            if count >= MOST:
                return


def remember(root: Path, found: Found, *, failed: bool, for_good: bool = False) -> None:
    """Note that a transcript was looked at as it is now, and whether that has to be done again."""
    seen = {path: value for path, value in _load(root).items() if _is_there(path)}
    tries = found.tries + 1 if failed and not for_good else TRIES if for_good else 0
    seen[str(found.path)] = {
        "size": found.stamp[0], "time": found.stamp[1], "over": found.is_over,
        "tries": tries, "at": time.time(), "left": for_good,
    }  # fmt: skip
    files.write_text(root / "state" / SEEN, json.dumps(seen, ensure_ascii=False) + "\n", durable=False)


def session_file(host: Host, session: str, home: Path, env: Mapping[str, str]) -> Path | None:
    """Return the newest transcript of a session, told by its head; None if there is none."""
    if not session:
        return None
    begin = session[:_NAMED]
    found = []
    for path in host.transcripts(home, env):
        if not any(begin in part for part in path.parts[-3:]):
            continue
        try:
            if host.read(path).session.id == session and (stamp := host.stamp(path)):
                found.append((stamp[1], path))
        except (errors.LaminaError, OSError):
            continue
    return max(found)[1] if found else None


def _is_within(host: Host, path: Path, projects: Sequence[str]) -> bool:
    """Tell whether a session worked in one of the projects that its host is installed into."""
    try:
        cwd = host.read(path).session.cwd
    except (errors.LaminaError, OSError):
        return False
    real = os.path.realpath(cwd) if cwd else ""
    tops = [os.path.realpath(project) for project in projects]
    return any(real == top or real.startswith(f"{top}{os.sep}") for top in tops)


def _is_same(before: Mapping[str, Any], found: Found) -> bool:
    return (before.get("size"), before.get("time")) == found.stamp


def _is_settled(before: Mapping[str, Any], found: Found) -> bool:
    """Tell whether nothing is left to do: it was read as it is, and as ended if it has."""
    if not _is_same(before, found):
        return False
    return before.get("left") is True or (not before.get("tries") and before.get("over") == found.is_over)


def _rests(before: Mapping[str, Any], found: Found, now: float) -> bool:
    """Tell whether a transcript that failed is not to be tried yet."""
    tries, at = before.get("tries"), before.get("at")
    if not _is_same(before, found) or not isinstance(tries, int) or not isinstance(at, int | float):
        return False
    wait = min(RETRY_S * 2 ** min(tries - 1, 10), LONGEST_RETRY_S) if tries else 0.0
    return 0 <= now - at < wait


def _is_there(path: str) -> bool:
    try:
        return Path(path).parent.exists()
    except (OSError, ValueError):
        return False


def _load(root: Path) -> dict[str, dict[str, Any]]:
    try:
        said = files.parse_json(files.read_text(root / "state" / SEEN))
    except (errors.LaminaError, ValueError):
        return {}
    if not isinstance(said, dict):
        return {}
    return {path: value for path, value in said.items() if isinstance(value, dict)}
