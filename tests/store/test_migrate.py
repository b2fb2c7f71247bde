from __future__ import annotations

import pytest
from tests.store.making import GLOBAL, LAMINA, NOW, ids, read, remember, snapshot, write

from lamina.store import migrate
from lamina.store.store import Store

OLD = """\
# Semantic

Facts that hold.

A person's note about this layer.

## The port is 8080

**Id:** global-sem-0003
**Date:** 2026-09-01

The port.

## Without an id

Text.

## The port is 8080

**Id:** global-sem-0005

Said again.
"""


def headings(store: Store) -> list[str]:
    return sorted(located.entry.heading for located in store.entries())


def test_an_old_single_file_is_read_as_it_is(store: Store) -> None:
    write(store, "global/semantic.md", OLD)
    before = snapshot(store)
    assert headings(store) == ["The port is 8080", "The port is 8080", "Without an id"]
    found = store.find("global-sem-0003")
    assert found is not None
    assert (found.topic, found.slug, found.rel) == (
        "The port is 8080",
        "the-port-is-8080",
        "global/semantic.md",
    )
    assert found.entry.line == 7
    assert snapshot(store) == before


def test_the_first_write_moves_it_and_loses_nothing(store: Store) -> None:
    write(store, "global/semantic.md", OLD)
    assert remember(store, "New", topic="New").id == "global-sem-0006"
    assert headings(store) == ["New", "The port is 8080", "The port is 8080", "Without an id"]
    assert sorted(ids(store)) == ["global-sem-0003", "global-sem-0005", "global-sem-0006", "global-sem-0007"]
    topic = read(store, "global/semantic/the-port-is-8080.md")
    assert OLD[OLD.index("**Id:** global-sem-0003") : OLD.index("## Without")] in topic
    notes = read(store, "global/semantic/semantic-notes.md")
    assert notes == "# Semantic notes\n\nFacts that hold.\n\nA person's note about this layer.\n"
    index = read(store, "global/semantic.md")
    assert "## " not in index
    assert "[The port is 8080](semantic/the-port-is-8080.md) — 2 entries" in index
    after = snapshot(store)
    assert migrate.everything(store, at=NOW) == set()
    assert snapshot(store) == after


def test_any_write_moves_the_old_files_of_all_scopes(store: Store) -> None:
    write(
        store,
        "workspaces/lamina/learnings.md",
        "# Learnings\n\n## Old lesson\n\n**Id:** lamina-lrn-0001\n\nx\n",
    )
    write(
        store,
        "workspaces/lamina/history.md",
        "## Fix abc\n\n**Id:** lamina-his-0001\n**Date:** 2026-09-27\n\nCommit: abc\n",
    )
    remember(store, "New")
    assert read(store, "workspaces/lamina/learnings/old-lesson.md").startswith(
        "# Old lesson\n\n## Old lesson\n"
    )
    assert "Fix abc" in read(store, "workspaces/lamina/history/2026-09-27.md")
    assert "[2026-09-27](history/2026-09-27.md) — 1 entry" in read(store, "workspaces/lamina/history.md")


def test_everything_is_moved_when_asked(store: Store) -> None:
    write(
        store,
        "global/decisions.md",
        "# Decisions\r\n\r\n## Use ESM\r\n\r\n**Id:** global-dec-0001\r\n\r\nx\r\n",
    )
    assert migrate.everything(store, at=NOW) == {"global/decisions.md", "global/decisions/use-esm.md"}
    found = store.find("global-dec-0001")
    assert found is not None
    assert found.entry.body == "x"
    assert migrate.everything(store, at=NOW) == set()


def test_an_old_entry_can_be_changed_at_once(store: Store) -> None:
    write(store, "global/semantic.md", OLD)
    with store.writing(label="x", at=NOW) as batch:
        batch.remove("global-sem-0003")
        batch.move("global-sem-0005", topic="Ports")
    assert headings(store) == ["The port is 8080", "Without an id"]
    assert not (store.root / "global/semantic/the-port-is-8080.md").exists()


def test_an_entry_put_into_the_generated_file_by_hand_is_moved_too(store: Store) -> None:
    remember(store, "One")
    text = read(store, "global/semantic.md")
    write(store, "global/semantic.md", text + "\nA remark.\n\n## By hand\n\nText.\n")
    assert headings(store) == ["By hand", "One"]
    remember(store, "Two")
    assert headings(store) == ["By hand", "One", "Two"]
    assert "A remark." in read(store, "global/semantic/semantic-notes.md")
    write(store, "global/semantic.md", read(store, "global/semantic.md") + "\nOnly prose.\n")
    remember(store, "Three")
    assert "A remark." in read(store, "global/semantic/semantic-notes.md")
    assert "Only prose." in read(store, "global/semantic/semantic-notes.md")
    assert "Only prose." not in read(store, "global/semantic.md")


def test_headings_listed_under_decisions_are_no_prose(store: Store) -> None:
    for heading in ("Use [ESM]", "Keep `it` <small>"):
        remember(store, heading, layer="decisions", topic=heading)
    (store.root / "state/ids.json").unlink()
    remember(store, "Third", layer="decisions")
    assert sorted(ref.rel for ref in store.topics(GLOBAL, "decisions") if "notes" in ref.rel) == []


def test_the_index_of_an_older_program_is_no_prose(store: Store) -> None:
    write(
        store,
        "global/semantic.md",
        "# Semantic\n\nTopic index. Entries live in one file per topic under semantic/.\n\n"
        "- [Things](semantic/things.md) — 1 entry, updated 2026-09-30\n",
    )
    write(store, "global/semantic/things.md", "# Things\n\n## One\n\n**Id:** global-sem-0001\n\nx\n")
    remember(store, "Two")
    assert [path.name for path in (store.root / "global/semantic").iterdir()] == ["things.md"]


def test_single_file_layers_are_no_old_shape(store: Store) -> None:
    text = "# State\n\n## Health\n\n**Verified:** 2026-11-30T12:00:00Z\n\nGood.\n"
    write(store, "workspaces/lamina/state.md", text)
    write(store, "global/junk.md", "## Old\n\nx\n")
    remember(store, "One", scope=LAMINA)
    migrate.everything(store, at=NOW)
    assert read(store, "workspaces/lamina/state.md") == text
    assert read(store, "global/junk.md") == "## Old\n\nx\n"


@pytest.mark.parametrize(
    "text, gone",
    [
        ("# Working memory\n\n## Task\n\n## Next steps\n", True),
        ("# Working memory\n\n## Task\n\n_none_\n\n## Next steps\n\n_nothing yet_\n", True),
        (
            "# Working\n\n<!-- what you are doing -->\n\n## Task\n\n_(none yet)_\n\n## Recent activity\n\n- \n",
            True,
        ),
        (
            "# W\n\n> THIS FILE BELONGS TO THE AGENT. It is not repository state.\n> durable\n\nYou own it. Read it.\n",
            True,
        ),
        ("", True),
        ("# Working\n\n## Task\n\nShip it.\n", False),
        ("# Working\n\nCall Bob.\n\n## Task\n", False),
    ],
)
def test_a_global_working_file_goes_only_if_nothing_is_in_it(store: Store, text: str, gone: bool) -> None:
    write(store, "global/working.md", text)
    write(store, "workspaces/lamina/working.md", "# Working\n\n## Task\n")
    remember(store, "One")
    assert (store.root / "global/working.md").exists() != gone
    assert (store.root / "workspaces/lamina/working.md").exists()
