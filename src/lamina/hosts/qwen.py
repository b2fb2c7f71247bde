"""Qwen Code: JSON Lines under ~/.qwen/projects, linked like Claude's records, with the parts of Gemini's.

The shapes are those of Qwen Code 0.24. Its own memory (`~/.qwen/memories`, `projects/*/memory`) is not read.
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
    clip,
    dict_of,
    mark,
    moment,
    named_paths,
    result_text,
    text_of,
    without_reminders,
)
from lamina.hosts.repeats import Repeats
from lamina.hosts.setup import SERVER, Edit, JsonMember, Say, Where, hook_items, writing_tools

NAME = "qwen"
TIMEOUT_S = 10
"""Qwen counts a hook's time in seconds (from 1000 on it takes the number for milliseconds)."""
WRITES = f"mcp__.*lamina.*__{writing_tools()}"

#: A user text that starts so was put there by the host, not typed by the person.
WRAPPERS = ("<qwen:", "<system-reminder>", "<task-notification>", "<hook_context>")
_SUMMARY = "<state_snapshot>"
_ACKNOWLEDGED = "Got it. Thanks for the additional context!"
_TYPED = frozenset({"", "mid_turn_user_message"})
_IDLE = re.compile(
    rb'"subtype": ?"(?:ui_telemetry|attribution_snapshot|file_history_snapshot|session_[a-z_]+)"'
)
_SHELL = "run_shell_command"
_OUTPUT = re.compile(r"\ACommand: .*?\nDirectory: [^\n]*\nOutput: ", re.DOTALL)
_TAIL = re.compile(r"\nError: [^\n]*\nExit Code: [^\n]*\nSignal: [^\n]*(?:\n.*)?\Z", re.DOTALL)
_EXIT = re.compile(r"^Exit Code: [1-9-]", re.MULTILINE)
_FAILURES = frozenset({"error", "cancelled"})
_TOLD = ("output", "error", "content", "result")
_HEAD_RECORDS = 40
_OPEN_CALLS = 64


class Qwen(Files):
    """Qwen Code's adapter."""

    name = NAME
    hooks = Dialect(
        events={
            "SessionStart": "start",
            "UserPromptSubmit": "prompt",
            "PreToolUse": "tool",
            "Stop": "turn",
            "PreCompact": "compact",
            "SessionEnd": "end",
            "SubagentStart": "subagent",
        },
        not_typed=WRAPPERS,
        subagent=("agent_id",),
        ends=False,  # not told when it runs without a person,
    )

    def present(self, home: Path, env: Mapping[str, str]) -> bool:
        """Tell by its folder, or by the program on PATH."""
        return _root(home, env).is_dir() or shutil.which("qwen", path=env.get("PATH", "")) is not None

    def setup(self, where: Where) -> list[Edit]:
        """Say what an install changes: hooks and the MCP server in settings.json."""
        base = _root(where.home, where.env) if where.project is None else where.project / ".qwen"
        file = base / "settings.json"
        events: dict[str, str | None] = dict.fromkeys(self.hooks.events)
        events["PreToolUse"] = "*" if where.recall else WRITES
        server = {"command": str(where.program), "args": ["mcp"]}
        return [
            *hook_items(where, NAME, file, events, more={"name": "lamina"}, timeout=TIMEOUT_S),
            JsonMember(file, ("mcpServers", SERVER), server),
            Say(
                "Qwen Code keeps a memory of its own, which spends a request after each turn: turn it off "
                "with /memory if Lamina's is enough."
            ),
            Say(
                "Qwen Code asks before it calls a memory tool; runs without a person leave the tools out "
                'unless they may use them ("trust": true in mcpServers.lamina).'
            ),
        ]

    def transcripts(self, home: Path, env: Mapping[str, str]) -> Iterator[Path]:
        """List `projects/<folder>/chats/<session>.jsonl` and the subagents' files."""
        root = _root(home, env) / "projects"
        for path in walk(root, depth=3):
            folders = path.relative_to(root).parts[1:-1]
            chat = folders == ("chats",)
            agent = folders[:1] == ("subagents",) and path.name.startswith("agent-")
            if path.suffix == ".jsonl" and (chat or agent):
                yield path

    def recognises(self, path: Path) -> bool:
        """Tell Qwen's records by their provenance, or by parts in a message of a linked record."""
        return any(_is_ours(data) for data in head(path, records=20))

    def read(self, path: Path, position: Position | None = None) -> QwenTranscript:
        """Open a transcript."""
        check_readable(path)
        return QwenTranscript(path, position)


HOST = Qwen()


def _root(home: Path, env: Mapping[str, str]) -> Path:
    return Path(env.get("QWEN_HOME") or home / ".qwen")


def _is_ours(data: Json) -> bool:
    if not (isinstance(data.get("uuid"), str) and isinstance(data.get("sessionId"), str)):
        return False
    parts = "parts" in dict_of(data.get("message"))
    return "parentUuid" in data and (parts or "provenance" in data or "systemPayload" in data)


def session_of(path: Path) -> Session:
    """Gather what the head of a transcript tells about its session."""
    records = head(path, records=_HEAD_RECORDS)
    times = [time for data in records if (time := moment(data.get("timestamp")))]
    session = Session(
        host=NAME,
        id=_first(records, "sessionId") or path.stem,
        path=str(path),
        cwd=_first(records, "cwd"),
        started=min(times, default=None),
        branch=_first(records, "gitBranch").removeprefix("HEAD"),
    )
    if any(data.get("isSidechain") is True for data in records):
        agent = _first(records, "agentId")
        own = f"agent-{agent}" if agent else path.stem
        return replace(session, id=own, parent=session.id, subagent=True)
    return session


def _first(records: list[Json], name: str) -> str:
    return next((text for data in records if (text := text_of(data.get(name)))), "")


def _is_idle(raw: bytes) -> bool:
    """Tell from the raw line that it holds no words of the conversation."""
    return b'"type":"system"' in raw[:400] and _IDLE.search(raw, 0, 6000) is not None


class QwenTranscript:
    """One transcript of Qwen Code, read lazily."""

    def __init__(self, path: Path, position: Position | None = None) -> None:
        self._lines = Lines(path, position, ignore=_is_idle)
        self._done = (self._lines.offset, self._lines.line)
        state = _state(position) if position and self._lines.resumed else {}
        self._repeats = Repeats(self._lines, _uuid, moment(state.get("latest")))
        self._calls: dict[str, str] = dict_of(state.get("calls"))  # what `tool_call` stood for
        self._before: tuple[dict[str, str], datetime | None] | None = None
        self.session = session_of(path)

    @property
    def position(self) -> Position:
        """How far all events were taken."""
        calls, latest = self._before or (self._calls, self._repeats.latest)
        state = {"calls": calls, "latest": latest.isoformat() if latest else ""}
        return self._lines.position(*self._done, json.dumps(state, separators=(",", ":")))

    def __iter__(self) -> Iterator[Event | Damage]:
        for record in self._lines:
            if isinstance(record, Damage):
                yield record
                continue
            self._before = (dict(self._calls), self._repeats.latest)
            yield from self._events(record)
            self._before = None
            self._done = (record.end, record.line + 1)
        self._done = (self._lines.offset, self._lines.line)

    def _events(self, record: Record) -> Iterator[Event]:
        data = record.data
        kind = text_of(data.get("type"))
        if kind not in {"user", "assistant", "tool_result", "system"}:
            return
        key, time = _uuid(data), moment(data.get("timestamp"))
        if self._repeats.has(key, time):
            return
        side = self.session.subagent or data.get("isSidechain") is True
        place = Place(record.line, time, key, side)
        match kind:
            case "user":
                yield from _typed(data, place)
            case "assistant":
                for event in _replied(_parts(data), place, self.session.cwd):
                    self._remember(event)
                    yield event
            case "tool_result":
                for event in _answered(data, place):
                    yield replace(event, tool=text_of(self._calls.get(event.call)) or event.tool)
            case "system":
                yield from self._noted(data, place)

    def _remember(self, event: Event) -> None:
        if event.kind == Kind.TOOL_CALL:
            self._calls[event.call] = event.tool
            if len(self._calls) > _OPEN_CALLS:
                del self._calls[next(iter(self._calls))]

    def _noted(self, data: Json, place: Place) -> Iterator[Event]:
        """Read a compaction and a title; the other notes hold no words."""
        payload = dict_of(data.get("systemPayload"))
        if data.get("subtype") == "custom_title":
            title = " ".join(text_of(payload.get("customTitle")).split())
            self.session = replace(self.session, title=clip(title, 200) or self.session.title)
        elif data.get("subtype") == "chat_compression":
            told = payload.get("compressedHistory")
            texts = (
                text for turn in (told if isinstance(told, list) else []) for text in _texts(dict_of(turn))
            )
            if text := next((text for text in texts if _SUMMARY in text), ""):
                yield place.said(Kind.COMPACTION, Author.HOST, text)


def _state(position: Position) -> Json:
    try:
        return dict_of(json.loads(position.state or "{}"))
    except ValueError:
        return {}


def _uuid(data: Json) -> str:
    return text_of(data.get("uuid"))


def _parts(data: Json) -> list[Json]:
    parts = dict_of(data.get("message")).get("parts")
    return [dict_of(part) for part in parts] if isinstance(parts, list) else []


def _texts(turn: Json) -> list[str]:
    parts = turn.get("parts")
    return [text_of(dict_of(part).get("text")) for part in parts] if isinstance(parts, list) else []


def _is_persons(data: Json, place: Place) -> bool:
    """Go by the provenance that Qwen Code notes; older records have none, and a subtype if not typed."""
    typed = text_of(data.get("subtype")) in _TYPED and data.get("provenance", "real_user") == "real_user"
    return typed and not place.sidechain and not data.get("backgroundTurn")


def _typed(data: Json, place: Place) -> Iterator[Event]:
    """Tell the person's words from what hooks and referenced files add to them."""
    texts = [text for part in _parts(data) if not part.get("thought") and (text := text_of(part.get("text")))]
    shown = text_of(dict_of(data.get("systemPayload")).get("displayText"))
    person = _is_persons(data, place)
    if person and shown.strip() and texts and not texts[0].startswith(WRAPPERS):
        texts[0] = shown  # what was typed; the part holds it as it was taken apart
    for number, text in enumerate(texts):
        part = place.numbered(number)
        added = bool(shown) and number > 0
        if text.lstrip().startswith(_SUMMARY):
            yield part.said(Kind.COMPACTION, Author.HOST, text)
        elif not person or added or text.lstrip().startswith(WRAPPERS):
            if text.strip():
                yield part.injected(text)
        elif text := without_reminders(text).strip():
            yield part.said(Kind.USER, Author.PERSON, text)


def _replied(parts: list[Json], place: Place, cwd: str) -> Iterator[Event]:
    words = (text_of(part.get("text")) for part in parts if not part.get("thought"))
    text = without_reminders("\n".join(filter(None, words))).strip()
    if text == _ACKNOWLEDGED:
        yield place.injected(text)
    elif text:
        yield place.said(Kind.ASSISTANT, Author.MODEL, text)
    for number, part in enumerate(parts):
        called = dict_of(part.get("functionCall"))
        if tool := text_of(called.get("name")):
            tool, arguments = _inner(tool, called.get("args"))
            call = text_of(called.get("id")) or f"{place.key}:{mark(tool, str(number))}"
            yield place.called(call, tool, call_text(arguments), named_paths(arguments, cwd))


def _inner(tool: str, arguments: Any) -> tuple[str, Any]:
    """Look through `tool_call`, by which the tools of a server are called that were searched before."""
    inner = dict_of(arguments)
    if tool == "tool_call" and (name := text_of(inner.get("name"))):
        return name, inner.get("arguments")
    return tool, arguments


def _answered(data: Json, place: Place) -> Iterator[Event]:
    about = dict_of(data.get("toolCallResult"))
    wrong = text_of(about.get("status")) in _FAILURES
    for number, part in enumerate(_parts(data)):
        answer = dict_of(part.get("functionResponse"))
        if not answer:
            continue
        response = dict_of(answer.get("response"))
        tool, text = text_of(answer.get("name")), result_text(response, names=_TOLD)
        shell = tool == _SHELL
        failed = wrong or bool(response.get("error")) or (shell and _EXIT.search(text[-2000:]) is not None)
        text = _TAIL.sub("", _OUTPUT.sub("", text, count=1), count=1) if shell else text
        call = text_of(answer.get("id")) or text_of(about.get("callId"))
        yield place.numbered(number).answered(call, tool, text, failed=failed)
