"""Sessions on disk for the tests of capture and import, as Claude Code leaves them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lamina.formats.event import Session
from lamina.hosts.render import Said, Tool, render_claude, render_codex, session_uuid
from lamina.store.identity import Workspace, resolve
from lamina.store.registry import Registry
from lamina.store.store import Store

T0 = datetime(2026, 11, 30, 9, tzinfo=UTC)
NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)


def opened(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True, now=NOW)


def resolver(store: Store, home: Path):
    def workspace(session: Session) -> Workspace:
        return resolve(session.cwd or None, registry=Registry.load(store.root), env={}, home=home)

    return workspace


def talk(number: int) -> list[Said | Tool]:
    """A session that says things of its own."""
    return [
        Said(
            "user",
            f"We decided to keep the cache of module m{number} in Redis on port {6000 + number}, because restarts must not lose it.",
        ),
        Tool("Bash", {"command": f"grep -rn m{number} src"}, f"src/m{number}.py:1: x"),
        Said(
            "assistant",
            f"The cache of m{number} is read in src/m{number}.py by `load_{number}`; I moved it to Redis and the tests pass.",
        ),
        Said(
            "user",
            f"No, use database {number} of Redis, not the default one, since the default is flushed nightly by job j{number}.",
        ),
        Said(
            "assistant",
            f"Changed: m{number} now uses database {number}. The job j{number} leaves it alone, which I checked in its source.",
        ),
    ]


def claude(
    folder: Path, name: str, turns: Iterable, *, cwd: str = "/srv/shop", started: datetime = T0, **more
) -> Path:
    """Write a session of Claude Code; the file is named by its id."""
    uuid = session_uuid(name)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{uuid}.jsonl"
    path.write_text(
        render_claude(uuid, turns, cwd=cwd, started=started, **more), encoding="utf-8", newline=""
    )
    return path


def codex(
    folder: Path, name: str, turns: Iterable, *, cwd: str = "/srv/shop", started: datetime = T0, **more
) -> Path:
    """Write a rollout of Codex."""
    uuid = session_uuid(name, 7)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"rollout-{started:%Y-%m-%dT%H-%M-%S}-{uuid}.jsonl"
    path.write_text(render_codex(uuid, turns, cwd=cwd, started=started, **more), encoding="utf-8", newline="")
    return path


def append(path: Path, turns: Iterable, *, minutes: int = 60) -> None:
    """Let a session go on in the same file, as after `--resume`."""
    begun = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    later = max(T0, begun.replace(year=2026, month=11, day=30, hour=9)) + timedelta(minutes=minutes)
    session = next(
        id_ for line in path.read_text().splitlines() if (id_ := json.loads(line).get("sessionId"))
    )
    text = render_claude(session, turns, cwd="/srv/shop", started=later)
    lines = []
    for line in text.splitlines():
        record = json.loads(line)
        for field in ("uuid", "parentUuid"):
            if record.get(field):
                record[field] = f"{minutes:04d}{record[field][4:]}"
        if isinstance(record.get("message"), dict) and record["message"].get("id"):
            record["message"]["id"] += f"_{minutes}"
        lines.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")
    with path.open("a", encoding="utf-8", newline="") as file:
        file.writelines(lines)


def fill(folder: Path, count: int, start: int = 0) -> list[Path]:
    """Write many sessions, two projects, one hour between them."""
    return [
        claude(
            folder / f"p{number % 2}",
            f"s{number}",
            talk(number),
            cwd=f"/srv/p{number % 2}",
            started=T0 + timedelta(hours=number),
        )
        for number in range(start, start + count)
    ]


def bytes_of(root: Path) -> bytes:
    """All bytes below a folder, names included."""
    return b"\n".join(
        str(path.relative_to(root)).encode() + b"\0" + path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    )
