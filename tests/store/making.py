"""Pieces that the store's tests put together."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from lamina.formats.entry import Draft
from lamina.formats.scope import Scope
from lamina.store.store import Store
from lamina.store.write import Written

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
GLOBAL = Scope(None)
LAMINA = Scope("lamina")


def draft(heading: str, body: str = "", **given) -> Draft:
    values = {"scope": GLOBAL, "layer": "semantic", "topic": "Things", "date": NOW.date()}
    return Draft(heading=heading, body=body or f"{heading}.", **(values | given))


def remember(store: Store, heading: str, body: str = "", **given) -> Written:
    with store.writing(label="remember", at=NOW) as batch:
        return batch.add(draft(heading, body, **given))


def write(store: Store, rel: str, text: str) -> Path:
    """Write a file as a person would, without asking Lamina."""
    path = store.root / rel
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def read(store: Store, rel: str) -> str:
    return (store.root / rel).read_bytes().decode()


def snapshot(store: Store) -> dict[str, bytes]:
    """Return every committed file's bytes."""
    local = {"state", "index", "digests", "logs", ".git"}
    return {
        path.relative_to(store.root).as_posix(): path.read_bytes()
        for path in sorted(store.root.rglob("*"))
        if path.is_file() and path.relative_to(store.root).parts[0] not in local
    }


def ids(store: Store) -> list[str]:
    return [located.entry.id for located in store.entries()]
