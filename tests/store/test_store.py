from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path

import pytest
from tests.store.making import GLOBAL, LAMINA, NOW, ids, read, remember, write

from lamina import errors
from lamina.store.store import Store


def test_reading_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(errors.NoStore, match=str(tmp_path / "none")) as caught:
        Store.open(tmp_path / "none")
    assert "lamina init" in caught.value.hint
    (tmp_path / "empty").mkdir()
    with pytest.raises(errors.NoStore):
        Store.open(tmp_path / "empty")
    assert os.listdir(tmp_path) == ["empty"]
    assert os.listdir(tmp_path / "empty") == []


def test_a_new_store_has_the_agreed_files(store: Store) -> None:
    assert json.loads(read(store, "memory.json")) == {
        "schemaVersion": 2,
        "git": {"remote": "", "branch": "main"},
        "workspaces": {},
    }
    assert sorted(read(store, ".gitignore").split()) == ["/digests/", "/index/", "/logs/", "/state/"]
    assert "/global/semantic.md merge=union" in read(store, ".gitattributes")
    assert "/workspaces/*/history.md merge=union" in read(store, ".gitattributes")
    for path in [store.root, *store.root.rglob("*")]:
        if ".git" not in path.parts:
            assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    head = subprocess.run(
        ["git", "-C", store.root, "symbolic-ref", "HEAD"], capture_output=True, text=True, check=True
    )
    assert head.stdout.strip() == "refs/heads/main"


def test_opening_again_changes_nothing(store: Store) -> None:
    remember(store, "A fact")
    before = {path: path.stat().st_mtime_ns for path in store.root.rglob("*")}
    again = Store.open(store.root, create=True, now=NOW)
    assert [*again.entries()] == [*store.entries()]
    again.find("global-sem-0001")
    assert {path: path.stat().st_mtime_ns for path in store.root.rglob("*")} == before


def test_a_folder_with_other_things_does_not_become_a_store(tmp_path: Path) -> None:
    (tmp_path / ".ssh").mkdir()
    with pytest.raises(errors.Refused, match="neither empty nor a store"):
        Store.open(tmp_path, create=True, now=NOW)
    assert os.listdir(tmp_path) == [".ssh"]
    (tmp_path / "file").write_text("x")
    with pytest.raises(errors.UnsafePath, match="a file stands where"):
        Store.open(tmp_path / "file", create=True, now=NOW)


def test_a_lost_memory_json_is_made_again_around_what_is_there(store: Store) -> None:
    remember(store, "A fact")
    (store.root / "memory.json").unlink()
    again = Store.open(store.root, create=True, now=NOW)
    assert ids(again) == ["global-sem-0001"]
    assert again.schema == 2


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"schemaVersion": "2"}', '{"schemaVersion": true}', '{"schemaVersion": 0}', '{"schemaVersion":2,"git":[]}',
     "<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> x\n"],
)  # fmt: skip
def test_a_damaged_memory_json_is_told_and_kept(store: Store, text: str) -> None:
    path = write(store, "memory.json", text)
    for create in (False, True):
        with pytest.raises(errors.UnreadableFile) as caught:
            Store.open(store.root, create=create, now=NOW)
        assert str(path) in caught.value.message
        assert "checkout -- memory.json" in caught.value.hint
    assert path.read_text() == text


def test_a_newer_store_is_read_and_not_written(store: Store) -> None:
    remember(store, "A fact")
    write(store, "memory.json", '{"schemaVersion": 3, "new": {"x": 1}}')
    newer = Store.open(store.root, create=True, now=NOW)
    assert newer.read_only
    assert ids(newer) == ["global-sem-0001"]
    with pytest.raises(errors.ReadOnlyStore, match="schema 3") as caught, newer.writing(label="x", at=NOW):
        pass
    assert "upgrade" in caught.value.hint
    assert read(store, "memory.json") == '{"schemaVersion": 3, "new": {"x": 1}}'


def test_unknown_keys_of_memory_json_are_no_matter(store: Store) -> None:
    write(store, "memory.json", '\ufeff{"schemaVersion": 2, "x": [1]}\r\n')
    assert not Store.open(store.root).read_only


def test_a_store_behind_a_link_of_the_user_opens(tmp_path: Path, store: Store) -> None:
    remember(store, "A fact")
    (tmp_path / "link").symlink_to(store.root)
    assert ids(Store.open(tmp_path / "link")) == ["global-sem-0001"]


def test_many_openers_make_one_store(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        stores = [*pool.map(lambda _: Store.open(tmp_path / "s", create=True, now=NOW), range(8))]
    assert {store.schema for store in stores} == {2}


def test_scopes_are_the_folders_that_are_there(store: Store) -> None:
    remember(store, "A fact", scope=LAMINA)
    (store.root / "workspaces" / "Bad Name").mkdir()
    (store.root / "workspaces" / "linked").symlink_to(store.root / "global")
    write(store, "workspaces/file", "x")
    assert store.scopes() == [GLOBAL, LAMINA]
    told = [Path(problem.path).name for problem in store.problems]
    assert sorted(told) == ["Bad Name", "file", "linked"]


def test_a_topic_made_by_hand_is_there_at_once(store: Store) -> None:
    write(store, "global/semantic/by-hand.md", "# By hand\n\n## Water boils\n\nAt 100 °C.\n")
    [located] = store.entries()
    assert (located.entry.id, located.topic, located.slug) == ("", "By hand", "by-hand")
    assert located.rel == "global/semantic/by-hand.md"
    assert located.entry.line == 3


def test_one_bad_file_never_stops_a_listing(store: Store) -> None:
    remember(store, "A fact", topic="Good")
    (store.root / "global/semantic/bad.md").write_bytes(b"# Bad\n\n## X\n\n\xff\n")
    (store.root / "global/semantic/link.md").symlink_to(store.root / "memory.json")
    (store.root / "global/semantic/folder.md").mkdir()
    os.mkfifo(store.root / "global/semantic/pipe.md")
    assert ids(store) == ["global-sem-0001"]
    told = {Path(problem.path).name: str(problem) for problem in store.problems}
    assert set(told) == {"bad.md", "link.md", "folder.md", "pipe.md"}
    assert "bad.md:5: is not UTF-8" in told["bad.md"]
    found = store.find("global-sem-0001")
    assert found is not None
    assert remember(store, "Another fact", topic="Good").id == "global-sem-0002"


def test_a_linked_layer_folder_is_refused(store: Store, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "x.md").write_text("## Secret\n\nx\n")
    (store.root / "global" / "semantic").symlink_to(tmp_path / "elsewhere")
    assert ids(store) == []
    assert "symbolic link" in str(store.problems[0])
    with pytest.raises(errors.UnsafePath, match="semantic"):
        remember(store, "A fact")
    assert os.listdir(tmp_path / "elsewhere") == ["x.md"]


def test_an_entry_is_found_by_its_id_and_its_alias(store: Store) -> None:
    remember(store, "A fact")
    remember(store, "Elsewhere", scope=LAMINA, layer="decisions")
    write(
        store,
        "global/semantic/old.md",
        "## Old\n\n**Id:** global-sem-0009\n**Alias:** old-sem-0001, lamina-dec-0044\n\nx\n",
    )
    for id_ in ("global-sem-1", "global-sem-0001", " global-sem-00001 "):
        found = store.find(id_)
        assert found is not None
        assert found.entry.heading == "A fact"
    found = store.find("lamina-dec-0044")
    assert found is not None
    assert found.entry.id == "global-sem-0009"
    found = store.find("lamina-dec-0001")
    assert found is not None
    assert found.scope == LAMINA
    for id_ in ("global-sem-0002", "nonsense", "", "other-sem-0001"):
        assert store.find(id_) is None


def test_equal_content_is_found_by_its_hash(store: Store) -> None:
    written = remember(store, "A fact")
    assert store.with_hash(GLOBAL, written.entry.content_hash) == [written.id]
    assert store.with_hash(LAMINA, written.entry.content_hash) == []


def test_a_vanished_file_is_no_problem(store: Store) -> None:
    remember(store, "A fact", topic="One")
    remember(store, "Another", topic="Two")
    refs = store.topics(GLOBAL, "semantic")
    refs[0].path.unlink()
    assert [located.entry.heading for ref in refs for located in store.entries_in(ref)] == ["Another"]
    assert store.problems == []


def test_single_files_are_listed_when_asked_for(store: Store) -> None:
    write(store, "global/junk.md", "## Old stuff\n\nx\n")
    assert [ref.rel for ref in store.topics(GLOBAL, "junk")] == ["global/junk.md"]
    assert store.topics(LAMINA, "state") == []
    assert ids(store) == []
    assert [located.entry.heading for located in store.entries(GLOBAL, "junk")] == ["Old stuff"]


def test_a_thousand_topics_cost_milliseconds_when_nothing_changed(store: Store) -> None:
    import time

    for number in range(1000):
        write(
            store,
            f"global/semantic/t{number}.md",
            f"# T{number}\n\n## Fact {number}\n\n**Id:** global-sem-{number + 1:04d}\n\nx\n",
        )
    remember(store, "One more")
    time.sleep(0.05)
    remember(store, "And more")
    ledger = Store.open(store.root).ledger(GLOBAL, "semantic")
    assert len(ledger.records) == 1001
    times = []
    for _ in range(5):
        began = time.process_time()
        assert ledger.refresh() == []
        times.append(time.process_time() - began)
    assert min(times) < 0.02


def test_roots_that_can_not_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(errors.NoSuchFile, match="no such home folder"):
        Store.open(Path("~no-such-person-here/store"), create=True)
    for name in ("/proc/x", "/dev/null/x"):
        if Path(name).parent.exists():
            with pytest.raises(errors.LaminaError):
                Store.open(Path(name), create=True)
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(errors.NoSuchFile, match="current folder was deleted"):
        Store.open(Path("relative"), create=True)
