"""Commits what was written a while ago.

What was written is safe already, so a failure is told, never raised.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lamina import errors
from lamina.formats.dates import render_time
from lamina.store import files, git, log

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from lamina.store.layout import Layout
    from lamina.store.store import Store


def commit(store: Store, now: datetime, *, older_than_s: float) -> str | None:
    """Commit if it is time; return the commit. A failure goes to the log and to `failure`."""
    path = _file(store.layout)
    try:
        made = git.commit_if_dirty(store, now=now, older_than_s=older_than_s)
    except (errors.LaminaError, OSError) as problem:
        reason = problem.message if isinstance(problem, errors.LaminaError) else str(problem)
        log.log(store.layout, "commit_failed", at=now, reason=reason)
        _tell(path, {"at": render_time(now), "ok": False, "error": reason})
        return None
    if made and path.exists():
        _tell(path, {"at": render_time(now), "ok": True, "error": None})
    return made


def failure(layout: Layout) -> str:
    """Return why the last commit failed, "" if it did not."""
    try:
        said = files.parse_json(files.read_text(_file(layout)))
        return "" if said["ok"] else str(said["error"])
    except (errors.LaminaError, ValueError, KeyError, TypeError):
        return ""


def _file(layout: Layout) -> Path:
    return layout.state / "sync.json"


def _tell(path: Path, said: dict[str, object]) -> None:
    try:
        files.overwrite(path, json.dumps(said, ensure_ascii=False, sort_keys=True) + "\n")
    except (errors.LaminaError, OSError):
        return  # a full or read-only disk: `git.obstacle` and the command itself tell
