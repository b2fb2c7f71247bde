"""What is known of the stored vectors without an embedder: which are there, and taking some away."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection

from lamina.index.vectors import NAME, discard

_WAIT_S = 10.0


def numbers(home: os.PathLike[str] | str, name: str) -> set[int]:
    """Return the numbers of what has a vector of the embedder `name`; nothing where none are stored."""
    sql = "SELECT v.meaning FROM vector v JOIN model m ON m.id = v.model WHERE m.name = ?"
    return {meaning for (meaning,) in _ask(home, sql, name)}


def used(home: os.PathLike[str] | str) -> bool:
    """Tell whether anybody ever asked for vectors here: some are stored, of whatever embedder."""
    return bool(_ask(home, "SELECT 1 FROM vector LIMIT 1"))


def forget(home: os.PathLike[str] | str, keep: Collection[int]) -> None:
    """Remove the vectors of every model that stand for none of the numbers; no byte of them stays."""
    path = os.path.join(home, NAME)  # noqa: PTH118 - as the index beside it
    if not os.path.isfile(path):  # noqa: PTH113
        return
    try:
        db = sqlite3.connect(path, timeout=_WAIT_S)
        try:
            db.execute("PRAGMA secure_delete = ON")
            stored = {meaning for (meaning,) in db.execute("SELECT DISTINCT meaning FROM vector")}
            with db:
                gone = [(meaning,) for meaning in stored - set(keep)]
                db.executemany("DELETE FROM vector WHERE meaning = ?", gone)
        finally:
            db.close()
    except sqlite3.DatabaseError:
        discard(path)  # what it held can be made again


def _ask(home: os.PathLike[str] | str, sql: str, *values: str) -> list[tuple[int]]:
    path = os.path.join(home, NAME)  # noqa: PTH118
    if not os.path.isfile(path):  # noqa: PTH113
        return []
    try:
        db = sqlite3.connect(path, timeout=_WAIT_S)
        try:
            return db.execute(sql, values).fetchall()
        finally:
            db.close()
    except sqlite3.DatabaseError:
        return []  # damaged: the next one who embeds makes it anew
