"""Finds sessions that ended without a hook: a crash, Ctrl-C, a host that tells nothing at the end."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

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
_NAMED = 8  # letters of a session's id that every host puts into the name of its transcript


class Found(NamedTuple):
    """A transcript that changed since it was last looked at."""

    host: str
    path: Path
    stamp: tuple[int, int]
    is_over: bool


def left_over(root: Path, home: Path, env: Mapping[str, str]) -> Iterator[Found]:
    """Yield the transcripts of installed hosts that changed after the install and then came to rest."""
    seen, count = _load(root), 0
    for name, how in installed(root).items():
        host = host_named(name)
        if host is None:
            continue
        for path in host.transcripts(home, env):
            stamp = host.stamp(path)
            if stamp is None or stamp[1] / 1e9 < how.since.timestamp():
                continue
            idle = time.time() - stamp[1] / 1e9
            over = idle >= OVER_S
            if idle < IDLE_S or seen.get(str(path)) == [*stamp, over]:
                continue
            yield Found(name, path, stamp, over)
            count += 1
            if count >= MOST:
                return


def remember(root: Path, found: Found) -> None:
    """Note that a transcript was looked at as it is now."""
    seen = {path: value for path, value in _load(root).items() if Path(path).parent.exists()}
    seen[str(found.path)] = [*found.stamp, found.is_over]
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


def _load(root: Path) -> dict[str, list[int | bool]]:
    try:
        said = files.parse_json(files.read_text(root / "state" / SEEN))
    except (errors.LaminaError, ValueError):
        return {}
    return said if isinstance(said, dict) else {}
