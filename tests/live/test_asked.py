"""Recall before a tool call, and nudges with a prompt: few lines, each entry once a session, off by default."""

from __future__ import annotations

from pathlib import Path

import pytest

from lamina.live.asked import LINES
from live.standing import Machine

BACKOFF = "src/upload.py retries three times with exponential backoff; the server bans clients that try more"


def want(machine: Machine, *names: str) -> None:
    path = machine.home / ".config" / "lamina" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{name} = true\n" for name in names))


def start(machine: Machine) -> None:
    machine.hook("SessionStart", machine.payload(source="startup"))
    machine.settle()


def edit(machine: Machine, file: str, **more: str) -> str:
    payload = machine.payload(tool_name="Edit", tool_input={"file_path": str(machine.project / file)}, **more)
    return machine.context(machine.hook("PreToolUse", payload))


def run(machine: Machine, command: str) -> str:
    payload = machine.payload(tool_name="Bash", tool_input={"command": command})
    return machine.context(machine.hook("PreToolUse", payload))


@pytest.fixture
def knowing(machine: Machine) -> Machine:
    with machine.memory() as memory:
        memory.remember(BACKOFF, layer="learnings")
        memory.remember(
            "Run alembic only after the fixtures were loaded, else it drops the seed rows", layer="procedural"
        )
        memory.remember("The landing page is served from the edge cache", layer="semantic")
    return machine


def test_both_are_off_by_default(knowing: Machine) -> None:
    start(knowing)
    assert edit(knowing, "src/upload.py") == ""
    assert knowing.hook("UserPromptSubmit", knowing.payload(prompt=BACKOFF)).stdout == b""


def test_an_edit_shows_what_names_the_file_once_a_session(knowing: Machine) -> None:
    want(knowing, "recall")
    start(knowing)
    shown = edit(knowing, "src/upload.py")
    assert "exponential backoff" in shown
    assert "edge cache" not in shown
    assert edit(knowing, "src/upload.py") == ""
    assert edit(knowing, "src/download.py") == ""


def test_a_command_shows_what_names_its_program(knowing: Machine) -> None:
    want(knowing, "recall")
    start(knowing)
    assert "seed rows" in run(knowing, "sudo alembic upgrade head")
    assert run(knowing, "ls -la") == ""


def test_never_more_than_three_lines(machine: Machine) -> None:
    with machine.memory() as memory:
        for number in range(8):
            memory.remember(
                f"src/upload.py has the peculiarity number {number} that matters to whoever edits it"
            )
    want(machine, "recall")
    start(machine)
    assert edit(machine, "src/upload.py").count("\n- ") == LINES == 3


def test_a_candidate_is_never_shown(machine: Machine) -> None:
    with machine.memory() as memory:
        done = memory.remember("src/upload.py is said to be slow")
    file = machine.root / done.file
    file.write_text(file.read_text().replace("**Date:**", "**Trust:** candidate\n**Date:**", 1))
    want(machine, "recall")
    start(machine)
    assert "said to be slow" not in edit(machine, "src/upload.py")


def test_a_prompt_names_what_holds_its_rare_words(knowing: Machine) -> None:
    want(knowing, "nudges")
    start(knowing)
    prompt = knowing.payload(prompt="does the server bans clients with exponential backoff retries?")
    shown = knowing.context(knowing.hook("UserPromptSubmit", prompt))
    assert "exponential backoff" in shown
    assert knowing.hook("UserPromptSubmit", prompt).stdout == b""


def test_a_subagent_gets_no_recall(knowing: Machine) -> None:
    want(knowing, "recall")
    start(knowing)
    assert edit(knowing, "src/upload.py", agent_id="a1", agent_type="x") == ""


def test_a_secret_of_a_prompt_is_never_written(knowing: Machine) -> None:
    want(knowing, "nudges", "recall")
    start(knowing)
    key = "sk-" + "a1B2c3" * 8
    knowing.hook("UserPromptSubmit", knowing.payload(prompt=f"use {key} for the server backoff"))
    run(knowing, f"curl -H 'Authorization: Bearer {key}' https://example.org")
    knowing.settle()
    for path in Path(knowing.root).rglob("*"):
        assert not path.is_file() or key.encode() not in path.read_bytes()
