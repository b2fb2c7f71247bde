"""The hook command as hosts call it: a shell, a payload on standard input, and nothing else."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from benchmarks import hooks

from lamina.live import disk, program
from lamina.live.fast import NOTE
from live.standing import Machine
from live.watching import watched

START = {"source": "startup"}
DAY = 86_400


def remember(
    machine: Machine, text: str = "The uploader retries three times with exponential backoff"
) -> None:
    with machine.memory() as memory:
        memory.remember(text, layer="learnings")


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- what is printed ---


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact", "fork"])
def test_a_session_start_prints_the_card(machine: Machine, source: str) -> None:
    remember(machine)
    shown = machine.context(machine.hook("SessionStart", machine.payload(source=source)))
    assert "## Lamina memory" in shown
    assert "retries three times" in shown
    assert len(shown) <= 9_500


def test_the_card_is_the_same_to_the_byte_while_memory_is(machine: Machine) -> None:
    remember(machine)
    first = machine.hook("SessionStart", machine.payload(**START)).stdout
    machine.settle()
    second = machine.hook("SessionStart", machine.payload("22222222-2222-4333-8444-555555555555", **START))
    assert second.stdout == first
    assert b"session" not in second.stdout.replace(b"sessions", b"")
    assert b"22222222" not in second.stdout


def test_a_changed_memory_shows_at_the_next_start(machine: Machine) -> None:
    remember(machine)
    machine.hook("SessionStart", machine.payload(**START))
    machine.settle()
    remember(machine, "Deploys happen on Tuesdays only")
    assert "Tuesdays" in machine.context(machine.hook("SessionStart", machine.payload(**START)))


def test_an_edit_by_hand_in_place_shows_at_the_next_start(machine: Machine) -> None:
    remember(machine)
    machine.hook("SessionStart", machine.payload(**START))
    machine.settle()
    file = next((machine.root / "workspaces").glob("*/learnings/*.md"))
    with file.open("r+") as handle:  # as an editor that keeps the file itself
        text = handle.read().replace("three times", "four times")
        handle.seek(0)
        handle.write(text)
    assert "four times" in machine.context(machine.hook("SessionStart", machine.payload(**START)))


def test_another_branch_and_another_workspace_have_other_cards(machine: Machine) -> None:
    remember(machine)
    machine.hook("SessionStart", machine.payload(**START))
    (machine.project / ".lamina.toml").write_text('workspace = "elsewhere"\n')
    assert "three times" not in machine.context(machine.hook("SessionStart", machine.payload(**START)))


def test_a_prompt_shows_the_card_only_if_the_session_never_saw_one(machine: Machine) -> None:
    remember(machine)
    first = machine.hook("UserPromptSubmit", machine.payload(prompt="hello"))
    assert "retries three times" in machine.context(first)
    assert machine.hook("UserPromptSubmit", machine.payload(prompt="and now?")).stdout == b""


def test_a_changed_card_is_shown_again_with_a_prompt_after_half_an_hour(machine: Machine) -> None:
    remember(machine)
    machine.hook("SessionStart", machine.payload(**START))
    machine.settle()
    age(machine, 1_900)
    assert machine.hook("UserPromptSubmit", machine.payload(prompt="unchanged?")).stdout == b""
    age(machine, 1_900)
    remember(machine, "Deploys happen on Tuesdays only")
    machine.hook("SessionStart", machine.payload("33333333-2222-4333-8444-555555555555", **START))
    machine.settle()
    shown = machine.context(machine.hook("UserPromptSubmit", machine.payload(prompt="changed?")))
    assert "Tuesdays" in shown


def test_a_host_that_takes_no_context_at_the_start_gets_the_card_with_each_sessions_first_prompt(
    machine: Machine,
) -> None:
    remember(machine)
    for source in ("startup", "resume"):
        started = machine.hook("SessionStart", machine.payload(source=source), host="gemini")
        assert started.stdout == b""
        machine.settle()
        first = machine.hook("BeforeAgent", machine.payload(prompt="hello"), host="gemini")
        assert "retries three times" in machine.context(first)
        assert machine.hook("BeforeAgent", machine.payload(prompt="more"), host="gemini").stdout == b""


def age(machine: Machine, seconds: float) -> None:
    """Make as if the card of every session had been shown so long ago."""
    for path in (machine.state / "hooked").iterdir():
        lines = [
            f"shown {time.time() - seconds:.0f}" if line.startswith("shown ") else line
            for line in path.read_text().split("\n")
        ]
        path.write_text("\n".join(lines))


def test_a_host_without_an_event_for_a_compaction_gets_the_card_again(machine: Machine) -> None:
    """Gemini CLI writes its summary into the transcript and tells nobody."""
    remember(machine)
    path = machine.home / "chat.jsonl"
    path.write_text('{"type": "user", "content": "what is a <state_snapshot> in your prompts?"}\n')
    prompt = machine.payload(prompt="go on") | {"transcript_path": str(path)}
    first = machine.hook("BeforeAgent", prompt, host="gemini")
    assert "retries three times" in machine.context(first)
    assert machine.hook("BeforeAgent", prompt, host="gemini").stdout == b""
    with path.open("a") as handle:
        handle.write('{"$set": {"messages": [{"content": "<state_snapshot>so far</state_snapshot>"}]}}\n')
    assert machine.hook("BeforeAgent", prompt, host="gemini").stdout == first.stdout
    assert machine.hook("BeforeAgent", prompt, host="gemini").stdout == b""


@pytest.mark.parametrize(
    "prompt",
    ["<task-notification>\n<task-id>a1</task-id>", "<system-reminder>be brief</system-reminder>", "", "   "],
)
def test_what_no_person_typed_is_no_prompt(machine: Machine, prompt: str) -> None:
    remember(machine)
    assert machine.hook("UserPromptSubmit", machine.payload(prompt=prompt)).stdout == b""


def test_a_subagent_gets_one_short_note_and_leaves_no_trace(machine: Machine) -> None:
    told = machine.hook("SubagentStart", machine.payload(agent_id="a1", agent_type="general-purpose"))
    assert machine.context(told) == NOTE
    assert machine.spooled() == []


def test_a_subagent_without_a_type_is_the_hosts_own(machine: Machine) -> None:
    assert machine.hook("SubagentStart", machine.payload(agent_id="a1", agent_type="")).stdout == b""


def test_a_subagents_write_is_refused_and_names_the_tool(machine: Machine) -> None:
    inside = machine.payload(agent_id="a1", agent_type="general-purpose")
    refused = machine.hook(
        "PreToolUse", inside | {"tool_name": "mcp__lamina__memory_remember", "tool_input": {}}
    )
    said = json.loads(refused.stdout)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert "memory_remember" in said["permissionDecisionReason"]
    for free in ("mcp__lamina__memory_search", "mcp__lamina__memory_status"):
        assert machine.hook("PreToolUse", inside | {"tool_name": free, "tool_input": {}}).stdout == b""
    own = machine.payload(tool_name="mcp__lamina__memory_remember", tool_input={})
    assert machine.hook("PreToolUse", own).stdout == b""


# --- the spool and the worker ---


def test_each_event_leaves_one_line(machine: Machine) -> None:
    (machine.state / "locks").mkdir(exist_ok=True)
    for event in ("SessionStart", "Stop", "PreCompact", "SessionEnd"):
        with busy(machine):
            machine.hook(event, machine.payload(reason="other"))
    lines = machine.spooled()
    assert [line["event"] for line in lines] == ["start", "turn", "compact", "end"]
    assert {line["cwd"] for line in lines} == {str(machine.project)}
    assert all(abs(float(line["time"]) - time.time()) < DAY for line in lines)


class busy:  # noqa: N801 - reads as a word of the test
    """As if a worker ran: its lock is held."""

    def __init__(self, machine: Machine) -> None:
        self.path = machine.state / "locks" / "worker.lock"

    def __enter__(self) -> None:
        from lamina.live import disk

        handle = disk.take(str(self.path))
        assert handle is not None
        self.handle = handle

    def __exit__(self, *_: object) -> None:
        os.close(self.handle)


def test_a_session_of_laminas_own_and_a_switched_off_one_do_nothing(machine: Machine) -> None:
    remember(machine)
    for name in ("LAMINA_CHILD", "LAMINA_OFF"):
        for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"):
            done = machine.hook(event, machine.payload(prompt="hi"), env={name: "1"})
            assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert machine.spooled() == []
    assert machine.processes() == []


@pytest.mark.parametrize("said", ["", " ", "on", "true", "1"])
def test_a_switch_that_is_empty_or_on_switches_nothing_off(machine: Machine, said: str) -> None:
    with busy(machine):
        machine.hook("Stop", machine.payload(), env={"LAMINA_CAPTURE": said, "LAMINA_OFF": ""})
    assert len(machine.spooled()) == 1
    assert not (machine.state / "off").exists()


def test_five_hundred_calls_of_twenty_sessions_at_once(machine: Machine) -> None:
    """No lost line and none twice, one worker at a time, no process left."""
    calls = [
        (event, machine.payload(f"{number:08x}-2222-4333-8444-555555555555", source="startup"))
        for event in ("SessionStart", "PreCompact", *(["Stop"] * 22), "SessionEnd")
        for number in range(20)
    ]
    for number, (_, payload) in enumerate(calls):  # what tells two turns of a session apart
        payload["transcript_path"] = f"/t/{number}.jsonl"
    failed: list[Any] = []

    def run(mine: list[tuple[str, dict[str, Any]]]) -> None:
        for event, payload in mine:
            done = machine.hook(event, payload)
            if done.returncode or done.stderr:
                failed.append(done)

    def at_once(these: list[tuple[str, dict[str, Any]]]) -> None:
        threads = [threading.Thread(target=run, args=(these[number::20],)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    (machine.state / "locks").mkdir(exist_ok=True)
    held = disk.take(str(machine.state / "locks" / "worker.lock"))
    assert held is not None
    at_once(calls)  # no worker takes anything away meanwhile
    kinds = {"SessionStart": "start", "PreCompact": "compact", "Stop": "turn", "SessionEnd": "end"}
    expected = [(payload["session_id"], kinds[event], payload["transcript_path"]) for event, payload in calls]
    spooled = [(line["session"], line["event"], line["transcript"]) for line in machine.spooled()]
    assert len(spooled) == 500
    assert sorted(spooled) == sorted(expected)
    os.close(held)
    with watched(machine) as counts:
        at_once(calls[-20:])  # all sessions end once more: any of them may start the worker
        machine.settle(60)
    assert failed == []
    assert max(counts) == 1
    waiting = json.loads((machine.state / "waiting.json").read_text())
    assert {each["session"] for each in waiting.values()} == {session for session, _, _ in expected}
    assert all(each["ended"] for each in waiting.values())
    assert not (machine.state / "spool.jsonl").exists()
    assert machine.processes() == []


# --- what a hook may never do ---


def hostile(machine: Machine) -> list[bytes]:
    """Return payloads that no host should send."""
    base = machine.payload(prompt="hi", tool_name="Edit", tool_input={"file_path": "/x"})
    odd: list[Any] = [
        None,
        [],
        [base],
        "text",
        3,
        True,
        {},
        {"session_id": ["a"], "cwd": 7, "transcript_path": {}},
    ]
    long = "x" * 10_000_000
    odd += [
        base | {"session_id": long, "cwd": "/" + long, "prompt": long},
        base
        | {"session_id": "../../../../etc/cron.d/evil", "transcript_path": "../../etc/passwd", "cwd": ".."},
        base | {"session_id": "a/b\\c:d", "cwd": "/nonexistent/\x00/x", "transcript_path": "/etc/passwd"},
        base | {"session_id": "\u202e\n\r\x1b[31m", "cwd": "\n", "transcript_path": "//////"},
        base | {"agent_id": {"a": 1}, "agent_type": [1], "tool_name": None, "tool_input": "text"},
    ]
    raw = [json.dumps(each).encode() for each in odd]
    nested = b"[" * 200_000
    return [
        *raw, b"", b"\xff\xfe\x00", b"{", b'{"a": ' + nested, b"\x80\x81{\xff}", b'{"session_id": "\xff\xfe", "cwd": "/tmp"}',
        b'{"session_id": "a", "n": ' + b"9" * 100_000 + b"}", b'{"session_id": "\\ud800", "cwd": "/\\ud800"}', b"\0" * 1000,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "event",
    [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "Stop",
        "SessionEnd",
        "PreCompact",
        "SubagentStart",
        "Unheard",
    ],
)
def test_hostile_payloads_end_well_and_touch_nothing_outside_the_store(machine: Machine, event: str) -> None:
    outside = snapshot(machine.project)
    before = {path for path in machine.home.rglob("*") if machine.root not in path.parents}
    for raw in hostile(machine):
        with busy(machine):
            done = machine.hook(event, raw)
        assert (done.returncode, done.stderr) == (0, b""), raw[:80]
        if done.stdout:
            json.loads(done.stdout)
    assert snapshot(machine.project) == outside
    assert {path for path in machine.home.rglob("*") if machine.root not in path.parents} == before
    names = [path.name for path in (machine.state / "hooked").glob("*")]
    assert all(len(name) < 64 for name in names)


def test_byte_order_marks_and_a_foreign_locale_change_nothing(machine: Machine) -> None:
    folder = machine.home / "项目 ü"
    folder.mkdir()
    raw = json.dumps(machine.payload() | {"cwd": str(folder)}, ensure_ascii=False)
    for data in (
        raw.encode(),
        b"\xef\xbb\xbf" + raw.encode(),
        b"\xef\xbb\xbf" * 2 + raw.encode(),
        raw.encode("utf-16"),
    ):
        with busy(machine):
            machine.hook("Stop", data, env={"LC_ALL": "C", "LANG": "zh_CN.GBK", "PYTHONIOENCODING": "gbk"})
    assert [line["cwd"] for line in machine.spooled()] == [str(folder)] * 4


def test_a_key_in_a_path_or_an_id_is_not_written_down(machine: Machine) -> None:
    key = "ghp_" + "a1B2" * 9
    with busy(machine):
        machine.hook(
            "Stop", machine.payload(key) | {"cwd": f"/srv/{key}", "transcript_path": f"/t/{key}.jsonl"}
        )
    assert key.encode() not in b"".join(snapshot(machine.root).values())


def test_a_store_or_an_interpreter_that_is_gone_is_silence(machine: Machine) -> None:
    hook = program.hook(machine.root)
    text = hook.read_text()
    hook.write_text(text.replace("python=", "python=/nowhere"))
    for _ in range(2):
        done = machine.hook("SessionStart", machine.payload(**START))
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        hook.unlink(missing_ok=True)


def test_a_broken_copy_is_silence(machine: Machine) -> None:
    for name in ("fast", "run", "disk"):
        file = program.hook(machine.root).parent / program.PACKAGE / f"{name}.py"
        kept = file.read_text()
        file.write_text("this is no Python")
        done = machine.hook("Stop", machine.payload())
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        file.write_text(kept)


def test_a_program_that_is_gone_leaves_the_event_in_the_spool(machine: Machine) -> None:
    program.write(machine.root, python="/nowhere/python")
    hook = program.hook(machine.root)
    program.write(machine.root)
    run = hook.parent / program.PACKAGE / "run.py"
    run.write_text(run.read_text().replace("PROGRAM = ('", "PROGRAM = ('/nowhere"))
    done = machine.hook("SessionEnd", machine.payload())
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert [line["event"] for line in machine.spooled()] == ["end"]


def test_an_input_that_never_ends_ends_the_hook(machine: Machine) -> None:
    process = subprocess.Popen(
        ["sh", "-c", machine.command("claude-code", "Stop")], stdin=subprocess.PIPE, env=machine.env
    )
    assert process.stdin is not None
    process.stdin.write(b'{"session_id": "a"')
    process.stdin.flush()
    assert process.wait(timeout=15) == 0
    process.stdin.close()


def test_a_full_disk_is_told_in_no_way_that_a_host_sees(machine: Machine) -> None:
    (machine.state / "spool.jsonl").mkdir()
    done = machine.hook("Stop", machine.payload())
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert any(line["event"] == "hook_failed" for line in machine.log())


def test_what_a_hook_writes_is_the_persons_alone(machine: Machine) -> None:
    with busy(machine):
        machine.hook("SessionStart", machine.payload(**START))
    for path in (
        machine.state / "spool.jsonl",
        *(machine.state / "hooked").iterdir(),
        *(machine.state / "cards").iterdir(),
    ):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


# --- what it costs ---


def test_a_call_costs_little_more_than_starting_python() -> None:
    """At most 3 times without output, and 6 times with the card of a store of 10,000 entries."""
    for _ in range(3):  # a busy machine gets two more tries
        (_, bare, _), (_, card, _), *quiet = rows = hooks.measure(times=12)
        if card <= 6 * bare and all(cost <= 3 * bare for _, cost, _ in quiet):
            return
    pytest.fail(hooks.table(rows))


# --- what reviews found ---


def test_no_secret_of_the_environment_is_written_down(machine: Machine) -> None:
    secret = "ghp_" + "Zz9" * 12
    names = (
        "HOMEBREW_GITHUB_API_TOKEN",
        "LAMINA_GIT_TOKEN",
        "LAMINA_MODEL_KEY",
        "LAMINA_WORKSPACE_TOKEN",
        "HOMEPATH",
    )
    machine.hook("SessionStart", machine.payload(**START), env=dict.fromkeys(names, secret))
    machine.settle()
    assert secret.encode() not in b"".join(snapshot(machine.root).values())


def test_the_variables_that_decide_a_card_are_settings() -> None:
    from lamina.live.cardfile import DECIDING
    from lamina.settings.table import SETTINGS

    known = {setting.variable for setting in SETTINGS.values()} | {"HOME", "XDG_CONFIG_HOME"}
    assert set(DECIDING) <= known


def test_without_a_session_id_a_prompt_brings_no_card(machine: Machine) -> None:
    remember(machine)
    nameless = {"cwd": str(machine.project), "prompt": "hello"}
    assert machine.hook("UserPromptSubmit", nameless).stdout == b""
    assert "three times" in machine.context(machine.hook("SessionStart", nameless | START))


def test_a_pipe_as_transcript_holds_no_prompt_up(machine: Machine) -> None:
    pipe = machine.home / "pipe"
    os.mkfifo(pipe)
    began = time.monotonic()
    machine.hook("BeforeAgent", machine.payload(prompt="hi") | {"transcript_path": str(pipe)}, host="gemini")
    machine.hook("BeforeAgent", machine.payload(prompt="hi") | {"transcript_path": str(pipe)}, host="gemini")
    assert time.monotonic() - began < 7


def test_a_projects_python_path_decides_nothing(machine: Machine) -> None:
    remember(machine)
    package = machine.project / "json"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import pathlib; pathlib.Path(__file__).with_name('ran').write_text('x')"
    )
    done = machine.hook("SessionStart", machine.payload(**START), env={"PYTHONPATH": str(machine.project)})
    machine.settle()
    assert "three times" in machine.context(done)
    assert not (package / "ran").exists()


def test_a_subagent_may_look_at_state_and_use_other_servers(machine: Machine) -> None:
    inside = machine.payload(agent_id="a1", agent_type="general-purpose")
    free: list[tuple[str, dict[str, Any]]] = [
        ("mcp__lamina__memory_state", {}),
        ("mcp__lamina__memory_working", {"workspace": "x"}),
        ("mcp__other__memory_forget", {"id": "1"}),
        ("my_memory_working", {"section": "Task"}),
    ]
    for tool, given in free:
        assert machine.hook("PreToolUse", inside | {"tool_name": tool, "tool_input": given}).stdout == b"", (
            tool
        )
    for tool in ("mcp__lamina__memory_state", "mcp__plugin_lamina_lamina__memory_working"):
        given = {"section": "Task", "content": "x"}
        assert b"deny" in machine.hook("PreToolUse", inside | {"tool_name": tool, "tool_input": given}).stdout


def test_the_tools_that_write_are_those_of_the_server() -> None:
    from lamina.hosts.dialect import SHOWING, WRITING
    from lamina.interfaces.mcp.tools import TOOLS

    assert set(WRITING) == {tool.name for tool in TOOLS.values() if tool.writes}
    assert set(SHOWING) == {tool.name for tool in TOOLS.values() if tool.writes and tool.shows}


def test_a_clock_that_was_ahead_keeps_no_session_from_memory(machine: Machine) -> None:
    remember(machine)
    machine.hook("SessionStart", machine.payload(**START))
    machine.settle()
    age(machine, -3 * DAY)
    for path in (machine.state / "hooked").iterdir():
        path.write_text(f"{path.read_text()}\nworked {time.time() + 3 * DAY:.0f}\ncard other")
    assert "three times" in machine.context(machine.hook("UserPromptSubmit", machine.payload(prompt="hi")))
    machine.hook("Stop", machine.payload())
    machine.settle()
    assert machine.spooled() == []


@pytest.mark.parametrize(
    "name", ["task-runner", "risk-model-2024-analysis", "disk-usage", "ASIA", "my-sk-learn-fork"]
)
def test_a_project_whose_name_looks_like_a_key_is_no_key(machine: Machine, name: str) -> None:
    folder = machine.home / name
    folder.mkdir()
    with busy(machine):
        machine.hook("Stop", machine.payload() | {"cwd": str(folder)})
    assert [each["cwd"] for each in machine.spooled()] == [str(folder)]


def test_a_folder_whose_name_holds_a_key_has_no_card_and_is_written_nowhere(machine: Machine) -> None:
    remember(machine)
    keys = [
        "ghp_" + "a1B2" * 9,
        "sk-" + "a1B2c3" * 8,
        "hf_" + "a1B2" * 8,
        "AKIA" + "Z9" * 8,
        "npm_" + "a1B2" * 9,
    ]
    for key in keys:
        folder = machine.home / key
        folder.mkdir()
        session = machine.payload(key) | {"cwd": str(folder), "transcript_path": f"{folder}/x.jsonl"}
        for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"):
            machine.hook(event, session | {"prompt": "hi"})
    machine.settle()
    written = b"".join(snapshot(machine.root).values())
    assert not [key for key in keys if key.encode() in written]


def test_a_link_that_is_pointed_elsewhere_has_another_card(machine: Machine) -> None:
    remember(machine)
    other = machine.home / "other"
    other.mkdir()
    link = machine.home / "link"
    link.symlink_to(machine.project)
    here = machine.payload(**START) | {"cwd": str(link)}
    assert "three times" in machine.context(machine.hook("SessionStart", here))
    machine.settle()
    link.unlink()
    link.symlink_to(other)
    assert "three times" not in machine.context(machine.hook("SessionStart", here))


def test_an_edit_that_keeps_size_and_time_shows(machine: Machine) -> None:
    remember(machine)
    machine.hook("SessionStart", machine.payload(**START))
    machine.settle()
    file = next((machine.root / "workspaces").glob("*/learnings/*.md"))
    before = file.stat()
    file.write_text(file.read_text().replace("three", "seven"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert "seven times" in machine.context(machine.hook("SessionStart", machine.payload(**START)))


def test_a_topic_called_history_is_a_topic_like_any_other(machine: Machine) -> None:
    with machine.memory() as memory:
        memory.remember("The uploader retries three times", topic="history", layer="semantic")
    machine.hook("SessionStart", machine.payload(**START))
    machine.settle()
    file = next((machine.root / "workspaces").glob("*/semantic/history.md"))
    file.write_text(file.read_text().replace("three", "five"))
    assert "five times" in machine.context(machine.hook("SessionStart", machine.payload(**START)))


def test_a_payload_whose_input_stays_open_counts(machine: Machine) -> None:
    with busy(machine):
        process = subprocess.Popen(
            ["sh", "-c", machine.command("claude-code", "Stop")], stdin=subprocess.PIPE, env=machine.env
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps(machine.payload()).encode())
        process.stdin.flush()
        assert process.wait(timeout=8) == 0
        process.stdin.close()
    assert len(machine.spooled()) == 1


def test_six_starts_at_once_after_a_change_all_get_the_card(machine: Machine) -> None:
    remember(machine)
    shown: list[str] = []

    def start(number: int) -> None:
        shown.append(
            machine.context(machine.hook("SessionStart", machine.payload(f"{number}" * 32, **START)))
        )

    threads = [threading.Thread(target=start, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(shown)) == 1
    assert "three times" in shown[0]


def test_a_card_that_can_not_be_made_holds_up_one_prompt_and_no_more(machine: Machine) -> None:
    slow = machine.home / "python"
    slow.write_text("#!/bin/sh\nexec sleep 20\n")
    slow.chmod(0o700)
    run = program.hook(machine.root).parent / program.PACKAGE / "run.py"
    run.write_text(run.read_text().replace(repr(sys.executable), repr(str(slow))))
    machine.hook("SessionStart", machine.payload(**START))
    began = time.monotonic()
    for _ in range(3):
        assert machine.hook("UserPromptSubmit", machine.payload(prompt="hi")).stdout == b""
    assert time.monotonic() - began < 3


def test_a_failing_hook_writes_its_log_into_the_store_also_behind_a_link(machine: Machine) -> None:
    elsewhere = machine.home / "elsewhere" / "state"
    elsewhere.parent.mkdir()
    machine.state.rename(elsewhere)
    machine.state.symlink_to(elsewhere)
    (elsewhere / "spool.jsonl").mkdir()
    machine.hook("Stop", machine.payload())
    assert not (elsewhere.parent / "logs").exists()
    assert any(line["event"] == "hook_failed" for line in machine.log())


def test_a_spool_that_takes_nothing_keeps_no_card_back(machine: Machine) -> None:
    """A full or read-only disk, and a card that lies there."""
    remember(machine)
    machine.hook("SessionStart", machine.payload(**START))
    machine.settle()
    (machine.state / "spool.jsonl").mkdir()
    shown = machine.hook("SessionStart", machine.payload("4" * 32, **START))
    assert "three times" in machine.context(shown)
    machine.hook("SessionEnd", machine.payload())
    machine.settle()


@pytest.mark.parametrize("raw", [b"{", b'{"a":1', b"{,}", b'{"a" 1}', b'{"a":}'])
def test_broken_json_is_no_failure_of_ours(machine: Machine, raw: bytes) -> None:
    assert machine.hook("Stop", raw).stdout == b""
    assert machine.log() == [line for line in machine.log() if line["event"] != "hook_failed"]
