"""Inputs and moments on which hooks of such tools failed; the numbers are those of the list of known failures.

What is tried at length elsewhere is tried here once, the way a host would meet it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lamina.hosts.base import host_named
from lamina.hosts.render import Said, Tool, render_claude
from lamina.install import engine
from lamina.live import disk, program
from lamina.live.worker import work
from lamina.store import installed
from live.standing import Machine
from live.test_worker import SESSION, TURNS, leave, notes, tell

EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "Stop",
    "SessionEnd",
    "PreCompact",
    "SubagentStart",
)
SLOW = "#!/bin/sh\nsleep 30\n"
BROKEN = '#!/bin/sh\necho oops >&2\necho \'{"decision": "block"}\' > /dev/null\nexit 2\n'


def site(machine: Machine) -> engine.Site:
    return engine.Site(machine.root, machine.home, machine.env)


@pytest.mark.parametrize("event", EVENTS)
def test_case_1_a_missing_or_broken_program_is_no_word_to_the_host(machine: Machine, event: str) -> None:
    hook = program.hook(machine.root)
    hook.write_text(BROKEN)
    done = machine.hook(event, machine.payload(prompt="hi"))
    assert (done.returncode, done.stdout) == (0, b"")
    hook.unlink()
    done = machine.hook(event, machine.payload(prompt="hi"))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_case_1_a_program_that_hangs_costs_the_card_and_not_the_turn(machine: Machine) -> None:
    slow = machine.home / "python"
    slow.write_text(SLOW)
    slow.chmod(0o700)
    run = program.hook(machine.root).parent / program.PACKAGE / "run.py"
    run.write_text(run.read_text().replace(repr(sys.executable), repr(str(slow))))
    began = time.monotonic()
    done = machine.hook("SessionStart", machine.payload(source="startup"))
    assert (done.returncode, done.stdout) == (0, b"")
    assert time.monotonic() - began < 9
    subprocess.run(["pkill", "-f", str(slow)], check=False)


def test_case_2_a_stop_that_follows_a_stop_hook_blocks_nothing(machine: Machine) -> None:
    for active in (False, True, True):
        done = machine.hook("Stop", machine.payload(stop_hook_active=active))
        assert (done.returncode, done.stdout) == (0, b"")


def test_case_3_the_payload_is_utf_8_whatever_the_system_says(machine: Machine) -> None:
    folder = machine.home / "工作 é"
    folder.mkdir()
    raw = json.dumps(machine.payload() | {"cwd": str(folder)}, ensure_ascii=False).encode()
    (machine.state / "locks").mkdir(exist_ok=True)
    handle = disk.take(str(machine.state / "locks" / "worker.lock"))
    for marks in (b"", b"\xef\xbb\xbf", b"\xef\xbb\xbf" * 2):
        machine.hook("Stop", marks + raw, env={"LC_ALL": "zh_CN.GBK", "PYTHONIOENCODING": "cp936"})
    assert handle is not None
    os.close(handle)
    assert [each["cwd"] for each in machine.spooled()] == [str(folder)] * 3


def test_case_4_the_command_works_from_any_folder_and_with_spaces_in_its_path(machine: Machine) -> None:
    assert " " in str(program.hook(machine.root))
    for place in (machine.project, Path("/"), machine.home):
        assert machine.hook("SessionStart", machine.payload(source="startup"), cwd=place).stdout


def test_case_5_output_that_speaks_of_errors_is_no_failed_command(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    turns = [
        Said("user", "look"),
        Tool("Bash", {"command": "grep -rn error ."}, "src/a.py:1: # no error, no failure"),
    ]
    path.write_text(render_claude(SESSION, turns, cwd="/p", started=datetime(2026, 11, 2, tzinfo=UTC)))
    host = host_named("claude-code")
    assert host is not None
    assert [getattr(each, "failed", False) for each in host.read(path)] == [False] * 3


def test_case_6_two_starts_at_once_start_one_worker(machine: Machine) -> None:
    commands = [
        subprocess.Popen(
            ["sh", "-c", machine.command("claude-code", "SessionEnd")], stdin=subprocess.PIPE, env=machine.env
        )
        for _ in range(2)
    ]
    for number, each in enumerate(commands):
        each.communicate(json.dumps(machine.payload(f"{number}" * 8)).encode())
    workers = [line for line in machine.processes() if " worker " in line]
    assert len(workers) <= 1
    machine.settle()
    assert not (machine.state / "spool.jsonl").exists()


def test_case_7_a_killed_worker_blocks_nobody(machine: Machine) -> None:
    leave(machine)
    lock = machine.state / "locks" / "worker.lock"
    handle = disk.take(str(lock))
    assert handle is not None
    stuck = subprocess.Popen(["sleep", "60"], pass_fds=(handle,))
    os.close(handle)
    tell(machine, "end")
    assert not work(machine.root, env=machine.env)
    stuck.send_signal(signal.SIGKILL)
    stuck.wait()
    assert work(machine.root, env=machine.env)
    assert len(notes(machine)) == 1


def test_case_8_a_start_told_again_and_again_says_the_same(machine: Machine) -> None:
    with machine.memory() as memory:
        memory.remember("The uploader retries three times")
    told = {machine.hook("SessionStart", machine.payload(source="startup")).stdout for _ in range(4)}
    assert len(told) == 1
    assert b"three times" in told.pop()


def test_case_9_a_compaction_whose_start_never_comes_shows_the_card_with_the_prompt(machine: Machine) -> None:
    with machine.memory() as memory:
        memory.remember("The uploader retries three times")
    body = {"sessionId": SESSION, "cwd": str(machine.project), "prompt": "go on"}
    machine.hook("sessionStart", body, host="copilot")
    assert machine.hook("userPromptSubmitted", body, host="copilot").stdout == b""
    machine.hook("preCompact", body, host="copilot")
    assert b"three times" in machine.hook("userPromptSubmitted", body, host="copilot").stdout


def test_case_10_installing_twice_and_taking_it_back_leaves_others_alone(machine: Machine) -> None:
    settings = machine.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    theirs = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}, "env": {"A": "1"}}
    settings.write_text(json.dumps(theirs, indent=4) + "\n")
    before = settings.read_bytes()
    for mode in ("settings", "settings", "plugin", "settings"):
        engine.install(site(machine), "claude-code", at=datetime.now(UTC), mode=mode)
    stops = json.loads(settings.read_text())["hooks"]["Stop"]
    assert len(stops) == 2
    engine.uninstall(site(machine), "claude-code")
    assert settings.read_bytes() == before
    assert installed.installed(machine.root) == {}


def test_case_11_files_that_are_gone_while_hooks_are_registered_fail_no_tool(machine: Machine) -> None:
    commands = [machine.command("claude-code", event) for event in EVENTS]
    program.remove(machine.root)
    for command in commands:
        done = subprocess.run(
            ["sh", "-c", command], input=b"{}", capture_output=True, check=False, env=machine.env
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_case_12_no_time_and_no_session_in_what_is_shown(machine: Machine) -> None:
    with machine.memory() as memory:
        memory.remember("The uploader retries three times")
    first = machine.hook("SessionStart", machine.payload(SESSION, source="startup")).stdout
    time.sleep(1.1)
    second = machine.hook("SessionStart", machine.payload("9" * 32, source="resume")).stdout
    assert first == second


def test_case_13_a_worker_that_is_killed_leaves_no_lock_of_git(machine: Machine) -> None:
    for number in range(4):
        with machine.memory() as memory:
            memory.remember(f"Fact number {number} of the harbour is that pier {number} floats")
        handle = disk.take(str(machine.state / "locks" / "worker.lock"))
        assert handle is not None
        worker = subprocess.Popen(
            [sys.executable, "-P", "-m", "lamina.live", str(machine.root), "worker", str(handle)],
            env=machine.env, pass_fds=(handle,), start_new_session=True,
        )  # fmt: skip
        os.close(handle)
        time.sleep(0.3 + 0.2 * number)
        worker.kill()
        worker.wait()
    machine.settle()
    assert not (machine.root / ".git" / "index.lock").exists()
    with machine.memory() as memory:
        memory.tick()
    assert not (machine.root / ".git" / "index.lock").exists()


def test_case_14_nothing_is_left_running_and_no_port_is_taken(machine: Machine) -> None:
    leave(machine, turns=TURNS)
    for event in ("SessionStart", "Stop", "SessionEnd"):
        machine.hook(event, machine.payload(SESSION))
    machine.settle(60)
    assert machine.processes() == []
