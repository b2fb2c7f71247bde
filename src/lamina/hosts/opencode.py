"""OpenCode: sessions in one SQLite database, each a path of its own below it: `opencode.db/<session>`.

Parts are changed in place while the model is at work, so a message is read once it is over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lamina.errors import LaminaError, UnreadableFile
from lamina.formats.event import Author, Damage, Event, Kind, Position, Session
from lamina.hosts import opencode_db as db
from lamina.hosts import opencode_setup
from lamina.hosts.reading import (
    Place,
    call_text,
    dict_of,
    moment,
    named_paths,
    text_of,
    without_reminders,
)
from lamina.hosts.setup import Edit, Where

NAME = "opencode"


class OpenCode:
    """OpenCode's adapter."""

    name = NAME
    hooks = opencode_setup.DIALECT

    def present(self, home: Path, env: Mapping[str, str]) -> bool:
        """Tell by its folder, or by the program on PATH."""
        return opencode_setup.present(home, env)

    def setup(self, where: Where) -> list[Edit]:
        """Say what an install changes: a plugin file, the MCP server, skills."""
        return opencode_setup.setup(where)

    def transcripts(self, home: Path, env: Mapping[str, str]) -> Iterator[Path]:
        """List the sessions of the database; one that can't be read is named itself, for its damage."""
        path = Path(env.get("XDG_DATA_HOME") or home / ".local" / "share") / "opencode" / "opencode.db"
        if path.is_file():
            yield from self.sessions(path)

    def recognises(self, path: Path) -> bool:
        """Tell the database by its tables, a session by its database."""
        return db.is_ours(path) or (db.is_database(path.parent) and self.stamp(path) is not None)

    def stamp(self, path: Path) -> tuple[int, int] | None:
        """Return size and time of the last change (ns) of a session, None if it is gone."""
        try:
            return db.size_and_time(path.parent, path.name) if db.is_database(path.parent) else None
        except LaminaError:
            return None

    def sessions(self, path: Path) -> Iterator[Path]:
        """Yield a path for each session of a database."""
        if db.is_database(path.parent):
            yield path
            return
        try:
            found = [path / name for name in db.session_ids(path)]
        except LaminaError:
            found = [path]
        yield from found

    def read(self, path: Path, position: Position | None = None) -> OpenCodeTranscript:
        """Open a session."""
        if not db.is_database(path.parent):
            db.session_ids(path)  # tells what is wrong with the file
            raise UnreadableFile(f"{path} holds many sessions", hint=f"Name one: {path}/SESSION.")
        return OpenCodeTranscript(path, position)


HOST = OpenCode()


def session_of(path: Path) -> Session:
    """Gather what a session's row tells."""
    row = db.head(path.parent, path.name)
    parent = text_of(row.get("parent_id"))
    return Session(
        host=NAME,
        id=path.name,
        path=str(path),
        cwd=text_of(row.get("directory")),
        started=moment(row.get("time_created")),
        title=text_of(row.get("title")),
        parent=parent,
        subagent=bool(parent),
    )


class OpenCodeTranscript:
    """One session, read lazily; its records are the parts of messages that are over."""

    def __init__(self, path: Path, position: Position | None = None) -> None:
        self.session = session_of(path)
        self._path = path
        self.position = position if position and self._is_there(position) else Position()

    def __iter__(self) -> Iterator[Event | Damage]:
        seq, behind = self.position.line, _last(self.position)
        for message in db.messages(self._path.parent, self._path.name):
            if behind:
                behind = "" if message.id == behind else behind
                continue
            if not message.over:
                return
            for part, data in message.parts:
                yield from self._events(message, data, seq, part)
                seq += 1
            self.position = Position(seq, seq, "", json.dumps({"last": message.id}))

    def _is_there(self, position: Position) -> bool:
        """Tell whether what was read still is what stands before the position."""
        last, count = _last(position), 0
        for message in db.messages(self._path.parent, self._path.name):
            count += len(message.parts)
            if message.id == last:
                return count == position.line
        return False

    def _events(self, message: db.Message, part: dict[str, Any], seq: int, key: str) -> Iterator[Event]:
        own = dict_of(part.get("time")) or dict_of(dict_of(part.get("state")).get("time"))
        time = own.get("start") or dict_of(message.data.get("time")).get("created")
        place = Place(seq, moment(time), key, self.session.subagent)
        match part.get("type"):
            case "text" if (text := text_of(part.get("text"))).strip():
                yield from self._words(message.data, part, text, place)
            case "tool":
                yield from self._tool(part, place)

    def _words(
        self, message: dict[str, Any], part: dict[str, Any], text: str, place: Place
    ) -> Iterator[Event]:
        own = without_reminders(text if message.get("role") == "assistant" else unquoted(text)).strip()
        if message.get("role") == "assistant":
            if message.get("summary") is True or message.get("mode") == "compaction":
                yield place.said(Kind.COMPACTION, Author.HOST, text)
            elif own:
                yield place.said(Kind.ASSISTANT, Author.MODEL, own)
        elif (
            message.get("role") == "user"
            and own
            and not (part.get("synthetic") or part.get("ignored") or self.session.subagent)
        ):
            yield place.said(Kind.USER, Author.PERSON, own)
        else:
            yield place.injected(text)

    def _tool(self, part: dict[str, Any], place: Place) -> Iterator[Event]:
        state, tool = dict_of(part.get("state")), text_of(part.get("tool"))
        call, arguments = text_of(part.get("callID")) or place.key, state.get("input")
        yield place.called(call, tool, call_text(arguments), named_paths(arguments, self.session.cwd))
        if state.get("status") in ("completed", "error"):
            code = dict_of(state.get("metadata")).get("exit")
            failed = state["status"] == "error" or (isinstance(code, int) and code != 0)
            text = text_of(state.get("output")) or text_of(state.get("error"))
            yield place.answered(call, tool, text, failed=failed)


def unquoted(text: str) -> str:
    """Take off the JSON quotes in which the command line stores a prompt of several words."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            return text_of(json.loads(text)).strip() or text
        except ValueError:
            return text
    return text


def _last(position: Position) -> str:
    try:
        return text_of(dict_of(json.loads(position.state or "{}")).get("last"))
    except ValueError:
        return ""
