"""What is true right now: state.md and working.md."""

from __future__ import annotations

import pytest
from tests.pipeline.opening import Clock, opened

from lamina import errors


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def memory(tmp_path, clock):
    return opened(tmp_path, clock=clock)


def test_without_a_store_there_is_nothing_and_nothing_is_made(memory):
    assert memory.state() == {"file": "", "sections": []}
    assert memory.working() == {"file": "", "text": "", "grade": "not started"}
    assert not memory.exists


def test_one_section_is_replaced_and_the_others_keep_their_times(memory, clock):
    memory.set_state("Health", "All tests pass")
    clock.forward(days=2)
    done = memory.set_state("Build", "Green")
    assert done == {"file": "workspaces/harbor/state.md", "section": "Build", "status": "written"}
    shown = memory.state()
    assert [(s["title"], s["grade"], s["age_days"]) for s in shown["sections"]] == [
        ("Health", "aging", 2),
        ("Build", "fresh", 0),
    ]
    assert shown["sections"][0]["verified"] == "2026-11-30T12:00:00Z"
    memory.set_state("health", "Red")
    assert [(s["title"], s["text"]) for s in memory.state()["sections"]] == [
        ("Health", "Red"),
        ("Build", "Green"),
    ]


def test_the_head_is_replaced_and_the_log_rolls(memory, clock):
    memory.set_working(section="task", text="Move the queue", activity="read the code")
    memory.set_working(activity="read the code")
    memory.set_working(activity="tests pass")
    text = memory.working()["text"]
    assert "THIS FILE BELONGS TO THE AGENT" in text
    assert text.count("read the code") == 1
    assert memory.working()["grade"] == "fresh"
    clock.forward(hours=5)
    assert memory.working()["grade"] == "aging"
    memory.set_working(clear_activity=True)
    assert "tests pass" not in memory.working()["text"]


def test_the_state_is_found_and_the_head_is_not(memory):
    memory.set_state("Health", "The lighthouse is dark")
    memory.set_working(section="Task", text="Repair the foghorn")
    assert memory.search("lighthouse").hits
    assert not memory.search("foghorn").hits


def test_both_belong_to_a_workspace(tmp_path):
    home = opened(tmp_path, project="home")
    for call in (
        home.state,
        home.working,
        lambda: home.set_state("a", "b"),
        lambda: home.set_working(section="Task", text="b"),
    ):
        with pytest.raises(errors.UnknownScope, match="belongs to a workspace"):
            call()


def test_a_title_that_is_none_is_refused(memory):
    with pytest.raises(errors.BadInput):
        memory.set_state(" ", "text")
    with pytest.raises(errors.BadInput):
        memory.set_working(section="Recent activity", text="text")


def test_pasted_headings_stay_text(memory):
    memory.set_state("Health", "## Build\n\n**Verified:** 2020-01-01T00:00:00Z\n\nred")
    assert [s["title"] for s in memory.state()["sections"]] == ["Health"]
    assert memory.state()["sections"][0]["text"].startswith("## Build")


def test_a_dry_run_says_where_and_writes_nothing(memory):
    memory.set_state("Health", "Green")
    before = (memory.root / "workspaces/harbor/state.md").read_bytes()
    assert memory.set_state("Health", "Red", dry_run=True)["file"] == "workspaces/harbor/state.md"
    assert (memory.root / "workspaces/harbor/state.md").read_bytes() == before


def test_a_file_that_is_a_link_is_refused(memory, tmp_path):
    memory.remember("One")
    (tmp_path / "outside").write_text("## X\n\nout\n")
    (memory.root / "workspaces/harbor/state.md").symlink_to(tmp_path / "outside")
    with pytest.raises(errors.UnsafePath):
        memory.state()
    with pytest.raises(errors.UnsafePath):
        memory.set_state("X", "in")
    assert (tmp_path / "outside").read_text() == "## X\n\nout\n"
