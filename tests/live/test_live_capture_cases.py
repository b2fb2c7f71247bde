"""The known failures of capture that hooks can cause, through the hook and the worker; by their numbers."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from pathlib import Path

from lamina.formats.event import CHILD_MARK
from lamina.hosts.render import Compacted, Said, Turn
from lamina.live import spool
from live.standing import Machine
from live.test_worker import OTHER, SESSION, TURNS, age, install, leave, notes, run, tell

TASK = "Search the whole repository for every place that opens a socket, and always answer in a table."


def text(machine: Machine) -> str:
    """Everything that was kept: notes and entries."""
    files = [*machine.root.glob("digests/*.md"), *machine.root.glob("workspaces/**/*.md")]
    return "\n".join(path.read_text() for path in files)


def live(machine: Machine, session: str = SESSION) -> None:
    """Let the host tell a whole session, and wait for the worker."""
    machine.hook("SessionStart", machine.payload(session, source="startup"))
    machine.hook("UserPromptSubmit", machine.payload(session, prompt="go on"))
    machine.hook("Stop", machine.payload(session))
    machine.hook("SessionEnd", machine.payload(session, reason="other"))
    machine.settle()


def test_case_3_a_subagents_task_is_nobodys_wish(machine: Machine) -> None:
    install(machine)
    leave(machine)
    sidechain = machine.transcript(SESSION).with_suffix("") / "subagents" / "agent-a1.jsonl"
    sidechain.parent.mkdir(parents=True)
    lines = (
        leave(machine, OTHER, [Said("user", TASK), Said("assistant", "I list them.")])
        .read_text()
        .splitlines()
    )
    marked = [
        json.loads(line) | {"isSidechain": True, "agentId": "a1", "sessionId": SESSION} for line in lines
    ]
    sidechain.write_text("".join(json.dumps(line) + "\n" for line in marked))
    machine.transcript(OTHER).unlink()
    age(sidechain, 3_600)
    inside = {"agent_id": "a1", "agent_type": "general-purpose", "agent_transcript_path": str(sidechain)}
    machine.hook("SubagentStart", machine.payload(SESSION, **inside))
    live(machine)
    assert "jitter" in text(machine)
    assert "socket" not in text(machine)


def test_case_4_a_record_of_another_kind_between_loses_no_message(machine: Machine) -> None:
    path = leave(machine)
    records = [json.loads(line) for line in path.read_text().splitlines()]
    at = next(number for number, each in enumerate(records) if "jitter" in json.dumps(each))
    odd = {
        "type": "attachment",
        "attachment": {"type": "skill_listing"},
        "uuid": "x",
        "parentUuid": None,
        "sessionId": SESSION,
    }
    records[at]["parentUuid"] = "x"
    path.write_text("".join(json.dumps(each) + "\n" for each in [*records[:at], odd, *records[at:]]))
    live(machine)
    assert "exponential backoff" in text(machine)
    assert "jitter" in text(machine)


def test_case_7_a_compaction_summary_is_no_evidence(machine: Machine) -> None:
    summary = "The person decided to move the whole system to Kubernetes 1.99 and to drop SQLite. " * 60
    leave(machine, turns=[*TURNS, Compacted(summary), *TURNS[:2]])
    machine.hook("PreCompact", machine.payload(SESSION, trigger="auto"))
    live(machine)
    assert "jitter" in text(machine)
    assert "Kubernetes" not in text(machine)


def test_case_8_every_stop_reads_only_what_is_new(machine: Machine) -> None:
    turns: list[Turn] = []
    for number in range(4):
        turns += [
            Said(
                "user",
                f"We decided that port {7000 + number} is the one of service number {number}, because it was free.",
            ),
            *TURNS[1:2],
        ]
        leave(machine, turns=turns)
        machine.hook("Stop", machine.payload(SESSION))
        machine.settle()
        hasten(machine)
        run(machine)
    read = [line["events"] for line in machine.log() if line["event"] == "capture"]
    assert sum(read) <= 2 * len(turns) + 8
    assert all(text(machine).count(f"port {7000 + number}") >= 1 for number in range(3))


def hasten(machine: Machine) -> None:
    """Make as if the interval of every session had gone by."""
    waiting = spool.load(machine.state)
    spool.save(machine.state, {key: replace(each, captured=0.0) for key, each in waiting.items()})


def test_case_11_a_model_run_of_our_own_is_not_recorded(machine: Machine) -> None:
    install(machine)
    own = leave(machine, OTHER, [Said("user", f"{CHILD_MARK}\n{TURNS[0].text}"), *TURNS[1:]])  # type: ignore[union-attr]
    for event in ("SessionStart", "Stop", "SessionEnd"):
        assert machine.hook(event, machine.payload(OTHER), env={"LAMINA_CHILD": "1"}).stdout == b""
    assert machine.spooled() == []
    tell(machine, "end", OTHER)  # even if a hook did tell of it
    age(own, 3_600)
    run(machine)
    assert notes(machine) == []


def test_case_12_a_session_that_was_cut_off_is_captured(machine: Machine) -> None:
    install(machine)
    path = leave(machine)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - 40])  # killed in the middle of a line
    machine.hook("SessionStart", machine.payload(SESSION, source="startup"))
    machine.settle()
    assert notes(machine) == []
    age(path, 3_600)
    run(machine)
    assert "backoff" in text(machine)


def test_case_12_a_short_clean_exit_is_captured(machine: Machine) -> None:
    leave(machine, turns=TURNS[:2])
    live(machine)
    assert "retries at three" in text(machine)


def test_case_13_five_stops_append_one_section(machine: Machine) -> None:
    leave(
        machine,
        turns=[
            *TURNS,
            Said(
                "user",
                "We also decided that uploads above 40 MB are cut into parts of 8 MB, since the proxy drops larger bodies.",
            ),
        ],
    )
    for _ in range(5):
        machine.hook("Stop", machine.payload(SESSION))
        machine.settle()
        hasten(machine)
    run(machine)
    [name] = notes(machine)
    assert (machine.root / "digests" / name).read_text().count("jitter, so that") <= 1


def test_a_transcript_that_grows_while_it_is_read_is_read_to_its_end_later(machine: Machine) -> None:
    path = leave(machine)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    tell(machine, "turn")
    run(machine)
    path.write_bytes(whole)
    tell(machine, "end")
    run(machine)
    assert "jitter" in text(machine)
    assert time.time() - path.stat().st_mtime < 60
    assert os.access(path, os.R_OK)


def test_a_folder_or_a_pipe_told_as_transcript_holds_nobody_up(machine: Machine, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for number, path in enumerate((pipe, tmp_path, Path("/dev/zero"), Path("/dev/null"))):
        tell(machine, "end", f"{number}" * 8, transcript=str(path))
    began = time.monotonic()
    run(machine)
    assert time.monotonic() - began < 30
    assert notes(machine) == []
