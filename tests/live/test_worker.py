"""The worker: sessions become notes and entries by themselves, whatever happens to hosts and processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lamina.hosts.render import Pause, Said, Turn, render_claude, render_codex
from lamina.live import disk, program, spool
from lamina.live.worker import wake, work
from lamina.memory import Memory
from lamina.store import installed
from live.standing import Machine

SESSION = "11111111-2222-4333-8444-555555555555"
OTHER = "22222222-2222-4333-8444-555555555555"
TURNS: list[Turn] = [
    Said(
        "user",
        "We decided to keep the uploader's retries at three with exponential backoff, because the server bans more.",
    ),
    Said(
        "assistant", "Understood: three retries, 1, 2 and 4 seconds. I changed src/upload.py and its tests."
    ),
    Said(
        "user",
        "No, never use a fixed delay there. Always add jitter, so that clients do not come back at the same moment.",
    ),
    Said(
        "assistant",
        "Jitter is in now, between 0 and 500 milliseconds, and the test checks that two delays differ.",
    ),
]


def leave(machine: Machine, session: str = SESSION, turns: list[Turn] | None = None) -> Path:
    """Leave a transcript as Claude Code does."""
    path = machine.transcript(session)
    path.parent.mkdir(parents=True, exist_ok=True)
    started = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
    text = render_claude(
        session, TURNS if turns is None else turns, cwd=str(machine.project), started=started
    )
    path.write_text(text, encoding="utf-8")
    return path


def tell(machine: Machine, event: str, session: str = SESSION, **more: str) -> None:
    """Write a line as the hook does."""
    fields = {
        "time": f"{time.time():.3f}", "host": "claude-code", "event": event, "session": session,
        "cwd": str(machine.project), "transcript": str(machine.transcript(session)),
    } | more  # fmt: skip
    disk.append(str(machine.state / "spool.jsonl"), (json.dumps(fields) + "\n").encode())


def notes(machine: Machine) -> list[str]:
    folder = machine.root / "digests"
    return sorted(path.name for path in folder.glob("*.md")) if folder.exists() else []


def run(machine: Machine) -> None:
    assert work(machine.root, env=machine.env)


def install(machine: Machine, host: str = "claude-code", *, days_ago: int = 1) -> None:
    since = datetime.now(UTC) - timedelta(days=days_ago)
    installed.save(machine.root, {host: installed.Installed(since)})


def age(path: Path, seconds: float) -> None:
    os.utime(path, (time.time() - seconds,) * 2)


def test_a_session_becomes_a_note_and_an_entry_without_anybody_asking(machine: Machine) -> None:
    leave(machine)
    machine.hook("SessionStart", machine.payload(SESSION, source="startup"))
    machine.hook("Stop", machine.payload(SESSION))
    machine.hook("SessionEnd", machine.payload(SESSION, reason="other"))
    machine.settle()
    assert len(notes(machine)) == 1
    shown = machine.context(machine.hook("SessionStart", machine.payload(OTHER, source="startup")))
    assert "jitter" in shown


def test_a_session_is_captured_once_an_interval(machine: Machine) -> None:
    leave(machine, turns=TURNS[:2])
    tell(machine, "turn")
    run(machine)
    first = notes(machine)
    size = (machine.root / "digests" / first[0]).stat().st_size if first else 0
    leave(machine, turns=[*TURNS, *TURNS])
    tell(machine, "turn")
    run(machine)
    assert notes(machine) == first
    assert not first or (machine.root / "digests" / first[0]).stat().st_size == size
    assert spool.load(machine.state)[f"claude-code/{SESSION}"].changed
    tell(machine, "end")
    run(machine)
    assert len(notes(machine)) == 1
    assert not spool.load(machine.state)[f"claude-code/{SESSION}"].changed


def test_what_waited_for_the_interval_is_captured_by_a_later_worker(machine: Machine) -> None:
    leave(machine)
    tell(machine, "turn")
    run(machine)
    waiting = spool.load(machine.state)
    key = f"claude-code/{SESSION}"
    waiting[key] = replace(waiting[key], changed=True, captured=time.time() - 301)
    spool.save(machine.state, waiting)
    run(machine)
    assert not spool.load(machine.state)[key].changed


def test_five_ends_make_one_note(machine: Machine) -> None:
    leave(machine)
    for _ in range(5):
        tell(machine, "end")
        run(machine)
    [name] = notes(machine)
    assert (machine.root / "digests" / name).read_text().count("jitter") == 1


def test_a_session_whose_host_died_is_found_in_its_folder(machine: Machine) -> None:
    install(machine)
    age(leave(machine), 3_600)
    run(machine)
    assert len(notes(machine)) == 1
    run(machine)
    assert len(notes(machine)) == 1


def test_a_session_that_is_still_going_on_is_left_alone_by_the_scan(machine: Machine) -> None:
    install(machine)
    age(leave(machine), 10)
    run(machine)
    assert notes(machine) == []


def test_sessions_from_before_the_install_are_left_to_import(machine: Machine) -> None:
    install(machine)
    age(leave(machine), 3 * 86_400)
    run(machine)
    assert notes(machine) == []


def test_a_host_that_is_not_installed_is_not_looked_at(machine: Machine) -> None:
    age(leave(machine), 3_600)
    run(machine)
    assert notes(machine) == []


def test_a_session_that_no_path_was_told_of_is_found_by_its_id(machine: Machine) -> None:
    leave(machine)
    tell(machine, "end", transcript="")
    run(machine)
    assert len(notes(machine)) == 1


def test_codex_sessions_too(machine: Machine) -> None:
    path = (
        machine.home
        / ".codex"
        / "sessions"
        / "2026"
        / "11"
        / "02"
        / f"rollout-2026-11-02T09-00-00-{SESSION}.jsonl"
    )
    path.parent.mkdir(parents=True)
    path.write_text(
        render_codex(SESSION, TURNS, cwd=str(machine.project), started=datetime(2026, 11, 2, 9, tzinfo=UTC))
    )
    tell(machine, "end", host="codex", transcript=str(path))
    run(machine)
    assert len(notes(machine)) == 1


def test_what_is_said_in_a_pause_stays_out_of_memory(machine: Machine) -> None:
    """The session is read after the pause, with what was said before and after it."""
    started = datetime.now(UTC) - timedelta(minutes=40)
    secret = "We decided to tell nobody before Friday that the office moves to Lisbon, so keep it out of every file."
    turns: list[Turn] = [
        *TURNS,
        Pause(20),
        Said("user", secret),
        Said("assistant", "I keep it to myself."),
        Pause(20),
        *TURNS[:2],
    ]
    path = leave(machine, turns=[])
    path.write_text(render_claude(SESSION, turns, cwd=str(machine.project), started=started))
    records = [json.loads(line) for line in path.read_text().splitlines() if "Lisbon" in line]
    times = [datetime.fromisoformat(each["timestamp"]) for each in records if "timestamp" in each]
    clock = iter([times[0] - timedelta(minutes=1), times[0] + timedelta(minutes=5)])
    with Memory.open(machine.root, cwd=machine.project, env=machine.env, clock=lambda: next(clock)) as memory:
        memory.pause()
        tell(machine, "end")
    run(machine)
    assert notes(machine) == []
    with Memory.open(
        machine.root, cwd=machine.project, env=machine.env, clock=lambda: times[0] + timedelta(minutes=5)
    ) as memory:
        memory.resume()
    run(machine)
    [name] = notes(machine)
    text = (machine.root / "digests" / name).read_text()
    assert "jitter" in text
    assert "Lisbon" not in text


def test_an_excluded_folder_is_dropped(machine: Machine) -> None:
    leave(machine)
    (machine.project / ".lamina.toml").write_text('capture = "off"\n')
    tell(machine, "end")
    run(machine)
    assert notes(machine) == []
    assert not spool.load(machine.state)[f"claude-code/{SESSION}"].changed


def test_a_file_that_is_no_transcript_is_never_read_into_memory(machine: Machine) -> None:
    bad = machine.home / "passwd"
    bad.write_text("root:x:0:0\n")
    tell(machine, "end", transcript=str(bad))
    leave(machine, OTHER)
    tell(machine, "end", OTHER)
    run(machine)
    assert len(notes(machine)) == 1
    assert [line["session"] for line in machine.log() if line["event"] == "capture_failed"] == [SESSION]


def test_a_session_without_a_file_is_looked_for_three_times(machine: Machine) -> None:
    tell(machine, "end")
    for _ in range(5):
        run(machine)
        key = f"claude-code/{SESSION}"
        waiting = spool.load(machine.state)
        waiting[key] = replace(waiting[key], captured=time.time() - 301)
        spool.save(machine.state, waiting)
    assert len([line for line in machine.log() if line["event"] == "capture_failed"]) == 3


def test_a_host_that_is_unknown_is_passed_over(machine: Machine) -> None:
    tell(machine, "end", host="../../nonsense")
    run(machine)
    assert notes(machine) == []


def test_a_killed_worker_leaves_its_work_to_the_next(machine: Machine) -> None:
    for number in range(6):
        session = f"{number:08x}-2222-4333-8444-555555555555"
        leave(machine, session)
        tell(machine, "end", session)
    for delay in (0.2, 0.5, 0.8, 1.1):
        handle = disk.take(str(machine.state / "locks" / "worker.lock"))
        assert handle is not None
        os.set_inheritable(handle, True)
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "lamina.live", str(machine.root), "worker", str(handle)],
            env=machine.env, pass_fds=(handle,), cwd=machine.home,
        )  # fmt: skip
        os.close(handle)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
    run(machine)
    assert len(notes(machine)) == 6
    for name in notes(machine):
        assert (machine.root / "digests" / name).read_text().count("jitter") == 1


def test_one_worker_at_a_time(machine: Machine) -> None:
    handle = disk.take(str(machine.state / "locks" / "worker.lock"))
    assert handle is not None
    assert not work(machine.root, env=machine.env)
    os.close(handle)
    assert work(machine.root, env=machine.env)


def test_a_subagents_transcript_is_never_captured(machine: Machine) -> None:
    install(machine)
    leave(machine)
    path = machine.transcript(SESSION).with_suffix("") / "subagents" / "agent-a1b2.jsonl"
    path.parent.mkdir(parents=True)
    task: list[Turn] = [
        Said(
            "user", "Search the whole repository for every place that opens a socket and list them, please."
        ),
        *TURNS[1:],
    ]
    path.write_text(
        render_claude(
            SESSION,
            task,
            cwd=str(machine.project),
            started=datetime(2026, 11, 2, 9, tzinfo=UTC),
            agent="a1b2",
        )
    )
    age(path, 3_600)
    age(machine.transcript(SESSION), 3_600)
    run(machine)
    [name] = notes(machine)
    assert "opens a socket" not in (machine.root / "digests" / name).read_text()


def test_the_worker_keeps_the_cards_ready(machine: Machine) -> None:
    machine.hook("SessionStart", machine.payload(SESSION, source="startup"))
    machine.settle()
    with machine.memory() as memory:
        memory.remember("Deploys happen on Tuesdays only")
    run(machine)
    card = next(path for path in (machine.state / "cards").iterdir() if path.suffix != ".tmp")
    assert "Tuesdays" in card.read_text()


def test_a_worker_that_can_write_nothing_ends(machine: Machine) -> None:
    tell(machine, "end")
    leave(machine)
    (machine.state / "waiting.json").mkdir()
    run(machine)
    assert any(line["event"] == "worker_failed" for line in machine.log())
    (machine.state / "waiting.json").rmdir()
    run(machine)
    assert len(notes(machine)) == 1


def test_doctor_tells_what_hooks_and_workers_could_not_do(machine: Machine) -> None:
    tell(machine, "end")
    run(machine)
    machine.hook("Stop", b'{"session_id": "a"}')
    (machine.state / "spool.jsonl").unlink(missing_ok=True)
    (machine.state / "spool.jsonl").mkdir()
    machine.hook("Stop", machine.payload(SESSION))
    with machine.memory() as memory:
        told = [each["message"] for each in memory.doctor() if each["level"] == "warning"]
    assert any("capture failed claude-code" in each and "there is no transcript" in each for each in told)
    assert any("hook failed claude-code Stop: IsADirectoryError" in each for each in told)


# --- what reviews found ---


def test_a_session_of_a_process_that_was_switched_off_is_never_captured(machine: Machine) -> None:
    install(machine)
    for session, env in ((SESSION, {"LAMINA_OFF": "1"}), (OTHER, {"LAMINA_CAPTURE": "off"})):
        leave(machine, session)
        for event in ("SessionStart", "Stop", "SessionEnd"):
            machine.hook(event, machine.payload(session), env=env)
        age(machine.transcript(session), 3_600)
    machine.settle()
    run(machine)
    assert notes(machine) == []
    with machine.memory() as memory:
        assert memory.import_sessions([machine.transcript(SESSION).parent])["skipped"]["off"] == 2
    assert notes(machine) == []


def test_what_could_not_be_written_once_is_captured_later(machine: Machine) -> None:
    """Found by the scan or told by a hook: a passing trouble is no end."""
    install(machine)
    age(leave(machine), 3_600)
    leave(machine, OTHER)
    tell(machine, "end", OTHER)
    digests = machine.root / "digests"
    digests.rmdir()
    digests.write_text("in the way")
    run(machine)
    digests.unlink()
    digests.mkdir()
    forget_the_wait(machine)
    run(machine)
    assert len(notes(machine)) == 2


def forget_the_wait(machine: Machine) -> None:
    """Make as if the time between two tries had gone by."""
    waiting = spool.load(machine.state)
    spool.save(
        machine.state, {key: replace(each, captured=each.captured - 400) for key, each in waiting.items()}
    )
    path = machine.state / "scanned.json"
    seen = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({name: {**value, "at": value["at"] - 4_000} for name, value in seen.items()}))


def test_a_worker_that_one_terminal_started_with_capture_off_settles_nobody_else(machine: Machine) -> None:
    leave(machine)
    tell(machine, "end")
    assert work(machine.root, env=machine.env | {"LAMINA_CAPTURE": "off"})
    assert len(notes(machine)) == 1


def test_an_end_is_captured_at_once_though_the_turn_before_it_failed(machine: Machine) -> None:
    tell(machine, "turn")
    run(machine)
    assert spool.load(machine.state)[f"claude-code/{SESSION}"].tries == 1
    leave(machine)
    tell(machine, "end")
    run(machine)
    assert len(notes(machine)) == 1


def test_one_transcript_with_a_hostile_id_stops_nobody(machine: Machine) -> None:
    install(machine)
    bad = leave(machine, "00000000-2222-4333-8444-555555555555")
    bad.write_text(bad.read_text().replace('"sessionId":"00000000', '"sessionId":"../../../../etc/x', 1))
    age(bad, 3_600)
    age(leave(machine), 3_600)
    run(machine)
    assert any(SESSION in name for name in notes(machine))
    with machine.memory() as memory:
        memory.import_sessions([bad.parent])


def test_a_folder_with_an_endless_name_stops_no_consolidation(machine: Machine) -> None:
    path = leave(machine)
    path.write_text(path.read_text().replace(str(machine.project), "/srv/" + "n" * 300))
    tell(machine, "end")
    leave(machine, OTHER)
    tell(machine, "end", OTHER)
    run(machine)
    assert [line for line in machine.log() if line["event"] == "worker_failed"] == []
    with machine.memory() as memory:
        assert not memory.pending()


def test_a_turn_that_came_too_early_is_taken_up_without_another_event(machine: Machine) -> None:
    """By the processes that run beside a session for hours."""
    leave(machine)
    tell(machine, "turn")
    assert wake(machine.root, machine.env)
    machine.settle()
    assert not wake(machine.root, machine.env)
    leave(machine, turns=[*TURNS, *TURNS[:1]])
    waiting = spool.load(machine.state)
    key = f"claude-code/{SESSION}"
    spool.save(machine.state, {key: replace(waiting[key], changed=True, captured=time.time() - 301)})
    assert wake(machine.root, machine.env)
    machine.settle()
    assert not spool.load(machine.state)[key].changed


def test_a_host_that_never_tells_the_end_has_its_short_sessions_kept(machine: Machine) -> None:
    from lamina.hosts.render import render_qwen

    path = machine.home / ".qwen" / "projects" / "-project" / "chats" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    started = datetime(2026, 11, 2, 9, tzinfo=UTC)
    path.write_text(render_qwen(SESSION, TURNS[:2], cwd=str(machine.project), started=started))
    tell(machine, "turn", host="qwen", transcript=str(path))
    run(machine)
    assert len(notes(machine)) == 1


def test_an_install_into_one_project_captures_no_other(machine: Machine) -> None:
    since = datetime.now(UTC) - timedelta(days=1)
    projects = (str(machine.project),)
    installed.save(machine.root, {"claude-code": installed.Installed(since, user=False, projects=projects)})
    age(leave(machine), 3_600)
    private = leave(machine, OTHER)
    private.write_text(private.read_text().replace(str(machine.project), str(machine.home / "private")))
    age(private, 3_600)
    run(machine)
    [name] = notes(machine)
    assert SESSION in name


def test_a_pause_before_a_run_leaves_everything_waiting(machine: Machine) -> None:
    sessions = [f"{number:08x}-2222-4333-8444-555555555555" for number in range(3)]
    for session in sessions:
        leave(machine, session)
        tell(machine, "end", session)
    with machine.memory() as memory:
        memory.pause()
    run(machine)
    assert all(each.changed for each in spool.load(machine.state).values())
    with machine.memory() as memory:
        memory.resume()
    run(machine)
    assert len(notes(machine)) == 3


def test_the_worker_brings_the_hooks_copy_up_to_date_and_sweeps(machine: Machine) -> None:
    install(machine)
    copy = program.hook(machine.root).parent / program.PACKAGE / "fast.py"
    copy.write_text("old = True\n")
    left = machine.state / "cards" / "x.1.tmp"
    left.parent.mkdir(exist_ok=True)
    left.write_text("")
    age(left, 7_200)
    run(machine)
    assert not program.stale(machine.root)
    assert not left.exists()


def test_cards_of_all_folders_are_kept_ready(machine: Machine) -> None:
    folders = [machine.project / name for name in ("a", "b", "c")]
    for folder in folders:
        folder.mkdir()
        machine.hook("SessionStart", machine.payload(SESSION, source="startup") | {"cwd": str(folder)})
        machine.settle()
    with machine.memory() as memory:
        memory.remember("Deploys happen on Tuesdays only")
    run(machine)
    kept = [path.read_text() for path in (machine.state / "cards").iterdir()]
    assert sum("Tuesdays" in text for text in kept) == 3


def test_one_terminals_settings_are_not_everybodys(machine: Machine) -> None:
    """A worker started by a session that names a model asks it about nobody."""
    leave(machine)
    tell(machine, "end")
    assert work(
        machine.root,
        env=machine.env | {"LAMINA_MODEL": "custom/x", "LAMINA_MODEL_BASE_URL": "http://127.0.0.1:9"},
    )
    assert len(notes(machine)) == 1
    with machine.memory() as memory:
        assert memory.status()["models"]["calls"] == 0


def test_the_workspace_that_a_sessions_environment_names_gets_its_memory(machine: Machine) -> None:
    leave(machine)
    machine.hook("SessionEnd", machine.payload(SESSION), env={"LAMINA_WORKSPACE": "harbour"})
    machine.settle()
    assert (machine.root / "workspaces" / "harbour").is_dir()
    start = machine.payload(OTHER, source="startup")
    shown = machine.context(machine.hook("SessionStart", start, env={"LAMINA_WORKSPACE": "harbour"}))
    assert "jitter" in shown


def test_a_purge_leaves_nothing_in_the_cards(machine: Machine) -> None:
    with machine.memory() as memory:
        done = memory.remember("The vault code of pier nine is wombat eleven", layer="learnings")
    machine.hook("SessionStart", machine.payload(SESSION, source="startup"))
    machine.settle()
    assert any("wombat" in path.read_text() for path in (machine.state / "cards").iterdir())
    with machine.memory() as memory:
        memory.forget([done.id], purge=True)
    assert not [path for path in (machine.state / "cards").iterdir() if "wombat" in path.read_text()]


def test_one_damaged_card_keeps_no_other_from_being_made(machine: Machine) -> None:
    folders = [machine.project / name for name in ("a", "b")]
    for folder in folders:
        folder.mkdir()
        machine.hook("SessionStart", machine.payload(SESSION, source="startup") | {"cwd": str(folder)})
        machine.settle()
    first = min((machine.state / "cards").iterdir())
    text = first.read_text().split("\n")
    first.write_text("\n".join("set asked never" if line.startswith("set asked") else line for line in text))
    with machine.memory() as memory:
        memory.remember("Deploys happen on Tuesdays only")
    run(machine)
    assert any("Tuesdays" in path.read_text() for path in (machine.state / "cards").iterdir())


def test_events_without_a_time_are_as_old_as_the_one_before(machine: Machine) -> None:
    started = datetime.now(UTC) - timedelta(minutes=30)
    path = leave(machine, turns=[])
    secret = "We decided to tell nobody before Friday that the office moves to Lisbon, so keep it out of every file."
    text = render_claude(
        SESSION, [*TURNS, Pause(20), Said("user", secret)], cwd=str(machine.project), started=started
    )
    lines = [json.loads(line) for line in text.splitlines()]
    said = [each for each in lines if "Lisbon" in json.dumps(each)]
    at = datetime.fromisoformat(next(each["timestamp"] for each in said if "timestamp" in each))
    for each in said:
        each.pop("timestamp", None)
    place = lines.index(said[0])
    chat = json.loads(json.dumps(next(each for each in lines if each.get("type") == "assistant")))
    chat |= {"timestamp": at.strftime("%Y-%m-%dT%H:%M:%S.000Z"), "uuid": "n"}
    chat["message"] |= {"id": "msg_n", "content": [{"type": "text", "text": "A word before."}]}
    path.write_text("".join(json.dumps(each) + "\n" for each in [*lines[:place], chat, *lines[place:]]))
    with Memory.open(
        machine.root, cwd=machine.project, env=machine.env, clock=lambda: at - timedelta(minutes=5)
    ) as memory:
        memory.pause()
    with Memory.open(
        machine.root, cwd=machine.project, env=machine.env, clock=lambda: at + timedelta(minutes=5)
    ) as memory:
        memory.resume()
    tell(machine, "end")
    run(machine)
    [name] = notes(machine)
    assert "Lisbon" not in (machine.root / "digests" / name).read_text()
