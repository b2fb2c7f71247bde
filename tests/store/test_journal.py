from __future__ import annotations

import pytest
from tests.store.making import NOW, draft, ids, read, remember, snapshot, write

from lamina import errors
from lamina.formats.entry import with_body
from lamina.store import journal
from lamina.store.store import Store


def test_the_last_write_is_undone_and_then_the_one_before(store: Store) -> None:
    empty = snapshot(store)
    remember(store, "One")
    one = snapshot(store)
    with store.writing(label="edit", at=NOW) as batch:
        batch.change("global-sem-0001", lambda entry: with_body(entry, "New words."))
        batch.add(draft("Other", topic="Other"))
    undone = journal.undo_last(store, at=NOW)
    assert (undone.label, undone.tracked) == (
        "edit",
        ("global/semantic/things.md", "global/semantic/other.md"),
    )
    assert snapshot(store) == one
    assert journal.undo_last(store, at=NOW).label == "remember"
    assert {name: text for name, text in snapshot(store).items() if name != "global/semantic.md"} == empty
    with pytest.raises(errors.Refused, match="no write left"):
        journal.undo_last(store, at=NOW)
    assert remember(store, "Two").id == "global-sem-0003"


def test_what_changed_since_is_not_undone(store: Store) -> None:
    remember(store, "One")
    path = write(
        store, "global/semantic/things.md", read(store, "global/semantic/things.md") + "\nBy hand.\n"
    )
    before = snapshot(store)
    with pytest.raises(errors.Refused, match=str(path)):
        journal.undo_last(store, at=NOW)
    assert snapshot(store) == before


def test_recent_writes_tell_what_people_see(store: Store) -> None:
    remember(store, "One")
    with store.writing(label="capture", at=NOW) as batch:
        batch.put("digests/x.md", "note")
    for number in range(journal.KEEP + 3):
        remember(store, f"Fact {number}", topic=f"T{number}")
    with store.writing(label="state", at=NOW) as batch:
        batch.put("workspaces/lamina/state.md", "x")
    found = journal.recent(store)
    assert len(found) == journal.KEEP
    assert (found[0].label, found[0].time, found[0].tracked) == (
        "state",
        NOW,
        ("workspaces/lamina/state.md",),
    )
    assert found[1].tracked == (f"global/semantic/t{journal.KEEP + 2}.md",)
    assert all(record.label != "capture" for record in found)


def test_a_damaged_record_stops_nothing(store: Store) -> None:
    remember(store, "One")
    [path] = (store.root / "state/journal").glob("*.json")
    path.write_text("{")
    assert journal.recent(store) == []
    assert "is damaged" in str(store.problems[0])
    remember(store, "Two", topic="Other")
    assert journal.undo_last(store, at=NOW).label == "remember"
    assert ids(store) == ["global-sem-0001"]


def test_clearing_leaves_no_text_behind(store: Store) -> None:
    remember(store, "One")
    journal.clear(store.layout)
    assert list((store.root / "state/journal").iterdir()) == []
    remember(store, "Two")
