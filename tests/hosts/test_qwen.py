"""Qwen Code's transcripts and settings, beyond what every host must do."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.hosts.conformance import CWD, STARTED, HostConformance

from lamina.formats.event import CHILD_MARK, Event, Kind
from lamina.hosts.base import Host, detect
from lamina.hosts.qwen import HOST
from lamina.hosts.render import Said, Turn, render_qwen, session_uuid
from lamina.hosts.setup import JsonItem, JsonMember, Where

SID = session_uuid("tidepool")


class TestQwen(HostConformance):
    host: Host = HOST
    notes_start = False

    def render(self, turns: list[Turn], session: str = "") -> str:
        return render_qwen(session or SID, turns, cwd=CWD, started=STARTED)

    def place(self, home: Path, session: str) -> Path:
        return home / ".qwen" / "projects" / "-home-mira-tidepool" / "chats" / f"{session}.jsonl"


def record(number: int, kind: str, parts: list[Any] | None = None, **fields: Any) -> dict[str, Any]:
    base = {
        "uuid": session_uuid(str(number)),
        "parentUuid": None,
        "sessionId": SID,
        "timestamp": f"2026-03-02T09:00:{number:02d}.000Z",
        "type": kind,
        "cwd": CWD,
        "version": "0.24.4",
    }
    return base | ({} if parts is None else {"message": {"role": "user", "parts": parts}}) | fields


def write(path: Path, *records: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(data, separators=(",", ":")) + "\n" for data in records)
    path.write_text("".join(lines), encoding="utf-8")
    return path


def read(folder: Path, *records: dict[str, Any]) -> list[Event]:
    path = write(folder / "s.jsonl", *records)
    assert detect(path) is HOST
    return [item for item in HOST.read(path) if isinstance(item, Event)]


def words(events: list[Event]) -> list[tuple[Kind, str]]:
    return [(event.kind, event.text) for event in events if event.kind != Kind.META]


def test_a_note_first_is_still_qwens(tmp_path: Path) -> None:
    note = record(1, "system", provenance="system", subtype="session_model", systemPayload={"model": "m"})
    assert words(read(tmp_path, note)) == []


def test_the_person_typed_what_is_shown_not_what_was_taken_apart(tmp_path: Path) -> None:
    parts = [
        {"text": "See @ a.txt"},
        {"text": "I am the file"},
        {"text": "<qwen:user-prompt-submit-context>\nnudge\n</qwen:user-prompt-submit-context>"},
    ]
    payload = {"displayText": "See @a.txt", "hookContext": "nudge"}
    asked = record(1, "user", parts, provenance="real_user", systemPayload=payload)
    events = read(tmp_path, asked)
    assert words(events) == [(Kind.USER, "See @a.txt")]
    assert [event.kind for event in events] == [Kind.USER, Kind.META, Kind.META]


def test_only_what_the_person_typed_is_theirs(tmp_path: Path) -> None:
    text = [{"text": "some words"}]
    events = read(
        tmp_path,
        record(1, "user", text),
        record(2, "user", text, provenance="real_user", subtype="mid_turn_user_message"),
        record(3, "user", text, provenance="system", subtype="notification"),
        record(4, "user", text, subtype="cron"),
        record(5, "user", text, provenance="real_user", backgroundTurn={"id": "t"}),
        record(6, "user", text, provenance="goal_runtime"),
    )
    assert [event.kind for event in events] == [Kind.USER] * 2 + [Kind.META] * 4


def test_thoughts_are_never_read(tmp_path: Path) -> None:
    parts = [{"text": "hidden", "thought": True}, {"text": "Done."}]
    assert words(read(tmp_path, record(1, "assistant", parts))) == [(Kind.ASSISTANT, "Done.")]


def test_a_server_tool_is_named_through_the_tool_that_calls_it(tmp_path: Path) -> None:
    arguments = {"name": "mcp__notes__find", "arguments": {"path": f"{CWD}/a.md"}}
    call = {"functionCall": {"id": "c1", "name": "tool_call", "args": arguments}}
    answer = {"functionResponse": {"id": "c1", "name": "tool_call", "response": {"output": "found"}}}
    events = read(tmp_path, record(1, "assistant", [call]), record(2, "tool_result", [answer]))
    assert [event.tool for event in events] == ["mcp__notes__find"] * 2
    assert events[0].paths == ("a.md",)


def test_results_without_what_the_shell_tool_adds(tmp_path: Path) -> None:
    output = (
        "Command: make\nDirectory: (root)\nOutput: built\nExit Code: not me\nError: (none)\nExit Code: 2\n"
        "Signal: (none)\nProcess Group PGID: (none)\n\nhook text"
    )
    answer = {"functionResponse": {"id": "c1", "name": "run_shell_command", "response": {"output": output}}}
    declined = {"functionResponse": {"id": "c2", "name": "edit", "response": {"error": "declined"}}}
    events = read(
        tmp_path,
        record(1, "tool_result", [answer], toolCallResult={"callId": "c1", "status": "success"}),
        record(2, "tool_result", [declined], toolCallResult={"callId": "c2", "status": "error"}),
    )
    assert [(event.text, event.failed) for event in events] == [
        ("built\nExit Code: not me", True),
        ("declined", True),
    ]


def test_a_subagents_file(tmp_path: Path) -> None:
    path = tmp_path / "agent-general-purpose-c3.jsonl"
    turns: list[Turn] = [Said("user", "Look around."), Said("assistant", "I looked.")]
    text = render_qwen(SID, turns, cwd=CWD, started=STARTED, agent="general-purpose-c3")
    path.write_text(text, encoding="utf-8")
    assert detect(path) is HOST
    transcript = HOST.read(path)
    events = [item for item in transcript if isinstance(item, Event)]
    session = transcript.session
    assert (session.id, session.parent, session.subagent) == ("agent-general-purpose-c3", SID, True)
    assert words(events) == [(Kind.ASSISTANT, "I looked.")]
    assert all(event.sidechain for event in events)


def test_a_title_of_the_persons(tmp_path: Path) -> None:
    payload = {"customTitle": "Retries\n added"}
    titled = record(1, "system", provenance="system", subtype="custom_title", systemPayload=payload)
    transcript = HOST.read(write(tmp_path / "s.jsonl", titled))
    assert list(transcript) == []
    assert transcript.session.title == "Retries added"


def test_a_run_that_lamina_started_keeps_its_mark_in_front(tmp_path: Path) -> None:
    asked = record(1, "user", [{"text": f"{CHILD_MARK}\nSummarise."}], provenance="real_user")
    assert words(read(tmp_path, asked)) == [(Kind.USER, f"{CHILD_MARK}\nSummarise.")]


def test_its_own_memory_is_no_transcript(tmp_path: Path) -> None:
    project = tmp_path / ".qwen" / "projects" / "-home-mira-tidepool"
    line = record(1, "user", [{"text": "x"}])
    kept = [
        write(project / "chats" / f"{SID}.jsonl", line),
        write(project / "subagents" / SID / "agent-a1.jsonl", line),
    ]
    for other in (
        "memory/chats/a.jsonl",
        "memory/a.jsonl",
        "chats/memory/a.jsonl",
        "subagents/s/other.jsonl",
    ):
        write(project / other, line)
    write(tmp_path / ".qwen" / "memories" / "chats" / "a.jsonl", line)
    write(tmp_path / ".qwen" / "usage_record.jsonl", line)
    assert list(HOST.transcripts(tmp_path, {})) == kept
    assert list(HOST.transcripts(tmp_path / "no", {"QWEN_HOME": str(tmp_path / ".qwen")})) == kept


# --- the live side ---


def where(home: Path, **more: Any) -> Where:
    return Where(home, {}, home / "hook", home / "lamina", home / "assets", **more)


def test_setup_registers_hooks_in_seconds_and_the_server_without_trust(tmp_path: Path) -> None:
    edits = HOST.setup(where(tmp_path))
    items = {edit.at[-1]: edit.value for edit in edits if isinstance(edit, JsonItem)}
    assert list(items) == list(HOST.hooks.events)
    assert {item["hooks"][0]["timeout"] for item in items.values()} == {10}
    [server] = [edit for edit in edits if isinstance(edit, JsonMember)]
    assert server.file == tmp_path / ".qwen" / "settings.json"
    assert server.value == {"command": str(tmp_path / "lamina"), "args": ["mcp"]}


def test_before_a_tool_only_what_writes_unless_recall_is_wanted(tmp_path: Path) -> None:
    for recall, told in ((False, [True, False, False]), (True, [True, True, True])):
        edits = HOST.setup(where(tmp_path, project=tmp_path / "p", recall=recall))
        [hook] = [edit for edit in edits if isinstance(edit, JsonItem) and edit.at[-1] == "PreToolUse"]
        assert hook.file == tmp_path / "p" / ".qwen" / "settings.json"
        matcher = hook.value["matcher"].replace("*", ".*") if recall else hook.value["matcher"]
        names = ["mcp__lamina__memory_remember", "mcp__lamina__memory_search", "edit"]
        assert [re.fullmatch(matcher, name) is not None for name in names] == told


def test_present(tmp_path: Path) -> None:
    assert not HOST.present(tmp_path, {"PATH": str(tmp_path)})
    (tmp_path / ".qwen").mkdir()
    assert HOST.present(tmp_path, {})
