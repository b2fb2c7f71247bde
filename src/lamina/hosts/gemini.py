"""Gemini CLI: JSON Lines under ~/.gemini/tmp/<project>/chats, patched as the session goes on.

The shapes are those of Gemini CLI 0.61 and of the older versions that kept one JSON file a session.
A message is written again when its tool calls arrive, and the whole history is told again when a session
is resumed or compressed, so each event is read once, by the identity of what it says.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from lamina.formats.event import Damage, Event, Position, Session
from lamina.hosts.base import Files, check_readable, walk
from lamina.hosts.dialect import Dialect
from lamina.hosts.gemini_old import OldTranscript, looks_old
from lamina.hosts.gemini_parts import NAME, made_of, session_from
from lamina.hosts.jsonlines import Json, Lines, Record, head
from lamina.hosts.reading import clip, dict_of, mark, moment, text_of
from lamina.hosts.setup import SERVER, Edit, JsonMember, Say, Where, hook_items

TIMEOUT_MS = 10_000
"""Gemini counts a hook's time in milliseconds."""

# Patches without words; a session has one for each message.
_IGNORED = re.compile(rb'\{"\$set": ?\{"(?:lastUpdated|directories|memoryScratchpad)":(?!.*"messages":)')
_HEAD_RECORDS = 20
_FAILED = 64
_FAILURES = frozenset({"error", "cancelled"})


class Gemini(Files):
    """Gemini CLI's adapter."""

    name = NAME
    #: PreCompress is not among them: it comes before every call of the model, though nothing is compressed.
    hooks = Dialect(
        events={
            "SessionStart": "start",
            "BeforeAgent": "prompt",
            "BeforeTool": "tool",
            "AfterAgent": "turn",
            "SessionEnd": "end",
        },
        # Context given at the start is put in front of the first prompt, and a prompt that begins with it is
        # dropped when the session is resumed; context given with the prompt stands behind it.
        takes=("prompt",),
        not_typed=("<session_context>", "<system-reminder>"),
        restarts=False,
        shortened="<state_snapshot>",
    )

    def present(self, home: Path, env: Mapping[str, str]) -> bool:
        """Tell by its folder, or by the program on PATH."""
        return _root(home, env).is_dir() or shutil.which("gemini", path=env.get("PATH", "")) is not None

    def setup(self, where: Where) -> list[Edit]:
        """Say what an install changes: hooks and the MCP server in settings.json."""
        base = _root(where.home, where.env) if where.project is None else where.project / ".gemini"
        file = base / "settings.json"
        events: dict[str, str | None] = dict.fromkeys(self.hooks.events)
        del events["BeforeTool"]  # the payload does not tell a subagent's call, so nothing can be refused
        if where.recall:
            events["BeforeTool"] = "*"
        server = {"command": str(where.program), "args": ["mcp"]}
        return [
            *hook_items(where, NAME, file, events, more={"name": "lamina"}, timeout=TIMEOUT_MS),
            JsonMember(file, ("mcpServers", SERVER), server),
            *map(Say, _advice(where)),
        ]

    def transcripts(self, home: Path, env: Mapping[str, str]) -> Iterator[Path]:
        """List `tmp/<project>/chats/session-*` and the subagents' files in `chats/<session>/`."""
        root = _root(home, env) / "tmp"
        for path in walk(root, depth=3):
            place = path.relative_to(root).parts
            if len(place) < 3 or place[1] != "chats" or path.suffix not in {".json", ".jsonl"}:
                continue
            if len(place) == 4 or path.name.startswith("session-"):
                yield path

    def recognises(self, path: Path) -> bool:
        """Tell a session by its id beside its project's digest."""
        return any(_is_ours(data) for data in head(path, records=_HEAD_RECORDS)) or looks_old(path)

    def read(self, path: Path, position: Position | None = None) -> GeminiTranscript | OldTranscript:
        """Open a transcript."""
        check_readable(path)
        return OldTranscript(path, position) if looks_old(path) else GeminiTranscript(path, position)


HOST = Gemini()


def _root(home: Path, env: Mapping[str, str]) -> Path:
    return Path(env.get("GEMINI_CLI_HOME") or home) / ".gemini"


def _advice(where: Where) -> Iterator[str]:
    """Name what only the person may decide: Gemini asks before it calls a tool of a server."""
    yield (
        "Gemini CLI asks before it calls a memory tool; runs without a person leave the tools out unless "
        'they may use them ("trust": true in mcpServers.lamina).'
    )
    if where.project is not None:
        yield "Gemini CLI reads a project's settings only in a folder that it trusts."


def _is_ours(data: Json) -> bool:
    if isinstance(data.get("sessionId"), str) and isinstance(data.get("projectHash"), str):
        return "uuid" not in data
    own = data.get("type") == "gemini" and isinstance(data.get("id"), str)
    return own and "timestamp" in data and "uuid" not in data


class GeminiTranscript:
    """One transcript of Gemini CLI, read lazily."""

    def __init__(self, path: Path, position: Position | None = None) -> None:
        self._lines = Lines(path, position, ignore=lambda raw: _IGNORED.match(raw) is not None)
        self._done = (self._lines.offset, self._lines.line)
        state = _state(position) if position and self._lines.resumed else {}
        self._failed: dict[str, None] = dict.fromkeys(dict_of(state.get("failed")))
        self._latest = moment(state.get("latest"))
        self._before: tuple[dict[str, None], datetime | None] | None = None
        self._unseen = self._lines.offset  # up to here an earlier run read: looked at only when needed
        self._seen: set[int] = set()
        self.session: Session = session_from(path, head(path, records=_HEAD_RECORDS))

    @property
    def position(self) -> Position:
        """How far all events were taken."""
        failed, latest = self._before or (self._failed, self._latest)
        state = {"failed": failed, "latest": latest.isoformat() if latest else ""}
        return self._lines.position(*self._done, json.dumps(state, separators=(",", ":")))

    def __iter__(self) -> Iterator[Event | Damage]:
        for record in self._lines:
            if isinstance(record, Damage):
                yield record
                continue
            self._before = (dict(self._failed), self._latest)
            yield from self._fresh(record)
            self._before = None
            self._done = (record.end, record.line + 1)
        self._done = (self._lines.offset, self._lines.line)

    def _fresh(self, record: Record) -> Iterator[Event]:
        """Give the events of a record that were not read before."""
        patch = dict_of(record.data.get("$set"))
        if title := " ".join(text_of(patch.get("summary")).split()):
            self.session = replace(self.session, title=clip(title, 200))
        for message in messages_in(record.data):
            self._note_failures(message)
        if self._unseen and not self._is_newer(record.data):
            self._look_back()
        time = moment(record.data.get("timestamp"))
        if time and (self._latest is None or time > self._latest):
            self._latest = time
        for event in self._events(record):
            if not self._knows(event, again="messages" in patch):
                yield event

    def _events(self, record: Record) -> Iterator[Event]:
        for message in messages_in(record.data):
            yield from made_of(message, record.line, self.session, frozenset(self._failed))

    def _is_newer(self, data: Json) -> bool:
        """Tell whether a record can't be a repeat: those keep their time. History told again does not."""
        if "$set" in data:
            return not messages_in(data)
        time = moment(data.get("timestamp"))
        return time is not None and (self._latest is None or time > self._latest)

    def _look_back(self) -> None:
        before, self._unseen = self._unseen, 0
        for record in self._lines.again():
            if isinstance(record, Record):
                if record.end > before:
                    return
                for event in self._events(record):
                    self._knows(event, again=False)

    def _knows(self, event: Event, *, again: bool) -> bool:
        """Tell whether an event was read before, in history told `again` also by its words; remember it."""
        number, words = hash(event.key), hash(mark(event.kind, event.text))
        known = bool(event.key) and number in self._seen
        known = known or (again and words in self._seen)
        self._seen |= {number, words} if event.key else {words}
        return known

    def _note_failures(self, message: Json) -> None:
        calls = message.get("toolCalls")
        for call in map(dict_of, calls if isinstance(calls, list) else []):
            if text_of(call.get("status")) in _FAILURES and (name := text_of(call.get("id"))):
                self._failed[name] = None
                if len(self._failed) > _FAILED:
                    del self._failed[next(iter(self._failed))]


def messages_in(data: Json) -> list[Json]:
    """Return the messages of a record: itself, or those of a patch that tells the history again."""
    patch = data.get("$set")
    told = dict_of(patch).get("messages") if patch is not None else data.get("messages", [data])
    return [dict_of(message) for message in told] if isinstance(told, list) else []


def _state(position: Position) -> Json:
    try:
        return dict_of(json.loads(position.state or "{}"))
    except ValueError:
        return {}
