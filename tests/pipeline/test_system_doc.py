"""SYSTEM.md says what every clone shares, and changes only when that does."""

from __future__ import annotations

import pytest
from tests.pipeline.opening import Clock, opened

from lamina.formats.layers import LAYERS
from lamina.pipeline import system_doc


@pytest.fixture
def memory(tmp_path):
    memory = opened(tmp_path, clock=Clock())
    memory.init()
    return memory


def test_it_explains_every_layer_and_names_no_machine(memory, tmp_path):
    memory.remember("One")
    memory.tick()
    text = (memory.root / "SYSTEM.md").read_text()
    assert text.startswith("<!-- system-doc version=1 -->\n")
    assert all(f"`{name}`" in text for name in LAYERS)
    assert "| workspace:harbor | semantic | 1 | 1 |" in text
    assert "{{" not in text
    for local in (str(tmp_path), "2026", str(memory.root)):
        assert local not in text.replace("2026-11-30", "")


def test_two_clones_with_the_same_memory_hold_the_same_bytes(tmp_path):
    texts = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        memory = opened(tmp_path / name)
        memory.remember("One")
        memory.tick()
        texts.append((memory.root / "SYSTEM.md").read_bytes())
    assert texts[0] == texts[1]


def test_it_is_written_only_when_it_changes(memory):
    before = (memory.root / "SYSTEM.md").stat()
    assert not system_doc.refresh(memory.store, Clock().now)
    assert (memory.root / "SYSTEM.md").stat().st_mtime_ns == before.st_mtime_ns
    memory.remember("One")
    assert memory.status()["system_doc_stale"]
    assert system_doc.refresh(memory.store, Clock().now)


def test_a_newer_one_is_left_alone(memory):
    path = memory.root / "SYSTEM.md"
    path.write_text("<!-- system-doc version=2 -->\nfrom the future\n")
    memory.remember("One")
    assert not memory.status()["system_doc_stale"]
    memory.tick()
    assert "from the future" in path.read_text()


def test_an_edited_one_is_written_anew(memory):
    path = memory.root / "SYSTEM.md"
    path.write_text(path.read_text() + "a scribble\n")
    assert "system-doc" in memory.tick()["ran"]
    assert "a scribble" not in path.read_text()


def test_forgotten_entries_are_not_counted(memory):
    memory.forget([memory.remember("One").id])
    memory.tick()
    assert "semantic | 1" not in (memory.root / "SYSTEM.md").read_text()
