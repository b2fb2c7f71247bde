from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.index.conformance import IndexConformance, VectorConformance, document, source_of
from tests.index.memory_source import MemorySource
from tests.index.standin import Hashed  # noqa: TC002 - as all of them

from lamina.index import tables
from lamina.index.base import Query
from lamina.index.embedded import NAME, Embedded
from lamina.index.source import StoreSource


class TestEmbedded(IndexConformance):
    def make(self, home: Path) -> Embedded:
        return Embedded(home)


class TestInMemory(IndexConformance):
    """A disk that takes no index: the same answers from memory."""

    def make(self, home: Path) -> Embedded:
        (home / "file").write_text("in the way")
        return Embedded(home / "file" / "index")

    def test_it_says_that_it_lives_in_memory(self, index: Embedded) -> None:
        index.refresh(source_of("text"))
        assert index.in_memory


class TestVectors(VectorConformance):
    def make(self, home: Path, embedder: Hashed) -> Embedded:
        return Embedded(home, embedder=embedder)

    def embed(self, index: Embedded) -> tuple[int, int]:
        return index.embed()


class TestVectorsInMemory(TestVectors):
    """A disk that takes neither an index nor vectors."""

    def make(self, home: Path, embedder: Hashed) -> Embedded:
        (home / "file").write_text("in the way")
        return Embedded(home / "file" / "index", embedder=embedder)

    test_another_model_embeds_anew_and_the_old_vectors_go = None


def texts(index: Embedded, query: str) -> list[str]:
    return [match.document.text for match in index.search(Query(query)).matches]


def damage_with_garbage(path: Path) -> None:
    path.write_bytes(b"\x00garbage\xff" * 2000)


def damage_by_truncation(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def damage_to_nothing(path: Path) -> None:
    os.truncate(path, 0)


def damage_in_the_middle(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    path.write_bytes(data)


def damage_to_a_folder(path: Path) -> None:
    path.unlink()
    (path / "inner").mkdir(parents=True)


def damage_to_another_version(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA user_version = {tables.SCHEMA + 1}")
    db.close()


def damage_to_another_database(path: Path) -> None:
    path.unlink()
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE notes (text)")
    db.execute(f"PRAGMA user_version = {tables.SCHEMA}")
    db.close()


def damage_by_dropping_the_words(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("DROP TABLE words")
    db.close()


DAMAGES = [
    damage_with_garbage, damage_by_truncation, damage_to_nothing, damage_in_the_middle, damage_to_a_folder,
    damage_to_another_version, damage_to_another_database, damage_by_dropping_the_words, Path.unlink,
]  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_index_is_built_anew_without_a_word(tmp_path: Path, damage) -> None:
    source = MemorySource(document(f"word{n} gateway", n, file=f"f{n % 9}.md") for n in range(300))
    with_index(tmp_path, source).close()
    damage(tmp_path / NAME)
    index = Embedded(tmp_path)
    first = index.refresh(source)
    assert texts(index, "word7") == ["word7 gateway"]
    assert first.rebuilt or not Embedded(tmp_path).refresh(source).rebuilt
    assert index.check(source) == []
    assert not index.in_memory
    assert Embedded(tmp_path).refresh(source).rebuilt == ""


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_damage_under_a_running_process_is_noticed(tmp_path: Path, damage) -> None:
    source = MemorySource(document(f"word{n} gateway", n, file=f"f{n % 9}.md") for n in range(300))
    index = with_index(tmp_path, source)
    damage(tmp_path / NAME)
    assert texts(index, "word7") == ["word7 gateway"]
    source.put("f7.md", [document("fresh words", 1, file="f7.md")])
    index.refresh(source)
    assert texts(index, "fresh") == ["fresh words"]
    assert "word7 gateway" not in texts(index, "word7")
    assert index.check(source) == []


NONSENSE = [
    "UPDATE body SET date = 'someday'",
    "UPDATE body SET date = 7",
    "UPDATE body SET text = CAST(X'e6ff' AS TEXT), heading = CAST(X'e6ff' AS TEXT)",
    "UPDATE meta SET value = 'many' WHERE name = 'documents'",
    "UPDATE file SET rel = CAST(X'e6ff' AS TEXT); UPDATE meta SET value = 0 WHERE name = 'listing'",
    "UPDATE file SET size = 'big', racy = 'yes', rel = 7; UPDATE meta SET value = 0 WHERE name = 'listing'",
]


@pytest.mark.parametrize("statements", NONSENSE)
def test_values_that_no_index_wrote_are_damage_like_any_other(tmp_path: Path, statements: str) -> None:
    source = source_of("the first text", "the second text")
    with_index(tmp_path, source).close()
    db = sqlite3.connect(tmp_path / NAME)
    db.executescript(statements)
    db.close()
    index = Embedded(tmp_path)
    assert isinstance(index.check(source), list)
    index.refresh(source)
    assert sorted(texts(index, "text")) == ["the first text", "the second text"]
    source.put("global/semantic/later.md", [document("a later one", 9, file="global/semantic/later.md")])
    index.refresh(source)
    assert texts(index, "later") == ["a later one"]
    assert index.check(source) == []


def with_index(home: Path, source: MemorySource) -> Embedded:
    index = Embedded(home)
    index.refresh(source)
    return index


def test_an_index_deleted_by_another_process_is_not_used_any_longer(tmp_path: Path) -> None:
    source = source_of("old text")
    ours = with_index(tmp_path, source)
    shutil.rmtree(tmp_path)
    source.put("global/semantic/things.md", [document("new text")])
    theirs = with_index(tmp_path, source)
    assert texts(ours, "new") == ["new text"]
    assert texts(ours, "old") == []
    ours.close()
    assert texts(theirs, "new") == ["new text"]


def test_an_index_rebuilt_by_another_process_is_taken_up(tmp_path: Path) -> None:
    source = source_of("old text")
    ours = with_index(tmp_path, source)
    other = source_of("new text")
    Embedded(tmp_path).rebuild(other)
    assert texts(ours, "new") == ["new text"]


def test_search_without_a_source_says_what_to_do(tmp_path: Path) -> None:
    answer = Embedded(tmp_path).search(Query("text"))
    assert not answer.matches
    assert "lamina index rebuild" in answer.notes[0]
    assert answer.engines == ("words",)
    assert not (tmp_path / NAME).exists()


def test_a_writer_that_waits_for_nothing_leaves_the_answers_as_they_were(tmp_path: Path) -> None:
    source = source_of("old text")
    with_index(tmp_path, source).close()
    blocker = sqlite3.connect(tmp_path / NAME, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    index = Embedded(tmp_path, wait_s=0.05)
    source.put("global/semantic/things.md", [document("new text")])
    assert index.refresh(source).busy
    assert texts(index, "old") == ["old text"]
    blocker.execute("ROLLBACK")
    blocker.close()
    assert not index.refresh(source).busy
    assert texts(index, "new") == ["new text"]


def test_a_reader_that_meets_a_commit_waits_and_sees_no_error(tmp_path: Path) -> None:
    source = source_of("old text")
    with_index(tmp_path, source).close()
    blocker = sqlite3.connect(tmp_path / NAME, isolation_level=None, check_same_thread=False)
    blocker.execute("BEGIN EXCLUSIVE")
    import threading

    release = threading.Timer(0.3, lambda: blocker.execute("ROLLBACK"))
    release.start()
    index = Embedded(tmp_path)
    index.refresh(source)
    assert texts(index, "old") == ["old text"]
    release.join()
    blocker.close()


def test_where_the_disk_takes_no_write_changes_are_found_in_memory(tmp_path: Path) -> None:
    source = source_of("old text")
    with_index(tmp_path, source).close()
    (tmp_path / f"{NAME}.lock").unlink()
    (tmp_path / f"{NAME}.lock").mkdir()
    source.put("global/semantic/things.md", [document("new text")])
    index = Embedded(tmp_path)
    index.refresh(source)
    assert index.in_memory
    assert texts(index, "new") == ["new text"]
    source.put("global/semantic/things.md", [document("newest text")])
    index.refresh(source)
    assert texts(index, "newest") == ["newest text"]


def test_a_leftover_of_a_killed_build_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / f"{NAME}.new").write_bytes(b"half")
    (tmp_path / f"{NAME}.new-journal").write_bytes(b"half")
    assert texts(with_index(tmp_path, source_of("text")), "text") == ["text"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [NAME, f"{NAME}.lock", f"{NAME}.lock.gate"]


def test_an_edit_of_the_same_size_within_one_tick_is_noticed(tmp_path: Path) -> None:
    now = time.time_ns()
    topic = write_topic(tmp_path / "store", "things", "alpha")
    source = FixedTicks(tmp_path / "store")
    index = Embedded(tmp_path / "index", clock=lambda: now)
    index.refresh(source)
    topic.write_text(topic.read_text().replace("alpha", "gamma"))
    index.refresh(source)
    assert texts(index, "gamma") == ["gamma"]
    now += 10_000_000_000
    assert index.refresh(source).changed == 0
    assert [file[-1] for file in tables.known(index._live()).values()] == [0]


class FixedTicks(StoreSource):
    """A disk whose clock did not move between two writes."""

    def stamps(self, only=None):
        found = super().stamps(only)
        return {rel: (10**9 * (stamp[0] // 10**9), stamp[1], 1, 0) for rel, stamp in found.items()}


def write_topic(root: Path, slug: str, *bodies: str) -> Path:
    path = root / "global" / "semantic" / f"{slug}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# {slug}\n" + "".join(f"\n## Entry {n}\n\n{body}\n" for n, body in enumerate(bodies)))
    return path


WORKER = """
import sys, time, os
from lamina.index.base import Query
from lamina.index.embedded import Embedded
from lamina.index.source import StoreSource
root, home, name, seconds = sys.argv[1:]
index, source = Embedded(home), StoreSource(root)
until, n = time.monotonic() + float(seconds), 0
while time.monotonic() < until:
    n += 1
    path = f"{root}/global/semantic/{name}.md"
    with open(path + ".tmp", "w") as file:
        file.write(f"# {name}\\n\\n## Round {n}\\n\\nround{n} of {name}\\n")
    os.replace(path + ".tmp", path)
    changes = index.refresh(source)
    assert not changes.busy and not changes.problems, changes
    found = [match.document.text for match in index.search(Query(f"round{n} {name}")).matches]
    assert found[:1] == [f"round{n} of {name}"], found
    print(n, flush=True)
"""


def worker(root: Path, home: Path, name: str, seconds: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WORKER, str(root), str(home), name, str(seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_processes_update_and_search_at_once(tmp_path: Path) -> None:
    write_topic(tmp_path / "store", "things", "alpha")
    running = [
        worker(tmp_path / "store", tmp_path / "index", name, 2) for name in ("first", "second", "third")
    ]
    for process in running:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert out
    index = Embedded(tmp_path / "index")
    index.refresh(StoreSource(tmp_path / "store"))
    assert index.check(StoreSource(tmp_path / "store")) == []


def test_the_index_is_deleted_again_and_again_while_processes_use_it(tmp_path: Path) -> None:
    write_topic(tmp_path / "store", "things", "alpha")
    running = [worker(tmp_path / "store", tmp_path / "index", name, 2) for name in ("first", "second")]
    until = time.monotonic() + 1.8
    while time.monotonic() < until:
        time.sleep(0.1)
        (tmp_path / "index" / NAME).unlink(missing_ok=True)
    for process in running:
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
    index = Embedded(tmp_path / "index")
    index.refresh(StoreSource(tmp_path / "store"))
    assert index.check(StoreSource(tmp_path / "store")) == []


def test_killed_at_any_point_it_stays_searchable(tmp_path: Path) -> None:
    source = StoreSource(tmp_path / "store")
    for n in range(30):
        write_topic(tmp_path / "store", f"things{n}", *(f"alpha{n} number {k}" for k in range(30)))
    Embedded(tmp_path / "index").refresh(source)
    for delay in (0.0, 0.002, 0.005, 0.01, 0.02, 0.03):
        process = worker(tmp_path / "store", tmp_path / "index", "killed", 30)
        assert process.stdout
        process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        index = Embedded(tmp_path / "index")
        index.refresh(source)
        assert texts(index, "alpha7 number 3")[:1] == ["alpha7 number 3"]
        assert index.check(source) == []
        index.close()


def test_threads_take_turns(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    source = MemorySource(document(f"word{n} gateway", n, file=f"f{n}.md") for n in range(20))
    index = with_index(tmp_path, source)

    def work(n: int) -> bool:
        source.put(f"f{n}.md", [document(f"fresh{n} gateway", n, file=f"f{n}.md")])
        index.refresh(source)
        return texts(index, f"fresh{n}")[:1] == [f"fresh{n} gateway"]

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(20)))
    assert index.check(source) == []


def test_an_index_that_another_program_keeps_locked_is_left_to_it(tmp_path: Path) -> None:
    source = source_of("old text")
    index = Embedded(tmp_path, wait_s=0.05)
    index.refresh(source)
    blocker = sqlite3.connect(tmp_path / NAME, isolation_level=None)
    blocker.execute("BEGIN EXCLUSIVE")
    assert index.refresh(source).busy
    assert "could not be read" in index.search(Query("old")).notes[0]
    late = Embedded(tmp_path, wait_s=0.05)
    late.refresh(source)
    assert texts(late, "old") == ["old text"]
    blocker.close()
    assert texts(index, "old") == ["old text"]
