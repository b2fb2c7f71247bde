"""OpenCode's database: what is read of it, what waits, and that its writer is left alone."""

from __future__ import annotations

import json
import re
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from hosts.conformance import CWD, STARTED, TURNS, HostLaws
from hosts.opencode_tape import write_opencode
from lamina.errors import LaminaError, UnreadableFile
from lamina.formats.event import Author, Event, Kind
from lamina.hosts.base import detect, host_named
from lamina.hosts.opencode import HOST, unquoted
from lamina.hosts.render import Turn


class TestOpenCode(HostLaws):
    host = HOST
    branch = ""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return tmp_path / "opencode.db" / "ses_main"

    def write(self, path: Path, turns: list[Turn] | None = None) -> Path:
        return write_opencode(path, TURNS if turns is None else turns, cwd=CWD, started=STARTED)

    def test_no_file_is_left_beside_the_database(self, path: Path) -> None:
        self.events(self.write(path))
        assert [each.name for each in path.parent.parent.iterdir()] == ["opencode.db"]

    def test_growing_turn_by_turn(self, path: Path) -> None:
        whole = self.events(self.write(path))
        found: list[Event] = []
        position = None
        for count in range(len(TURNS) + 1):
            transcript = self.host.read(self.write(path, TURNS[:count]), position)
            found += [item for item in transcript if isinstance(item, Event)]
            position = transcript.position
        assert [(each.kind, each.text) for each in found] == [(each.kind, each.text) for each in whole]

    def test_what_stood_there_before_is_gone(self, path: Path) -> None:
        """A message was deleted between two passes: reading begins anew."""
        transcript = self.host.read(self.write(path))
        whole = list(transcript)
        with closing(sqlite3.connect(path.parent)) as link, link:
            first = link.execute("SELECT min(id) FROM message").fetchone()[0]
            link.execute("DELETE FROM part WHERE message_id = ?", (first,))
            link.execute("DELETE FROM message WHERE id = ?", (first,))
        assert len(list(self.host.read(path, transcript.position))) == len(whole) - 1

    def test_what_was_taken_back_is_not_read(self, path: Path) -> None:
        whole = self.events(self.write(path))
        with closing(sqlite3.connect(path.parent)) as link, link:
            last = link.execute("SELECT message_id FROM part WHERE data LIKE '%backoff%'").fetchone()[0]
            link.execute("UPDATE session SET revert = ?", (json.dumps({"messageID": last}),))
        left = self.events(path)
        assert 0 < len(left) < len(whole)
        assert not any("backoff" in event.text for event in left)

    def test_a_locked_database_holds_nobody_up_and_a_damaged_one_is_told(self, path: Path) -> None:
        whole = self.events(self.write(path))
        began = time.monotonic()
        with closing(sqlite3.connect(path.parent, isolation_level=None)) as link:
            link.execute("PRAGMA locking_mode = EXCLUSIVE")
            link.execute("BEGIN EXCLUSIVE")
            assert self.events(path) == whole
            link.execute("UPDATE session SET title = 'x'")
            with suppress(LaminaError):
                assert self.events(path) == whole
        assert time.monotonic() - began < 5
        data = bytearray(path.parent.read_bytes())
        data[1024:] = b"\xff" * (len(data) - 1024)
        path.parent.write_bytes(bytes(data))
        with pytest.raises(LaminaError, match=re.escape(str(path.parent))):
            list(self.host.read(path))


_TABLES = """
PRAGMA journal_mode = WAL;
CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT,
                      time_created INTEGER, time_updated INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, data TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT, time_updated INTEGER);
"""
_AT = 1_772_442_000_000


def database(path: Path) -> sqlite3.Connection:
    link = sqlite3.connect(path, isolation_level=None)
    link.executescript(_TABLES)
    for name, parent in (("ses_a", None), ("ses_b", "ses_a")):
        row = (name, parent, "/home/mira/tidepool", "Uploads", _AT, _AT)
        link.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?)", row)
    return link


def add(link: sqlite3.Connection, number: int, role: str, *parts: dict[str, Any], **more: Any) -> None:
    name = f"msg_{number:03d}"
    data = {"role": role, "time": {"created": _AT + number, "completed": more.pop("done", None)}, **more}
    link.execute(
        "INSERT INTO message VALUES (?, 'ses_a', ?, ?, ?)",
        (name, json.dumps(data), _AT + number, _AT + number),
    )
    for at, part in enumerate(parts):
        row = (f"prt_{number:03d}_{at}", name, json.dumps(part), _AT + number)
        link.execute("INSERT INTO part VALUES (?, ?, 'ses_a', ?, ?)", row)


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def tool(status: str, **more: Any) -> dict[str, Any]:
    state = {"status": status, "input": {"filePath": "/home/mira/tidepool/a.py"}, **more}
    return {"type": "tool", "tool": "read", "callID": "call_1", "state": state}


def test_a_session_is_read_beside_its_writer_and_a_running_answer_waits(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(database(path)) as link:
        add(link, 1, "user", text("card", synthetic=True), text('"Add a retry."'))
        add(link, 2, "assistant", {"type": "reasoning", "text": "hmm"}, tool("running"))
        first = HOST.read(path / "ses_a")
        told = [(each.author, each.text) for each in first if isinstance(each, Event)]
        assert told == [(Author.HOST, "card"), (Author.PERSON, "Add a retry.")]
        before = HOST.stamp(path / "ses_a")
        done = json.dumps(tool("error", error="gone"))
        link.execute("UPDATE part SET data = ? WHERE id = 'prt_002_1'", (done,))
        head = json.dumps({"role": "assistant", "time": {"created": _AT + 2, "completed": _AT + 3}})
        link.execute("UPDATE message SET data = ? WHERE id = 'msg_002'", (head,))
        assert HOST.stamp(path / "ses_a") != before
        second = HOST.read(path / "ses_a", first.position)
        events = [each for each in second if isinstance(each, Event)]
        assert [(each.kind, each.seq, each.failed) for each in events] == [
            (Kind.TOOL_CALL, 3, False),
            (Kind.TOOL_RESULT, 3, True),
        ]
        assert events[0].paths == ("a.py",)
        assert list(HOST.read(path / "ses_a", second.position)) == []


def test_each_session_is_a_path_and_a_child_is_a_subagent(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    database(path).close()
    assert host_named("opencode") is HOST
    assert detect(path) is detect(path / "ses_a") is HOST
    assert list(HOST.sessions(path)) == [path / "ses_a", path / "ses_b"]
    session = HOST.read(path / "ses_b").session
    assert (session.parent, session.subagent) == ("ses_a", True)
    assert [each.name for each in tmp_path.iterdir()] == ["opencode.db"]


def test_a_log_that_a_crash_left_is_read_and_nothing_is_made_beside_it(tmp_path: Path) -> None:
    path, left = tmp_path / "opencode.db", tmp_path / "left"
    left.mkdir()
    with closing(database(path)) as link:
        add(link, 1, "user", text("Add a retry."))
        add(link, 2, "assistant", text("Done."), done=_AT)
        for name in ("opencode.db", "opencode.db-wal"):
            (left / name).write_bytes((tmp_path / name).read_bytes())
    assert len(list(HOST.read(left / "opencode.db" / "ses_a"))) == 2
    assert sorted(each.name for each in left.iterdir()) == ["opencode.db", "opencode.db-wal"]


def test_a_damaged_database_is_one_unreadable_file(tmp_path: Path) -> None:
    path = tmp_path / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"SQLite format 3\0" + b"x" * 9000)
    assert list(HOST.transcripts(tmp_path, {"XDG_DATA_HOME": str(tmp_path / "share")})) == [path]
    with pytest.raises(UnreadableFile):
        HOST.read(path)


def test_quotes_that_a_person_typed_stay() -> None:
    assert unquoted('"a" and "b"') == '"a" and "b"'


def test_a_prompt_without_an_answer_is_read(tmp_path: Path) -> None:
    """The host was killed, or is still at work."""
    path = tmp_path / "opencode.db"
    with closing(database(path)) as link:
        add(link, 1, "user", text("Add a retry."))
        [event] = [each for each in HOST.read(path / "ses_a") if isinstance(each, Event)]
        assert (event.author, event.text) == (Author.PERSON, "Add a retry.")


def test_a_running_turn_is_newer_than_its_session(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(database(path)) as link:
        before = HOST.stamp(path / "ses_a")
        add(link, 60_000, "user", text("Add a retry."))
        after = HOST.stamp(path / "ses_a")
        assert before is not None
        assert after is not None
        assert after[1] - before[1] == 60_000 * 1_000_000
