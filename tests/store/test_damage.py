"""Whatever stands where a file of the machine should stand: memory is read, written and never lost."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from tests.store.making import NOW, ids, read, remember, write

from lamina import errors
from lamina.formats.entry import with_field
from lamina.store import git, journal, log
from lamina.store.pause import paused
from lamina.store.project import Trust
from lamina.store.registry import Registry
from lamina.store.store import Store

DEEP = "[" * 100_000
JUNK = [
    b"",
    b"\0" * 100,
    b"\xff\xfe",
    b"null",
    b"[5]",
    b'{"a":' * 100_000,
    DEEP.encode(),
    b"9" * 5000,
    b'{"global-sem":' + b"9" * 4000 + b"}",
    b'{"global-sem":-5}',
]
DERIVED = [
    "state/ids.json",
    "state/dirty.json",
    "state/metrics.json",
    "state/activity.jsonl",
    "state/ledger/singles.json",
    "state/ledger/global/semantic.json",
    "state/paths.json",
    "state/trust.json",
    "state/paused.json",
    "logs/memory.log",
]


def use_all(store: Store) -> None:
    """Do what reads each file of the machine."""
    log.count(store.layout, {"x": 1})
    log.activity(store.layout, "hi", at=NOW)
    log.log(store.layout, "hi", at=NOW)
    log.recent_activity(store.layout)
    registry = Registry.load(store.root)
    assert not [*registry]
    assert not registry.paths
    Trust.load(store.root)
    paused(store.root, now=NOW)
    git.is_dirty(store.layout)


@pytest.mark.parametrize("rel", DERIVED)
def test_junk_in_a_derived_file_costs_nothing(tmp_path: Path, rel: str) -> None:
    store = Store.open(tmp_path / "store", create=True, now=NOW)
    remember(store, "First")
    for number, junk in enumerate(JUNK):
        write(store, rel, "").write_bytes(junk)
        remember(Store.open(store.root), f"Fact {number}")
        use_all(store)
    assert ids(store) == [f"global-sem-{number:04d}" for number in range(1, len(JUNK) + 2)]


@pytest.mark.parametrize("text", ['{"schemaVersion":2,"x":' + DEEP, DEEP, "9" * 5000, "[]", ""])
def test_a_damaged_memory_json_is_one_clear_error(store: Store, text: str) -> None:
    write(store, "memory.json", text)
    with pytest.raises(errors.UnreadableFile, match=r"memory\.json: is damaged"):
        Store.open(store.root)


@pytest.mark.parametrize("kind", ["folder", "pipe", "link"])
@pytest.mark.parametrize("rel", ["state/ids.json", "state/dirty.json", "state/ledger/global"])
def test_what_is_written_is_no_failure_because_of_a_cache(store: Store, rel: str, kind: str) -> None:
    remember(store, "First")
    path = store.root / rel
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    precious = write(store, "precious", "keep me")
    if kind == "folder":
        (path / "sub" / "semantic.json").mkdir(parents=True)
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(precious)
    for number in range(3):
        remember(Store.open(store.root), f"Fact {number}")
    assert len({*ids(store)}) == 4
    assert precious.read_text() == "keep me"


@pytest.mark.parametrize(
    "text",
    [
        '{"files":[[1,2,3]],"label":1,"time":1}',
        '{"files":[["a","b","c"]],"label":null,"time":null}',
        '{"files":[["global/semantic/x.md",null,5]],"label":"","time":""}',
        '{"files":[["global/semantic/x.md",null,"\\ud800"]],"label":"","time":""}',
        '{"files":[["a\\u0000b",null,"x"]],"label":"x","time":""}',
        '{"files":[["memory.json/x",null,"x"]],"label":"x","time":""}',
        '{"files":[[".git/hooks/post-commit",null,"x"]],"label":"x","time":""}',
        "[]",
    ],
)
def test_a_record_that_is_none_is_told_and_kept_aside(store: Store, text: str) -> None:
    write(store, "state/journal/00000099.open", text)
    with store.writing(label="next", at=NOW) as batch:
        assert len(batch.recovered) == 1
    remember(store, "Works")
    assert ids(store) == ["global-sem-0001"]
    assert read(store, "state/journal/00000099.kept") == text
    write(store, "state/journal/00000200.json", text)
    assert [record.label for record in journal.recent(store)][-1] == "remember"


def test_what_a_killed_writer_wrote_is_committed(store: Store) -> None:
    remember(store, "First")
    git.commit_if_dirty(store, now=NOW, older_than_s=0)

    class Stop(BaseException):
        pass

    def step(name: str) -> None:
        if name == "ledgers":
            raise Stop

    with pytest.raises(Stop), store.writing(label="edit", at=NOW, step=step) as batch:
        batch.change("global-sem-0001", lambda entry: with_field(entry, "Importance", "5"))
    assert not git.is_dirty(store.layout)
    with store.writing(label="nothing", at=NOW):
        pass
    assert git.is_dirty(store.layout)


def test_an_id_of_absurd_height_never_makes_a_double(store: Store) -> None:
    write(
        store,
        "global/semantic/odd.md",
        "# Odd\n\n## High\n\n**Id:** global-sem-999999999999\n\nx\n\n## Low\n\n**Id:** global-sem-0\n\ny\n",
    )
    for number in range(3):
        remember(Store.open(store.root), f"Fact {number}")
        shutil.rmtree(store.root / "state")
    assert len({*ids(store)}) == 5


def test_names_of_files_in_any_bytes(store: Store) -> None:
    names = ["new\nline.md", "a (b).md", "tab\t.md", "e\u0301.md", "<img src=x>.md"]
    for number, name in enumerate(names):
        write(store, f"global/semantic/{name}", f"# T{number}\n\n## Hand {number}\n\nBody.\n")
    remember(store, "First")
    assert len([*store.entries()]) == len(names) + 1
    before = read(store, "global/semantic.md")
    assert len(before.splitlines()) == 4 + len(names) + 1
    assert "(semantic/a%20%28b%29.md)" in before
    for located in [*store.entries()]:
        if not located.entry.id:
            with store.writing(label="touch", at=NOW) as batch:
                batch.put(located.rel, f"{batch.text(located.rel)}\n")
    remember(Store.open(store.root), "Second")
    assert len({*ids(store)}) == len(names) + 2
    assert "notes" not in read(store, "global/semantic.md")
    assert store.problems == []
    assert json.loads(read(store, "state/ids.json"))["global-sem"] == len(names) + 2


def test_a_name_that_is_no_text_is_told_and_stops_nothing(store: Store) -> None:
    odd = write(store, "global/semantic/\udcff\udcfe.md", "# T\n\n## Hand\n\nBody.\n")
    remember(store, "First")
    assert ids(store) == ["global-sem-0001"]
    assert any("is not UTF-8 text" in problem.message for problem in store.problems)
    assert odd.read_text() == "# T\n\n## Hand\n\nBody.\n"
    odd.rename(odd.with_name("plain.md"))
    again = Store.open(store.root)
    assert len([*again.entries()]) == 2
    assert again.problems == []
