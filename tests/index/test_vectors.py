"""Laws of the vectors: nothing is lost or mixed, whatever is killed, damaged, deleted or done at once."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.index.conformance import document, source_of
from tests.index.memory_source import MemorySource
from tests.index.standin import Hashed

from lamina.embed.wordllama import find as wordllama
from lamina.errors import EmbedderUnavailable
from lamina.index import held, nearest
from lamina.index.base import TRUSTS, Query
from lamina.index.conditions import Conditions
from lamina.index.embedded import NAME, Embedded
from lamina.index.nearest import Nearest
from lamina.index.places import Places
from lamina.index.source import StoreSource
from lamina.index.vectors import NAME as VECTORS
from lamina.index.vectors import Vectors, directions, encode

EVERYTHING = Conditions(Query("", trust=TRUSTS, branches=None))
SETS = Path(nearest.__file__).parent.parent / "evaluation" / "sets" / "coding"
WORDS = "car gateway port lunch train ticket broke socket green 怪我 設定".split()


def texts(index: Embedded, query: str) -> list[str]:
    answer = index.search(Query(query, vectors=True))
    assert "vectors" in answer.engines, answer.notes
    return [match.document.text for match in answer.matches]


def stored(home: Path, embedder: Hashed) -> dict[int, bytes]:
    """Return all vectors of a model as they are on disk."""
    db = sqlite3.connect(home / VECTORS)
    sql = "SELECT v.meaning, v.code FROM vector v JOIN model m ON m.id = v.model WHERE m.name = ?"
    found = dict(db.execute(sql, (embedder.name,)))
    db.close()
    return found


def many(count: int) -> MemorySource:
    return MemorySource(
        document(f"{WORDS[n % 11]} number{n} {WORDS[n % 7]}", n, file=f"f{n % 9}.md") for n in range(count)
    )


# --- killed at any moment ---------------------------------------------------------------------------------

EMBED = """
import sys
from tests.index.standin import Hashed
from lamina.index.embedded import Embedded
from lamina.index.source import StoreSource
root, home, dimension, pause = sys.argv[1:]
index = Embedded(home, embedder=Hashed(int(dimension), batch=4, pause_s=float(pause)))
index.refresh(StoreSource(root))
print(index.embed(told=lambda done, _: print(done, flush=True)), flush=True)
"""


def embedding(root: Path, home: Path, dimension: int, pause_s: float = 0.004) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", EMBED, str(root), str(home), str(dimension), str(pause_s)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def write_store(root: Path, files: int, entries: int = 10) -> StoreSource:
    for n in range(files):
        path = root / "global" / "semantic" / f"topic{n}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        bodies = (f"{WORDS[(n + k) % 11]} number{n}x{k} {WORDS[k % 7]}" for k in range(entries))
        path.write_text(f"# T{n}\n" + "".join(f"\n## Entry {k}\n\n{body}\n" for k, body in enumerate(bodies)))
    return StoreSource(root)


@pytest.mark.parametrize("first", [False, True], ids=["first model", "change of model"])
def test_killed_while_embedding_it_stays_searchable_and_goes_on(tmp_path: Path, *, first: bool) -> None:
    root, home = tmp_path / "store", tmp_path / "index"
    source = write_store(root, 12)
    if first:
        old = Embedded(home, embedder=Hashed(32))
        old.refresh(source)
        assert old.embed() == (120, 0)
        old.close()
    new = Hashed(64)
    counts = [0]
    for delay in (0.0, 0.003, 0.007, 0.012, 0.02):
        process = embedding(root, home, 64)
        assert process.stdout
        process.stdout.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        index = Embedded(home, embedder=Hashed(64))
        index.refresh(source)
        assert texts(index, "number7x3")[:1] == [f"{WORDS[10]} number7x3 {WORDS[3]}"]
        assert index.check(source) == []
        counts.append(len(stored(home, new)))
        index.close()
    assert all(before < after for before, after in pairwise(counts))
    index = Embedded(home, embedder=new)
    index.refresh(source)
    assert index.embed() == (120 - counts[-1], 0)
    assert len(stored(home, new)) == 120
    assert held.numbers(home, Hashed(32).name) == set()
    assert texts(index, "automobile number0x0")[:1] == ["car number0x0 car"]


def test_old_vectors_stay_until_the_new_model_has_all(tmp_path: Path) -> None:
    source = many(40)
    old = Embedded(tmp_path, embedder=Hashed(32))
    old.refresh(source)
    old.embed()
    half = Embedded(tmp_path, embedder=Hashed(64, batch=10))
    half.refresh(source)
    assert half.embed(within_s=0) in {(0, 40), (10, 30)}
    assert texts(old, "automobile")[0].startswith("car")
    assert half.embed()[1] == 0
    assert held.numbers(tmp_path, Hashed(32).name) == set()
    assert texts(half, "automobile")[0].startswith("car")


# --- deleted and damaged ----------------------------------------------------------------------------------


def in_the_middle(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    path.write_bytes(data)


def to_garbage(path: Path) -> None:
    path.write_bytes(b"\x00garbage\xff" * 2000)


def to_another_version(path: Path) -> None:
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()


def to_half(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


@pytest.mark.parametrize("damage", [Path.unlink, in_the_middle, to_garbage, to_half, to_another_version])
@pytest.mark.parametrize("running", [False, True])
def test_a_deleted_or_damaged_file_of_vectors_is_made_again(tmp_path: Path, damage, *, running: bool) -> None:
    source = many(300)
    index = Embedded(tmp_path, embedder=Hashed())
    index.refresh(source)
    index.embed()
    whole = stored(tmp_path, Hashed())
    if running:
        texts(index, "automobile")
    else:
        index.close()
    damage(tmp_path / VECTORS)
    if not running:
        index = Embedded(tmp_path, embedder=Hashed())
        index.refresh(source)
    assert texts(index, "number7")[:1] == [source.files["f7.md"][0].text]
    index.embed()
    index.close()
    index = Embedded(tmp_path, embedder=Hashed())
    index.refresh(source)
    index.embed()
    assert stored(tmp_path, Hashed()) == whole
    assert texts(index, "automobile")[0].startswith("car")


def test_a_rebuilt_index_of_words_keeps_its_vectors(tmp_path: Path) -> None:
    source = many(100)
    index = Embedded(tmp_path, embedder=Hashed())
    index.refresh(source)
    index.embed()
    before = index.search(Query("automobile proxy", vectors=True))
    (tmp_path / NAME).unlink()
    assert index.search(Query("automobile proxy", vectors=True)) == before
    assert index.embed() == (0, 0)


# --- the same, whatever the order -------------------------------------------------------------------------

steps = st.lists(
    st.one_of(
        st.tuples(
            st.just("put"), st.integers(0, 3),
            st.lists(st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join), max_size=4),
        ),
        st.tuples(st.just("remove"), st.integers(0, 3)),
        st.tuples(st.just("embed")),
        st.tuples(st.just("some")),
        st.tuples(st.just("search")),
        st.tuples(st.just("reopen")),
    ),
    max_size=12,
)  # fmt: skip


@given(steps)
@settings(max_examples=60, deadline=None)
def test_vectors_that_grew_equal_those_made_at_once(tmp_path_factory, series: list[tuple]) -> None:
    folder = tmp_path_factory.mktemp("grown")
    source, grown = MemorySource(), Embedded(folder / "grown", embedder=Hashed(batch=3))
    for step in series:
        match step:
            case ("put", number, bodies):
                rel = f"global/semantic/{number}.md"
                source.put(rel, [document(body, n, file=rel) for n, body in enumerate(bodies)])
                grown.refresh(source, [rel])
            case ("remove", number):
                rel = f"global/semantic/{number}.md"
                if rel in source.files:
                    source.remove(rel)
                grown.refresh(source, [rel])
            case ("embed",):
                grown.embed()
            case ("some",):
                grown.refresh(source)
                grown.embed(within_s=0.0005)
            case ("search",):
                grown.search(Query("automobile", vectors=True))
            case ("reopen",):
                grown.close()
                grown = Embedded(folder / "grown", embedder=Hashed(batch=3))
    grown.refresh(source)
    grown.embed()
    anew = Embedded(folder / "anew", embedder=Hashed(batch=5))
    anew.refresh(source)
    anew.embed()
    for query in ("automobile", "port", "怪我 car", "lunch"):
        asked = Query(query, 50, vectors=True, trust=TRUSTS, branches=None)
        ours, theirs = grown.search(asked), anew.search(asked)
        assert [m.document for m in ours.matches] == [m.document for m in theirs.matches]
        assert [m.score for m in ours.matches] == pytest.approx([m.score for m in theirs.matches], abs=1e-4)
    grown.forget_vectors()
    grown.close()
    anew.close()
    assert stored(folder / "grown", Hashed()) == stored(folder / "anew", Hashed())


# --- near and exact ---------------------------------------------------------------------------------------


def real_texts() -> list[str]:
    """Return the sentences of the project's own sets, in five languages."""
    found: dict[str, None] = {}
    for path in sorted(SETS.glob("*/sessions.json")):
        sessions = json.loads(path.read_text("utf-8"))
        for text in (message["content"] for session in sessions for message in session["messages"]):
            pieces = re.split(r"(?<=[.!?。？])\s*|\n", text)
            found |= dict.fromkeys(piece.strip() for piece in pieces if len(piece.strip()) > 12)
    return list(found)


def test_comparing_signs_first_loses_next_to_nothing_of_the_best_ten(tmp_path: Path) -> None:
    sentences = real_texts()
    assert len(sentences) > 1_500
    codes = encode(wordllama().embed(sentences))
    unit = directions(codes)
    centre = unit.mean(axis=0)
    unit = unit - centre
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    places = Places(Vectors(tmp_path, "any", codes.shape[1]), centre)
    numbers = np.arange(len(codes))
    places.add(numbers, numbers, numbers, codes)
    allowed = np.ones(len(codes), bool)
    kept = []
    for at in range(0, len(sentences), 20):
        question = directions(codes[[at]])[0]
        best = np.argsort(-(unit @ (question - centre)))[:10]
        close = places.closest(question, allowed, len(codes) // 20)
        kept.append(len(set(best.tolist()) & set(close.tolist())) / 10)
    assert sum(kept) / len(kept) > 0.95


def test_beyond_some_thousand_rows_the_likest_are_still_found(tmp_path: Path) -> None:
    count = nearest.EXACT + 2_000
    source = MemorySource(
        document(
            f"{WORDS[n % 11]} filler{n % 500} word{n}", n, file=f"f{n % 40}.md", scope=f"workspace:w{n % 3}"
        )
        for n in range(count)
    )
    index = Embedded(tmp_path, embedder=Hashed(256, batch=500))
    index.refresh(source)
    index.embed()
    found = texts(index, "automobile filler7 word11")
    assert found[0].startswith("car ")
    scoped = index.search(Query("automobile word11", vectors=True, scopes=("workspace:w2",)))
    assert {match.document.scope for match in scoped.matches} == {"workspace:w2"}
    source.put("f0.md", [document("vehicle entirely alone", 0, file="f0.md", scope="workspace:w2")])
    index.refresh(source, ["f0.md"])
    assert index.embed() == (1, 0)
    assert texts(index, "automobile entirely")[:1] == ["vehicle entirely alone"]
    fresh = Embedded(tmp_path, embedder=Hashed(256))
    fresh.refresh(source)
    assert texts(fresh, "automobile entirely")[:1] == ["vehicle entirely alone"]


def test_codes_that_are_not_held_in_memory_give_the_same_answers(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    codes = encode(rng.standard_normal((300, 64)).astype(np.float32))
    vectors = Vectors(tmp_path, "any", 64)
    vectors.put(dict(enumerate(codes)))
    (chunk,) = vectors.since(0)
    centre = np.zeros(64, np.float32)
    in_memory, on_disk = Places(vectors, centre), Places(vectors, centre, held=1_000)
    for places in (in_memory, on_disk):
        places.add(chunk.meanings, chunk.meanings, chunk.ids, chunk.codes)
        places.drop(7)
    at = np.array([0, 7, 200])
    assert (in_memory.codes(at) == on_disk.codes(at)).all()
    assert in_memory.rows[7] == 299
    allowed = np.arange(299) % 2 == 0
    question = directions(codes[[4]])[0]
    assert (in_memory.closest(question, allowed, 20) == on_disk.closest(question, allowed, 20)).all()
    assert in_memory.closest(question, allowed, 20)[0] == 4
    vectors.prune(np.arange(5, 300))
    assert not on_disk.codes(np.array([0])).any()


def test_who_missed_many_changes_reads_everything_again(tmp_path: Path) -> None:
    source = many(30)
    index = Embedded(tmp_path, embedder=Hashed(batch=500))
    index.refresh(source)
    index.embed()
    texts(index, "automobile")
    for step in range(2):
        for n in range(1_500):
            source.files.setdefault("big.md", []).append(document(f"{step} filler {n}", n, file="big.md"))
        source.put("big.md", source.files["big.md"][-1_500:])
        index.refresh(source)
    source.put("f0.md", [document("vehicle alone", 1, file="f0.md")])
    index.refresh(source)
    index.embed()
    assert "vehicle alone" in texts(index, "automobile")[:8]
    assert index.check(source) == []


# --- at once ----------------------------------------------------------------------------------------------


def test_two_processes_embed_while_a_third_searches(tmp_path: Path) -> None:
    root, home = tmp_path / "store", tmp_path / "index"
    source = write_store(root, 12)
    Embedded(home).refresh(source)
    running = [embedding(root, home, 64, 0.01) for _ in range(2)]
    index = Embedded(home, embedder=Hashed(64))
    index.refresh(source)
    seen = set()
    while any(process.poll() is None for process in running):
        assert texts(index, "number7x3")[:1] == [f"{WORDS[10]} number7x3 {WORDS[3]}"]
        seen.add(len(held.numbers(home, Hashed(64).name)))
    for process in running:
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
    assert len(stored(home, Hashed(64))) == 120
    assert len(seen) > 2
    assert texts(index, "automobile number0x0")[:1] == ["car number0x0 car"]


def test_threads_search_while_one_embeds(tmp_path: Path) -> None:
    source = many(60)
    index = Embedded(tmp_path, embedder=Hashed(batch=2, pause_s=0.02))
    index.refresh(source)
    worker = threading.Thread(target=index.embed)
    began = time.monotonic()
    worker.start()
    answers = 0
    while worker.is_alive():
        assert texts(index, "number7")
        answers += 1
    assert time.monotonic() - began > 0.5
    assert answers > 10


def test_a_file_that_another_process_keeps_to_itself_leaves_words(tmp_path: Path) -> None:
    source = source_of("the car broke down", "lunch was good")
    index = Embedded(tmp_path, embedder=Hashed())
    index.refresh(source)
    index.embed()
    index.close()
    blocker = sqlite3.connect(tmp_path / VECTORS, isolation_level=None)
    blocker.execute("BEGIN EXCLUSIVE")
    index = Embedded(tmp_path, embedder=Hashed(), wait_s=0.05)
    index.refresh(source)
    answer = index.search(Query("lunch", vectors=True))
    assert [match.document.text for match in answer.matches] == ["lunch was good"]
    assert answer.engines == ("words",)
    assert "in use" in answer.notes[0]
    blocker.execute("ROLLBACK")
    blocker.close()
    assert texts(index, "automobile")[:1] == ["the car broke down"]


HOLD = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute("BEGIN EXCLUSIVE")
db.execute("DELETE FROM vector WHERE id < 3")
print(flush=True)
sys.stdin.read()
"""


@contextmanager
def held_by_another(path: Path) -> Iterator[None]:
    """Have another process keep a database to itself, with half a write."""
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        process.stdout.readline()
        yield
        process.stdin.close()


@pytest.mark.parametrize("running", [False, True])
def test_a_lock_of_another_process_deletes_no_vector(tmp_path: Path, *, running: bool) -> None:
    source = many(40)
    index = Embedded(tmp_path, embedder=Hashed(), wait_s=0.1)
    index.refresh(source)
    index.embed()
    before, inode = stored(tmp_path, Hashed()), (tmp_path / VECTORS).stat().st_ino
    source.put("new.md", [document("a new car", 1, file="new.md")])
    if not running:
        index.close()
        index = Embedded(tmp_path, embedder=Hashed(), wait_s=0.1)
    index.refresh(source)
    with held_by_another(tmp_path / VECTORS):
        with pytest.raises(EmbedderUnavailable, match="in use") as told:
            index.embed()
        assert told.value.hint
        answer = index.search(Query("new", vectors=True))
        assert [match.document.text for match in answer.matches] == ["a new car"]
        assert "in use" in answer.notes[0]
    assert (tmp_path / VECTORS).stat().st_ino == inode
    assert stored(tmp_path, Hashed()) == before
    assert index.embed() == (1, 0)


def test_damage_is_told_from_a_lock(tmp_path: Path) -> None:
    vectors = Vectors(tmp_path, "any", 8, wait_s=0.05)
    assert vectors.sound
    with held_by_another(tmp_path / VECTORS), pytest.raises(sqlite3.OperationalError, match="locked"):
        assert vectors.sound


# --- no writes, no traces ---------------------------------------------------------------------------------


def test_what_is_stored_is_used_where_nothing_can_be_written(tmp_path: Path) -> None:
    source = source_of("the car broke down", "lunch was good")
    index = Embedded(tmp_path, embedder=Hashed())
    index.refresh(source)
    index.embed()
    index.close()
    vectors = Vectors(tmp_path, Hashed().name, 64, read_only=True)
    assert len(next(iter(vectors.since(0))).ids) == 2
    with pytest.raises(sqlite3.OperationalError):
        vectors.put({5: np.ones(64, np.int8)})
    assert vectors.missing([5]) == [5]
    vectors.close()
    other = Vectors(tmp_path, "never stored", 64, read_only=True)
    other.put({5: np.ones(64, np.int8)})
    assert other.missing([5]) == []
    other.close()
    assert held.numbers(tmp_path, "never stored") == set()


def test_purged_texts_leave_no_word_and_no_vector_in_any_file(tmp_path: Path) -> None:
    secret = "zanzibarian"
    source = many(50)
    kept = list(source.files["f1.md"])
    source.put("f1.md", [*kept, document(f"the {secret} car", 99, file="f1.md", heading=f"A {secret}")])
    index = Embedded(tmp_path, embedder=Hashed())
    index.refresh(source)
    index.embed()
    assert secret.encode() in (tmp_path / NAME).read_bytes()
    before = stored(tmp_path, Hashed())
    source.put("f1.md", kept)
    index.rebuild(source)
    index.forget_vectors()
    index.close()
    gone = set(before.values()) - set(stored(tmp_path, Hashed()).values())
    assert len(gone) == 1
    for path in tmp_path.iterdir():
        data = path.read_bytes()
        assert secret[:6].encode() not in data.lower(), path
        assert not any(code in data for code in gone), path


def test_a_text_that_was_changed_leaves_no_word_but_in_the_list_of_words(tmp_path: Path) -> None:
    index = Embedded(tmp_path)
    source = source_of("the zanzibarian car", "lunch")
    index.refresh(source)
    source.put("global/semantic/things.md", [document("lunch")])
    index.refresh(source)
    index.close()
    assert b"the zanzibarian car" not in (tmp_path / NAME).read_bytes()


def test_a_nearest_that_is_empty_finds_nothing(tmp_path: Path) -> None:
    index = Embedded(tmp_path)
    index.refresh(source_of("text"))
    near = Nearest(index._live(), Vectors(tmp_path, "any", 8))
    assert near.likest(np.ones(8, np.float32), EVERYTHING) == {}
