"""Writes plain sessions into a database as OpenCode 1.18 does: messages of parts, as JSON in rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from lamina.hosts.tape import Compacted, Injected, Pause, Said, Tape, Tool, Turn

Json = dict[str, Any]

TABLES = """
PRAGMA journal_mode = WAL;
CREATE TABLE IF NOT EXISTS session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, slug TEXT, directory TEXT,
    title TEXT, version TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE IF NOT EXISTS message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER,
    data TEXT);
CREATE TABLE IF NOT EXISTS part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER,
    time_updated INTEGER, data TEXT);
"""


class Writer:
    """One session of a database, written turn by turn."""

    def __init__(
        self, link: sqlite3.Connection, session: str, *, cwd: str, started: datetime, parent: str = ""
    ) -> None:
        self.link, self.session, self.cwd = link, session, cwd
        self.tape = Tape(session, started)
        self.count = 0
        self.asked = ""
        at = self.now
        row = (session, "p1", parent or None, "jolly-orchid", cwd, "Uploads", "1.18.33", None, at, at)
        link.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    @property
    def now(self) -> int:
        return int(self.tape.now.timestamp() * 1000)

    def id(self, kind: str) -> str:
        self.count += 1
        return f"{kind}_{self.now:012x}{self.count:04d}"

    def write(self, turns: Iterable[Turn]) -> None:
        for turn in turns:
            match turn:
                case Said("user", text):
                    self.tape.wait(8)
                    self.prompt({"type": "text", "text": json.dumps(text) if " " in text else text})
                case Said(_, text):
                    self.answer({"type": "reasoning", "text": "Let me think."}, self.text(text))
                case Injected(text):
                    self.prompt({"type": "text", "text": text, "synthetic": True})
                case Tool():
                    self.answer(self.call(turn))
                case Compacted(summary):
                    self.prompt({"type": "compaction", "auto": True})
                    self.answer(self.text(summary), summary=True, mode="compaction")
                case Pause(minutes):
                    self.tape.wait(60 * minutes)

    def text(self, text: str) -> Json:
        self.tape.wait(2)
        return {"type": "text", "text": text, "time": {"start": self.now, "end": self.now}}

    def call(self, tool: Tool) -> Json:
        self.tape.wait(1)
        arguments = tool.arguments if isinstance(tool.arguments, str) else dict(tool.arguments)
        done = {"error": tool.result} if tool.failed else {"output": tool.result}
        state = {
            "status": "error" if tool.failed else "completed",
            "input": arguments,
            **done,
            "time": {"start": self.now, "end": self.now},
        }
        return {"type": "tool", "tool": tool.name, "callID": self.tape.code("call_"), "state": state}

    def prompt(self, *parts: Json) -> None:
        self.asked = self.message({"role": "user", "time": {"created": self.now}, "agent": "build"}, parts)

    def answer(self, *parts: Json, **more: Any) -> None:
        data = {
            "role": "assistant", "parentID": self.asked, "agent": "build", "mode": "build",
            "path": {"cwd": self.cwd, "root": self.cwd}, "modelID": "m", "providerID": "p",
            "time": {"created": self.now, "completed": self.now}, **more,
        }  # fmt: skip
        self.message(data, ({"type": "step-start"}, *parts, {"type": "step-finish", "reason": "stop"}))

    def message(self, data: Json, parts: Iterable[Json]) -> str:
        name, at = self.id("msg"), self.now
        row = (name, self.session, at, at, json.dumps(data, ensure_ascii=False))
        self.link.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", row)
        for part in parts:
            row_of = (self.id("prt"), name, self.session, at, at, json.dumps(part, ensure_ascii=False))
            self.link.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row_of)
        self.link.execute("UPDATE session SET time_updated = ? WHERE id = ?", (at, self.session))
        return name


def write_opencode(
    path: Path, turns: Iterable[Turn], *, cwd: str, started: datetime, parent: str = ""
) -> Path:
    """Write a session to its path, `DATABASE/SESSION`."""
    path.parent.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path.parent)) as link, link:
        link.executescript(TABLES)
        for table in ("message", "part", "session"):
            link.execute(
                f"DELETE FROM {table} WHERE {'id' if table == 'session' else 'session_id'} = ?", (path.name,)
            )
        Writer(link, path.name, cwd=cwd, started=started, parent=parent).write(turns)
    return path
