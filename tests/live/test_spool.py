"""The spool: nothing that a hook wrote is lost, whenever the worker takes it or dies."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lamina.live import disk, spool

PROCESSES, LINES = 8, 60


def line(session: str, event: str = "turn", **more: str) -> bytes:
    fields = {
        "time": "1.5",
        "host": "codex",
        "event": event,
        "session": session,
        "cwd": "/p",
        "transcript": "/t",
    }
    return (json.dumps(fields | more) + "\n").encode()


def write(path: str, number: int) -> None:
    for count in range(LINES):
        disk.append(path, line(f"{number}-{count}"))


def test_every_line_of_many_processes_is_taken_once(tmp_path: Path) -> None:
    writers = [
        multiprocessing.get_context("spawn").Process(
            target=write, args=(str(tmp_path / "spool.jsonl"), number)
        )
        for number in range(PROCESSES)
    ]
    for each in writers:
        each.start()
    found: dict[str, spool.Waiting] = {}
    while any(each.is_alive() for each in writers):
        found |= spool.take(tmp_path)
    for each in writers:
        each.join()
    found |= spool.take(tmp_path)
    assert len(found) == PROCESSES * LINES
    assert spool.is_empty(tmp_path)


def test_what_a_killed_worker_had_put_aside_is_taken_by_the_next(tmp_path: Path) -> None:
    (tmp_path / "spool-taken.jsonl").write_bytes(line("a"))
    (tmp_path / "spool.jsonl").write_bytes(line("b"))
    assert sorted(each.session for each in spool.take(tmp_path).values()) == ["a", "b"]
    assert spool.is_empty(tmp_path)
    assert sorted(each.session for each in spool.load(tmp_path).values()) == ["a", "b"]


def test_events_of_a_session_become_one_record(tmp_path: Path) -> None:
    path = tmp_path / "spool.jsonl"
    path.write_bytes(
        line("a", "start") + line("a", "turn", time="2.5", transcript="") + line("a", "end", time="9")
    )
    [found] = spool.take(tmp_path).values()
    assert (found.time, found.ended, found.changed, found.pressing, found.transcript) == (
        9,
        True,
        True,
        True,
        "/t",
    )


def test_a_session_that_goes_on_is_not_over_any_more(tmp_path: Path) -> None:
    path = tmp_path / "spool.jsonl"
    path.write_bytes(line("a", "end") + line("a", "start"))
    [found] = spool.take(tmp_path).values()
    assert not found.ended


@pytest.mark.parametrize(
    "garbage",
    [
        b"", b"\n\n", b"{", b"[]\n", b"[]", b'{"host": 3}\n', b'{"host": 3}', b"\xff\xfe\n", b"\xe4\xb8",
        b'{"host": "codex"}\n', b'{"host": "co', b"null", b"\r", b"\0\0",
    ],
)  # fmt: skip
def test_garbage_costs_only_itself(tmp_path: Path, garbage: bytes) -> None:
    path = tmp_path / "spool.jsonl"
    path.write_bytes(line("a") + garbage)
    for session in ("b", "c"):
        disk.append(str(path), line(session))
    assert [each.session for each in spool.take(tmp_path).values()] == ["a", "b", "c"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"a": 1}', '{"a": {"host": "x"}}'])
def test_a_damaged_record_of_what_waits_says_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "waiting.json").write_text(text)
    (tmp_path / "spool.jsonl").write_bytes(line("a"))
    assert [each.session for each in spool.take(tmp_path).values()] == ["a"]


def test_a_lock_lives_as_long_as_its_last_holder(tmp_path: Path) -> None:
    path = str(tmp_path / "worker.lock")
    first = disk.take(path)
    assert first is not None
    assert disk.take(path) is None
    copy = os.dup(first)
    os.close(first)
    assert disk.take(path) is None
    os.close(copy)
    second = disk.take(path)
    assert second is not None
    os.close(second)


def test_a_lock_file_that_was_deleted_is_not_mistaken_for_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "worker.lock"
    first = disk.take(str(path))
    path.unlink()
    second = disk.take(str(path))
    assert first is not None
    assert second is not None
    assert disk.take(str(path)) is None


def test_a_hook_waits_while_the_spool_is_being_taken(tmp_path: Path) -> None:
    path = tmp_path / "spool.jsonl"
    path.write_bytes(line("a"))
    handle = os.open(path, os.O_RDWR)
    disk.lock(handle, shared=False)
    writer = threading.Thread(target=disk.append, args=(str(path), line("b")))
    writer.start()
    writer.join(0.2)
    assert writer.is_alive()
    path.replace(tmp_path / "spool-taken.jsonl")
    os.close(handle)
    writer.join(5)
    assert sorted(each.session for each in spool.take(tmp_path).values()) == ["a", "b"]


@pytest.mark.parametrize(
    "record",
    [
        {"host": "codex", "session": "x", "time": "abc"},
        {"host": "codex", "session": "x", "captured": "z", "tries": "3"},
        {"host": "codex", "session": "x", "captured": 1e300, "time": 1e300},
        {"host": "codex", "session": "x", "odd": 1, "ended": "yes"},
        {"host": 3, "session": []},
        7,
    ],
)
def test_one_odd_record_costs_no_other(tmp_path: Path, record: object) -> None:
    good = {"host": "codex", "session": "b", "changed": True, "captured": 5.0}
    (tmp_path / "waiting.json").write_text(json.dumps({"a": record, "b": good}))
    (tmp_path / "spool.jsonl").write_bytes(line("c"))
    found = spool.take(tmp_path)
    assert {"b", "c"} <= {each.session for each in found.values()}
    assert all(0 <= each.captured < 1e11 and 0 <= each.time < 1e11 for each in found.values())


def test_a_record_with_a_field_that_is_not_known_is_kept(tmp_path: Path) -> None:
    record = {"host": "codex", "session": "x", "odd": 1, "changed": True, "captured": 5.0}
    (tmp_path / "waiting.json").write_text(json.dumps({"a": record}))
    (tmp_path / "spool.jsonl").write_bytes(line("c", "start"))
    found = spool.take(tmp_path)["codex/x"]
    assert (found.changed, found.captured) == (True, 5.0)


def test_a_line_cut_by_a_full_disk_costs_no_other(tmp_path: Path) -> None:
    path = tmp_path / "spool.jsonl"
    path.write_bytes(line("a") + line("b")[:40])
    disk.append(str(path), line("c"))
    disk.append(str(path), line("d"))
    assert {each.session for each in spool.take(tmp_path).values()} == {"a", "c", "d"}


def test_a_write_that_the_disk_took_in_part_is_told(tmp_path: Path) -> None:
    script = (
        "import resource, sys; from lamina.live import disk\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "path = sys.argv[1]\n"
        "for act in (lambda: disk.append(path, b'x' * 150), lambda: disk.replace(path, 'y' * 150)):\n"
        "    try:\n        act()\n    except OSError:\n        print('told')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "f")], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["told", "told"]
