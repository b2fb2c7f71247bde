from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.store.making import GLOBAL, LAMINA, NOW, draft, ids, read, remember, snapshot, write
from tests.store.test_files import limited

from lamina import errors
from lamina.formats.entry import with_body, with_field
from lamina.store import files
from lamina.store.store import Store


def test_an_entry_is_written_with_its_id_line_and_layer_file(store: Store) -> None:
    with store.writing(label="remember", at=NOW) as batch:
        first = batch.add(draft("Use plain ESM", "We ship what we test."))
        second = batch.add(draft("Keep it small"))
        assert not (store.root / "global").joinpath("semantic").exists()
    assert (first.id, second.id) == ("global-sem-0001", "global-sem-0002")
    text = read(store, "global/semantic/things.md")
    assert text.startswith("# Things\n\n## Use plain ESM\n\n**Id:** global-sem-0001\n**Date:** 2026-11-30\n")
    assert text.split("\n")[second.line - 1] == "## Keep it small"
    assert second.entry.raw in text
    assert read(store, "global/semantic.md").endswith(
        "- [Things](semantic/things.md) — 2 entries, updated 2026-11-30\n"
    )
    assert batch.touched == {"global/semantic/things.md", "global/semantic.md"}


def test_a_block_that_fails_writes_nothing(store: Store) -> None:
    before = snapshot(store)
    with pytest.raises(ZeroDivisionError), store.writing(label="x", at=NOW) as batch:  # noqa: PT012 - the block is one batch
        batch.add(draft("A fact"))
        batch.put("SYSTEM.md", "x")
        raise ZeroDivisionError
    assert snapshot(store) == before
    assert remember(store, "A fact").id == "global-sem-0001"


def test_a_batch_without_changes_writes_nothing(store: Store) -> None:
    remember(store, "A fact")
    before = {path: path.stat().st_mtime_ns for path in store.root.rglob("*") if path.is_file()}
    with store.writing(label="x", at=NOW) as batch:
        batch.change("global-sem-0001", lambda entry: entry)
        batch.put("global/semantic/things.md", batch.text("global/semantic/things.md"))
    after = {path: path.stat().st_mtime_ns for path in store.root.rglob("*") if path.is_file()}
    assert {path.name for path in after if before.get(path) != after[path]} <= {
        "semantic.json",
        "singles.json",
    }
    assert batch.touched == set()


def test_changing_one_field_changes_one_line(store: Store) -> None:
    text = "\ufeff# Things\r\n\r\nProse.\r\n\r\n## A fact\r\n\r\n**Id:** global-sem-0001\r\n**Odd:**  kept \r\n\r\n x \r\n\r\n\r\n## B\r\n"
    write(store, "global/semantic/things.md", text)
    with store.writing(label="edit", at=NOW) as batch:
        batch.change("global-sem-0001", lambda entry: with_field(entry, "Importance", "5"))
    new = read(store, "global/semantic/things.md")
    assert new.replace("**Importance:** 5\r\n", "", 1) == text + "\r\n**Id:** global-sem-0002\r\n"


def test_a_hand_written_entry_gets_its_id_when_its_file_is_written(store: Store) -> None:
    write(store, "global/semantic/things.md", "# Things\n\n## By hand\n\nText.\n")
    write(store, "global/semantic/other.md", "# Other\n\n## Alone\n\nText.\n")
    written = remember(store, "A fact", topic="Things")
    assert {*ids(store)} == {"global-sem-0001", "global-sem-0002", ""}
    assert written.id in ids(store)
    assert "Alone\n\nText" in read(store, "global/semantic/other.md")
    assert "[Other](semantic/other.md) — 1 entry" in read(store, "global/semantic.md")


def test_the_last_entry_takes_its_file_along_unless_prose_is_in_it(store: Store) -> None:
    remember(store, "One", topic="Gone")
    write(
        store,
        "global/semantic/prose.md",
        "# Prose\n\nMy own words.\n\n## Two\n\n**Id:** global-sem-0002\n\nx\n",
    )
    with store.writing(label="remove", at=NOW) as batch:
        batch.remove("global-sem-0001")
        batch.remove("global-sem-0002")
    assert not (store.root / "global/semantic/gone.md").exists()
    assert read(store, "global/semantic/prose.md") == "# Prose\n\nMy own words.\n"
    assert "gone" not in read(store, "global/semantic.md")
    with pytest.raises(errors.NoEntry, match="global-sem-0001"), store.writing(label="x", at=NOW) as batch:
        batch.remove("global-sem-0001")


def test_moving_keeps_the_id_in_its_layer_and_an_alias_elsewhere(store: Store) -> None:
    remember(store, "One", topic="Here")
    with store.writing(label="move", at=NOW) as batch:
        moved = batch.move("global-sem-0001", topic="There")
    assert (moved.id, moved.rel) == ("global-sem-0001", "global/semantic/there.md")
    assert not (store.root / "global/semantic/here.md").exists()
    with store.writing(label="move", at=NOW) as batch:
        moved = batch.move("global-sem-0001", scope=LAMINA, layer="learning")
    assert (moved.id, moved.rel) == ("lamina-lrn-0001", "workspaces/lamina/learnings/there.md")
    assert moved.entry.aliases == ("global-sem-0001",)
    found = store.find("global-sem-0001")
    assert found is not None
    assert found.entry.id == "lamina-lrn-0001"
    assert remember(store, "Two").id == "global-sem-0002"
    with pytest.raises(errors.UnknownScope), store.writing(label="move", at=NOW) as batch:
        batch.move("lamina-lrn-0001", scope=GLOBAL, layer="codebase")


def test_an_alias_names_its_entry_in_a_batch_too(store: Store) -> None:
    write(store, "global/semantic/a.md", "## A\n\n**Id:** global-sem-0002\n**Alias:** other-sem-0001\n\nx\n")
    with store.writing(label="edit", at=NOW) as batch:
        changed = batch.change("other-sem-0001", lambda entry: with_body(entry, "y"))
    assert changed.id == "global-sem-0002"
    assert changed.entry.body == "y"


def test_what_was_added_in_a_batch_can_be_changed_and_moved_in_it(store: Store) -> None:
    with store.writing(label="x", at=NOW) as batch:
        one = batch.add(draft("One"))
        batch.change(one.id, lambda entry: with_body(entry, "new"))
        two = batch.move(one.id, layer="decisions", topic="Choice")
        assert batch.find(two.id) is not None
        assert batch.find("global-sem-0077") is None
    assert ids(store) == ["global-dec-0001"]
    found = store.find("global-dec-0001")
    assert found is not None
    assert found.entry.body == "new"
    assert not (store.root / "global/semantic/things.md").exists()


def test_a_newer_description_supersedes_the_older_one(store: Store) -> None:
    given = {"scope": LAMINA, "layer": "codebase", "topic": "src/store", "replaces": True}
    remember(store, "Store, old", **given)
    remember(store, "Store, new", **given)
    old, new = store.entries(LAMINA, "codebase")
    assert (old.entry.status, new.entry.trust) == ("superseded by lamina-cod-0002", "approved")
    assert old.rel == new.rel


def test_an_entry_needs_a_layer_that_takes_it(store: Store) -> None:
    for layer, scope in (("state", LAMINA), ("junk", GLOBAL), ("codebase", GLOBAL)):
        with pytest.raises(errors.UnknownScope, match=layer):
            remember(store, "x", layer=layer, scope=scope)
    with pytest.raises(errors.UnknownLayer):
        remember(store, "x", layer="nope")


# --- topics and file names --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "one, two",
    [("🚀", "🎯"), ("中文标题", "另一个标题"), ("a/b", "a.b"), ("a b", "a/b"), ("Hello", "hello"), ("con", "nul"),
     ("x" * 100, "x" * 101), ("../escape", "/etc/cron.d/x"), ("Governance: X", "Governance X"), ("<img src=x>", "img src x")],
)  # fmt: skip
def test_two_titles_are_two_topics(store: Store, one: str, two: str) -> None:
    for title in (one, two):
        remember(store, f"In {title[:5]}", topic=title)
    assert len(store.topics(GLOBAL, "semantic")) == 2
    for title in (one, two):
        remember(store, f"Again in {title[:5]}", topic=title)
    assert len(store.topics(GLOBAL, "semantic")) == 2
    for path in (store.root / "global/semantic").iterdir():
        assert len(path.name.encode()) <= 64 + 3
        assert path.stem.casefold() not in ("con", "nul")


def test_a_topic_may_be_named_by_its_slug(store: Store) -> None:
    remember(store, "One", topic="Store root")
    assert remember(store, "Two", topic="store-root").rel == "global/semantic/store-root.md"
    assert remember(store, "Three", topic="STORE ROOT").rel != "global/semantic/store-root.md"


def test_blank_topics_take_the_heading(store: Store) -> None:
    remember(store, "A choice", topic="", layer="decisions")
    remember(store, "Other choice", topic="  ", layer="decisions")
    assert [ref.slug for ref in store.topics(GLOBAL, "decisions")] == ["a-choice", "other-choice"]


def test_a_topic_is_found_whatever_form_its_file_name_has(store: Store) -> None:
    name = unicodedata.normalize("NFD", "café-über.md")
    write(store, f"global/semantic/{name}", "## Eins\n\nx\n")
    written = remember(store, "Zwei", topic="Café Über")
    assert written.rel == f"global/semantic/{name}"
    assert [ref.slug for ref in store.topics(GLOBAL, "semantic")] == ["café-über"]
    assert len(os.listdir(store.root / "global/semantic")) == 1
    remember(store, "Drei", topic=unicodedata.normalize("NFD", "Café Über"))
    assert len(os.listdir(store.root / "global/semantic")) == 1


def test_a_renamed_file_stays_the_topic_of_its_title(store: Store) -> None:
    remember(store, "One", topic="Hello")
    (store.root / "global/semantic/hello.md").rename(store.root / "global/semantic/HELLO.md")
    assert remember(store, "Two", topic="Hello").rel == "global/semantic/HELLO.md"
    assert len(os.listdir(store.root / "global/semantic")) == 1
    write(store, "global/semantic/Odd name: yes?.md", "# Odd\n\n## X\n\ny\n")
    assert remember(store, "Three", topic="Odd").rel == "global/semantic/Odd name: yes?.md"


# --- people who edit meanwhile ----------------------------------------------------------------------


def test_a_hand_edit_between_reading_and_writing_is_kept(store: Store) -> None:
    remember(store, "One")
    with store.writing(label="edit", at=NOW) as batch:
        batch.change("global-sem-0001", lambda entry: with_field(entry, "Importance", "5"))
        batch.add(draft("Two"))
        text = read(store, "global/semantic/things.md")
        write(
            store,
            "global/semantic/things.md",
            text.replace("One.", "One, by hand.") + "\n## Three\n\nBy hand.\n",
        )
    text = read(store, "global/semantic/things.md")
    assert "One, by hand." in text
    assert "**Importance:** 5" in text
    assert ids(store) == ["global-sem-0001", "global-sem-0003", "global-sem-0002"]
    assert "3 entries" in read(store, "global/semantic.md")


def test_a_file_saved_at_the_last_moment_is_not_overwritten(store: Store) -> None:
    remember(store, "One")
    saved = []

    def step(name: str) -> None:
        if name == "recorded" and not saved:
            saved.append(name)
            text = read(store, "global/semantic/things.md")
            write(store, "global/semantic/things.md", text + "\n## By hand\n\nLate.\n")

    with store.writing(label="remember", at=NOW, step=step) as batch:
        batch.add(draft("Other", topic="Another"))
        batch.add(draft("Two"))
    assert saved
    assert [located.entry.heading for located in store.entries()] == ["Other", "One", "By hand", "Two"]
    assert "4 entries" not in read(store, "global/semantic.md")
    assert "3 entries" in read(store, "global/semantic.md")
    assert os.listdir(store.root / "state/staging") == []


def test_a_file_that_never_rests_is_given_up_whole(store: Store) -> None:
    remember(store, "One")
    before = snapshot(store)
    count = []

    def step(name: str) -> None:
        if name == "recorded":
            count.append(name)
            write(store, "global/semantic/things.md", f"## One\n\n**Id:** global-sem-0001\n\n{len(count)}\n")

    with (  # noqa: PT012 - the block is one batch
        pytest.raises(errors.ChangedMeanwhile, match=r"things\.md"),
        store.writing(label="remember", at=NOW, step=step) as batch,
    ):
        batch.add(draft("A", topic="Another"))
        batch.add(draft("Two"))
    assert len(count) == 6
    assert not (store.root / "global/semantic/another.md").exists()
    assert read(store, "global/semantic/things.md").endswith("6\n")
    assert read(store, "global/semantic.md").encode() == before["global/semantic.md"]
    remember(store, "Three")
    assert [located.entry.heading for located in store.entries()] == ["One", "Three"]


def test_a_whole_text_is_not_put_over_somebody_elses(store: Store) -> None:
    write(store, "workspaces/lamina/state.md", "old\n")
    with (  # noqa: PT012 - the block is one batch
        pytest.raises(errors.ChangedMeanwhile, match=r"state\.md"),
        store.writing(label="state", at=NOW) as batch,
    ):
        assert batch.text("workspaces/lamina/state.md") == "old\n"
        write(store, "workspaces/lamina/state.md", "by hand\n")
        batch.put("workspaces/lamina/state.md", "new\n")
    assert read(store, "workspaces/lamina/state.md") == "by hand\n"
    with store.writing(label="state", at=NOW) as batch:
        batch.edit("workspaces/lamina/state.md", lambda text: f"{text}more\n")
        write(store, "workspaces/lamina/state.md", "again\n")
    assert read(store, "workspaces/lamina/state.md") == "again\nmore\n"


def test_an_entry_taken_out_while_it_is_changed_is_told(store: Store) -> None:
    remember(store, "One")
    remember(store, "Two")
    with (  # noqa: PT012 - the block is one batch
        pytest.raises(errors.ChangedMeanwhile, match="taken out"),
        store.writing(label="edit", at=NOW) as batch,
    ):
        batch.change("global-sem-0001", lambda entry: with_body(entry, "x"))
        text = read(store, "global/semantic/things.md")
        write(store, "global/semantic/things.md", "# Things\n\n" + text[text.index("## Two") :])
    assert ids(store) == ["global-sem-0002"]


def test_other_files_are_put_edited_and_removed(store: Store) -> None:
    with store.writing(label="x", at=NOW) as batch:
        batch.put("workspaces/lamina/meta.json", "{}")
        batch.put("state/sessions/a.json", "{}")
        assert batch.text("workspaces/lamina/meta.json") == "{}"
        assert batch.text("global/INDEX.md") is None
    with store.writing(label="x", at=NOW) as batch:
        batch.put("workspaces/lamina/meta.json", None)
    assert not (store.root / "workspaces/lamina/meta.json").exists()
    assert (store.root / "state/sessions/a.json").exists()
    for rel in ("../x", "/x", ".git/hooks/post-commit", "a/con.md", "state/a:b"):
        with pytest.raises(errors.UnsafePath), store.writing(label="x", at=NOW) as batch:
            batch.put(rel, "x")


def test_index_md_is_never_touched(store: Store) -> None:
    write(store, "global/INDEX.md", "## Mine\n\n- hand-written\n")
    remember(store, "One")
    assert read(store, "global/INDEX.md") == "## Mine\n\n- hand-written\n"


def test_a_dry_run_writes_nothing(store: Store) -> None:
    before = snapshot(store)
    with store.writing(label="x", at=NOW, dry_run=True) as batch:
        assert batch.add(draft("One")).id == "global-sem-0001"
    assert snapshot(store) == before
    assert remember(store, "One").id == "global-sem-0001"


def test_equal_content_is_known_within_a_batch(store: Store) -> None:
    old = remember(store, "One")
    with store.writing(label="x", at=NOW) as batch:
        assert batch.known(GLOBAL, old.entry.content_hash) == old.id
        new = batch.add(draft("Two"))
        assert batch.known(GLOBAL, new.entry.content_hash) == new.id
        assert batch.known(LAMINA, new.entry.content_hash) is None


# --- disks that refuse ------------------------------------------------------------------------------


def test_a_full_disk_changes_nothing_and_says_what_to_do(store: Store) -> None:
    remember(store, "One")
    before = snapshot(store)
    with limited(400), pytest.raises(errors.UnwritableStore) as caught:
        remember(store, "Two", "x" * 2000)
    assert "free some space" in caught.value.hint
    assert snapshot(store) == before
    assert os.listdir(store.root / "state/staging") == []
    assert remember(store, "Three").id in ids(store)
    assert [located.entry.heading for located in store.entries()] == ["One", "Three"]


def test_a_disk_full_for_the_record_changes_nothing(store: Store) -> None:
    remember(store, "One", "x" * 3000)
    before = snapshot(store)
    with limited(5000), pytest.raises(errors.UnwritableStore):
        remember(store, "Two")  # its files fit, the record with all texts before and after does not
    assert snapshot(store) == before
    assert [path.suffix for path in (store.root / "state/journal").iterdir()] == [".json"]
    remember(store, "Two")
    assert len(ids(store)) == 2


NOBODY = 65534
AS_NOBODY = """
import os, subprocess, sys
from pathlib import Path
from lamina import errors
from lamina.store import git, migrate, write
from lamina.store.store import Store
from tests.store.making import NOW, ids, remember
root = Path(sys.argv[1])
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(int(sys.argv[2]))
    os.setuid(int(sys.argv[2]))
try:
    remember(Store.open(root, create=True, now=NOW), "Two")
except errors.UnwritableStore as problem:
    print(problem.message, "|", problem.hint)
try:
    print(*ids(Store.open(root)))
except errors.NoStore:
    print("no store")
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    for path in folder.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    shutil.rmtree(folder)


@pytest.mark.parametrize("there", [True, False])
def test_a_folder_that_may_not_be_written_is_told_and_still_read(open_folder: Path, there: bool) -> None:
    root = open_folder / "store"
    if there:
        remember(Store.open(root, create=True, now=NOW), "One")
    for path in [open_folder, *open_folder.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, root, str(NOBODY)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    told, read_back = done.stdout.splitlines()
    assert str(root) in told
    assert "can't be written" in told
    assert "give yourself write permission" in told
    assert read_back == ("global-sem-0001" if there else "no store")


def test_a_file_in_the_way_is_named(store: Store) -> None:
    write(store, "global/semantic", "I am a file")
    with pytest.raises(errors.UnsafePath, match="semantic"):
        remember(store, "One")
    assert read(store, "global/semantic") == "I am a file"
    (store.root / "global/decisions").mkdir()
    (store.root / "global/decisions.md").mkdir()
    with pytest.raises(errors.UnsafePath, match=r"decisions\.md"):
        remember(store, "One", layer="decisions")
    assert ids(store) == []


def test_half_a_character_is_refused_before_anything_is_written(store: Store) -> None:
    before = snapshot(store)
    with pytest.raises(errors.BadInput, match=r"U\+DC80"):
        remember(store, "One", "x\udc80")
    assert snapshot(store) == before


def test_big_batches_cost_time_in_proportion(store: Store) -> None:
    import time

    def cost(count: int) -> float:
        began = time.process_time()
        with store.writing(label="import", at=NOW) as batch:
            for number in range(count):
                batch.add(draft(f"Fact {count}-{number}", topic=f"Topic {number % 50}"))
        return time.process_time() - began

    cost(50)
    small, big = cost(500), cost(3000)
    assert big < small * 6 * 2.5
    with store.writing(label="edit", at=NOW) as batch:
        for number in range(1, 1001):
            batch.change(f"global-sem-{number:04d}", lambda entry: with_field(entry, "Importance", "4"))
    assert len(ids(store)) == 3550
    assert files.stamp(Path(store.root / "global/semantic.md")) is not None


def test_naming_thousands_of_entries_takes_time_in_proportion(store: Store) -> None:
    count = 3000
    write(
        store,
        "global/semantic/things.md",
        "# Things\n\n" + "".join(f"## Hand {number}\n\nBody.\n\n" for number in range(count)),
    )
    began = time.process_time()
    remember(store, "One more")
    assert time.process_time() - began < 20  # once a hundred
    assert len({*ids(store)}) == count + 1
