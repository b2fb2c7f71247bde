"""Codex: rollout files under $CODEX_HOME/sessions, in the shapes of 2025 to 0.171.

A text stands there twice, as a response item and as an event; each is read once, from
whichever comes first.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from lamina.formats.event import Author, Damage, Event, Kind, Position, Session
from lamina.hosts import codex_setup
from lamina.hosts.base import Files, check_readable, walk
from lamina.hosts.codex_calls import arguments_of, failure_of, outcome_of, paths_of
from lamina.hosts.jsonlines import Json, Lines, Record, head
from lamina.hosts.reading import (
    RESULT_LIMIT,
    Place,
    call_text,
    clip,
    dict_of,
    joined_text,
    mark,
    moment,
    text_of,
    without_reminders,
)
from lamina.hosts.repeats import Repeats
from lamina.hosts.setup import Edit, Where

NAME = "codex"

#: A user text that starts so was put there by the host, not typed by the person.
WRAPPERS = (
    "# AGENTS.md instructions",
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "<permissions instructions>",
    "<skills_instructions>",
    "<skill>",
    "<turn_aborted>",
    "<user_shell_command>",
    "<subagent_notification>",
    "<collaboration_mode>",
    "<system-reminder>",
    "<hook_context>",
)
_SUMMARIES = (
    "Another language model started to solve this problem and produced a summary",
    "You were originally given instructions from a user over one or more turns.",
)
_ITEMS = frozenset(
    {
        "message",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "local_shell_call_output",
        "web_search_call",
        "reasoning",
        "compaction",
    }
)
# Lines without words of the conversation, told by how they start.
_IGNORED = re.compile(
    rb'\{"timestamp": ?"[^"]*", ?(?:"ordinal": ?\d+, ?)?"type": ?"'
    rb"(?:world_state|token_usage_record|turn_context"
    rb'|event_msg", ?"payload": ?\{"type": ?"(?:token_count|thread_settings_applied|agent_reasoning[a-z_]*)'
    rb'|response_item", ?"payload": ?\{"type": ?"(?:reasoning|ghost_snapshot))"'
)
_ID_IN_NAME = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$")
_HEAD_RECORDS = 40
_OPEN_CALLS = 64
_UNPAIRED = 64


def _is_idle(raw: bytes) -> bool:
    """Tell from the raw line that it holds no words, or only repeats the output of a call that went well."""
    if _IGNORED.match(raw):
        return True
    well = b'"item_completed"' in raw[:150] and b'"status":"completed"' in raw
    return well and b'"type":"CommandExecution"' in raw


class Codex(Files):
    """Codex's adapter."""

    name = NAME
    hooks = codex_setup.DIALECT

    def transcripts(self, home: Path, env: Mapping[str, str]) -> Iterator[Path]:
        """List `sessions/YYYY/MM/DD/rollout-*.jsonl` and the archived ones."""
        root = Path(env.get("CODEX_HOME") or home / ".codex")
        for folder in ("archived_sessions", "sessions"):
            for path in walk(root / folder, depth=4):
                if path.suffix == ".jsonl" and path.name.startswith("rollout-"):
                    yield path

    def recognises(self, path: Path) -> bool:
        """Tell a rollout by its session_meta, or by payloads under Codex's types."""
        return any(_is_ours(data) for data in head(path, records=20))

    def read(self, path: Path, position: Position | None = None) -> CodexTranscript:
        """Open a transcript."""
        check_readable(path)
        return CodexTranscript(path, position)

    def present(self, home: Path, env: Mapping[str, str]) -> bool:
        """Tell whether this host is there for this user."""
        return codex_setup.present(home, env)

    def setup(self, where: Where) -> list[Edit]:
        """Say what an install changes."""
        return codex_setup.setup(where)

    def doubt(self, home: Path, env: Mapping[str, str]) -> str:
        """Return why the hooks may not run, "" if nothing speaks for it."""
        return codex_setup.doubt(home, env)


HOST = Codex()


def _is_ours(data: Json) -> bool:
    if text_of(data.get("type")) in {
        "session_meta",
        "response_item",
        "event_msg",
        "turn_context",
        "compacted",
    }:
        return isinstance(data.get("payload"), dict)
    bare_head = "type" not in data and "id" in data and "timestamp" in data and "instructions" in data
    return bare_head or data.get("record_type") == "state"


def session_of(path: Path) -> Session:
    """Gather what the head of a rollout tells about its session."""
    records = head(path, records=_HEAD_RECORDS)
    metas = [meta for data in records if (meta := _meta(data))]
    meta = metas[0] if metas else {}
    git = dict_of(meta.get("git"))
    times = [moment(meta.get("timestamp")), *(moment(data.get("timestamp")) for data in records)]
    named = _ID_IN_NAME.search(path.stem)
    own = text_of(meta.get("id")) or text_of(meta.get("session_id"))
    session = Session(
        host=NAME,
        id=own or (named.group() if named else path.stem),
        path=str(path),
        cwd=text_of(meta.get("cwd")) or _cwd(records),
        started=min(filter(None, times), default=None),
        branch=text_of(git.get("branch")).removeprefix("HEAD"),
        remote=text_of(git.get("repository_url")),
    )
    return _related(session, meta)


def _meta(data: Json) -> Json:
    if data.get("type") == "session_meta":
        return dict_of(data.get("payload"))
    return data if "type" not in data and "id" in data and "timestamp" in data else {}


def _cwd(records: list[Json]) -> str:
    """Find the working folder where the head lacks it: in a turn's context, or in what the model was told."""
    for data in records:
        if cwd := text_of(dict_of(data.get("payload")).get("cwd")):
            return cwd
        if found := re.search(r"<cwd>([^<\n]+)</cwd>", joined_text(_payload(data)[1].get("content"))):
            return found.group(1)
    return ""


def _related(session: Session, meta: Json) -> Session:
    source = meta.get("source")
    child = source.get("subagent", source.get("subAgent")) if isinstance(source, dict) else None
    spawned = dict_of(dict_of(child).get("thread_spawn"))
    if child or meta.get("thread_source") == "subagent":
        parent = text_of(spawned.get("parent_thread_id")) or text_of(meta.get("parent_thread_id"))
        return replace(session, parent=parent, subagent=True)
    origin = text_of(meta.get("forked_from_id"))
    return replace(session, parent=origin, fork=bool(origin))


def _payload(data: Json) -> tuple[str, Json]:
    """Give a line's type and payload; the oldest rollouts hold response items without an envelope."""
    payload = data.get("payload")
    if isinstance(payload, dict):
        return text_of(data.get("type")), payload
    return ("response_item", data) if text_of(data.get("type")) in _ITEMS else ("", {})


#: Open calls, calls known to have failed, texts without their twin, the newest time.
State = tuple[dict[str, str], dict[str, None], dict[str, int], datetime | None]


class CodexTranscript:
    """One rollout, read lazily."""

    def __init__(self, path: Path, position: Position | None = None) -> None:
        self._lines = Lines(path, position, ignore=_is_idle)
        self._done = (self._lines.offset, self._lines.line)
        state = _state(position) if position and self._lines.resumed else {}
        self._calls: dict[str, str] = dict_of(state.get("calls"))
        self._unpaired: Counter[str] = Counter(dict_of(state.get("unpaired")))
        self._failed: dict[str, None] = dict.fromkeys(dict_of(state.get("failed")))
        self._repeats = Repeats(self._lines, _identity, moment(state.get("latest")))
        self._before: State | None = None  # before the record whose events are being taken
        self.session = session_of(path)

    @property
    def position(self) -> Position:
        """How far all events were taken."""
        calls, failed, unpaired, latest = self._before or self._state()
        state = {"calls": calls, "failed": failed, "unpaired": unpaired}
        state |= {"latest": latest.isoformat() if latest else ""}
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
        return dict(self._calls), dict(self._failed), dict(self._unpaired), self._repeats.latest

    def _events(self, record: Record) -> Iterator[Event]:
        kind, payload = _payload(record.data)
        if not kind:
            return
        key, time = _identity(record.data), moment(record.data.get("timestamp"))
        if self._repeats.has(key, time):
            return
        own = text_of(payload.get("id")) or key
        place = Place(record.line, time, own, self.session.subagent)
        match kind:
            case "response_item":
                yield from self._item(payload, place)
            case "event_msg":
                yield from self._message_event(payload, place)
            case "compacted" if text := text_of(payload.get("message")).strip():
                yield place.said(Kind.COMPACTION, Author.HOST, text)

    def _item(self, item: Json, place: Place) -> Iterator[Event]:
        match item.get("type"):
            case "message" if item.get("role") == "assistant":
                yield from self._replied(joined_text(item.get("content")), place, "item")
            case "message":
                content = item.get("content")
                for number, part in enumerate(content if isinstance(content, list) else [content]):
                    typed = item.get("role") == "user" and _is_typed(item, number)
                    yield from self._said(joined_text(part), place.numbered(number), "item", typed=typed)
            case "function_call" | "custom_tool_call" | "local_shell_call":
                yield self._call(item, place)
            case "function_call_output" | "custom_tool_call_output" | "local_shell_call_output":
                call = text_of(item.get("call_id"))
                text, failed = outcome_of(item)
                failed = failed or call in self._failed
                self._failed.pop(call, None)
                yield place.answered(call, self._calls.pop(call, ""), text, failed=failed)
            case "web_search_call":
                query = text_of(dict_of(item.get("action")).get("query"))
                yield place.called("", "web_search", clip(query, RESULT_LIMIT), ())

    def _message_event(self, payload: Json, place: Place) -> Iterator[Event]:
        """Read a text that only the event stream holds; the response item beside it is its twin."""
        item = dict_of(payload.get("item")) if payload.get("type") == "item_completed" else {}
        place = place._replace(key=text_of(item.get("id")) or place.key)
        match item.get("type") or payload.get("type"):
            case "user_message" | "UserMessage":
                text = text_of(payload.get("message")) or joined_text(item.get("content"))
                yield from self._said(text, place, "event", typed=True)
            case "agent_message" | "AgentMessage":
                text = text_of(payload.get("message")) or joined_text(item.get("content"))
                yield from self._replied(text, place, "event")
            case "turn_aborted" | "error":
                yield place.injected(text_of(payload.get("message") or payload.get("reason")))
            case _ if failed := failure_of(payload):
                self._failed[failed] = None
                _bound(self._failed, _OPEN_CALLS)

    def _replied(self, text: str, place: Place, origin: str) -> Iterator[Event]:
        text = without_reminders(text).strip()
        if text and not self._pairs("assistant", text, origin):
            yield place.said(Kind.ASSISTANT, Author.MODEL, text)

    def _said(self, text: str, place: Place, origin: str, *, typed: bool) -> Iterator[Event]:
        """Make of a user text what it is: a summary, something injected, or the person's words."""
        if not text or text.isspace():
            return
        if text.startswith(_SUMMARIES):
            yield place.said(Kind.COMPACTION, Author.HOST, text)
        elif not typed or self.session.subagent or text.lstrip().startswith(WRAPPERS):
            yield place.injected(text)
        elif (text := without_reminders(text).strip()) and not self._pairs("user", text, origin):
            yield place.said(Kind.USER, Author.PERSON, text)

    def _call(self, item: Json, place: Place) -> Event:
        call = text_of(item.get("call_id")) or place.key
        tool = text_of(item.get("name")) or "local_shell"
        arguments = arguments_of(item)
        if call:
            self._calls[call] = tool
            _bound(self._calls, _OPEN_CALLS)
        return place.called(call, tool, call_text(arguments), paths_of(arguments, self.session.cwd))

    def _pairs(self, role: str, text: str, origin: str) -> bool:
        """Tell whether this text is the twin of one already read from the other source."""
        words = " ".join(text.split())  # a long text may be clipped a little differently in its twin
        name = mark(role, words[:2000], words[-200:])
        twin = f"{'event' if origin == 'item' else 'item'}:{name}"
        if self._unpaired[twin] > 0:
            self._unpaired[twin] -= 1
            self._unpaired += Counter()
            return True
        self._unpaired[f"{origin}:{name}"] += 1
        _bound(self._unpaired, _UNPAIRED)
        return False


def _state(position: Position) -> Json:
    try:
        return dict_of(json.loads(position.state or "{}"))
    except ValueError:
        return {}


def _identity(data: Json) -> str:
    """Name a record by its own ids, else by its time and words; empty if it has neither."""
    kind, payload = _payload(data)
    name = text_of(payload.get("call_id") or payload.get("id") or dict_of(payload.get("item")).get("id"))
    if not name and (time := text_of(data.get("timestamp"))):
        words = text_of(payload.get("message")) or joined_text(payload.get("content"))
        name = f"{time}:{mark(words, text_of(payload.get('role')))}"
    return f"{kind}:{payload.get('type')}:{name}" if name else ""


def _bound(table: dict[str, Any], size: int) -> None:
    if len(table) > size:
        del table[next(iter(table))]


def _is_typed(item: Json, number: int) -> bool:
    """Go by the provenance that Codex 0.171 notes for each part; older versions note none."""
    passed = dict_of(item.get("internal_chat_message_metadata_passthrough"))
    kinds = passed.get("content_item_kinds")
    if isinstance(kinds, list) and number < len(kinds) and isinstance(kinds[number], str):
        return bool(kinds[number].startswith("user.") or kinds[number] == "unknown")
    return True
