"""The tick runs what is due, prunes old notes, and never loses a waiting one."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest
from tests.pipeline.opening import NOW, Clock, git, opened

from lamina.formats.bullet import Bullet
from lamina.formats.event import Position
from lamina.formats.note import Note, Section
from lamina.pipeline.tick import prune
from lamina.store import notes, watermarks
from lamina.store.watermarks import Read, Watermark


@pytest.fixture
def memory(tmp_path):
    memory = opened(tmp_path, clock=Clock())
    memory.init()
    return memory


def take(memory, number: int, *, done: bool = True, transcript: str = "") -> None:
    at = NOW + timedelta(minutes=number)
    bullet = Bullet("finding", f"Fact number {number}.", date(2026, 11, 30), 3, 7, "q", "user")
    note = Note(
        f"s{number}",
        "codex",
        "workspace:harbor",
        "/w",
        0,
        9,
        at,
        at,
        sections=(Section(at, (bullet,), 0, 9),),
    )
    mark = Watermark("codex", f"s{number}", (Read(transcript, 1, Position()),) if transcript else ())
    with memory.store.writing(label="capture", at=at) as batch:
        notes.save(batch, replace(note, consolidated=at) if done else note)
        watermarks.save(batch, mark)


def sessions(memory) -> set[str]:
    return {each.note.session for each in notes.notes(memory.store)}


def test_the_oldest_notes_go_and_those_without_a_transcript_last(memory, tmp_path):
    here = tmp_path / "t.jsonl"
    here.write_text("x")
    take(memory, 1)  # its transcript is gone
    take(memory, 2, transcript=str(here))
    take(memory, 3, transcript=str(here))
    take(memory, 4, transcript=str(tmp_path / "gone.jsonl"))
    assert prune(memory.store, NOW, keep=2) == 2
    assert sessions(memory) == {"s1", "s4"}


def test_waiting_notes_never_go(memory):
    for number in range(5):
        take(memory, number, done=number < 2)
    assert prune(memory.store, NOW, keep=0) == 2
    assert sessions(memory) == {"s2", "s3", "s4"}


def test_the_number_kept_is_a_setting(tmp_path):
    memory = opened(tmp_path, env={"LAMINA_NOTES_KEPT": "1"})
    memory.init()
    for number in range(3):
        take(memory, number)
    assert memory.tick()["ran"] == ["prune"]
    assert sessions(memory) == {"s2"}


def test_a_tick_commits_everything_that_people_see_and_nothing_local(memory):
    memory.remember("One")
    memory.search("One")
    memory.tick()
    listed = git(memory.root, "ls-files").splitlines()
    assert "workspaces/harbor/semantic/one.md" in listed
    assert {"SYSTEM.md", "memory.json", "workspaces/harbor/semantic.md"} <= set(listed)
    assert not any(name.startswith(("index/", "state/", "digests/", "logs/")) for name in listed)
    assert git(memory.root, "status", "--porcelain") == ""


def test_without_git_a_tick_still_works(memory, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    memory.remember("One")
    assert "system-doc" in memory.tick()["ran"]
    assert memory.list()[0]


def test_a_tick_without_a_store_makes_none(tmp_path):
    memory = opened(tmp_path)
    assert memory.tick() == {"ran": []}
    assert not memory.exists
