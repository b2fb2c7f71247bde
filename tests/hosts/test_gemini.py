"""Gemini CLI's transcripts and settings, beyond what every host must do."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.hosts.conformance import CWD, STARTED, HostConformance

from lamina.formats.event import CHILD_MARK, Damage, Event, Kind, Position
from lamina.hosts.base import Host, detect, live_named
from lamina.hosts.gemini import HOST
from lamina.hosts.render import Said, Turn, render_gemini, session_uuid
from lamina.hosts.setup import JsonItem, JsonMember, Where

SID = session_uuid("tidepool")
PARENT = session_uuid("parent")
DIGEST = sha256(CWD.encode()).hexdigest()


class TestGemini(HostConformance):
    host: Host = HOST
    branch = ""

    def render(self, turns: list[Turn], session: str = "") -> str:
        return render_gemini(session or SID, turns, cwd=CWD, started=STARTED)

    def place(self, home: Path, session: str) -> Path:
        chats = home / ".gemini" / "tmp" / "tidepool" / "chats"
        return chats / f"session-2026-03-02T09-00-{session[:8]}.jsonl"


def stamp(second: int) -> str:
    return f"2026-03-02T09:00:{second:02d}.000Z"


def message(name: str, kind: str, content: Any, second: int, **fields: Any) -> dict[str, Any]:
    return {"id": name, "timestamp": stamp(second), "type": kind, "content": content, **fields}


def result(output: str, call: str = "c1", tool: str = "run_shell_command", **response: str) -> dict[str, Any]:
    response = response or {"output": f"<untrusted_context>\n{output}\n</untrusted_context>"}
    return {"functionResponse": {"id": call, "name": tool, "response": response}}


HEAD: dict[str, Any] = {
    "sessionId": SID, "projectHash": DIGEST, "startTime": stamp(0), "lastUpdated": stamp(0), "kind": "main",
}  # fmt: skip
CONTEXT = f"<session_context>\n- **Workspace Directories:**\n  - {CWD}\n</session_context>"
CALL = {"id": "c1", "name": "run_shell_command", "args": {"command": "make"}, "status": "success"}
HOOKED = "<hook_context>card &lt;1&gt;</hook_context>\n\nAdd a retry."
THOUGHTS = [{"subject": "A secret thought", "description": "hidden"}]
ANSWER = [result("Output: built\nExit Code: 2\nProcess Group PGID: 7")]
RECORDS: list[dict[str, Any]] = [
    HEAD,
    {"$set": {"messages": [message("m0", "user", [{"text": CONTEXT}], 0)], "lastUpdated": stamp(0)}},
    message(
        "m1",
        "user",
        [{"text": HOOKED}, {"text": "<hook_context>nudge</hook_context>"}],
        1,
        displayContent=[{"text": HOOKED}],
    ),
    {"$set": {"lastUpdated": stamp(1)}},
    message("m2", "gemini", "On it.", 2, thoughts=THOUGHTS),
    message("m2", "gemini", "On it.", 2, thoughts=THOUGHTS, toolCalls=[{**CALL, "result": ANSWER}]),
    message("m3", "user", ANSWER, 3),
    message("m4", "gemini", "Done.", 4, thoughts=[]),
]
# What a resumed session writes: its head, and the history anew, with new times and some new ids.
RESUMED: list[dict[str, Any]] = [
    {**HEAD, "startTime": stamp(30)},
    {
        "$set": {
            "messages": [
                message("m0", "user", [{"text": CONTEXT}], 30),
                message("n1", "gemini", [{"text": "On it."}, {"functionCall": {"name": "x"}}], 30),
                message("n1_response", "user", ANSWER, 30),
                message("m3", "user", ANSWER, 30),
                message("m4", "gemini", [{"text": "Done."}], 30),
            ]
        }
    },
    message("m5", "user", [{"text": "Add a retry."}], 31),
    message("m6", "gemini", "Done.", 32),
]
WORDS = [
    (Kind.USER, "Add a retry."),
    (Kind.ASSISTANT, "On it."),
    (Kind.TOOL_CALL, "make"),
    (Kind.TOOL_RESULT, "built"),
    (Kind.ASSISTANT, "Done."),
]


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def read(path: Path, position: Position | None = None) -> list[Event]:
    return [item for item in HOST.read(path, position) if isinstance(item, Event)]


def words(events: list[Event]) -> list[tuple[Kind, str]]:
    return [(event.kind, event.text) for event in events if event.kind != Kind.META]


def test_a_message_that_is_written_again_is_read_once(tmp_path: Path) -> None:
    events = read(write(tmp_path / "s.jsonl", RECORDS))
    assert words(events) == WORDS
    assert [event.failed for event in events if event.kind == Kind.TOOL_RESULT] == [True]
    assert not any("thought" in event.text or "hidden" in event.text for event in events)


def test_what_hooks_add_to_a_prompt_is_the_hosts(tmp_path: Path) -> None:
    events = read(write(tmp_path / "s.jsonl", RECORDS))
    told = [event.text for event in events if event.kind == Kind.META]
    assert told == [CONTEXT, "card &lt;1&gt;", "nudge"]


def test_history_told_again_at_a_resume_is_read_once(tmp_path: Path) -> None:
    events = read(write(tmp_path / "s.jsonl", RECORDS + RESUMED))
    assert words(events) == [*WORDS, (Kind.USER, "Add a retry."), (Kind.ASSISTANT, "Done.")]


@pytest.mark.parametrize("cut", range(1, len(RECORDS + RESUMED)))
def test_nothing_is_read_twice_behind_a_position(tmp_path: Path, cut: int) -> None:
    path, every = tmp_path / "s.jsonl", RECORDS + RESUMED
    whole = read(write(path, every))
    transcript = HOST.read(write(path, every[:cut]))
    first = list(transcript)
    assert [*first, *read(write(path, every), transcript.position)] == whole


def test_a_failed_call_is_told_by_its_status(tmp_path: Path) -> None:
    failed = message("m2", "gemini", "", 2, toolCalls=[{**CALL, "name": "replace", "status": "error"}])
    answer = message("m3", "user", [result("no such text", tool="replace")], 3)
    refused = message("m4", "user", [result("", call="c2", tool="replace", error="denied")], 4)
    events = read(write(tmp_path / "s.jsonl", [HEAD, failed, answer, refused]))
    told = [(event.text, event.failed) for event in events if event.kind == Kind.TOOL_RESULT]
    assert told == [("no such text", True), ("denied", True)]


def test_a_referenced_file_is_not_the_persons_words(tmp_path: Path) -> None:
    content = [
        {"text": "See @a.txt"},
        {"text": "\n--- Content from referenced files ---"},
        {"text": "I am X"},
    ]
    asked = message("m1", "user", content, 1, displayContent=[{"text": "See @a.txt"}])
    assert words(read(write(tmp_path / "s.jsonl", [HEAD, asked]))) == [(Kind.USER, "See @a.txt")]


def test_the_folder_is_read_from_what_lies_beside_the_chats(tmp_path: Path) -> None:
    root = tmp_path / ".gemini"
    path = write(root / "tmp" / "tidepool" / "chats" / "session-1.jsonl", [HEAD])
    assert HOST.read(path).session.cwd == ""
    listed = json.dumps({"projects": {"/home/mira/other": "other", CWD: "tidepool"}}, indent=2)
    (root / "projects.json").write_text(listed, encoding="utf-8")
    assert HOST.read(path).session.cwd == CWD
    (root / "projects.json").unlink()
    (root / "tmp" / "tidepool" / ".project_root").write_text(CWD, encoding="utf-8")
    assert HOST.read(path).session.cwd == CWD


def test_a_folder_that_fits_the_digest_wins(tmp_path: Path) -> None:
    other = CONTEXT.replace(CWD, "/home/mira/other")
    said = {"$set": {"messages": [message("m0", "user", [{"text": other}], 0)]}}
    chats = tmp_path / "tmp" / "tidepool" / "chats"
    path = write(chats / "session-1.jsonl", [HEAD, said])
    assert HOST.read(path).session.cwd == "/home/mira/other"
    (chats.parent / ".project_root").write_text(CWD, encoding="utf-8")
    assert HOST.read(path).session.cwd == CWD


def test_a_subagents_file_holds_no_words_of_the_person(tmp_path: Path) -> None:
    path = tmp_path / "chats" / PARENT / f"{SID}.jsonl"
    path.parent.mkdir(parents=True)
    turns: list[Turn] = [Said("user", "Look around."), Said("assistant", "I looked.")]
    text = render_gemini(SID, turns, cwd=CWD, started=STARTED, parent=PARENT)
    path.write_text(text, encoding="utf-8")
    session = HOST.read(path).session
    assert (session.id, session.parent, session.subagent, session.cwd) == (SID, PARENT, True, CWD)
    assert words(read(path)) == [(Kind.ASSISTANT, "I looked.")]
    assert all(event.sidechain for event in read(path))


def test_a_summary_of_the_session_is_its_title(tmp_path: Path) -> None:
    transcript = HOST.read(write(tmp_path / "s.jsonl", [HEAD, {"$set": {"summary": "Retries\nadded"}}]))
    assert list(transcript) == []
    assert transcript.session.title == "Retries added"


def test_a_run_that_lamina_started_keeps_its_mark_in_front(tmp_path: Path) -> None:
    asked = f"<hook_context>card</hook_context>\n\n{CHILD_MARK}\nSummarise this."
    events = read(write(tmp_path / "s.jsonl", [HEAD, message("m1", "user", [{"text": asked}], 1)]))
    assert [event.text for event in events if event.kind == Kind.USER] == [f"{CHILD_MARK}\nSummarise this."]


# --- one JSON file a session, as in 2025 ---


def old(*messages: dict[str, Any], **more: Any) -> str:
    head = {"sessionId": SID, "projectHash": DIGEST, "startTime": stamp(0), "lastUpdated": stamp(9)}
    return json.dumps(head | {"messages": list(messages)} | more, indent=2)


FIRST = message("m1", "user", "Add a retry.", 1)
PLAIN = message("m2", "gemini", "On it.", 2, thoughts=THOUGHTS)
CALLED = message("m2", "gemini", "On it.", 2, toolCalls=[{**CALL, "result": ANSWER}])
LAST = message("m4", "gemini", "Done.", 4)


@pytest.mark.parametrize("indent", [2, None])
def test_old_sessions(tmp_path: Path, indent: int | None) -> None:
    path = tmp_path / "session-1.json"
    text = old(FIRST, CALLED, LAST, message("m5", "info", "Update available", 5))
    path.write_text(json.dumps(json.loads(text), indent=indent), encoding="utf-8")
    assert detect(path) is HOST
    events = read(path)
    assert words(events) == WORDS
    assert [event.seq for event in events] == [0, 1, 1, 1, 2, 3]
    assert HOST.read(path).session.id == SID
    assert HOST.read(path).session.started == STARTED


def test_old_sessions_grow_and_nothing_is_read_twice(tmp_path: Path) -> None:
    path, found, position = tmp_path / "session-1.json", list[Event | Damage](), None
    for told in ([FIRST], [FIRST, PLAIN], [FIRST, CALLED], [FIRST, CALLED], [FIRST, CALLED, LAST]):
        path.write_text(old(*told), encoding="utf-8")
        transcript = HOST.read(path, position)
        found.extend(transcript)
        position = transcript.position
    assert words([item for item in found if isinstance(item, Event)]) == WORDS


def test_an_old_session_that_is_cut_off_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "session-1.json"
    path.write_text(old(FIRST, CALLED)[:-40], encoding="utf-8")
    assert [type(item) for item in HOST.read(path)] == [Damage]
    assert HOST.read(path).position == Position()


def test_another_old_session_in_the_same_file_is_read_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / "session-1.json"
    path.write_text(old(FIRST, LAST), encoding="utf-8")
    transcript = HOST.read(path)
    list(transcript)
    path.write_text(old(FIRST, LAST, sessionId=PARENT), encoding="utf-8")
    assert len(read(path, transcript.position)) == 2


def test_only_chats_are_transcripts(tmp_path: Path) -> None:
    chats = tmp_path / ".gemini" / "tmp" / "tidepool" / "chats"
    kept = [
        write(chats / PARENT / f"{SID}.jsonl", [HEAD]),
        write(chats / "session-1.json", [HEAD]),
        write(chats / "session-2.jsonl", [HEAD]),
    ]
    write(chats.parent / "logs.json", [HEAD])
    write(chats.parent / "checkpoints" / "session-3.json", [HEAD])
    write(chats / "session-2.jsonl.unreadable-1", [HEAD])
    write(tmp_path / ".gemini" / "tmp" / "bin" / "session-4.jsonl", [HEAD])
    assert list(HOST.transcripts(tmp_path, {})) == kept
    assert list(HOST.transcripts(tmp_path / "no", {"GEMINI_CLI_HOME": str(tmp_path)})) == kept


# --- the live side ---


def where(home: Path, **more: Any) -> Where:
    return Where(home, {}, home / "hook", home / "lamina", home / "assets", **more)


def test_setup_registers_hooks_in_milliseconds_and_the_server_without_trust(tmp_path: Path) -> None:
    host = live_named("gemini")
    assert host is not None
    edits = host.setup(where(tmp_path))
    items = [edit for edit in edits if isinstance(edit, JsonItem)]
    assert [item.at for item in items] == [
        ("hooks", event) for event in ("SessionStart", "BeforeAgent", "AfterAgent", "SessionEnd")
    ]
    assert {item.value["hooks"][0]["timeout"] for item in items} == {10_000}
    assert {item.file for item in items} == {tmp_path / ".gemini" / "settings.json"}
    [server] = [edit for edit in edits if isinstance(edit, JsonMember)]
    assert (server.at, server.value) == (
        ("mcpServers", "lamina"),
        {"command": str(tmp_path / "lamina"), "args": ["mcp"]},
    )


def test_setup_for_a_project_and_with_recall(tmp_path: Path) -> None:
    edits = HOST.setup(where(tmp_path, project=tmp_path / "p", recall=True))
    items = [edit for edit in edits if isinstance(edit, JsonItem)]
    assert items[-1].at == ("hooks", "BeforeTool")
    assert items[-1].value["matcher"] == "*"
    assert {item.file for item in items} == {tmp_path / "p" / ".gemini" / "settings.json"}


def test_the_compression_that_comes_before_every_call_is_not_heard() -> None:
    assert "PreCompress" not in HOST.hooks.events


def test_present(tmp_path: Path) -> None:
    assert not HOST.present(tmp_path, {"PATH": str(tmp_path)})
    (tmp_path / ".gemini").mkdir()
    assert HOST.present(tmp_path, {})
