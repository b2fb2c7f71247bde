"""Copilot CLI: JSON Lines under ~/.copilot/session-state, one event a line, in the shapes of 1.0.

A subagent's events stand in its parent's file, marked by `agentId`. A prompt's own words are in `content`;
`transformedContent` repeats them with what the host and hooks put around them.
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
    CALL_LIMIT,
    Place,
    call_text,
    dict_of,
    moment,
    named_paths,
    text_of,
    without_reminders,
)
from lamina.hosts.repeats import Repeats
from lamina.hosts.setup import SERVER, Edit, JsonMember, OwnFile, Say, Where, writing_tools

NAME = "copilot"

#: Sources of prompts that a person typed; `immediate-prompt` is one typed while the model was at work.
TYPED = frozenset({"", "user", "immediate-prompt"})
#: What is refused to subagents: the names that the host gives to the server's writing tools.
_WRITES = f"{SERVER}-{writing_tools()}"

# Events without words of the conversation, told by how their line starts. The start of a hook repeats the
# prompt and the tool's result that the hook is told, the start of a tool what the model asked for.
_IGNORED = re.compile(
    rb'\{"type": ?"(?:system\.message|hook\.start|tool\.execution_start|assistant\.turn_[a-z]+'
    rb'|subagent\.[a-z]+|session\.(?!start"|resume"|context_changed"|compaction_complete"|error")[a-z_.]+)"'
)
_EXIT = re.compile(
    r"\n?<(?:shellId: \S+ (?:completed|exited)|exited|command exited) with exit code (-?\d+)>\s*\Z"
)
_GUIDANCE = re.compile(r"\n\nTool \"[^\"\n]*\" \w+\. Additional guidance from \w+ hooks:\n.*\Z", re.DOTALL)
_REMINDER = re.compile(r"<system_reminder>.*?</system_reminder>\s*", re.DOTALL)
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_OURS = re.compile(r"(?:session|user|assistant|tool|hook|system|subagent|skill)\.[a-z_]+")
_HEAD_RECORDS = 40
_OPEN_CALLS = 64


class Copilot(Files):
    """Copilot CLI's adapter."""

    name = NAME

    #: Seen on 1.0.102: context is taken from these, `agentId` stands in every payload from inside a subagent,
    #: and what the start hook said is gone after a compaction, which fires no start.
    hooks = Dialect(
        events={
            "sessionStart": "start",
            "userPromptSubmitted": "prompt",
            "preToolUse": "tool",
            "agentStop": "turn",
            "sessionEnd": "end",
            "preCompact": "compact",
            "subagentStart": "subagent",
        },
        answer="additionalContext",
        session=("sessionId",),
        transcript=("transcriptPath",),
        prompt_id=(),
        tool=("toolName",),
        arguments=("toolArgs",),
        not_typed=("<system_notification>", "<system_reminder>"),
        subagent=("agentId", "parentAgentId"),
        refusal="permissionDecision",
        restarts=False,
    )

    def present(self, home: Path, env: Mapping[str, str]) -> bool:
        """Tell by its folder, or by the program on PATH."""
        return _root(home, env).is_dir() or shutil.which("copilot", path=env.get("PATH", "")) is not None

    def setup(self, where: Where) -> list[Edit]:
        """Say what an install changes: a file of hooks, the MCP server and skills.

        The skill of memory stands for the server's instructions, which Copilot does not show to its model.
        """
        from lamina.hosts.skill import skill_files

        if where.project is None:
            base = _root(where.home, where.env)
            servers = base / "mcp-config.json"
        else:
            base = where.project / ".github"
            servers = base / "mcp.json"
        program: Json = {"command": str(where.program), "args": ["mcp"], "tools": ["*"]}
        return [
            OwnFile(base / "hooks" / "lamina.json", _hooks_file(where)),
            *skill_files(where, base / "skills"),
            JsonMember(servers, ("mcpServers", SERVER), {"type": "local", **program}),
            *map(Say, _advice(where)),
        ]

    def transcripts(self, home: Path, env: Mapping[str, str]) -> Iterator[Path]:
        """List `session-state/<session>/events.jsonl`, and the flat files of early versions."""
        root = _root(home, env) / "session-state"
        for path in walk(root, depth=1):
            if path.suffix == ".jsonl" and (path.parent == root or path.name == "events.jsonl"):
                yield path

    def recognises(self, path: Path) -> bool:
        """Tell Copilot's events by their types, beside data and the link to the event before."""
        return any(_is_ours(data) for data in head(path, records=20))

    def read(self, path: Path, position: Position | None = None) -> CopilotTranscript:
        """Open a transcript."""
        check_readable(path)
        return CopilotTranscript(path, position)


HOST = Copilot()


def _root(home: Path, env: Mapping[str, str]) -> Path:
    return Path(env.get("COPILOT_HOME") or home / ".copilot")


def _hooks_file(where: Where) -> str:
    """Write the file of hooks. A hook before a tool call that fails refuses the call: ours always exits 0."""
    hooks: dict[str, list[Json]] = {}
    for event in HOST.hooks.events:
        item: Json = {"type": "command", "bash": where.command(NAME, event), "timeoutSec": 10}
        if event == "preToolUse" and not where.recall:
            item["matcher"] = _WRITES
        hooks[event] = [item]
    return json.dumps({"version": 1, "hooks": hooks}, indent=2) + "\n"


def _advice(where: Where) -> Iterator[str]:
    if where.project is None:  # the person's own hooks run in every folder
        return
    yield (
        "Copilot runs a project's hooks and MCP server only in a folder that you trust: "
        f"start `copilot` in {where.project} once and confirm."
    )
    yield "What is written below .github names paths of this machine: keep it out of commits."


def _is_ours(data: Json) -> bool:
    kind = data.get("type")
    if not isinstance(kind, str) or not isinstance(data.get("data"), dict):
        return False
    return "id" in data and "parentId" in data and _OURS.fullmatch(kind) is not None


def session_of(path: Path) -> Session:
    """Gather what the head of a transcript tells about its session."""
    records = head(path, records=_HEAD_RECORDS)
    starts = [dict_of(data.get("data")) for data in records if data.get("type") == "session.start"]
    start = starts[0] if starts else {}
    context = _context(records)
    times = [moment(start.get("startTime")), *(moment(data.get("timestamp")) for data in records)]
    folder = path.parent.name if path.name == "events.jsonl" else path.stem
    session = Session(
        host=NAME,
        id=text_of(start.get("sessionId")) or folder,
        path=str(path),
        cwd=text_of(context.get("cwd")),
        started=min(filter(None, times), default=None),
        branch=text_of(context.get("branch")).removeprefix("HEAD"),
        remote=_remote(context),
    )
    if parent := text_of(start.get("detachedFromSpawningParentSessionId")):
        return replace(session, parent=parent, subagent=True)
    if folder != session.id and _UUID.fullmatch(folder):
        return replace(session, id=folder, parent=session.id, fork=True)
    return session


def _context(records: list[Json]) -> Json:
    """Find where the session runs: told at its start, and again when it is resumed."""
    for data in records:
        context = dict_of(dict_of(data.get("data")).get("context"))
        if text_of(context.get("cwd")):
            return context
    return {}


def _remote(context: Json) -> str:
    """Make an address of the repository that GitHub knows under `owner/name`."""
    name, host = text_of(context.get("repository")), text_of(context.get("repositoryHost")) or "github.com"
    if context.get("hostType", "github") != "github" or not re.fullmatch(r"[\w.-]+/[\w.-]+", name):
        return ""
    return f"https://{host}/{name}"


#: Open calls, the folder where calls run, the newest time.
State = tuple[dict[str, str], str, datetime | None]


class CopilotTranscript:
    """One transcript of Copilot CLI, read lazily."""

    def __init__(self, path: Path, position: Position | None = None) -> None:
        self._lines = Lines(path, position, ignore=lambda raw: _IGNORED.match(raw) is not None)
        self._done = (self._lines.offset, self._lines.line)
        state = _state(position) if position and self._lines.resumed else {}
        self._calls: dict[str, str] = dict_of(state.get("calls"))
        self._folder = text_of(state.get("folder"))
        self._repeats = Repeats(self._lines, _identity, moment(state.get("latest")))
        self._before: State | None = None  # before the record whose events are being taken
        self.session = session_of(path)

    @property
    def position(self) -> Position:
        """How far all events were taken."""
        calls, folder, latest = self._before or self._state()
        state = {"calls": calls, "folder": folder, "latest": latest.isoformat() if latest else ""}
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
        return dict(self._calls), self._folder, self._repeats.latest

    def _events(self, record: Record) -> Iterator[Event]:
        data, time = dict_of(record.data.get("data")), moment(record.data.get("timestamp"))
        key = _identity(record.data)
        if self._repeats.has(key, time):
            return
        child = bool(text_of(record.data.get("agentId")) or text_of(data.get("parentToolCallId")))
        place = Place(record.line, time, key, child or self.session.subagent)
        match record.data.get("type"):
            case "user.message":
                yield from _prompt(data, place)
            case "assistant.message":
                yield from self._reply(data, place)
            case "tool.user_requested":
                yield self._call(data, "toolName", place)
            case "tool.execution_complete":
                yield self._result(data, place)
            case "session.start" | "session.resume":
                self._folder = text_of(dict_of(data.get("context")).get("cwd"))
            case "session.context_changed":
                self._folder = text_of(data.get("cwd"))
            case kind:
                yield from _from_host(text_of(kind), data, place)

    def _reply(self, data: Json, place: Place) -> Iterator[Event]:
        if text := without_reminders(text_of(data.get("content"))).strip():
            yield place.said(Kind.ASSISTANT, Author.MODEL, text)
        requests = data.get("toolRequests")
        for number, request in enumerate(requests if isinstance(requests, list) else [], 1):
            yield self._call(dict_of(request), "name", place.numbered(number))

    def _call(self, data: Json, name: str, place: Place) -> Event:
        call, tool, arguments = (
            text_of(data.get("toolCallId")),
            text_of(data.get(name)),
            data.get("arguments"),
        )
        if call:
            self._calls[call] = tool
            if len(self._calls) > _OPEN_CALLS:
                del self._calls[next(iter(self._calls))]
        paths = named_paths(arguments, self.session.cwd, self._folder)
        return place.called(call, tool, call_text(arguments), paths)

    def _result(self, data: Json, place: Place) -> Event:
        call = text_of(data.get("toolCallId"))
        text, failed = outcome_of(data)
        return place.answered(call, self._calls.pop(call, ""), text, failed=failed)


def outcome_of(data: Json) -> tuple[str, bool]:
    """Say what a tool gave back, without what hooks added to it, and whether it failed.

    A shell command that ended with an exit code is a success to the host.
    """
    result, error = dict_of(data.get("result")), dict_of(data.get("error"))
    text = _GUIDANCE.sub("", text_of(result.get("content"))) or text_of(error.get("message"))
    code: Any = dict_of(data.get("shellExecution")).get("exitCode")
    if ended := _EXIT.search(text):
        text = text[: ended.start()]
        code = code if isinstance(code, int) else int(ended.group(1)[:9])
    failed = data.get("success") is False or (isinstance(code, int) and code != 0)
    return _REMINDER.sub("", text), failed


def _prompt(data: Json, place: Place) -> Iterator[Event]:
    """Make of a prompt what it is: the person's words, or what a skill, a command or an agent sent."""
    text = _REMINDER.sub("", without_reminders(text_of(data.get("content")))).strip()
    source = data.get("source")
    typed = source is None or (isinstance(source, str) and source in TYPED)
    sent = place.sidechain or data.get("isAutopilotContinuation") is True or data.get("agentMode") == "shell"
    if text and typed and not sent:
        yield place.said(Kind.USER, Author.PERSON, text)
    elif text:
        yield place.injected(text)


def _from_host(kind: str, data: Json, place: Place) -> Iterator[Event]:
    """Read what the host or a hook told the model: a summary, a notification, context."""
    text = ""
    match kind:
        case "session.compaction_complete" if data.get("success") is True:
            if summary := text_of(data.get("summaryContent")).strip():
                yield place.said(Kind.COMPACTION, Author.HOST, summary)
        case "hook.end":
            text = text_of(dict_of(data.get("output")).get("additionalContext"))
        case "system.notification" | "skill.invoked":
            text = text_of(data.get("content"))
        case "session.error":
            text = text_of(data.get("message"))
    if text:
        yield place.injected(text, text_of(data.get("hookType")), limit=CALL_LIMIT)


def _identity(data: Json) -> str:
    return text_of(data.get("id"))


def _state(position: Position) -> Json:
    try:
        return dict_of(json.loads(position.state or "{}"))
    except ValueError:
        return {}
