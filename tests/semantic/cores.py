"""A built-in core in a folder, with embedders for tests, and what it answers."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lamina.formats.hashing import content_hash
from lamina.pipeline import coretalk
from lamina.pipeline.builtin import Builtin
from lamina.pipeline.semantic import Fact

NOW = datetime(2026, 12, 2, 10, tzinfo=UTC)
SOURCE = "memory/2026-12-01-a-memory.md#session-2026-12-01T09:00:00Z"
ESM = "Decision: use plain ESM with no build step."
PORT = "The gateway listens on port 8080."
RETRY = "Retries stop after 3 attempts, because the queue is small."


def fact(content: str, *, item: str = "", kind: str = "decision", confidence: float | None = None) -> Fact:
    return Fact(content, content_hash(content), SOURCE, item, kind, confidence)


def builtin(path: Path, embedder: Any = None) -> Builtin:
    return Builtin(path, lambda: embedder, lambda: NOW)


class Talk:
    """The three verbs of the contract on one file."""

    def __init__(self, path: Path, embedder: Any = None) -> None:
        self.path = path
        self.embedder = embedder

    def _ask(self, verb: Any, said: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        return verb({"dbPath": str(self.path), **said}, self._embedder, lambda: NOW)

    def _embedder(self) -> Any:
        if isinstance(self.embedder, Exception):
            raise self.embedder
        return self.embedder

    def ingest(self, *contents: str, **more: Any) -> tuple[int, dict[str, Any]]:
        items = [{"content": each, "sourceRef": SOURCE} for each in contents]
        return self._ask(coretalk.ingest, {"items": items, **more})

    def ingest_one(self, content: str, **more: Any) -> tuple[int, dict[str, Any]]:
        return self._ask(coretalk.ingest, {"content": content, "sourceRef": SOURCE, **more})

    def refine(self, *operations: dict[str, Any], **more: Any) -> tuple[int, dict[str, Any]]:
        return self._ask(coretalk.refine, {"operations": list(operations), **more})

    def query(self, query: str, **more: Any) -> tuple[int, dict[str, Any]]:
        return self._ask(coretalk.query, {"query": query, **more})

    def found(self, query: str, **more: Any) -> list[str]:
        return [each["content"] for each in self.query(query, **more)[1]["results"]]


def promote(content: str, confidence: float = 0.8) -> dict[str, Any]:
    return {"type": "promote", "hash": content_hash(content), "confidence": confidence}


def update(old: str, new: str) -> dict[str, Any]:
    return {
        "type": "update",
        "oldHash": content_hash(old),
        "content": new,
        "sourceRef": SOURCE,
        "confidence": 0.9,
    }


def supersede(content: str) -> dict[str, Any]:
    return {"type": "supersede", "hash": content_hash(content), "reason": "old"}


def purge(content: str) -> dict[str, Any]:
    return {"type": "purge", "hash": content_hash(content)}


def states(path: Path) -> dict[str, str]:
    """Return the status of every record by its hash."""
    return dict(rows(path, "SELECT hash, status FROM record"))


def rows(path: Path, sql: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute(sql).fetchall()


def is_sound(path: Path) -> bool:
    """Tell whether the file is whole, and its words are those of the records in force."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("INSERT INTO words (words) VALUES ('integrity-check')")
        held = db.execute("SELECT count(*) FROM words").fetchone()[0]
        alive = db.execute(
            "SELECT count(*) FROM record WHERE status IN ('approved', 'candidate')"
        ).fetchone()[0]
        return db.execute("PRAGMA integrity_check").fetchone() == ("ok",) and held == alive
