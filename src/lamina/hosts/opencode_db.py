"""OpenCode's database, read without touching it: the one place outside the index that speaks SQLite."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from lamina.errors import NoSuchFile, UnreadableFile
from lamina.hosts.base import check_readable
from lamina.hosts.jsonlines import cleaned, is_too_deep
from lamina.hosts.reading import dict_of, text_of

_MAGIC = b"SQLite format 3\0"
_WAIT_S = 1.0


class Message(NamedTuple):
    """One message and its parts, oldest first; `over` says that nothing of it will change."""

    id: str
    data: dict[str, Any]
    parts: tuple[tuple[str, dict[str, Any]], ...]
    over: bool


def is_database(path: Path) -> bool:
    """Tell by its first bytes."""
    try:
        with path.open("rb") as file:
            return path.is_file() and file.read(16) == _MAGIC
    except (OSError, ValueError):
        return False


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database to read; neither a lock of its writer nor a file beside it is made.

    Without a log the file is read as it is; a log without its index is read from a copy, since
    SQLite would make the index. Raises NoSuchFile or UnreadableFile.
    """
    check_readable(path)
    log, shared = (path.with_name(path.name + end) for end in ("-wal", "-shm"))
    try:
        with TemporaryDirectory(prefix="lamina-") as folder:
            at, how = path, "mode=ro&immutable=1"
            if log.exists() and log.stat().st_size:
                how = "mode=ro"
                if not shared.exists():
                    at = Path(folder) / path.name
                    shutil.copyfile(path, at)
                    shutil.copyfile(log, at.with_name(log.name))
            link = sqlite3.connect(f"{at.absolute().as_uri()}?{how}", uri=True, timeout=_WAIT_S)
            with closing(link):
                link.text_factory = lambda raw: raw.decode("utf-8", "replace")
                link.row_factory = sqlite3.Row
                link.execute("BEGIN")
                yield link
    except sqlite3.Error as problem:
        raise UnreadableFile(f"{path} can't be read: {problem}", hint="Try again later.") from problem
    except FileNotFoundError as problem:
        raise NoSuchFile(f"{path} does not exist", hint="Check the path.") from problem


def session_ids(path: Path) -> list[str]:
    """List the sessions of a database, those that began first before the others."""
    with opened(path) as link:
        return [row[0] for row in link.execute("SELECT id FROM session ORDER BY time_created, id")]


def is_ours(path: Path) -> bool:
    """Tell OpenCode's database by its tables."""
    if not is_database(path):
        return False
    try:
        with opened(path) as link:
            rows = link.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            return {"session", "message", "part"} <= {row[0] for row in rows}
    except (NoSuchFile, UnreadableFile):
        return False


def size_and_time(path: Path, session: str) -> tuple[int, int] | None:
    """Return how much a session holds and when it last changed (ns), None if it is not there."""
    with opened(path) as link:
        found = link.execute("SELECT time_updated FROM session WHERE id = ?", (session,)).fetchone()
        if found is None:
            return None
        size, latest = 0, int(found[0] or 0)
        for table in ("message", "part"):  # the session's own time stands still while a turn runs
            asked = f"SELECT sum(length(data)), max(time_updated) FROM {table} WHERE session_id = ?"  # noqa: S608
            length, time = link.execute(asked, (session,)).fetchone()
            size, latest = size + int(length or 0), max(latest, int(time or 0))
        return size, latest * 1_000_000


def head(path: Path, session: str) -> dict[str, Any]:
    """Return a session's row. Raises NoSuchFile if there is none."""
    with opened(path) as link:
        row = link.execute("SELECT * FROM session WHERE id = ?", (session,)).fetchone()
    if row is None:
        raise NoSuchFile(f"{path} holds no session {session}", hint="Check the session's id.")
    return dict(row)


def messages(path: Path, session: str) -> Iterator[Message]:
    """Yield a session's messages, oldest first, all as they stood at one moment.

    A prompt is over with its first part, an answer when it says so or another answer follows. What the person
    took back, with all behind it, is left out.
    """
    with opened(path) as link:
        asked = "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id"
        heads = [(row[0], _object(row[1])) for row in link.execute(asked, (session,))]
        names = [name for name, _ in heads]
        if (back := _taken_back(link, session)) in names:
            heads = heads[: names.index(back)]
        answers = [number for number, (_, data) in enumerate(heads) if data.get("role") == "assistant"]
        newest = answers[-1] if answers else -1
        for number, (name, data) in enumerate(heads):
            ended = dict_of(data.get("time")).get("completed") or data.get("error")
            asked = "SELECT id, data FROM part WHERE message_id = ? ORDER BY id"
            parts = tuple((row[0], _object(row[1])) for row in link.execute(asked, (name,)))
            over = number < newest or bool(ended) or (data.get("role") == "user" and bool(parts))
            yield Message(name, data, parts, over)


def _taken_back(link: sqlite3.Connection, session: str) -> str:
    """Return the message from which on a session was taken back, "" for none."""
    columns = {row[1] for row in link.execute("PRAGMA table_info(session)")}
    if "revert" not in columns:
        return ""
    row = link.execute("SELECT revert FROM session WHERE id = ?", (session,)).fetchone()
    return text_of(_object(row[0]).get("messageID")) if row else ""


def _object(text: Any) -> dict[str, Any]:
    """Read a value; what is damaged, or deeper than any host writes, says nothing."""
    try:
        value = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return {}
    return {} if is_too_deep(value) else dict_of(cleaned(value))
