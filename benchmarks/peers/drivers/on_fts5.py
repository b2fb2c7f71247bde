"""The least that full-text search takes: one FTS5 table, a row per turn, the words joined by OR."""

# ruff: noqa: D102 - loop.Driver says what the methods do

from __future__ import annotations

import re
import sqlite3
from typing import TYPE_CHECKING

import loop

if TYPE_CHECKING:
    from pathlib import Path

WORD = re.compile(r"\w+")


class Fts5:
    """A table of turns with SQLite's own tokenizer and its own ranking."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._db = sqlite3.connect(folder / "index" / "turns.db")

    def index(self) -> None:
        self._db.execute("CREATE VIRTUAL TABLE turns USING fts5 (label, text, page UNINDEXED)")
        self._insert(loop.turns(self._folder))

    def update(self, page: str) -> None:
        self._db.execute("DELETE FROM turns WHERE page = ?", (page,))
        self._insert([turn for turn in loop.turns(self._folder) if turn["page"] == page])

    def search(self, text: str, limit: int) -> list[tuple[str, str, str]]:
        terms = " OR ".join(f'"{word}"' for word in WORD.findall(text))
        found = "SELECT label, text, page FROM turns WHERE turns MATCH ? ORDER BY rank LIMIT ?"
        return self._db.execute(found, (terms, limit)).fetchall() if terms else []

    def shown(self, answer: list[tuple[str, str, str]]) -> list[dict[str, str]]:
        return [{"text": f"{label}: {text}", "page": page} for label, text, page in answer]

    def _insert(self, turns: list[dict[str, str]]) -> None:
        rows = [(turn["label"], turn["text"], turn["page"]) for turn in turns]
        self._db.executemany("INSERT INTO turns VALUES (?, ?, ?)", rows)
        self._db.commit()


if __name__ == "__main__":
    loop.main(Fts5)
