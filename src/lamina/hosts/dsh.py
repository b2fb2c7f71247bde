"""DeepSeek Harness (DSH): JSON Lines under ~/.dsh/sessions, plain or in zstd frames, in the shapes of 0.2.

A session's folder holds one file for each format it went through; the newest tells all. Only messages whose
source is the user are a person's: instructions, runtime context and what plugins give are messages of the
role user, too.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from lamina.formats.event import Author, Damage, Event, Kind, Position, Session
from lamina.hosts.base import Files, check_readable, walk
from lamina.hosts.dialect import Dialect
from lamina.hosts.jsonlines import Json, Lines, Record, head
from lamina.hosts.reading import (
    Place,
    call_text,
    dict_of,
    joined_text,
    moment,
    named_paths,
    text_of,
    without_reminders,
)
from lamina.hosts.repeats import Repeats
from lamina.hosts.setup import Edit, Where

NAME = "dsh"

# Records without words of the conversation, told by how their line starts: the prompt and the tools of each
# request, the boundaries of turns, what waits in the inbox (it comes again as a message).
_IGNORED = re.compile(
    rb'\{"type": ?"(?:system/message|developer/message|request/[a-z-]+|agent/[a-z/-]+|turn/[a-z]+|step/[a-z]+'
    rb"|job/[a-z]+|permission/[a-z]+|sandbox/[a-z]+|approval/[a-z]+|assistant/attempt"
    rb'|session/title-llm-request|plugin:[^"]*)"'
)
_FILE = re.compile(r"session(?:\.v([1-9][0-9]{0,3}))?\.jsonl(?:\.zstd)?")
_EXIT = re.compile(r"\n?\[exit code: (-?\d{1,9})\]\s*\Z")
_OURS = re.compile(r"(?:session|user|assistant|tool|turn|step|agent|request|system)/[a-z/-]+")
_HEAD_RECORDS = 60
_OPEN_CALLS = 64


class Dsh(Files):
    """The adapter of DeepSeek Harness."""

    name = NAME

    #: The payloads are those that the plugin in assets/dsh makes. What it said is gone after a compaction, of
    #: which it tells as a start.
    hooks = Dialect(
        events={
            "start": "start",
            "prompt": "prompt",
            "tool": "tool",
            "turn": "turn",
            "end": "end",
            "compact": "compact",
            "subagent": "subagent",
        },
        answer="additionalContext",
        prompt_id=("prompt_id",),
        depth=("depth",),
        refusal="permissionDecision",
    )

    def present(self, home: Path, env: Mapping[str, str]) -> bool:
        """Tell by its folder, or by the program on PATH."""
        return _root(home, env).is_dir() or shutil.which("dsh", path=env.get("PATH", "")) is not None

    def setup(self, where: Where) -> list[Edit]:
        """Say what an install changes: the plugin's package, and two entries in each profile."""
        from lamina.hosts.dsh_setup import edits

        return edits(where, _root(where.home, where.env))

    def transcripts(self, home: Path, env: Mapping[str, str]) -> Iterator[Path]:
        """List `sessions/<project>/<session>/session.jsonl` or a later form of it, the newest of each."""
        newest: dict[Path, tuple[int, Path]] = {}
        for path in walk(_root(home, env) / "sessions", depth=2):
            if found := _FILE.fullmatch(path.name):
                form = (int(found.group(1) or 0), path)
                newest[path.parent] = max(form, newest.get(path.parent, form))
        yield from sorted(path for _, path in newest.values())

    def recognises(self, path: Path) -> bool:
        """Tell a session's header, or its events by their types and numbers."""
        return any(_is_ours(data) for data in head(path, records=20))

    def read(self, path: Path, position: Position | None = None) -> DshTranscript:
        """Open a transcript."""
        check_readable(path)
        return DshTranscript(path, position)


HOST = Dsh()


def _root(home: Path, env: Mapping[str, str]) -> Path:
    return Path(env.get("DSH_HOME") or home / ".dsh")


def _is_ours(data: Json) -> bool:
    kind = data.get("type")
    if kind == "session":
        return "id" in data and "createdAt" in data
    if not isinstance(kind, str) or not isinstance(data.get("data"), dict):
        return False
    return isinstance(data.get("seq"), int) and _OURS.fullmatch(kind) is not None


def session_of(path: Path) -> Session:
    """Gather what the head of a transcript tells about its session."""
    records = head(path, records=_HEAD_RECORDS)
    start = next((data for data in records if data.get("type") == "session"), {})
    times = [moment(start.get("createdAt")), *(moment(data.get("time")) for data in records)]
    parent, depth = text_of(start.get("parentSession")), start.get("delegationDepth")
    fork = bool(parent) and start.get("isSeeded") is True and start.get("origin") != "subagent"
    deep = isinstance(depth, int | float) and depth > 0
    return Session(
        host=NAME,
        id=text_of(start.get("id")) or path.parent.name,
        path=str(path),
        cwd=text_of(start.get("cwd")),
        started=min(filter(None, times), default=None),
        title=_title(records),
        parent=parent,
        subagent=deep or start.get("origin") == "subagent" or (bool(parent) and not fork),
        fork=fork and not deep,
    )


def _title(records: list[Json]) -> str:
    titles = [dict_of(data.get("data")) for data in records if data.get("type") == "session/title"]
    return text_of(titles[-1].get("title")) if titles else ""


#: Open calls, the newest time.
State = tuple[dict[str, str], datetime | None]


class DshTranscript:
    """One transcript of DSH, read lazily."""

    def __init__(self, path: Path, position: Position | None = None) -> None:
        self._lines = Lines(path, position, ignore=lambda raw: _IGNORED.match(raw) is not None)
        self._done = (self._lines.offset, self._lines.line)
        state = _state(position) if position and self._lines.resumed else {}
        self._calls: dict[str, str] = dict_of(state.get("calls"))
        self._repeats = Repeats(self._lines, _identity, moment(state.get("latest")))
        self._before: State | None = None  # before the record whose events are being taken
        self.session = session_of(path)

    @property
    def position(self) -> Position:
        """How far all events were taken."""
        calls, latest = self._before or self._state()
        state = {"calls": calls, "latest": latest.isoformat() if latest else ""}
        return self._lines.position(*self._done, json.dumps(state, separators=(",", ":")))

    def __iter__(self) -> Iterator[Event | Damage]:
        for record in self._lines:
            if isinstance(record, Damage):
                yield record
                continue
            self._before = self._state()
            yield from self._events(record)
            self._before = None
            self._done = (record.end, record.line + 1)
        self._done = (self._lines.offset, self._lines.line)

    def _state(self) -> State:
        return dict(self._calls), self._repeats.latest

    def _events(self, record: Record) -> Iterator[Event]:
        data, time = dict_of(record.data.get("data")), moment(record.data.get("time"))
        key = _identity(record.data)
        if self._repeats.has(key, time):
            return
        own = text_of(data.get("id")) or text_of(dict_of(data.get("message")).get("id")) or key
        place = Place(record.line, time, own, self.session.subagent)
        match record.data.get("type"):
            case "user/message":
                yield from _message(record.data, place)
            case "assistant/message":
                content = dict_of(data.get("message")).get("content")
                if text := without_reminders(joined_text(content)).strip():
                    yield place.said(Kind.ASSISTANT, Author.MODEL, text)
            case "tool/call":
                yield self._call(data, place)
            case "tool/result":
                yield self._result(dict_of(data.get("message")), place)
            case "compaction/summary" | "compact/summary":
                if summary := joined_text(data.get("summary")).strip():
                    yield place.said(Kind.COMPACTION, Author.HOST, summary)
            case "session/title":
                self.session = replace(self.session, title=text_of(data.get("title")) or self.session.title)

    def _call(self, data: Json, place: Place) -> Event:
        call, tool, arguments = text_of(data.get("callId")), text_of(data.get("name")), _arguments(data)
        if call:
            self._calls[call] = tool
            if len(self._calls) > _OPEN_CALLS:
                del self._calls[next(iter(self._calls))]
        return place.called(call, tool, call_text(arguments), named_paths(arguments, self.session.cwd))

    def _result(self, message: Json, place: Place) -> Event:
        call, text = text_of(message.get("toolCallId")), joined_text(message.get("content"))
        failed = message.get("isError") is True
        if ended := _EXIT.search(text):
            text, failed = text[: ended.start()], failed or int(ended.group(1)) != 0
        return place.answered(call, self._calls.pop(call, ""), text, failed=failed)


def _message(record: Json, place: Place) -> Iterator[Event]:
    """Make of a message of the role user what it is: the person's words, or what the host put there.

    What replaces others is a compaction's summary, told by a record of its own.
    """
    data = dict_of(record.get("data"))
    source = dict_of(data.get("source")).get("kind")
    text = joined_text(data.get("content"))
    if source == "user" and not place.sidechain:
        if text := without_reminders(text).strip():
            yield place.said(Kind.USER, Author.PERSON, text)
    elif text.strip() and not isinstance(record.get("surfaceOp"), dict):
        yield place.injected(text)


def _arguments(data: Json) -> Any:
    """Give the arguments of a call as what they are: the host keeps them as JSON text."""
    found = data.get("arguments")
    try:
        return json.loads(found) if isinstance(found, str) else found
    except (ValueError, RecursionError):
        return found


def _identity(data: Json) -> str:
    """Tell records apart by their number and time: a log numbers each once."""
    number, time = data.get("seq"), data.get("time")
    return f"{number} {time}" if isinstance(number, int) and isinstance(time, int | float | str) else ""


def _state(position: Position) -> Json:
    try:
        return dict_of(json.loads(position.state or "{}"))
    except ValueError:
        return {}
