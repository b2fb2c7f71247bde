"""Lamina on a store with a workspace per project, a topic file per session and an entry per turn.

`prepare` writes the files (that is not timed: the other tools get their pages ready-made, too). With
PEERS_VECTORS=1 the built-in embedder is asked as well as the words.
"""

# ruff: noqa: D102 - loop.Driver says what the methods do

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from datetime import UTC, date, datetime, time
from typing import TYPE_CHECKING, Any

import loop

from lamina import Memory
from lamina.formats.entry import new_entry, new_topic, render_topic

if TYPE_CHECKING:
    from pathlib import Path

KEY = "turns"
VECTORS = os.environ.get("PEERS_VECTORS") == "1"


class Store:
    """One store, all of it searched, on the day of the last session."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._root = folder / "store"
        self._memory: Memory | None = None
        self._entries: dict[str, dict[str, str]] = {}

    def prepare(self) -> None:
        pages: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for number, turn in enumerate(loop.turns(self._folder), 1):
            pages[f"{key_of(turn)}/episodic/{turn['page']}"].append({**turn, "id": id_of(number, turn)})
        self._root.mkdir(exist_ok=True)
        keys = sorted({name.split("/")[0] for name in pages})
        facts = {
            "schemaVersion": 2,
            "workspaces": {key: {"created": "2026-01-01", "title": key} for key in keys},
        }
        (self._root / "memory.json").write_text(json.dumps(facts) + "\n", encoding="utf-8")
        for name, turns in pages.items():
            path = self._root / "workspaces" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = topic_text(turns)
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                path.write_text(text, encoding="utf-8")

    def search(self, text: str, limit: int) -> Any:
        if self._memory is None:
            self._open()
        return self._memory.search(text, limit=limit, scope="all", vectors=VECTORS)

    def shown(self, answer: Any) -> list[dict[str, str]]:
        """Return the whole entries, though a search prints only a piece of each."""
        turns = [self._entries[hit.id] for hit in answer.hits]
        return [{"text": f"{turn['label']}\n\n{turn['text']}", "page": turn["page"]} for turn in turns]

    def _open(self) -> None:
        turns = loop.turns(self._folder)
        self._entries = {id_of(number, turn): turn for number, turn in enumerate(turns, 1)}
        last = max((turn["day"] for turn in turns if turn["day"]), default="2026-01-01")
        today = datetime.combine(date.fromisoformat(last), time(23), UTC)
        self._memory = Memory.open(self._root, cwd=self._folder, clock=lambda: today)


def key_of(turn: dict[str, Any]) -> str:
    """Return the workspace of a turn's project."""
    return re.sub(r"[^a-z0-9._-]+", "-", turn["project"].lower()).strip("-._") or KEY


def id_of(number: int, turn: dict[str, Any]) -> str:
    """Return the id of a turn's entry."""
    return f"{key_of(turn)}-epi-{number:04}"


def topic_text(turns: list[dict[str, Any]]) -> str:
    """Render the entries of one session."""
    topic = new_topic(f"Session {turns[0]['session']}")
    for turn in turns:
        source = f"session:claude-code/{turn['session']}#{turn['seq']}-{turn['seq']}"
        day = date.fromisoformat(turn["day"]) if turn["day"] else None
        heading = ", ".join(part for part in (turn["speaker"], turn["day"]) if part)
        entry = new_entry(heading, turn["text"], id=turn["id"], date=day, source=source)
        topic = topic.adding(entry)
    return render_topic(topic)


if __name__ == "__main__":
    loop.main(Store)
