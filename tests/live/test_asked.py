"""Recall before a tool call, and nudges with a prompt: few lines, each entry once a session, off by default."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import BinaryIO

import pytest

from lamina.live import asked
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


PATCH = """*** Begin Patch
*** Update File: src/login.py
@@ def enter():
-    old
+    new
*** Update File: src/upload.py
@@ def send():
-    old
+    new
*** End Patch"""


@pytest.mark.parametrize(
    "command",
    [
        "cd /repo && alembic upgrade head",
        "FOO=1 timeout 60 alembic upgrade head",
        "git status && sudo -u postgres alembic current",
        "uv run python -m alembic upgrade head",
        "bash -lc 'cd db && alembic upgrade head'",
    ],
)
def test_a_program_is_found_behind_what_only_runs_it(knowing: Machine, command: str) -> None:
    want(knowing, "recall")
    start(knowing)
    assert "seed rows" in run(knowing, command)


def test_a_patch_shows_what_names_each_of_its_files(knowing: Machine) -> None:
    with knowing.memory() as memory:
        for number in range(LINES + 1):
            memory.remember(f"src/login.py locks an account after {number + 3} wrong words of kind {number}")
    want(knowing, "recall")
    knowing.hook("SessionStart", knowing.payload(source="startup"), host="codex")
    knowing.settle()
    payload = knowing.payload(tool_name="apply_patch", tool_input={"command": PATCH})
    shown = knowing.context(knowing.hook("PreToolUse", payload, host="codex"))
    assert "locks an account" in shown
    assert "exponential backoff" in shown
    assert shown.count("\n- ") == LINES


def test_a_name_between_signs_that_know_no_spaces_is_found(machine: Machine) -> None:
    with machine.memory() as memory:
        memory.remember("运行 alembic 之前先备份数据库，用alembic迁移时不要并行")
        memory.remember("The word myalembic-old names another thing")
    want(machine, "recall")
    start(machine)
    shown = run(machine, "cd 网站 && alembic upgrade head")
    assert "备份" in shown
    assert "myalembic" not in shown


def ask(machine: Machine, out: BinaryIO) -> None:
    question = f"recall\n{machine.state}/hooked/claude-code-x\n{machine.project}\nfile src/upload.py"
    asked.answer(machine.root, question, out=out, env=machine.env)


def test_what_could_not_be_given_out_does_not_count_as_told(knowing: Machine) -> None:
    want(knowing, "recall")
    reading, writing = os.pipe()
    os.close(reading)
    with pytest.raises(BrokenPipeError), open(writing, "wb", buffering=0) as nobody:  # noqa: PTH123 - a pipe
        ask(knowing, nobody)
    said, again = io.BytesIO(), io.BytesIO()
    ask(knowing, said)
    ask(knowing, again)
    assert b"exponential backoff" in said.getvalue()
    assert again.getvalue() == b""


def test_what_could_not_be_noted_is_said_all_the_same(knowing: Machine) -> None:
    want(knowing, "recall")
    (knowing.state / "hooked" / "claude-code-x.told").mkdir(parents=True)
    said = io.BytesIO()
    ask(knowing, said)
    assert b"exponential backoff" in said.getvalue()


@pytest.mark.parametrize("words", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}])
def test_other_scripts_are_shown_whatever_the_system_says(machine: Machine, words: dict[str, str]) -> None:
    with machine.memory() as memory:
        memory.remember("src/upload.py 上传三次后放弃 — もう試さない 🙂")
    want(machine, "recall")
    start(machine)
    file = str(machine.project / "src" / "upload.py")
    payload = machine.payload(tool_name="Edit", tool_input={"file_path": file})
    shown = machine.context(machine.hook("PreToolUse", payload, env=words | {"PYTHONCOERCECLOCALE": "0"}))
    assert "上传三次后放弃 — もう試さない 🙂" in shown
