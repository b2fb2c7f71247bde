"""A person saves a file in the very moment in which Lamina writes it: both texts stand in the end."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.store.making import NOW, draft, ids, read, remember, write

from lamina import errors
from lamina.store import files
from lamina.store.store import Store
from lamina.store.swap import exchange, swap

SWAPS = sys.platform in ("linux", "darwin")


@pytest.mark.skipif(not SWAPS, reason="this system can't exchange files")
@pytest.mark.parametrize("late", ["text", "link", "folder", "nothing"])
def test_what_is_saved_between_the_look_and_the_write_goes_back(tmp_path: Path, late: str) -> None:
    path = tmp_path / "a.md"
    files.write_text(path, "old")
    staged = files.stage("new", tmp_path / "staging")
    path.unlink()
    if late == "text":
        path.write_text("mine")
    elif late == "link":
        path.symlink_to("elsewhere")
    elif late == "folder":
        path.mkdir()
    with pytest.raises(errors.ChangedMeanwhile):
        exchange(staged, path, files.fingerprint("old"))
    assert {
        "text": path.is_file() and path.read_text() == "mine",
        "link": path.is_symlink(),
        "folder": path.is_dir(),
        "nothing": not path.exists(),
    }[late]
    assert staged.read_text() == "new"


def test_an_exchange_leaves_the_new_text_and_no_other_file(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    files.write_text(path, "old")
    staged = files.stage("new", tmp_path)
    if not exchange(staged, path, files.fingerprint("old")):
        staged.replace(path)
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["a.md"]


def test_files_that_can_not_be_exchanged_are_told(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    with pytest.raises(OSError, match="b"):
        assert swap(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "a").read_text() == "a"


def test_a_file_that_is_being_saved_is_read_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("line\n" * 1000)
    opened = threading.Event()

    def save() -> None:
        with path.open("w") as file:
            opened.set()
            time.sleep(0.02)
            file.write("new")
            file.flush()
            time.sleep(0.02)
            file.write(" text\n")

    editor = threading.Thread(target=save)
    editor.start()
    opened.wait()
    assert files.read_settled(path) == b"new text\n"
    editor.join()


def test_an_empty_file_and_one_without_a_last_line_break_do_not_hold_up(tmp_path: Path) -> None:
    for text in ("", "x"):
        path = tmp_path / "a.md"
        path.write_text(text)
        began = time.monotonic()
        assert files.read_settled(path) == text.encode()
        assert time.monotonic() - began < 1
        os.utime(path, (1, 1))
        began = time.monotonic()
        assert files.read_settled(path) == text.encode()
        assert time.monotonic() - began < 0.05


def test_entries_of_a_file_that_an_editor_saves_slowly_in_place_are_not_lost(store: Store) -> None:
    for number in range(20):
        remember(store, f"Fact {number}")
    path = store.root / "global/semantic/things.md"
    text = path.read_text() + "\n## By hand\n\nMine.\n"
    emptied = threading.Event()

    def save() -> None:
        with path.open("w") as file:
            emptied.set()
            time.sleep(0.03)
            file.write(text)

    editor = threading.Thread(target=save)
    editor.start()
    emptied.wait()
    remember(Store.open(store.root), "Late")
    editor.join()
    remember(store, "Last")
    headings = [located.entry.heading for located in store.entries()]
    assert headings == [*(f"Fact {number}" for number in range(20)), "By hand", "Late", "Last"]
    assert len({*ids(store)}) == 23


def test_a_batch_ends_when_the_machines_folder_is_removed_under_it(store: Store) -> None:
    import shutil

    remember(store, "First")
    before = read(store, "global/semantic/things.md")
    with (  # noqa: PT012 - the block is one batch
        pytest.raises(errors.ChangedMeanwhile, match="was removed"),
        store.writing(label="remember", at=NOW) as batch,
    ):
        batch.add(draft("Lost the race"))
        shutil.rmtree(store.root / "state")
        assert remember(Store.open(store.root), "Won the race").id == "global-sem-0002"
    now = read(store, "global/semantic/things.md")
    assert now.startswith(before.rstrip())
    assert "Lost the race" not in now
    assert remember(store, "Again").id == "global-sem-0003"


def test_a_file_written_in_place_by_a_person_all_the_time(store: Store) -> None:
    """Two programs at once for a moment: each hand-written line and each entry is there in the end."""
    remember(store, "First")
    path = write(store, "global/semantic/things.md", read(store, "global/semantic/things.md"))
    stop = threading.Event()
    saved = []

    def edit() -> None:
        while not stop.is_set():
            time.sleep(0.003)
            number = len(saved)
            with path.open("a") as file:
                file.write(f"\n## Hand {number}\n\nBy hand.\n")
                file.flush()
                if os.fstat(file.fileno()).st_ino != path.stat().st_ino:
                    continue  # written into a file that is gone: nobody can see that, so it is done again
            saved.append(f"Hand {number}")

    editor = threading.Thread(target=edit)
    editor.start()
    wrote = []
    try:
        for number in range(15):
            try:
                wrote.append(remember(store, f"Fact {number}").entry.heading)
            except errors.ChangedMeanwhile:
                continue
    finally:
        stop.set()
        editor.join()
    remember(store, "Last")
    headings = [located.entry.heading for located in store.entries()]
    ours = [heading for heading in headings if not heading.startswith("Hand")]
    assert sorted(ours) == sorted(["First", *wrote, "Last"])
    assert {*saved} <= {*headings}
    assert len({*ids(store)}) == len(headings)
