"""Vectors beside the words: made when they are wanted, kept apart by model, gone with the text they stand for."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from tests.embed.endpoint import running
from tests.index.conformance import document, source_of
from tests.resident.bag import Bag
from tests.resident.running import MEMORIES, Site, until

from lamina import errors
from lamina.embed import http
from lamina.index import held, tables
from lamina.index.base import Query
from lamina.index.embedded import Embedded
from lamina.index.vectors import Vectors, encode

QUESTION = "which port does staging listen on"
ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


@pytest.fixture
def database(site):
    return site.root / "index" / "vectors.db"


def using(site, embedder):
    """Open the memory with an embedder that no setting names."""
    memory = site.memory()
    memory._at.__dict__["embedder"] = embedder
    return memory


def models(database):
    with sqlite3.connect(database) as db:
        found = dict(
            db.execute("SELECT m.name, count(*) FROM vector v JOIN model m ON m.id = v.model GROUP BY m.name")
        )
    db.close()
    return found


def test_a_search_by_vectors_makes_what_is_missing_and_says_what_ran(site, database):
    site.filled().close()
    assert site.search(QUESTION)["engines"] == ["words"]
    assert not database.exists()
    found = site.search(QUESTION, "--vectors")
    assert (found["engines"], found["notes"]) == (["words", "vectors"], [])
    assert found["hits"][0]["heading"] == MEMORIES[0]
    assert "vectors" in found["hits"][0]["parts"]
    assert models(database) == {"wordllama-256": len(MEMORIES)}
    assert database.stat().st_mode & 0o777 == 0o600


def test_what_does_not_get_done_in_time_is_told_and_found_by_words(site):
    site.filled().close()
    memory = using(site, Bag(batch=1, slow_s=0.05))
    found = memory.search("Redis", vectors=True, embed_s=0.01)
    assert found.hits[0].heading.endswith("Redis")
    assert found.notes == (
        "4 of 5 memories have no vector yet: `lamina index rebuild --vectors` makes them all",
    )
    assert memory.search("Redis", vectors=True).notes == ()


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("none", "config set embedder builtin"),
        ("nonsense", "names no embedder"),
        ("ollama:nobody@http://127.0.0.1:9", "127.0.0.1:9"),
        ("onnx:/nowhere", "/nowhere"),
    ],
)
def test_a_missing_embedder_is_told_and_words_answer(site, setting, said):
    site.filled().close()
    found = site.search(QUESTION, "--vectors", LAMINA_EMBEDDER=setting)
    assert found["engines"] == ["words"]
    assert found["hits"]
    assert "by words only" in found["notes"][0]
    assert said in found["notes"][0]


def test_rebuild_makes_all_of_them_and_keeps_those_that_are_there(site, database):
    site.filled().close()
    made = json.loads(site.lamina("index", "rebuild", "--vectors", "--json").stdout)
    assert made == {"action": "rebuild", "entries": 5, "vectors": {"made": 5, "missing": 0}}
    site.memory().remember("One more")
    checked = json.loads(site.lamina("index", "check", "--json").stdout)
    assert (checked["differences"], checked["vectors"]["vectors"], checked["vectors"]["missing"]) == (
        [],
        5,
        1,
    )
    assert "1 of 6 memories have no vector" in site.lamina("index", "check").stdout
    again = site.lamina("index", "rebuild", "--vectors")
    assert "made 1 vectors" in again.stdout
    refused = site.lamina("index", "rebuild", "--vectors", LAMINA_EMBEDDER="none")
    assert refused.returncode == 1
    assert "embedder" in refused.stderr


def test_status_tells_vectors_and_what_is_missing(site):
    memory = site.filled()
    assert memory.status()["vectors"] == {
        "embedder": "wordllama-256", "vectors": 0, "missing": 5, "problem": "",
    }  # fmt: skip
    assert "vectors " not in site.lamina("status").stdout
    site.search("port", "--vectors")
    memory.remember("One more")
    assert "vectors     5 by wordllama-256, 1 missing" in site.lamina("status").stdout
    assert "config set embedder" in site.lamina("status", LAMINA_EMBEDDER="none").stdout


def test_a_tick_makes_vectors_only_where_they_are_used(site, database):
    site.filled().close()
    assert "vectors" not in site.lamina("tick").stdout
    assert not database.exists()
    site.search("port", "--vectors")
    assert site.lamina("remember", "Written by a process that ends at once").returncode == 0
    assert "vectors" in site.lamina("tick", "--dry-run").stdout
    assert models(database) == {"wordllama-256": 5}
    assert "vectors" in site.lamina("tick").stdout
    assert models(database) == {"wordllama-256": 6}
    assert "vectors" not in site.lamina("tick").stdout


@pytest.mark.parametrize("maker", ["search", "serve"])
def test_what_a_process_wrote_that_is_gone_gets_its_vector(site, database, maker):
    site.filled().close()
    site.lamina("remember", "Written by a process that ends at once")
    if maker == "search":
        site.search("port", "--vectors")
        assert models(database) == {"wordllama-256": 6}
    else:
        with site.serving():
            until(lambda: database.exists() and models(database) == {"wordllama-256": 6})


def test_another_embedder_takes_over_when_it_has_all_and_words_answer_meanwhile(site, database):
    site.filled().close()
    old = using(site, Bag(256))
    assert old.embed() == (5, 0)
    old.close()
    new = using(site, Bag(512, batch=1, slow_s=0.02))
    found = new.search("Redis", vectors=True, embed_s=0.01)
    assert found.engines == ("words", "vectors")
    assert found.hits[0].heading.endswith("Redis")
    assert models(database) == {"bag-256": 5, "bag-512": 1}
    back = using(site, Bag(256))
    assert back.search("Redis", vectors=True, embed_s=0).hits[0].parts["vectors"] > 0
    back.close()
    assert new.embed() == (4, 0)
    assert models(database) == {"bag-512": 5}
    assert new.search("Redis", vectors=True).notes == ()


def test_a_model_that_another_one_drove_out_comes_back_unmixed(site, database):
    site.filled().close()
    one, two = using(site, Bag(64)), using(site, Bag(48))
    assert one.embed() == (5, 0)
    assert two.embed() == (5, 0)
    assert models(database) == {"bag-48": 5}
    assert one.embed() == (5, 0)
    assert models(database) == {"bag-64": 5}
    third = using(site, Bag(32))
    third.embed()
    two.remember("Written while three models share the file")
    assert [each.embed()[1] for each in (two, one)] == [0, 0]
    with sqlite3.connect(database) as db:
        assert {len(code) for (code,) in db.execute("SELECT code FROM vector")} == {64}
    db.close()


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:0],
        lambda data: b"no database " * (len(data) // 12),
        lambda data: data[: len(data) // 2],
        lambda data: data[:4096] + os.urandom(len(data) - 4096),
        lambda data: data[:100] + bytes(len(data) - 100),
    ],
    ids=["empty", "text", "half", "pages", "zeros"],
)
def test_damaged_vectors_are_made_anew(site, database, damage):
    site.filled().close()
    memory = using(site, Bag())
    memory.embed()
    memory.close()
    database.write_bytes(damage(database.read_bytes()))
    memory = using(site, Bag())
    assert memory.status()["vectors"]["embedder"] == "bag-64"
    found = memory.search("staging port", vectors=True)
    assert found.engines == ("words", "vectors")
    assert found.hits[0].heading == MEMORIES[0]
    assert found.hits[0].parts["vectors"] > 0
    memory.embed()
    assert models(database) == {"bag-64": 5}


def test_vectors_that_vanish_while_they_are_in_use_come_back(site, database):
    site.filled().close()
    memory = using(site, Bag())
    assert memory.search("port", vectors=True).engines == ("words", "vectors")
    database.unlink()
    assert memory.search("port", vectors=True).hits[0].parts["vectors"] > 0
    assert models(database) == {"bag-64": 5}


def test_vectors_that_another_process_keeps_leave_words_and_a_note(site, database):
    site.filled().close()
    memory = using(site, Bag())
    memory.embed()
    memory.close()
    memory = using(site, Bag())
    memory._at.__dict__["hybrid"] = Embedded(site.root / "index", embedder=Bag(), wait_s=0.1)
    keeper = sqlite3.connect(database, isolation_level=None)
    keeper.execute("BEGIN EXCLUSIVE")
    found = memory.search("Redis", vectors=True)
    assert found.hits[0].heading.endswith("Redis")
    assert found.engines == ("words",)
    assert "by words only: the vectors are in use" in found.notes[0]
    keeper.execute("ROLLBACK")
    keeper.close()
    assert memory.search("Redis", vectors=True).notes == ()


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setattr(http, "_PATIENCE", 0.4)
    with running() as server:
        yield server


@pytest.mark.parametrize("stored", [False, True])
def test_an_endpoint_that_hangs_is_given_up_soon_and_words_answer(site, endpoint, stored):
    site.filled().close()
    if stored:
        memory = using(site, http.ollama("small", endpoint.url, {}))
        assert memory.embed() == (5, 0)
        memory.close()
        asked = len(endpoint.asked)
    memory = using(site, http.ollama("small", endpoint.url, {}))
    endpoint.hang()
    began = time.monotonic()
    found = memory.search("Redis", vectors=True)
    assert time.monotonic() - began < 5
    assert found.engines == ("words",)
    assert found.hits[0].heading.endswith("Redis")
    assert "by words only" in found.notes[0]
    assert "no answer within 0.4 s" in found.notes[0]
    if stored:
        assert [body["input"] for _, _, body in endpoint.asked[asked:]] == [["Redis"]]


def test_nobody_waits_for_the_question_of_another_one(tmp_path):
    asked, answered = threading.Event(), threading.Event()

    class Slow(Bag):
        def embed(self, texts, *, query=False):
            if query:
                asked.set()
                assert answered.wait(20)
            return super().embed(texts, query=query)

    index = Embedded(tmp_path, embedder=Slow())
    index.refresh(source_of("the car broke down", "lunch was good"))
    index.embed()
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(index.search, Query("lunch", vectors=True))
        assert asked.wait(20)
        assert index.search(Query("car")).matches
        assert not slow.done()
        answered.set()
        assert slow.result(20).engines == ("words", "vectors")


def test_a_model_that_was_exchanged_under_its_name_is_embedded_anew(site, database):
    class Same(Bag):
        def __init__(self, dimension):
            super().__init__(dimension)
            self.name = "same"

    site.filled().close()
    assert using(site, Same(64)).embed() == (5, 0)
    memory = using(site, Same(48))
    assert memory.search("Redis", vectors=True).hits[0].heading.endswith("Redis")
    again = using(site, Same(48))
    assert again.embed() == (5, 0)
    assert again.search("Redis", vectors=True).hits[0].parts["vectors"] > 0
    with sqlite3.connect(database) as db:
        assert {len(code) for (code,) in db.execute("SELECT code FROM vector")} == {48}
    db.close()


def test_a_search_leaves_the_environment_of_its_process_alone(site):
    site.filled().close()
    before = dict(os.environ)
    with site.memory() as memory:
        assert memory.search("Redis", vectors=True).engines == ("words", "vectors")
    assert dict(os.environ) == before


def test_no_embedder_reads_what_was_forgotten(site, database):
    memory = site.filled()
    text = "The password of the old printer is written below it"
    gone = memory.remember(text)
    memory.forget([gone.id])
    seen = []

    class Seeing(Bag):
        def embed(self, texts, *, query=False):
            seen.extend(texts)
            return super().embed(texts, query=query)

    embedding = using(site, Seeing())
    assert embedding.vectors()["missing"] == 5
    assert embedding.embed() == (5, 0)
    assert text not in seen
    assert embedding.vectors()["missing"] == 0
    assert models(database) == {"bag-64": 5}
    memory.forget([gone.id], undo=True)
    assert embedding.embed() == (1, 0)


@pytest.mark.parametrize("running", [False, True])
def test_the_vector_of_what_was_forgotten_goes(site, database, running):
    memory = site.filled()
    text = "The password of the old printer is written below it"
    gone = memory.remember(text)
    embedding = using(site, Bag())
    assert embedding.embed() == (6, 0)
    code = encode(Bag().embed([text])).tobytes()
    assert code in database.read_bytes()
    memory.forget([gone.id])
    assert (embedding if running else using(site, Bag())).embed() == (0, 0)
    assert code not in database.read_bytes()
    assert models(database) == {"bag-64": 5}


def test_a_purge_leaves_no_byte_of_a_vector(site, database):
    memory = site.filled()
    gone = memory.remember("The password of the old printer is written below it")
    assert memory.embed() == (6, 0)
    code = encode(
        memory._at.embedder.embed(["The password of the old printer is written below it"])
    ).tobytes()
    assert code in database.read_bytes()
    memory.forget([gone.id])
    assert code in database.read_bytes()
    memory.forget([gone.id], purge=True)
    assert code not in database.read_bytes()
    assert code[:64] not in database.read_bytes()
    assert models(database) == {"wordllama-256": 5}
    assert not database.with_name("vectors.db-journal").exists()


def test_a_purge_takes_vectors_of_every_model_and_damaged_ones_whole(site, database):
    memory = site.filled()
    gone = memory.remember("The password of the old printer is written below it")
    memory.embed()
    other = using(site, Bag(batch=1, slow_s=0.02))
    other.embed(within_s=0.01)
    other.close()
    assert set(models(database)) == {"wordllama-256", "bag-64"}
    memory.forget([gone.id], purge=True)
    assert models(database)["wordllama-256"] == 5
    database.write_bytes(b"no database" * 1000)
    held.forget(database.parent, [])
    assert not database.exists()
    memory.forget([memory.search("port").hits[0].id], purge=True)  # nothing there: nothing to do


def test_an_index_that_is_taken_away_meanwhile_is_made_again_and_words_answer(site):
    site.filled().close()

    class Removing(Bag):
        def embed(self, texts, *, query=False):
            if not query:
                (site.root / "index" / "lamina.db").unlink(missing_ok=True)
            return super().embed(texts, query=query)

    found = using(site, Removing()).search("Redis", vectors=True)
    assert found.engines == ("words",)
    assert found.hits[0].heading.endswith("Redis")
    assert "taken away" in found.notes[0]


def test_what_is_purged_while_it_is_embedded_gets_no_vector(site, database):
    memory = site.filled()
    text = "The password of the old printer is written below it"
    gone = memory.remember(text)

    class Purging(Bag):
        def embed(self, texts, *, query=False):
            rows = super().embed(texts, query=query)
            if text in texts:
                site.memory().forget([gone.id], purge=True)
            return rows

    embedding = using(site, Purging(batch=2))
    embedding.embed()
    assert models(database) == {"bag-64": 5}
    assert encode(Bag().embed([text])).tobytes() not in database.read_bytes()


def test_what_is_purged_while_its_vector_is_written_loses_it_again(site, database, monkeypatch):
    memory = site.filled()
    text = "The password of the old printer is written below it"
    gone = memory.remember(text)
    meaning = tables.meaning(document(text, heading=text))
    embedding = using(site, Bag(batch=2))
    put, purged = Vectors.put, []

    def late(vectors, codes):
        if meaning in codes:
            purged.append(site.memory().forget([gone.id], purge=True))
        put(vectors, codes)

    monkeypatch.setattr(Vectors, "put", late)
    embedding.embed()
    assert purged
    assert models(database) == {"bag-64": 5}
    assert encode(Bag().embed([text])).tobytes() not in database.read_bytes()


KILLED = """
import sys
from tests.test_by_meaning import using
from tests.resident.bag import Bag
from tests.resident.running import Site
site = Site.__new__(Site)
site.env, site.project = {env}, {project!r}
using(site, Bag(batch=2, slow_s={slow})).embed(progress=lambda done, of: print(done, of, flush=True))
"""


def test_killed_while_it_embeds_the_index_is_searchable_and_goes_on(site, database):
    memory = site.filled()
    for number in range(20):
        memory.remember(f"Fact number {number} about the harbour")
    memory.close()
    code = KILLED.format(env=site.env, project=str(site.project), slow=0.1)
    paths = f"{ROOT}:{ROOT / 'src'}"
    process = subprocess.Popen(
        [sys.executable, "-c", code], env=site.env | {"PYTHONPATH": paths}, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "2 25\n"
    process.kill()
    process.communicate(timeout=20)
    done = models(database)["bag-64"]
    assert 2 <= done < 25
    after = using(site, Bag())
    assert after.search("port", vectors=True, embed_s=0).hits[0].heading == MEMORIES[0]
    assert after.embed() == (25 - done, 0)


def test_stopped_by_ctrl_c_it_keeps_what_is_done(site, database):
    memory = site.filled()
    code = KILLED.format(env=site.env, project=str(site.project), slow=1.0)
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        env=site.env | {"PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "2 5\n"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert 2 <= models(database)["bag-64"] <= 4
    memory.close()


def test_two_processes_search_and_write_at_once(site, database):
    site.filled().close()
    site.search("port", "--vectors")

    def work(number):
        if number % 2:
            return site.lamina("remember", f"Fact {number} of a busy hour").returncode
        return site.lamina("search", "fact", "--vectors").returncode

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(work, range(8))) == {0}
    site.search("fact", "--vectors")
    assert models(database) == {"wordllama-256": 9}
    assert site.lamina("index", "check").returncode == 0


def test_explain_adds_up(site):
    site.filled().close()
    found = site.search("staging port", "--vectors", "--explain")
    assert set(found["explain"]["worth"]) == {"staging", "port"}
    assert found["explain"]["weights"]["vectors"] > 0
    for hit in found["hits"]:
        total = max(0.0, sum(hit["parts"].values())) * np.prod(list(hit["priors"].values()))
        assert hit["score"] == pytest.approx(total, rel=0.01)
    text = site.lamina("search", "staging port", "--explain").stdout
    assert text.startswith("searched by words for: staging ")
    assert "× scope 1.050" in text
    assert "explain" not in site.search("port")


def test_the_setting_none_needs_no_embedder_anywhere(site):
    memory = site.memory(LAMINA_EMBEDDER="none")
    memory.remember("Something")
    assert memory.vectors()["embedder"] is None
    with pytest.raises(errors.EmbedderUnavailable):
        memory.embed()
    assert memory.tick()["ran"]


def test_an_embedder_that_does_not_exist_is_refused_when_it_is_set(site) -> None:
    done = site.lamina("config", "set", "embedder", "nonsense")
    assert done.returncode == 1
    assert "names no embedder" in done.stderr
    assert site.lamina("config", "get", "embedder").stdout.strip() != "nonsense"


def test_a_folder_in_the_way_of_the_vectors_is_moved_and_they_are_kept(site, database) -> None:
    site.lamina("remember", "The gateway listens on 8080")
    site.lamina("index", "rebuild")
    database.mkdir(parents=True)
    (database / "note").write_text("kept", encoding="utf-8")
    assert site.lamina("index", "rebuild", "--vectors").returncode == 0
    assert database.is_file()
    assert [path.read_text("utf-8") for path in database.parent.glob("vectors.db.*/note")] == ["kept"]
