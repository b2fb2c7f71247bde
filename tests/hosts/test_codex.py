"""Codex's rollouts, beyond what every host must do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.hosts.conformance import CWD, STARTED, TURNS, HostConformance

from lamina.formats.event import Author, Event, Kind
from lamina.hosts.base import Host, detect
from lamina.hosts.codex import HOST
from lamina.hosts.render import Origin, Said, Tool, Turn, render_codex, session_uuid

SID = session_uuid("tidepool", 7)
PARENT = session_uuid("parent", 7)


class TestCodex(HostConformance):
    host: Host = HOST

    def render(self, turns: list[Turn], session: str = "") -> str:
        return render_codex(session or SID, turns, cwd=CWD, started=STARTED)

    def place(self, home: Path, session: str) -> Path:
        day = home / ".codex" / "sessions" / "2026" / "03" / "02"
        return day / f"rollout-2026-03-02T09-00-00-{session}.jsonl"


def line(kind: str, payload: dict[str, Any], second: int = 0) -> dict[str, Any]:
    return {"timestamp": f"2026-03-02T09:00:{second:02d}.000Z", "type": kind, "payload": payload}


def message(role: str, *texts: str, **fields: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text} for text in texts]
    return {"type": "message", "role": role, "content": content, **fields}


def read(folder: Path, records: list[dict[str, Any]]) -> list[Event]:
    path = folder / "rollout.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    assert detect(path) is HOST
    return [item for item in HOST.read(path) if isinstance(item, Event)]


def words(events: list[Event]) -> list[tuple[Kind, str]]:
    return [(event.kind, event.text) for event in events if event.kind != Kind.META]


OLD = [
    line(
        "session_meta", {"id": SID, "timestamp": "2026-03-02T09:00:00.000Z", "cwd": CWD, "instructions": None}
    ),
    line("response_item", message("user", "<user_instructions>\n\nBe brief.\n\n</user_instructions>"), 1),
    line(
        "response_item",
        message("user", f"<environment_context>\n<cwd>{CWD}</cwd>\n</environment_context>"),
        2,
    ),
    line("response_item", message("user", "Add a retry."), 3),
    line("event_msg", {"type": "user_message", "message": "Add a retry.", "kind": "plain"}, 3),
    line("event_msg", {"type": "agent_reasoning", "text": "**Thinking** hidden"}, 4),
    line("response_item", {"type": "reasoning", "summary": [], "encrypted_content": "hidden"}, 4),
    line("event_msg", {"type": "agent_message", "message": "On it."}, 5),
    line("response_item", message("assistant", "On it."), 5),
]


def test_old_records_each_text_once(tmp_path: Path) -> None:
    events = read(tmp_path, OLD)
    assert words(events) == [(Kind.USER, "Add a retry."), (Kind.ASSISTANT, "On it.")]
    assert not any("hidden" in event.text for event in events)


def test_texts_that_only_the_events_hold(tmp_path: Path) -> None:
    only = [record for record in OLD if record["type"] != "response_item"]
    assert words(read(tmp_path, only)) == [(Kind.USER, "Add a retry."), (Kind.ASSISTANT, "On it.")]


def test_texts_that_only_the_items_hold(tmp_path: Path) -> None:
    only = [record for record in OLD if record["type"] != "event_msg"]
    assert words(read(tmp_path, only)) == [(Kind.USER, "Add a retry."), (Kind.ASSISTANT, "On it.")]


def test_twins_on_both_sides_of_a_position(tmp_path: Path) -> None:
    path = tmp_path / "rollout.jsonl"
    data = "".join(json.dumps(record) + "\n" for record in OLD)
    for cut in range(1, len(OLD)):
        head = "".join(json.dumps(record) + "\n" for record in OLD[:cut])
        path.write_text(head, encoding="utf-8")
        transcript = HOST.read(path)
        found = list(transcript)
        position = transcript.position
        path.write_text(data, encoding="utf-8")
        found += list(HOST.read(path, position))
        assert words([item for item in found if isinstance(item, Event)]) == words(read(tmp_path, OLD))


def test_oldest_records_without_envelope(tmp_path: Path) -> None:
    git = {"commit_hash": "0" * 40, "branch": "main", "repository_url": "git@example.org:a/b.git"}
    records: list[dict[str, Any]] = [
        {"id": SID, "timestamp": "2025-06-01T08:00:00.000Z", "instructions": "x", "git": git},
        {"record_type": "state"},
        message("user", f"<environment_context>\n  <cwd>{CWD}</cwd>\n</environment_context>"),
        message("user", "Add a retry."),
        {"type": "function_call", "name": "shell", "arguments": '{"command":["ls","-l"]}', "call_id": "c1"},
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": '{"output":"a","metadata":{"exit_code":0}}',
        },
        message("assistant", "Done."),
    ]
    events = read(tmp_path, records)
    assert words(events) == [
        (Kind.USER, "Add a retry."),
        (Kind.TOOL_CALL, "ls -l"),
        (Kind.TOOL_RESULT, "a"),
        (Kind.ASSISTANT, "Done."),
    ]
    session = HOST.read(tmp_path / "rollout.jsonl").session
    assert (session.id, session.cwd, session.branch, session.remote) == (
        SID,
        CWD,
        "main",
        "git@example.org:a/b.git",
    )


def test_provenance_decides_what_the_person_typed(tmp_path: Path) -> None:
    def noted(text: str, kind: str, second: int) -> dict[str, Any]:
        passed = {"content_item_kinds": [kind], "content_item_metadata": [{"provenance": {"type": "x"}}]}
        noted = message("user", text, id=f"msg_{second}", internal_chat_message_metadata_passthrough=passed)
        return line("response_item", noted, second)

    events = read(
        tmp_path,
        [
            OLD[0],
            noted("typed", "user.text", 1),
            noted("from a hook", "hooks.additional_context", 2),
            noted("from the project", "agents_md.instructions", 3),
        ],
    )
    assert [event.text for event in events if event.author == Author.PERSON] == ["typed"]


@pytest.mark.parametrize(
    "text",
    [
        "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nuse tabs\n</INSTRUCTIONS>",
        "<environment_context>\n</environment_context>",
        "<user_instructions>x</user_instructions>",
        "<turn_aborted>\nThe user interrupted\n</turn_aborted>",
        "<user_shell_command>ls</user_shell_command>",
        "<skill>\n<name>x</name>",
    ],
)
def test_injected_user_messages_are_the_hosts(tmp_path: Path, text: str) -> None:
    (event,) = read(tmp_path, [OLD[0], line("response_item", message("user", text))])
    assert (event.kind, event.author) == (Kind.META, Author.HOST)


def test_developer_and_system_messages_are_the_hosts(tmp_path: Path) -> None:
    records = [OLD[0], *(line("response_item", message(role, "do X"), 1) for role in ("developer", "system"))]
    assert {event.author for event in read(tmp_path, records)} == {Author.HOST}


def test_summary_put_in_front_of_a_compacted_session(tmp_path: Path) -> None:
    text = "Another language model started to solve this problem and produced a summary of its thinking"
    (event,) = read(tmp_path, [OLD[0], line("response_item", message("user", text))])
    assert (event.kind, event.author) == (Kind.COMPACTION, Author.HOST)


@pytest.mark.parametrize(
    ("output", "text", "failed"),
    [
        ("plain error text", "plain error text", False),
        ('{"output":"boom","metadata":{"exit_code":2,"duration_seconds":0.1}}', "boom", True),
        ('{"output":"no error","metadata":{"exit_code":0}}', "no error", False),
        ("Exit code: 1\nWall time: 0.2 seconds\nOutput:\nboom", "boom", True),
        ("Exit code: 0\nWall time: 0.2 seconds\nTotal output lines: 3\nOutput:\nfine", "fine", False),
        (
            "Chunk ID: 94a1b0\nWall time: 0.0 seconds\nProcess exited with code 127\nOriginal token count: 2\nOutput:\nno",
            "no",
            True,
        ),
        ("log says:\nExit code: 1\nOutput:\nx", "log says:\nExit code: 1\nOutput:\nx", False),
        ({"content": "boom", "success": False}, "boom", True),
        ([{"type": "input_text", "text": "from mcp"}], "from mcp", False),
        ({"tool_response": "other name"}, "other name", False),
        ('{"metadata": "user data"}', '{"metadata": "user data"}', False),
        (None, "", False),
    ],
)
def test_failures_are_told_by_exit_code_not_by_words(
    tmp_path: Path, output: object, text: str, *, failed: bool
) -> None:
    item = {"type": "function_call_output", "call_id": "c1", "output": output}
    (event,) = read(tmp_path, [OLD[0], line("response_item", item)])
    assert (event.kind, event.text, event.failed, event.call) == (Kind.TOOL_RESULT, text, failed, "c1")


@pytest.mark.parametrize(
    "ended",
    [
        {"type": "exec_command_end", "call_id": "c1", "exit_code": 3},
        {"type": "patch_apply_end", "call_id": "c1", "success": False},
        {"type": "item_completed", "item": {"type": "McpToolCall", "id": "c1", "status": "failed"}},
        {"type": "item_completed", "item": {"type": "CommandExecution", "id": "c1", "exit_code": 1}},
    ],
)
def test_failures_that_only_an_event_tells(tmp_path: Path, ended: dict[str, Any]) -> None:
    output = {"type": "function_call_output", "call_id": "c1", "output": "sorry"}
    records = [OLD[0], line("event_msg", ended, 1), line("response_item", output, 2)]
    assert [event.failed for event in read(tmp_path, records)] == [True]


def test_paths_of_patches(tmp_path: Path) -> None:
    patch = (
        "*** Begin Patch\n*** Update File: src/a.py\n*** Move to: src/b.py\n@@\n-x\n+*** Add File: fake.py\n"
        f"*** Add File: {CWD}/docs/c.md\n+hello\n*** Delete File: old.txt\n*** End Patch\n"
    )
    calls = [
        {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c1", "input": patch},
        {
            "type": "function_call",
            "name": "shell",
            "call_id": "c2",
            "arguments": json.dumps({"command": ["apply_patch", patch], "workdir": f"{CWD}/sub"}),
        },
        {
            "type": "local_shell_call",
            "call_id": "c3",
            "action": {"type": "exec", "command": ["cat", "/etc/hosts"]},
        },
    ]
    events = read(tmp_path, [OLD[0], *(line("response_item", call, n) for n, call in enumerate(calls))])
    assert [event.paths for event in events] == [
        ("src/a.py", "src/b.py", "docs/c.md", "old.txt"),
        ("sub/src/a.py", "sub/src/b.py", "docs/c.md", "sub/old.txt"),
        (),
    ]
    assert events[2].text == "cat /etc/hosts"


def test_git_facts_of_the_head(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    remote = "https://example.org/mira/tidepool.git"
    path.write_text(
        render_codex(SID, TURNS, cwd=CWD, started=STARTED, branch="dev", remote=remote), encoding="utf-8"
    )
    session = HOST.read(path).session
    assert (session.branch, session.remote) == ("dev", remote)


def test_fork_points_back(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(
        render_codex(SID, TURNS, cwd=CWD, started=STARTED, origin=Origin(forked_from=PARENT)),
        encoding="utf-8",
    )
    session = HOST.read(path).session
    assert (session.id, session.parent, session.fork, session.subagent) == (SID, PARENT, True, False)


@pytest.mark.parametrize("name", ["subagent", "subAgent"])
def test_subagent_rollout(tmp_path: Path, name: str) -> None:
    path = tmp_path / "x.jsonl"
    turns: list[Turn] = [
        Said("user", "Find the callers."),
        Said("assistant", "Three."),
        Tool("Bash", {"command": "ls"}),
    ]
    text = render_codex(SID, turns, cwd=CWD, started=STARTED, origin=Origin(parent=PARENT))
    path.write_text(text.replace('"subagent":{', f'"{name}":{{'), encoding="utf-8")
    transcript = HOST.read(path)
    session = transcript.session
    assert (session.id, session.parent, session.subagent, session.fork) == (SID, PARENT, True, False)
    events = [item for item in transcript if isinstance(item, Event)]
    assert all(event.sidechain for event in events)
    assert not any(event.author == Author.PERSON for event in events)


def test_reviews_are_subagents_too(tmp_path: Path) -> None:
    meta = OLD[0]["payload"] | {"source": {"subagent": "review"}}
    read(tmp_path, [line("session_meta", meta)])
    assert HOST.read(tmp_path / "rollout.jsonl").session.subagent


def test_home_of_the_environment(tmp_path: Path) -> None:
    day = tmp_path / "cx" / "sessions" / "2026" / "03" / "02"
    old = tmp_path / "cx" / "archived_sessions"
    for folder in (day, old):
        folder.mkdir(parents=True)
        (folder / "rollout-1.jsonl").write_text("")
        (folder / "history.jsonl").write_text("")
    found = list(HOST.transcripts(tmp_path, {"CODEX_HOME": str(tmp_path / "cx")}))
    assert found == [old / "rollout-1.jsonl", day / "rollout-1.jsonl"]


def test_rendering_is_deterministic_and_says_each_text_twice() -> None:
    text = render_codex(SID, TURNS, cwd=CWD, started=STARTED)
    assert text == render_codex(SID, TURNS, cwd=CWD, started=STARTED)
    records = [json.loads(raw) for raw in text.splitlines()]
    assert [record["ordinal"] for record in records] == list(range(len(records)))
    assert text.count('"text":"Add a retry to the uploader."') == 2
