"""What happened, for people who look: the log, the counters and the activity feed of one machine.

Nothing here ever raises: a full disk must not turn a good write into a failure. Texts are written as they
are given, so whoever logs text from a session redacts it first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from lamina import errors
from lamina.formats.dates import render_time
from lamina.store import files, locks
from lamina.store.layout import Layout

MAX_LOG_BYTES = 2_000_000
MAX_ACTIVITY_LINES = 1_000
_MAX_LINE = 16_384
_MAX_FIELD = 500
_MAX_FIELDS = 30
_WAIT_S = 2.0


def log(layout: Layout, event: str, *, at: datetime, **fields: Any) -> None:
    """Append one JSON line to logs/memory.log; at 2 MB it becomes memory.log.1 and a new one starts."""
    try:
        path = layout.logs / "memory.log"
        _rotate(layout, path)
        files.append_line(path, _line({"time": render_time(at), "event": event, **fields}))
    except (OSError, errors.LaminaError, ValueError, TypeError):
        return


def count(layout: Layout, counters: Mapping[str, int]) -> None:
    """Add to the counters in state/metrics.json."""
    path = layout.state / "metrics.json"
    try:
        with locks.lock(layout.lock("metrics"), timeout_s=_WAIT_S):
            now = metrics(layout)
            for name, number in counters.items():
                now[name] = now.get(name, 0) + number
            files.write_text(path, json.dumps(now, indent=1, sort_keys=True) + "\n", durable=False)
    except (OSError, errors.LaminaError):
        return


def metrics(layout: Layout) -> dict[str, int]:
    """Return the counters; damaged ones start anew."""
    try:
        data = files.parse_json(files.read_text(layout.state / "metrics.json"))
    except (errors.LaminaError, ValueError):
        return {}
    if not isinstance(data, dict):
        return {}
    return {name: number for name, number in data.items() if type(number) is int}


def activity(layout: Layout, text: str, *, at: datetime, **fields: Any) -> None:
    """Append to state/activity.jsonl, which keeps its newest lines only."""
    path = layout.state / "activity.jsonl"
    try:
        with locks.lock(layout.lock("activity"), timeout_s=_WAIT_S):
            lines = _lines(path)
            if len(lines) >= MAX_ACTIVITY_LINES:
                kept = lines[-(MAX_ACTIVITY_LINES * 3 // 4) :]
                files.write_text(path, "\n".join(kept) + "\n", durable=False)
            files.append_line(path, _line({"time": render_time(at), "text": text, **fields}))
    except (OSError, errors.LaminaError, ValueError, TypeError):
        return


def recent_activity(layout: Layout, limit: int = 20) -> list[dict[str, Any]]:
    """Return the newest activity, oldest first; damaged lines are left out."""
    return _parsed(layout.state / "activity.jsonl")[-limit:]


def logged(layout: Layout) -> list[dict[str, Any]]:
    """Return the lines of logs/memory.log, oldest first; damaged ones are left out."""
    return _parsed(layout.logs / "memory.log")


def _parsed(path: Path) -> list[dict[str, Any]]:
    found = []
    try:
        lines = _lines(path)
    except errors.LaminaError:
        return []
    for line in lines:
        try:
            found.append(files.parse_json(line))
        except ValueError:
            continue
    return [each for each in found if isinstance(each, dict)]


def _line(data: dict[str, Any]) -> str:
    text = json.dumps(data, ensure_ascii=False, default=str)
    if len(text) > _MAX_LINE:
        short = {key: _clipped(value) for key, value in [*data.items()][:_MAX_FIELDS]}
        text = json.dumps(short, ensure_ascii=False, default=str)
    return text.encode("utf-8", "replace").decode("utf-8")


def _clipped(value: Any) -> Any:
    text = str(value)
    return value if len(text) <= _MAX_FIELD else f"{text[:_MAX_FIELD]}…"


def _rotate(layout: Layout, path: Path) -> None:
    stamp = files.stamp(path)
    if stamp is None or stamp.size < MAX_LOG_BYTES:
        return
    with locks.lock(layout.lock("log"), timeout_s=_WAIT_S):
        now = files.stamp(path)
        if now is not None and now.inode == stamp.inode and now.size >= MAX_LOG_BYTES:
            path.replace(path.with_name(f"{path.name}.1"))


def _lines(path: Path) -> list[str]:
    text = files.read_optional(path) or ""
    return [line for line in text.split("\n") if line.strip()]
