"""A writer killed at any step loses nothing: the next one finishes its batch or finds nothing of it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.store.making import NOW, draft, ids, read, remember, snapshot, write

from lamina.store.store import Store

WRITER = """
import os, signal, sys
from pathlib import Path
from lamina.store.store import Store
from tests.store.test_crash import batch
wanted, seen = int(sys.argv[2]), []
def step(name):
    seen.append(name)
    if len(seen) > wanted:
        os.kill(os.getpid(), signal.SIGKILL)
batch(Store.open(Path(sys.argv[1])), step)
print(len(seen))
"""


def batch(store: Store, step=None) -> None:
    """Change two layers, remove a topic, write a file of the machine."""
    with store.writing(label="big", at=NOW, step=step) as work:
        work.add(draft("New fact", topic="Things"))
        work.add(draft("New choice", topic="Choices", layer="decisions"))
        work.remove("global-sem-0002")
        work.put("state/sessions/s.json", "{}\n")


def prepared(root: Path) -> Store:
    store = Store.open(root, create=True, now=NOW)
    remember(store, "Old fact", topic="Things")
    remember(store, "Leaving", topic="Leaving")
    return store


def killed(store: Store, at: int) -> bool:
    """Run the batch in a process of its own that is killed at a step; False: it came to its end."""
    command = [sys.executable, "-c", WRITER, str(store.root), str(at)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode != 0


def test_a_kill_at_every_step_leaves_all_or_nothing(in_memory: Path) -> None:
    before = snapshot(prepared(in_memory / "before"))
    whole = prepared(in_memory / "whole")
    batch(whole)
    after = snapshot(whole)
    assert before != after
    outcomes = []
    for at in range(100):
        store = prepared(in_memory / f"s{at}")
        if not killed(store, at):
            break
        with store.writing(label="next", at=NOW) as work:
            assert work.recovered == []
        outcome = snapshot(store)
        assert outcome in (before, after), at
        outcomes.append(outcome == after)
        assert (store.root / "state/sessions/s.json").exists() == (outcome == after)
        assert {path.suffix for path in (store.root / "state/journal").iterdir()} <= {".json"}
        assert os.listdir(store.root / "state/staging") == []
        if outcome == before:
            batch(store)
            assert {name: snapshot(store)[name] for name in after} == after
        assert len({*ids(store)}) == len(ids(store)) == 3
        assert remember(store, "Next").id not in ("global-sem-0001", "global-sem-0002", "global-sem-0003")
        shutil.rmtree(store.root)
    assert outcomes == sorted(outcomes)
    assert True in outcomes
    assert False in outcomes
    assert len(outcomes) > 10


def half_done(store: Store) -> None:
    """Leave a batch behind whose record is written and no file yet."""

    class Stop(BaseException):
        pass

    def step(name: str) -> None:
        if name == "recorded":
            raise Stop

    with pytest.raises(Stop):
        batch(store, step)


def test_a_file_that_a_person_changed_after_the_kill_keeps_their_bytes(tmp_path: Path) -> None:
    store = prepared(tmp_path / "s")
    half_done(store)
    text = read(store, "global/semantic/things.md").replace("Old fact.", "Old fact, mine.")
    write(store, "global/semantic/things.md", text + "\n## By hand\n\nAlso mine.\n")
    with store.writing(label="next", at=NOW) as work:
        assert work.recovered == []
    now = read(store, "global/semantic/things.md")
    assert "Old fact, mine." in now
    assert "Also mine." in now
    assert [located.entry.heading for located in store.entries()] == [
        "Old fact",
        "By hand",
        "New fact",
        "New choice",
    ]


def test_what_a_person_wrote_is_not_doubled_when_the_killed_batch_had_named_it(tmp_path: Path) -> None:
    store = prepared(tmp_path / "s")
    path = "global/semantic/things.md"
    write(store, path, read(store, path) + "\n## By hand\n\nMine.\n\n## Also\n\nMine too.\n")
    half_done(store)
    write(store, path, read(store, path).replace("Mine too.", "Mine as well.") + "\n## Third\n\nMine.\n")
    with store.writing(label="next", at=NOW) as work:
        assert work.recovered == []
    remember(store, "Next")
    found = [located.entry for located in store.entries(layer="semantic")]
    assert [entry.heading for entry in found] == ["Old fact", "By hand", "Also", "Third", "New fact", "Next"]
    assert all(entry.id for entry in found)
    assert found[2].body == "Mine as well."
    assert len({entry.id for entry in found}) == 6


def test_a_change_that_can_not_be_joined_is_reported_and_kept_aside(tmp_path: Path) -> None:
    store = prepared(tmp_path / "s")

    class Stop(BaseException):
        pass

    def step(name: str) -> None:
        if name == "recorded":
            raise Stop

    with pytest.raises(Stop), store.writing(label="edit", at=NOW, step=step) as work:  # noqa: PT012 - the block is one batch
        from lamina.formats.entry import with_body

        work.change("global-sem-0001", lambda entry: with_body(entry, "Lamina's words."))
        work.put("workspaces/lamina/state.md", "new\n")
    write(
        store,
        "global/semantic/things.md",
        read(store, "global/semantic/things.md").replace("Old fact.", "My words."),
    )
    write(store, "workspaces/lamina/state.md", "mine\n")
    with store.writing(label="next", at=NOW) as work:
        told = [str(problem) for problem in work.recovered]
    assert len(told) == 2
    assert [str(problem) for problem in store.problems] == told
    assert "your text is kept" in read(store, "logs/memory.log")
    assert "things.md" in told[0]
    assert "your text is kept" in told[0]
    assert "My words." in read(store, "global/semantic/things.md")
    assert read(store, "workspaces/lamina/state.md") == "mine\n"
    [kept] = (store.root / "state/journal").glob("*.kept")
    assert "Lamina's words." in kept.read_text()
    with store.writing(label="next", at=NOW) as work:
        assert work.recovered == []


def test_a_torn_record_means_that_nothing_was_written(tmp_path: Path) -> None:
    store = prepared(tmp_path / "s")
    half_done(store)
    before = snapshot(store)
    [record] = (store.root / "state/journal").glob("*.open")
    record.write_bytes(record.read_bytes()[:200])
    with store.writing(label="next", at=NOW) as work:
        assert work.recovered == []
    assert snapshot(store) == before
    assert list((store.root / "state/journal").glob("*.open")) == []


def test_a_record_never_writes_outside_the_store(tmp_path: Path) -> None:
    store = prepared(tmp_path / "s")
    data = {
        "version": 1,
        "label": "x",
        "time": "",
        "undoes": None,
        "files": [["../escape.md", None, "x"], ["/tmp/x", None, "x"]],
    }
    write(store, "state/journal/00000099.open", json.dumps(data))
    with store.writing(label="next", at=NOW) as work:
        assert len(work.recovered) == 2
    assert not (tmp_path / "escape.md").exists()


def test_everything_derived_may_be_deleted(tmp_path: Path) -> None:
    store = prepared(tmp_path / "s")
    batch(store)
    before = snapshot(store)
    for name in ("state", "index", "logs"):
        shutil.rmtree(store.root / name)
    again = Store.open(store.root)
    assert len(ids(again)) == 3
    found = again.find("global-dec-0001")
    assert found is not None
    assert snapshot(again) == before
    remember(again, "Next")
    assert len({*ids(again)}) == 4
