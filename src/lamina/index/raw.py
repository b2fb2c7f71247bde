"""Plain full text search over raw texts: the baseline that memories are measured against."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable

_WORD = re.compile(r"\w+")


class RawTexts:
    """Texts in an FTS5 table in memory, with SQLite's own default tokenizer and ranking."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._db = sqlite3.connect(":memory:")
        self._db.execute("CREATE VIRTUAL TABLE raw USING fts5(text)")
        rows = ((number, text) for number, text in enumerate(texts))
        self._db.executemany("INSERT INTO raw(rowid, text) VALUES (?, ?)", rows)

    def search(self, question: str, limit: int) -> list[int]:
        """Return the positions of the best texts: any word of the question, by bm25; ties in order."""
        asked = " OR ".join(f'"{word}"' for word in _WORD.findall(question))
        if not asked:
            return []
        query = "SELECT rowid FROM raw WHERE raw MATCH ? ORDER BY bm25(raw), rowid LIMIT ?"
        return [row[0] for row in self._db.execute(query, (asked, limit))]

    def close(self) -> None:
        """Let the table go."""
        self._db.close()
