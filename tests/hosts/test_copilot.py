"""Copilot CLI's events, beyond what every host must do; the shapes are those of real runs of 1.0.102."""

from __future__ import annotations

import json
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.hosts.conformance import CWD, STARTED, HostConformance

from lamina.formats.event import CHILD_MARK, Author, Event, Kind
from lamina.hosts.base import Host, detect, live_named
from lamina.hosts.copilot import HOST
from lamina.hosts.dialect import WRITING
from lamina.hosts.render import Pause, Said, Turn, render_copilot, session_uuid
from lamina.hosts.setup import JsonMember, OwnFile, Say, Where
from lamina.live.call import Place
from lamina.live.fast import NOTE, answer
from lamina.memory import Memory

SID = session_uuid("tidepool")
AGENT = session_uuid("helper")


class TestCopilot(HostConformance):
    host: Host = HOST

    def render(self, turns: list[Turn], session: str = "") -> str:
        return render_copilot(session or SID, turns, cwd=CWD, started=STARTED)

    def place(self, home: Path, session: str) -> Path:
        return home / ".copilot" / "session-state" / session / "events.jsonl"


def event(number: int, kind: str, data: dict[str, Any], agent: str = "") -> dict[str, Any]:
    own = session_uuid(f"event {number}")
    before = session_uuid(f"event {number - 1}") if number else None
    stamp = f"2026-03-02T09:00:{number:02d}.000Z"
    more = {"agentId": agent} if agent else {}
    return {"type": kind, "data": data, "id": own, "timestamp": stamp, "parentId": before, **more}


def start(**fields: Any) -> dict[str, Any]:
    context = {"cwd": CWD, "gitRoot": CWD, "branch": "main"}
    data = {"sessionId": SID, "version": 1, "producer": "copilot-agent", "context": context}
    return event(0, "session.start", data | fields)


def read(folder: Path, records: list[dict[str, Any]], name: str = "events.jsonl") -> list[Event]:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records)
    path.write_text(text, encoding="utf-8")
    assert detect(path) is HOST
    return [item for item in HOST.read(path) if isinstance(item, Event)]


def person(events: list[Event]) -> list[str]:
    return [each.text for each in events if each.author == Author.PERSON]


# --- transcripts


def test_the_words_are_those_typed_not_those_sent(tmp_path: Path) -> None:
    sent = "<current_datetime>now</current_datetime>\n\nAdd a retry.\n\n<system_reminder>\ncard\n</system_reminder>"
    data = {"content": "Add a retry.", "transformedContent": sent, "delivery": "idle"}
    assert person(read(tmp_path, [start(), event(1, "user.message", data)])) == ["Add a retry."]


@pytest.mark.parametrize(
    ("fields", "typed"),
    [
        ({}, True),
        ({"source": "user"}, True),
        ({"source": "immediate-prompt", "delivery": "steering"}, True),
        ({"source": "system"}, False),
        ({"source": "skill-pdf"}, False),
        ({"source": "command-plan"}, False),
        ({"source": "schedule-3"}, False),
        ({"source": f"agent-{SID}"}, False),
        ({"source": 7}, False),
        ({"isAutopilotContinuation": True}, False),
        ({"agentMode": "shell"}, False),
    ],
)
def test_who_sent_a_prompt(tmp_path: Path, fields: dict[str, Any], *, typed: bool) -> None:
    (found,) = read(tmp_path, [start(), event(1, "user.message", {"content": "Go on.", **fields})])
    assert (found.author == Author.PERSON) is typed


def test_a_subagents_events_stand_aside_in_its_parents_file(tmp_path: Path) -> None:
    inside = {"parentToolCallId": "call_1"}
    task = {"toolCallId": "call_1", "name": "task", "arguments": {"prompt": "Find the callers."}}
    shell = {"toolCallId": "call_2", "name": "bash", "arguments": {"command": "ls"}}
    done = {"toolCallId": "call_2", "success": True, "result": {"content": "a.py"}, **inside}
    events = read(
        tmp_path,
        [
            start(),
            event(1, "user.message", {"content": "Who calls it?"}),
            event(2, "assistant.message", {"content": "", "toolRequests": [task]}),
            event(3, "subagent.started", {"toolCallId": "call_1", "agentName": "explore"}, AGENT),
            event(4, "user.message", {"content": "Find the callers.", "source": f"agent-{SID}"}, AGENT),
            event(5, "assistant.message", {"content": "Looking.", "toolRequests": [shell], **inside}, AGENT),
            event(6, "tool.execution_complete", done, AGENT),
            event(
                7,
                "tool.execution_complete",
                {"toolCallId": "call_1", "success": True, "result": {"content": "Three."}},
            ),
        ],
    )
    assert [(each.kind, each.tool, each.sidechain) for each in events] == [
        (Kind.USER, "", False),
        (Kind.TOOL_CALL, "task", False),
        (Kind.META, "", True),
        (Kind.ASSISTANT, "", True),
        (Kind.TOOL_CALL, "bash", True),
        (Kind.TOOL_RESULT, "bash", True),
        (Kind.TOOL_RESULT, "task", False),
    ]


@pytest.mark.parametrize(
    ("data", "text", "failed"),
    [
        ({"success": True, "result": {"content": "fine"}}, "fine", False),
        ({"success": True, "result": {"content": "hello\n<shellId: 0 completed with exit code 0>"}}, "hello", False),
        ({"success": True, "result": {"content": "\n<shellId: 4 completed with exit code 1>"}}, "", True),
        ({"success": True, "shellExecution": {"exitCode": 2}, "result": {"content": "no"}}, "no", True),
        ({"success": True, "result": {"content": "no\n<exited with exit code 127>"}}, "no", True),
        ({"success": False, "error": {"message": "Denied by preToolUse hook", "code": "denied"}}, "Denied by preToolUse hook", True),
        (
            {
                "success": True,
                "result": {
                    "content": 'a\n\nTool "view" succeeded. Additional guidance from postToolUse hooks:\nUse tabs.'
                },
            },
            "a",
            False,
        ),
        ({"success": True, "result": {"content": "an error: exit code 1 was seen"}}, "an error: exit code 1 was seen", False),
        ({"success": True}, "", False),
    ],
)  # fmt: skip
def test_what_a_tool_gave_back(tmp_path: Path, data: dict[str, Any], text: str, *, failed: bool) -> None:
    (found,) = read(tmp_path, [start(), event(1, "tool.execution_complete", {"toolCallId": "c", **data})])
    assert (found.text, found.failed, found.call) == (text, failed, "c")


def test_only_a_compaction_that_was_applied_counts(tmp_path: Path) -> None:
    cancelled = {"success": False, "error": "Compaction Cancelled", "outcome": "cancelled"}
    applied = {"success": True, "outcome": "applied", "summaryContent": "1. Retries were added."}
    records = [
        start(),
        event(1, "session.compaction_start", {"trigger": "threshold"}),
        event(2, "session.compaction_complete", cancelled),
        event(3, "session.compaction_complete", applied),
    ]
    assert [(each.kind, each.text) for each in read(tmp_path, records)] == [
        (Kind.COMPACTION, "1. Retries were added.")
    ]


def test_a_command_that_the_person_ran_is_a_call(tmp_path: Path) -> None:
    asked = {"toolCallId": "c", "toolName": "bash", "arguments": {"command": "make"}}
    (found,) = read(tmp_path, [start(), event(1, "tool.user_requested", asked)])
    assert (found.kind, found.tool, found.text) == (Kind.TOOL_CALL, "bash", "make")


def test_paths_follow_the_folder_that_the_session_moved_to(tmp_path: Path) -> None:
    def view(number: int) -> dict[str, Any]:
        request = {"toolCallId": f"c{number}", "name": "view", "arguments": {"path": "a.py"}}
        return event(number, "assistant.message", {"content": "", "toolRequests": [request]})

    moved = event(2, "session.context_changed", {"cwd": f"{CWD}/docs"})
    back = event(4, "session.resume", {"context": {"cwd": CWD}})
    records = [start(), view(1), moved, view(3), back, view(5)]
    assert [each.paths for each in read(tmp_path, records)] == [("a.py",), ("docs/a.py",), ("a.py",)]
    path = tmp_path / "events.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3]))
    transcript = HOST.read(path)
    list(transcript)
    path.write_bytes(b"".join(lines))
    rest = [item for item in HOST.read(path, transcript.position) if isinstance(item, Event)]
    assert [each.paths for each in rest] == [("docs/a.py",), ("a.py",)]


def test_a_session_resumed_is_the_same_session(tmp_path: Path) -> None:
    turns: list[Turn] = [Said("user", "One."), Said("assistant", "Yes."), Pause(600), Said("user", "Two.")]
    path = tmp_path / SID / "events.jsonl"
    path.parent.mkdir()
    path.write_text(render_copilot(SID, turns, cwd=CWD, started=STARTED), encoding="utf-8")
    transcript = HOST.read(path)
    assert person([item for item in transcript if isinstance(item, Event)]) == ["One.", "Two."]
    assert (transcript.session.id, transcript.session.fork) == (SID, False)


def test_the_repository_that_the_head_names(tmp_path: Path) -> None:
    def remote(**fields: Any) -> str:
        read(tmp_path, [start(context={"cwd": CWD, "branch": "dev", **fields})])
        return HOST.read(tmp_path / "events.jsonl").session.remote

    assert remote(repository="mira/tidepool", hostType="github") == "https://github.com/mira/tidepool"
    assert (
        remote(repository="mira/tidepool", repositoryHost="git.example.org")
        == "https://git.example.org/mira/tidepool"
    )
    assert remote(repository="org/project/repo", hostType="ado") == ""
    assert remote(repository="../../x y") == ""
    assert remote() == ""


def test_a_run_that_the_host_started_itself_is_a_subagent(tmp_path: Path) -> None:
    parent = session_uuid("parent")
    records = [
        start(detachedFromSpawningParentSessionId=parent),
        event(1, "user.message", {"content": "Remember what matters."}),
    ]
    assert person(read(tmp_path, records)) == []
    session = HOST.read(tmp_path / "events.jsonl").session
    assert (session.parent, session.subagent) == (parent, True)


def test_a_fork_is_told_by_its_folder(tmp_path: Path) -> None:
    other = session_uuid("fork")
    read(tmp_path, [start()], f"{other}/events.jsonl")
    session = HOST.read(tmp_path / other / "events.jsonl").session
    assert (session.id, session.parent, session.fork) == (other, SID, True)


def test_where_transcripts_lie(tmp_path: Path) -> None:
    root = tmp_path / "ch" / "session-state"
    wanted = [root / "early.jsonl", root / SID / "events.jsonl"]
    for path in [*wanted, root / SID / "files" / "events.jsonl", root / SID / "other.jsonl", root / "x.json"]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    assert sorted(HOST.transcripts(tmp_path, {"COPILOT_HOME": str(tmp_path / "ch")})) == sorted(wanted)


def test_a_run_that_lamina_started_is_never_captured(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    turns = [Said("user", f"{CHILD_MARK}\n\nWe decided to use tabs."), Said("assistant", "We use tabs.")]
    path.write_text(render_copilot(SID, turns, cwd=CWD, started=STARTED), encoding="utf-8")
    env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    memory = Memory.open(
        tmp_path / "store", cwd=tmp_path, env=env, clock=lambda: datetime(2026, 3, 3, tzinfo=UTC)
    )
    assert memory.capture(path, final=True)["status"] == "own"


# --- hooks


def said(tmp_path: Path, name: str, *, program: Path = Path("/bin/false"), **payload: Any) -> str:
    place = Place(str(tmp_path / "state"), {"copilot": HOST.hooks.literal()}, [str(program)])
    body = {"sessionId": SID, "timestamp": 1772442000000, "cwd": CWD, **payload}
    return answer(place, "copilot", name, {}, json.dumps(body).encode())


INSIDE = {"sessionId": AGENT, "agentId": AGENT, "agentType": "general-purpose", "parentAgentId": SID}


def test_a_subagent_is_kept_from_writing_and_the_main_agent_is_not(tmp_path: Path) -> None:
    call = {"toolName": "lamina-memory_remember", "toolArgs": {"text": "x"}}
    answer = json.loads(said(tmp_path, "preToolUse", **call, **INSIDE))
    assert answer["permissionDecision"] == "deny"
    assert answer["permissionDecisionReason"]
    assert said(tmp_path, "preToolUse", **call) == ""
    assert said(tmp_path, "preToolUse", toolName="lamina-memory_search", toolArgs={}, **INSIDE) == ""


def test_a_subagent_is_told_once_and_its_turns_are_not_the_sessions(tmp_path: Path) -> None:
    begun = {"agentName": "explore", "agentType": "explore", "agentId": AGENT, "parentAgentId": SID}
    assert json.loads(said(tmp_path, "subagentStart", **begun)) == {"additionalContext": NOTE}
    assert said(tmp_path, "userPromptSubmitted", prompt="Find the callers.", **INSIDE) == ""
    assert said(tmp_path, "agentStop", transcriptPath="/x/events.jsonl", **INSIDE) == ""
    assert not (tmp_path / "state" / "spool.jsonl").exists()


def test_a_prompt_told_beside_the_start_leaves_the_card_to_it(tmp_path: Path) -> None:
    (tmp_path / "state" / "hooked").mkdir(parents=True)
    program, log = tmp_path / "lamina", tmp_path / "log"
    program.write_text(f'#!/bin/sh\necho "$1" >> "{log}"\nexit 1\n')
    program.chmod(0o755)
    assert said(tmp_path, "sessionStart", program=program, source="new") == ""
    assert said(tmp_path, "userPromptSubmitted", program=program, prompt="Add a retry.") == ""
    assert log.read_text().split().count("card") == 1


# --- setup


def where(tmp_path: Path, **fields: Any) -> Where:
    store = tmp_path / "o'neil store" / "state"
    found: dict[str, Any] = {"home": tmp_path, "env": {}, "hook": store / "bin" / "hook"}
    found |= {"program": store / "bin" / "lamina", "assets": store / "hosts" / "copilot"}
    return Where(**(found | fields))


def hooks_of(edits: list[Any]) -> tuple[Path, dict[str, Any]]:
    (own,) = [edit for edit in edits if isinstance(edit, OwnFile) and edit.file.suffix == ".json"]
    content = json.loads(own.content)
    assert content["version"] == 1
    return own.file, content["hooks"]


def test_setup_for_the_user(tmp_path: Path) -> None:
    live = live_named("copilot")
    assert live is HOST
    edits = live.setup(where(tmp_path))
    file, hooks = hooks_of(edits)
    assert file == tmp_path / ".copilot" / "hooks" / "lamina.json"
    assert set(hooks) == set(HOST.hooks.events)
    (member,) = [edit for edit in edits if isinstance(edit, JsonMember)]
    assert (member.file, member.at) == (tmp_path / ".copilot" / "mcp-config.json", ("mcpServers", "lamina"))
    program = str(tmp_path / "o'neil store" / "state" / "bin" / "lamina")
    assert member.value == {"type": "local", "command": program, "args": ["mcp"], "tools": ["*"]}
    skills = [
        edit.file.parent for edit in edits if isinstance(edit, OwnFile) and edit.file.name == "SKILL.md"
    ]
    named = ("lamina-memory", "lamina-digest", "lamina-digest-refine")
    assert skills == [tmp_path / ".copilot" / "skills" / name for name in named]
    assert live.setup(where(tmp_path)) == edits


def test_setup_for_a_project_says_that_the_folder_must_be_trusted(tmp_path: Path) -> None:
    edits = HOST.setup(where(tmp_path, project=tmp_path / "tidepool"))
    file, _ = hooks_of(edits)
    assert file == tmp_path / "tidepool" / ".github" / "hooks" / "lamina.json"
    assert [edit.file for edit in edits if isinstance(edit, JsonMember)] == [
        tmp_path / "tidepool" / ".github" / "mcp.json"
    ]
    assert any("trust" in edit.text for edit in edits if isinstance(edit, Say))


def test_setup_goes_where_copilot_has_its_home(tmp_path: Path) -> None:
    env = {"COPILOT_HOME": str(tmp_path / "ch")}
    edits = HOST.setup(where(tmp_path, env=env))
    files = [edit.file for edit in edits if isinstance(edit, OwnFile | JsonMember)]
    assert all(file.is_relative_to(tmp_path / "ch") for file in files)


def test_the_hook_before_a_tool_call_is_for_what_writes_unless_recall_is_wanted(tmp_path: Path) -> None:
    (item,) = hooks_of(HOST.setup(where(tmp_path)))[1]["preToolUse"]
    assert all(re.fullmatch(item["matcher"], f"lamina-{name}") for name in WRITING)
    for other in ("lamina-memory_search", "lamina-memory_status", "bash", "other-memory_remember"):
        assert not re.fullmatch(item["matcher"], other)
    (item,) = hooks_of(HOST.setup(where(tmp_path, recall=True)))[1]["preToolUse"]
    assert "matcher" not in item


def test_every_hook_passes_when_lamina_is_gone_or_fails(tmp_path: Path) -> None:
    """A hook before a tool call that fails would refuse the call."""
    place = where(tmp_path)
    (item,) = hooks_of(HOST.setup(place))[1]["preToolUse"]
    command = ["bash", "-c", item["bash"]]
    assert subprocess.run(command, input=b"{}", capture_output=True, check=True).stdout == b""
    place.hook.parent.mkdir(parents=True)
    place.hook.write_text('#!/bin/sh\necho "$@"\nexit 2\n')
    place.hook.chmod(0o755)
    done = subprocess.run(command, input=b"{}", capture_output=True, check=True)
    assert done.stdout == b"copilot preToolUse\n"


def test_present_by_folder_or_by_program(tmp_path: Path) -> None:
    assert not HOST.present(tmp_path, {"PATH": str(tmp_path)})
    program = tmp_path / "copilot"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert HOST.present(tmp_path, {"PATH": str(tmp_path)})
    (tmp_path / ".copilot").mkdir()
    assert HOST.present(tmp_path, {})
