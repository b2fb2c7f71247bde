"""What the store holds, what waits and what is due."""

from __future__ import annotations

from datetime import date

import pytest
from tests.pipeline.opening import NOW, Clock, opened

from lamina.formats.bullet import Bullet
from lamina.formats.note import Note, Section
from lamina.store import log, notes

KEYS = {
    "root", "schema_version", "workspaces", "entries", "notes", "sync", "models", "events", "saved", "paused",
    "capture_off", "hosts", "due", "system_doc_stale", "workspace", "vectors", "review",
}  # fmt: skip


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def memory(tmp_path, clock):
    return opened(tmp_path, clock=clock)


def take(memory, session: str, *, review: bool = False, at=NOW, text: str = "The pier is 80 m long.") -> None:
    bullet = Bullet("finding", text, date(2026, 11, 30), 3, 7, "q", "user")
    note = Note(
        session, "codex", "workspace:harbor", "/w", 0, 9, at, at, needs_review=review,
        sections=(Section(at, (bullet,), 0, 9),),
    )  # fmt: skip
    with memory.store.writing(label="capture", at=at) as batch:
        notes.save(batch, note)


def test_without_a_store_the_shape_is_the_same_and_nothing_is_made(memory):
    empty = memory.status()
    assert set(empty) == KEYS
    assert not memory.exists
    memory.init()
    filled = memory.status()
    assert set(filled) == KEYS
    assert {key: type(value) for key, value in filled["sync"].items() if key != "at"}.keys() == (
        empty["sync"].keys() - {"at"}
    )
    assert filled["entries"].keys() == empty["entries"].keys()


def test_it_counts(memory):
    memory.remember("One")
    memory.remember("Two", scope="global")
    gone = memory.decision("Three", rationale="r").id
    memory.forget([gone])
    take(memory, "one")
    take(memory, "two", review=True)
    (memory.root / "digests" / "codex_broken.md").write_bytes(b"\xff")
    log.count(memory.store.layout, {"event:captured": 2, "thin": 3, "trivial": 1})
    status = memory.status()
    assert status["entries"] == {
        "semantic": 2, "episodic": 0, "procedural": 0, "learnings": 0, "decisions": 0, "codebase": 0, "history": 0,
    }  # fmt: skip
    assert status["notes"] == {"pending": 1, "needs_review": 1, "failed": 1}
    assert status["workspaces"] == ["harbor"]
    assert status["events"] == {"captured": 2}
    assert status["saved"] == {"thin": 3, "trivial": 1}
    assert (status["schema_version"], status["paused"], status["workspace"]) == (2, False, "workspace:harbor")


def test_what_is_due_is_what_a_tick_does(memory, clock):
    memory.init()
    assert memory.status()["due"] == []
    assert memory.tick() == {"ran": []}
    memory.remember("One")
    take(memory, "one")
    assert memory.status()["due"] == ["system-doc", "commit"]
    clock.forward(hours=1)
    assert memory.status()["due"] == ["consolidate", "system-doc", "commit"]
    assert memory.tick(dry_run=True) == {"ran": ["consolidate", "system-doc", "commit"]}
    assert memory.tick() == {"ran": ["consolidate", "system-doc", "commit"]}
    assert memory.status()["due"] == []
    assert memory.status()["sync"]["at"] is not None


def test_three_notes_are_due_at_once(memory):
    memory.init()
    for number in range(3):
        take(memory, str(number), text=f"Fact number {number} of three.")
    assert memory.status()["due"] == ["consolidate"]


def test_a_person_in_the_middle_of_a_merge_is_told_and_left_alone(memory, clock):
    memory.init()
    (memory.root / ".git" / "MERGE_HEAD").write_text("0" * 40)
    clock.forward(minutes=1)
    assert memory.remember("One").status == "written"
    assert "MERGE_HEAD" in memory.status()["sync"]["error"]
    assert not memory.status()["sync"]["ok"]


def test_pause_shows(memory, clock):
    assert memory.pause("2h") == {"paused": True, "until": "2026-11-30T14:00:00Z"}
    assert memory.status()["paused"]
    clock.forward(hours=3)
    assert not memory.status()["paused"]
    memory.pause()
    assert memory.status()["paused"]
    assert memory.resume() == {"paused": False, "until": None}
    assert not memory.status()["paused"]
