"""Inputs and moments on which hooks of such tools failed; the numbers are those of the list of known failures.

What is tried at length elsewhere is tried here once, the way a host would meet it.
"""

from __future__ import annotations

import json
import os
import shutil
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
from lamina.live import disk, program, spool
from lamina.live.worker import work
from lamina.store import installed
from live.standing import Machine
from live.test_worker import SESSION, TURNS, leave, notes, tell
from live.watching import watched

EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "Stop",
    "SessionEnd",
    "PreCompact",
    "SubagentStart",
)
SLOW = '#!/bin/sh\necho $$ >> "$0.pid"\nexec sleep 30\n'
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
    for line in Path(f"{slow}.pid").read_text().split():
        os.kill(int(line), signal.SIGKILL)


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
    with watched(machine) as counts:
        commands = [
            subprocess.Popen(
                ["sh", "-c", machine.command("claude-code", "SessionEnd")],
                stdin=subprocess.PIPE,
                env=machine.env,
            )
            for _ in range(2)
        ]
        for number, each in enumerate(commands):
            each.communicate(json.dumps(machine.payload(f"{number}" * 8)).encode())
        machine.settle()
    assert max(counts) == 1
    assert not (machine.state / "spool.jsonl").exists()
    assert {each.session for each in spool.load(machine.state).values()} == {"0" * 8, "1" * 8}


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


GIT = """#!/bin/sh
# A git that stops at one moment, with its lock taken as the real one has it there, until it may go on.
echo "$*" >> '{home}/git.log'
case " $* " in *{moment}*)
    lock='{lock}'
    if [ -n "$lock" ]; then
        set -C; : > "$lock" || exit 1; set +C
        trap 'rm -f "$lock"; exit 1' TERM INT HUP
    fi
    : > '{home}/began'
    n=0; while [ ! -e '{home}/go' ] && [ $n -lt 600 ]; do sleep 0.05; n=$((n + 1)); done
    if [ -n "$lock" ]; then rm -f "$lock"; trap - TERM INT HUP; fi
    '{git}' "$@"; code=$?
    : > '{home}/ended'
    exit $code
esac
exec '{git}' "$@"
"""


def git(folder: Path, *words: str, env: dict[str, str]) -> str:
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    done = subprocess.run(
        ["git", *who, "-C", str(folder), *words], check=True, capture_output=True, text=True, env=env
    )
    return done.stdout


def stopping(machine: Machine, moment: str, lock: Path | None = None) -> dict[str, str]:
    """Return the environment of a worker whose git stops where its words hold `moment`."""
    own = machine.home / "bin" / "git"
    own.parent.mkdir()
    real = shutil.which("git", path=machine.env["PATH"])
    own.write_text(GIT.format(home=machine.home, moment=moment, lock=lock or "", git=real))
    own.chmod(0o700)
    return machine.env | {"PATH": f"{own.parent}:{machine.env['PATH']}"}


def until(path: Path, *, there: bool = True) -> None:
    end = time.monotonic() + 30
    while path.exists() is not there:
        assert time.monotonic() < end, f"{path} is {'missing' if there else 'still there'}"
        time.sleep(0.02)


def begin(machine: Machine, env: dict[str, str]) -> subprocess.Popen[bytes]:
    handle = disk.take(str(machine.state / "locks" / "worker.lock"))
    assert handle is not None
    worker = subprocess.Popen(
        [sys.executable, "-P", "-m", "lamina.live", str(machine.root), "worker", str(handle)],
        env=env, pass_fds=(handle,), start_new_session=True,
    )  # fmt: skip
    os.close(handle)
    return worker


def kill_in_git(machine: Machine, env: dict[str, str]) -> None:
    """Kill a worker and all of its group, as a host or a system does, while its git stands still."""
    worker = begin(machine, env)
    try:
        until(machine.home / "began")
        assert worker.poll() is None
    finally:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()


def test_case_13_a_worker_that_is_killed_leaves_no_lock_of_git(machine: Machine) -> None:
    with machine.memory() as memory:
        memory.remember("Pier four of the harbour floats")
    lock = machine.root / ".git" / "index.lock"
    kill_in_git(machine, stopping(machine, "' commit '", lock))
    assert lock.exists()
    (machine.home / "go").touch()
    until(lock, there=False)
    until(machine.home / "ended")
    assert git(machine.root, "status", "--porcelain", env=machine.env) == ""
    with machine.memory() as memory:
        memory.remember("Pier five of the harbour is made of stone")
        memory.tick()
    assert not lock.exists()
    assert git(machine.root, "grep", "-l", "Pier five", "HEAD", env=machine.env)


def test_case_13_a_worker_that_is_killed_leaves_the_persons_repository_as_it_was(machine: Machine) -> None:
    project = machine.project
    (project / "a.py").write_text("a = 1\n")
    git(project, "add", "a.py", env=machine.env)
    git(project, "commit", "-q", "-m", "The uploader gives up after three tries", env=machine.env)
    os.utime(project / "a.py", (1, 1))  # a git that may write the index brings it up to date here
    with machine.memory() as memory:
        memory.remember("Pier four of the harbour floats")
    before = contents(project / ".git")
    env = stopping(machine, f"' -C {project}/.git '")
    kill_in_git(machine, env)
    assert contents(project / ".git") == before
    (machine.home / "go").touch()
    until(machine.home / "ended")
    assert begin(machine, env).wait(60) == 0
    assert (machine.home / "git.log").read_text().count(f" -C {project}/.git ") > 1
    assert contents(project / ".git") == before
    (project / "a.py").write_text("a = 2\n")
    git(project, "commit", "-q", "-a", "-m", "Two", env=machine.env)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_case_14_nothing_is_left_running_and_no_port_is_taken(machine: Machine) -> None:
    leave(machine, turns=TURNS)
    for event in ("SessionStart", "Stop", "SessionEnd"):
        machine.hook(event, machine.payload(SESSION))
    machine.settle(60)
    assert machine.processes() == []
