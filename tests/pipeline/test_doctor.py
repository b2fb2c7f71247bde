"""The doctor finds what is wrong, says what to do, and repairs nothing but what is derived."""

from __future__ import annotations

import pytest
from tests.pipeline.opening import Clock, opened, tree


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def memory(tmp_path, clock):
    memory = opened(tmp_path, clock=clock)
    memory.remember("One", topic="T")
    memory.remember("Two", topic="T")
    memory.tick()
    return memory


def found(memory, level: str, *, fix: bool = False) -> str:
    return "\n".join(each["message"] for each in memory.doctor(fix=fix) if each["level"] == level)


def topic(memory):
    return memory.root / "workspaces/harbor/semantic/t.md"


def test_a_healthy_store_has_nothing_to_say(memory):
    assert {each["level"] for each in memory.doctor()} == {"ok"}
    assert set(memory.doctor()[0]) == {"level", "message", "hint"}


def test_every_finding_that_is_wrong_says_what_to_do(memory):
    topic(memory).write_bytes(b"## \xff\n")
    memory.root.chmod(0o755)
    wrong = [each for each in memory.doctor() if each["level"] != "ok"]
    assert len(wrong) >= 2
    assert all(each["hint"] for each in wrong)


def test_without_a_store(tmp_path):
    memory = opened(tmp_path)
    assert "no store" in memory.doctor()[0]["message"]
    assert not memory.exists


def test_a_file_that_cannot_be_read(memory):
    (memory.root / "workspaces/harbor/semantic/bad.md").write_bytes(b"## \xff\n")
    assert "bad.md:1: is not UTF-8" in found(memory, "error")


def test_links_are_told_once(memory, tmp_path):
    (memory.root / "workspaces/harbor/semantic/link.md").symlink_to(tmp_path / "x")
    (memory.root / "workspaces/quay").symlink_to(tmp_path)
    told = found(memory, "error")
    assert told.count("link.md") == 1
    assert "workspaces/quay" in told


def test_one_id_at_two_entries(memory):
    text = topic(memory).read_text()
    topic(memory).write_text(text.replace("harbor-sem-0002", "harbor-sem-0001"))
    assert "harbor-sem-0001 stands twice" in found(memory, "error")


def test_entries_without_an_id_and_stale_ones(memory, clock):
    topic(memory).write_text(topic(memory).read_text() + "\n## By hand\n\nNo id.\n")
    clock.forward(days=200)
    told = found(memory, "warning")
    assert "1 entries written by hand" in told
    assert "are stale or expired" in told


def test_a_damaged_tombstone_line(memory):
    (memory.root / "workspaces/harbor/suppressed.jsonl").write_text("{damaged\n")
    assert "suppressed.jsonl:1" in found(memory, "warning")


def test_an_index_that_lies_is_found_and_fixed(memory):
    import sqlite3

    memory.search("One")
    path = memory.root / "index" / "lamina.db"
    with sqlite3.connect(path) as db:
        db.execute("UPDATE body SET text = 'lies'")
    db.close()
    assert "differs from the files" in found(memory, "warning")
    assert "built anew" in found(memory, "ok", fix=True)
    assert "differs" not in found(memory, "warning")


def test_a_fix_touches_no_memory(memory):
    (memory.root / "SYSTEM.md").write_text("old\n")
    topic(memory).write_text(topic(memory).read_text() + "\n## By hand\n\nNo id.\n")
    before = tree(memory.root / "workspaces")
    assert "SYSTEM.md was out of date" in found(memory, "ok", fix=True)
    assert tree(memory.root / "workspaces") == before


def test_a_stale_system_document(memory):
    memory.remember("Three")
    assert "SYSTEM.md is out of date" in found(memory, "warning")


def test_others_who_can_read_the_store(memory):
    memory.root.chmod(0o755)
    assert "can be read by others" in found(memory, "warning")
    memory.root.chmod(0o700)


def test_a_git_lock_that_was_left_behind(memory):
    (memory.root / ".git" / "index.lock").write_text("")
    assert "index.lock" in found(memory, "error")


def test_settings_that_cannot_be_used(memory, tmp_path):
    config = tmp_path / "home" / ".config" / "lamina" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("card_charz = 3\n")
    assert "card_charz" in found(opened(tmp_path), "warning")


def test_no_git_at_all(memory, monkeypatch, tmp_path):
    (memory.root / ".git").rename(tmp_path / "away")
    assert "no git repository" in found(memory, "warning")
