"""Several processes write at once: no entry is lost, no id given twice, nobody sees an error."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

from tests.store.making import GLOBAL, NOW, draft, ids, read, remember

from lamina.formats.entry import with_field
from lamina.store import git, journal
from lamina.store.store import Store

WRITER = """
import sys
from pathlib import Path
from lamina.store.store import Store
from tests.store.making import remember
store = Store.open(Path(sys.argv[1]), create=True)
for number in range(int(sys.argv[3])):
    print(remember(store, f"Fact {sys.argv[2]}-{number}", topic=f"Topic {number % 7}").id)
"""


def writer(root: Path, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(root), name, str(count)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_ten_processes_write_a_hundred_entries_each(in_memory: Path) -> None:
    writers = [writer(in_memory / "store", f"w{number}", 100) for number in range(10)]
    given: list[str] = []
    for each in writers:
        out, err = each.communicate()
        assert each.returncode == 0, err
        given += out.split()
    store = Store.open(in_memory / "store")
    assert len(given) == len({*given}) == 1000
    assert sorted(ids(store)) == sorted(given) == [f"global-sem-{number:04d}" for number in range(1, 1001)]
    assert len({located.entry.heading for located in store.entries()}) == 1000
    assert store.problems == []
    counts = [
        int(line.split(" — ")[1].split()[0])
        for line in read(store, "global/semantic.md").splitlines()
        if " — " in line
    ]
    assert sum(counts) == 1000
    assert len(journal.recent(store, 100)) == journal.KEEP


def test_threads_changing_one_entry_lose_no_change(store: Store) -> None:
    remember(store, "Counter", "x", importance=3)

    def work(name: str) -> None:
        mine = Store.open(store.root)
        for number in range(10):
            with mine.writing(label="edit", at=NOW) as batch:
                batch.change(
                    "global-sem-0001",
                    lambda entry, said=f"{name}{number}": with_field(
                        entry, "Said", f"{entry.field('Said')} {said}"
                    ),
                )

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = store.find("global-sem-0001")
    assert found is not None
    assert len(found.entry.field("Said").split()) == 40


def test_readers_see_whole_entries_while_others_write_and_commit(store: Store) -> None:
    remember(store, "First")
    bad: list[str] = []
    stop = threading.Event()

    def look() -> None:
        mine = Store.open(store.root)
        while not stop.is_set():
            bad.extend(
                located.rel for located in mine.entries() if not located.entry.body or not located.entry.id
            )
            if mine.find("global-sem-0001") is None:
                bad.append("lost")
            bad.extend(map(str, mine.problems))

    reader = threading.Thread(target=look)
    reader.start()
    try:
        for number in range(30):
            remember(store, f"Fact {number}", topic=f"T{number % 3}")
            if number % 10 == 9:
                assert git.commit_if_dirty(store, now=NOW, older_than_s=0)
    finally:
        stop.set()
        reader.join()
    assert bad == []
    assert len([*store.entries(GLOBAL)]) == 31


def test_a_hand_made_id_is_never_given_again(store: Store) -> None:
    with store.writing(label="x", at=NOW) as batch:
        first = batch.add(draft("A"))
        batch.change(first.id, lambda entry: with_field(entry, "Id", "global-sem-0041"))
    assert remember(store, "B").id == "global-sem-0042"
