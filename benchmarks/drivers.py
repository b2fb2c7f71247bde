"""The standard library's sqlite3 beside apsw, if that is installed: start, inserts, searches, forgetting.

`python -m benchmarks.drivers [ENTRIES]` prints a Markdown table (default 20000).
"""

from __future__ import annotations

import importlib.util
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.search import TOKENIZER, Text, cpu_ms, cpu_s, queries

TABLE = "CREATE VIRTUAL TABLE raw USING fts5 (heading, text, content='', {more} tokenize=\"{tokenizer}\")"
SECRET = "zanzibarsecret"


def connect(driver: str, path: Path) -> Any:
    """Open a database as the index does."""
    if driver == "apsw":
        import apsw

        return apsw.Connection(str(path))
    import sqlite3

    return sqlite3.connect(path, isolation_level=None)


def version(driver: str) -> str:
    """Return SQLite's version in a driver."""
    with tempfile.TemporaryDirectory() as folder:
        db = connect(driver, Path(folder) / "v.db")
        return str(next(iter(db.execute("SELECT sqlite_version()")))[0])


def measure(driver: str, entries: int, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield what is measured of a driver and its value."""
    yield "SQLite", version(driver)
    bare, loaded = cpu_ms([sys.executable, "-c", "pass"]), cpu_ms([sys.executable, "-c", f"import {driver}"])
    yield "import", f"{loaded - bare:.1f} ms CPU"
    text = Text(1)
    rows = [(n, " ".join(text.some(4, 9)), text.body()) for n in range(entries)]
    db = connect(driver, folder / f"{driver}.db")
    db.execute("PRAGMA synchronous = OFF")
    db.execute(TABLE.format(more="", tokenizer=TOKENIZER))
    db.execute("BEGIN")
    spent = cpu_s(lambda: db.executemany("INSERT INTO raw (rowid, heading, text) VALUES (?, ?, ?)", rows))
    spent += cpu_s(lambda: db.execute("COMMIT"))
    yield f"{entries:,} inserts", f"{spent:.2f} s CPU"
    for kind, asked in queries(text, 100).items():
        yield f"search, {kind}", f"{_search_ms(db, asked):.2f} ms"
    for option, sql in (("delete rows without their text", "contentless_delete=1,"), ("secure-delete", "")):
        yield option, _works(driver, folder / f"{driver}-{option}.db", option, sql)


def _search_ms(db: Any, asked: Sequence[str]) -> float:
    spent = []
    for words in asked:
        match = " OR ".join(f'"{word}"' for word in words.split()[:3])
        before = time.process_time()
        list(db.execute("SELECT rowid, rank FROM raw WHERE raw MATCH ? ORDER BY rank LIMIT 10", (match,)))
        spent.append(1000 * (time.process_time() - before))
    return statistics.median(spent)


def _works(driver: str, path: Path, option: str, more: str) -> str:
    """Try an option of FTS5; for secure-delete, look whether a deleted word's bytes are gone."""
    db = connect(driver, path)
    errors = _errors(driver)
    try:
        db.execute(TABLE.format(more=more, tokenizer=TOKENIZER))
        if option == "secure-delete":
            db.execute("PRAGMA secure_delete = ON")
            db.execute("INSERT INTO raw (raw, rank) VALUES ('secure-delete', 1)")
    except errors as problem:
        return f"no: {problem}"
    if option != "secure-delete":
        return "yes"
    for n in range(50):
        said = SECRET if n == 7 else "y"
        db.execute("INSERT INTO raw (rowid, heading, text) VALUES (?, 'x', ?)", (n, said))
    db.execute("INSERT INTO raw (raw, rowid, heading, text) VALUES ('delete', 7, 'x', ?)", (SECRET,))
    db.close()
    return "yes, bytes gone" if SECRET[:8].encode() not in path.read_bytes() else "no: it is still there"


def _errors(driver: str) -> type[Exception]:
    if driver == "apsw":
        import apsw

        return apsw.Error
    import sqlite3

    return sqlite3.Error


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    entries = int(arguments[0]) if arguments else 20_000
    drivers = [name for name in ("sqlite3", "apsw") if importlib.util.find_spec(name)]
    with tempfile.TemporaryDirectory() as folder:
        found = [dict(measure(driver, entries, Path(folder))) for driver in drivers]
    print(f"| | {' | '.join(drivers)} |\n| --- |{' ---: |' * len(drivers)}")
    for what in found[0]:
        print(f"| {what} | {' | '.join(each[what] for each in found)} |")


if __name__ == "__main__":
    main(sys.argv[1:])
