"""Forgotten content does not come back; purged text is nowhere but where a person has to remove it."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from tests.pipeline.opening import NOW, Clock, git, holding, opened

from lamina import errors
from lamina.formats.bullet import Bullet
from lamina.formats.note import Note, Section
from lamina.pipeline import purge
from lamina.pipeline.consolidate import consolidate
from lamina.store import notes
from lamina.store.log import activity, log

SECRET = "the harbourmaster is called Wolkenstein"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def memory(tmp_path, clock):
    memory = opened(tmp_path, clock=clock)
    memory.init()
    return memory


def note_of(memory, *bullets: Bullet, session="4f3a", done=False) -> None:
    section = Section(NOW, bullets, 0, 9)
    taken = Note(session, "claude-code", "workspace:harbor", "/w", 0, 9, NOW, NOW, sections=(section,))
    with memory.store.writing(label="capture", at=NOW) as batch:
        notes.save(batch, taken)


def bullet(text: str, *, first=3, last=7, quote="as it was said", label="finding") -> Bullet:
    return Bullet(label, text, date(2026, 11, 30), first, last, quote, "user")


def test_a_forgotten_entry_is_found_nowhere_but_when_asked_for(memory):
    id_ = memory.remember(f"We know that {SECRET}").id
    told = memory.forget([id_])
    assert told["entries"] == [
        {"id": id_, "heading": f"We know that {SECRET}", "file": memory.show(id_)["file"]}
    ]
    assert not memory.search("Wolkenstein").hits
    assert memory.list()[0] == []
    assert "Wolkenstein" not in memory.card()
    assert memory.show(id_)["trust"] == "forgotten"
    assert memory.search("Wolkenstein", trust="forgotten").hits[0].id == id_


def test_a_forgotten_decision_leaves_the_generated_list(memory):
    id_ = memory.decision("Call him Wolkenstein", rationale="It is his name").id
    assert "Wolkenstein" in (memory.root / "workspaces/harbor/decisions.md").read_text()
    memory.forget([id_])
    assert "  - Call" not in (memory.root / "workspaces/harbor/decisions.md").read_text()
    assert memory.status()["entries"]["decisions"] == 0


def test_undo_brings_it_back_and_lets_it_be_written_again(memory):
    id_ = memory.remember("The staging port is 8081").id
    memory.forget([id_])
    assert memory.forget([id_], undo=True)["entries"][0]["id"] == id_
    assert memory.show(id_)["trust"] == "approved"
    assert memory.search("staging").hits
    assert memory.remember("The staging port is 8081").status == "known"


def test_forgetting_twice_keeps_the_first_reason_and_day(memory, clock):
    id_ = memory.remember("The staging port is 8081").id
    memory.forget([id_], reason="first")
    before = (memory.root / "workspaces/harbor/suppressed.jsonl").read_text()
    clock.forward(days=2)
    memory.forget([id_], reason="second")
    assert (memory.root / "workspaces/harbor/suppressed.jsonl").read_text() == before
    assert memory.show(id_)["fields"]["Status"] == "forgotten 2026-11-30"


def test_a_tombstone_binds_to_the_content_and_not_to_the_id(memory):
    id_ = memory.remember("The staging port is 8081").id
    memory.forget([id_])
    path = memory.root / memory.show(id_)["file"]
    path.write_text(path.read_text().replace("port is 8081", "port is 9000"))
    assert memory.remember("The staging port is 8081").status == "refused"
    assert memory.remember("The staging port is 9001").status == "written"


def test_undo_works_when_the_text_was_removed_by_hand(memory):
    id_ = memory.remember("The staging port is 8081").id
    path = memory.root / memory.show(id_)["file"]
    memory.forget([id_])
    path.unlink()
    assert memory.remember("The staging port is 8081").status == "refused"
    assert memory.forget([id_], undo=True)["entries"][0]["id"] == id_
    assert memory.remember("The staging port is 8081").status == "written"


def test_a_missing_id_is_told_and_nothing_is_forgotten(memory):
    id_ = memory.remember("One").id
    with pytest.raises(errors.NoEntry, match="harbor-sem-0099"):
        memory.forget([id_, "harbor-sem-0099"])
    with pytest.raises(errors.NoEntry, match="harbor-sem-0099"):
        memory.forget(["harbor-sem-0099"], undo=True)
    assert memory.show(id_)["trust"] == "approved"


def test_bulk_by_session_workspace_and_day(memory, clock):
    memory.remember("Old one", source="session:claude-code/aaa#1-2")
    clock.forward(days=10)
    memory.remember("New one", source="session:claude-code/bbb#1-2")
    memory.remember("New two", source="session:codex/ccc#1-2", scope="global")
    assert len(memory.forget(session="claude-code/aaa", dry_run=True)["entries"]) == 1
    assert len(memory.forget(session="bbb", dry_run=True)["entries"]) == 1
    assert len(memory.forget(whole_workspace="harbor", dry_run=True)["entries"]) == 2
    assert len(memory.forget(since="2d", dry_run=True)["entries"]) == 2
    assert len(memory.forget(whole_workspace="harbor", since="2d")["entries"]) == 1
    assert {item["heading"] for item in memory.list(scope="all")[0]} == {"Old one", "New two"}
    assert len(memory.forget(whole_workspace="harbor", undo=True)["entries"]) == 1


def test_bulk_takes_entries_without_an_id_too(memory):
    memory.remember("Something first")
    path = memory.root / "workspaces/harbor/semantic/by-hand.md"
    path.write_text("# By hand\n\n## Written by hand\n\nWritten by hand\n\n## And another\n\nAnother\n")
    told = memory.forget(whole_workspace="harbor")
    assert len(told["entries"]) == 3
    assert all(item["id"] for item in told["entries"])
    assert memory.list()[0] == []
    assert memory.remember("Written by hand").status == "refused"


def test_the_reason_keeps_no_secret(memory, tmp_path):
    id_ = memory.remember("One").id
    memory.forget([id_], reason=f"it held {TOKEN}")
    assert holding(tmp_path, TOKEN, history=True) == []
    assert "redacted" in memory.remember("One").reason


def test_equal_bullets_of_waiting_notes_are_skipped(memory):
    note_of(memory, bullet(f"It turned out that {SECRET}."), session="one")
    consolidate(memory.store, now=NOW)
    (item,) = memory.list()[0]
    memory.forget([item["id"]])
    note_of(memory, bullet(f"It turned out that {SECRET}."), session="two")
    done = consolidate(memory.store, now=NOW)
    assert (done.entries, done.known + done.refused) == (0, 1)
    assert memory.list()[0] == []


# --- purge ---------------------------------------------------------------------------------------------


def filled(memory, clock) -> str:
    """Leave the text in every place that Lamina writes to; returns the entry's id."""
    said = f"It turned out that {SECRET}."
    note_of(memory, bullet(said, quote=f"yes, {SECRET}"), bullet("The pier is 80 m long.", first=8, last=9))
    memory.consolidate()
    (item,) = [each for each in memory.list()[0] if "Wolkenstein" in each["heading"]]
    memory.search("Wolkenstein")
    clock.forward(minutes=1)
    memory.tick()
    memory.edit(item["id"], fields={"importance": "5"})
    memory.move(item["id"], topic="People")
    clock.forward(minutes=1)
    memory.tick()
    memory.forget([item["id"]], reason="wrong")
    log(memory.store.layout, "test", at=NOW, text=said)
    activity(memory.store.layout, said, at=NOW)
    (memory.root / "workspaces/harbor/.lamina-1-2-3.tmp").write_text(said)
    return item["id"]


def test_a_purged_text_is_in_no_byte_of_the_store_but_gits_history(memory, clock, tmp_path):
    id_ = filled(memory, clock)
    assert holding(memory.root, "Wolkenstein")
    told = memory.forget([id_], purge=True)
    assert holding(tmp_path, "Wolkenstein") == []
    assert told["entries"][0]["id"] == id_
    with pytest.raises(errors.NoEntry):
        memory.show(id_)
    assert memory.check_index() == []
    assert memory.search("pier").hits, "what was said beside it stays"
    assert "pier" in next(iter(notes.notes(memory.store))).path.read_text()


def test_what_was_purged_is_still_refused_and_can_be_released(memory, clock):
    id_ = memory.remember("The staging port is 8081").id
    memory.forget([id_], purge=True)
    line = json.loads((memory.root / "workspaces/harbor/suppressed.jsonl").read_text())
    assert set(line) == {"id", "reason", "slow", "time"}
    assert memory.remember("The staging port is 8081").status == "refused"
    assert memory.forget([id_], undo=True)["entries"] == [
        {"id": id_, "heading": "(purged)", "file": "workspaces/harbor/suppressed.jsonl"}
    ]
    assert memory.remember("The staging port is 8081").status == "written"


def test_a_topic_named_after_the_purged_text_is_named_anew(memory):
    id_ = memory.remember(f"We know that {SECRET}").id
    kept = memory.remember("The pier is 80 m long", topic=f"We know that {SECRET}").id
    memory.forget([id_], purge=True)
    shown = memory.show(kept)
    assert shown["topic"] == "The pier is 80 m long"
    assert shown["file"].endswith("/the-pier-is-80-m-long.md")
    assert holding(memory.root, "wolkenstein") == []
    assert holding(memory.root, "Wolkenstein") == []
    assert memory.check_index() == []


def test_an_edited_entry_takes_its_old_bullet_with_it(memory):
    note_of(memory, bullet(f"It turned out that {SECRET}."))
    memory.consolidate()
    (item,) = memory.list()[0]
    memory.edit(item["id"], text="Quite another text", fields={"heading": "Another heading"})
    memory.forget([item["id"]], purge=True)
    assert holding(memory.root, "Wolkenstein") == []


def test_another_entry_that_says_the_same_is_told_and_not_touched(memory):
    id_ = memory.remember(f"We know that {SECRET}").id
    memory.remember("People", scope="global", topic="People", heading="People here")
    path = memory.root / "workspaces/harbor/working.md"
    memory.set_working(section="Task", text=f"We know that {SECRET}")
    told = memory.forget([id_], purge=True)
    assert any("workspaces/harbor/working.md:" in line for line in told["left"])
    assert "Wolkenstein" in path.read_text()


def test_a_purge_of_what_git_never_saw_needs_no_commands(memory):
    id_ = memory.remember(f"We know that {SECRET}").id
    told = memory.forget([id_], purge=True)
    assert not any("git" in line for line in told["left"])
    assert "Wolkenstein" not in everything_in_git(memory.root)


def everything_in_git(root: Path) -> str:
    """Return all objects, also those that no commit reaches, and all names."""
    listed = git(root, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)")
    texts = [git(root, "cat-file", "-p", line.split()[1]) for line in listed.splitlines()]
    return "\n".join(texts) + git(root, "log", "--all", "--format=%B")


def run_all(commands: list[str], home: Path) -> None:
    """Run printed commands as a person would paste them into one shell."""
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin:/usr/local/bin"
    subprocess.run(
        ["sh", "-ec", "\n".join(commands)],
        env={"PATH": path, "HOME": str(home)},
        check=True,
        capture_output=True,
        timeout=120,
    )


def test_the_printed_commands_remove_the_text_from_gits_history(memory, clock, tmp_path):
    id_ = filled(memory, clock)
    kept = memory.remember("Boats moor on the left", topic="People").id
    clock.forward(minutes=1)
    memory.tick()
    remote = tmp_path / "remote.git"
    git(tmp_path, "init", "--quiet", "--bare", str(remote))
    git(memory.root, "remote", "add", "origin", str(remote))
    git(memory.root, "push", "--quiet", "origin", "main")
    before = {item["id"] for item in memory.list()[0]}
    told = memory.forget([id_], purge=True)
    assert "Wolkenstein" in everything_in_git(memory.root)
    run_all([line for line in told["left"] if line.startswith("  ")], tmp_path / "home")
    assert "Wolkenstein" not in everything_in_git(memory.root)
    assert "wolkenstein" not in everything_in_git(memory.root)
    assert git(memory.root, "fsck", "--full").strip() == ""
    assert git(memory.root, "status", "--porcelain").strip() == ""
    assert {item["id"] for item in memory.list()[0]} == before
    assert "Boats moor" in git(memory.root, "show", f"HEAD:{memory.show(kept)['file']}")
    assert "Wolkenstein" not in git(remote, "log", "--all", "-p")
    assert "Wolkenstein" in everything_in_git(remote), "what nothing reaches is the remote's to sweep"


def test_the_commands_work_in_a_folder_with_a_space_and_a_quote(tmp_path, clock):
    memory = opened(tmp_path, clock=clock)
    memory = type(memory).open(
        tmp_path / "my 'own' store",
        cwd=tmp_path / "harbor",
        env={"HOME": str(tmp_path / "home")},
        clock=clock,
    )
    id_ = memory.remember(f"We know that {SECRET}", topic="Wer ist's — «ja»").id
    memory.tick()
    told = memory.forget([id_], purge=True)
    commands = [line for line in told["left"] if line.startswith("  ")]
    assert all(shlex.split(line) for line in commands)
    run_all(commands, tmp_path / "home")
    assert "Wolkenstein" not in everything_in_git(memory.root)


def test_a_purge_cannot_be_taken_back_by_undo(memory, clock):
    memory.remember("Something else")
    id_ = memory.remember(f"We know that {SECRET}").id
    memory.forget([id_], purge=True)
    with pytest.raises(errors.Refused):
        memory.undo()
    assert holding(memory.root, "Wolkenstein") == []


def test_a_killed_purge_is_finished_by_the_next_tick(memory, clock):
    id_ = filled(memory, clock)
    located = memory.store.find(id_)
    purge.purge(memory.store, [located], NOW)  # and killed before the rest
    assert holding(memory.root, "Wolkenstein")
    assert any("purge was stopped" in each["message"] for each in memory.doctor())
    assert "purge" in memory.tick()["ran"]
    assert holding(memory.root, "Wolkenstein") == []
    assert not any("purge was stopped" in each["message"] for each in memory.doctor())


def test_a_dry_purge_changes_nothing(memory, clock):
    id_ = memory.remember(f"We know that {SECRET}").id
    memory.search("x")
    before = holding(memory.root, "Wolkenstein")
    assert memory.forget([id_], purge=True, dry_run=True)["entries"][0]["id"] == id_
    assert holding(memory.root, "Wolkenstein") == before


def test_purge_and_undo_together_are_refused(memory):
    with pytest.raises(errors.UsageError):
        memory.forget(["x"], purge=True, undo=True)
