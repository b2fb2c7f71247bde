"""Making vectors behind the resident process: nothing that goes wrong ends it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager

import pytest
from tests.resident.bag import Bag
from tests.resident.running import MEMORIES, until

from lamina import errors
from lamina.index.embedded import Embedded
from lamina.resident.filler import Filler


@contextmanager
def filling(site, open_index):
    """Run a filler; gives it with the list of what it tells."""
    told: list[str] = []
    filler = Filler(str(site.root), open_index, told.append, look_s=0.01)
    filler.start()
    try:
        yield filler, told
    finally:
        filler.stop(10)


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (sqlite3.OperationalError("database is locked"), "OperationalError: database is locked"),
        (RuntimeError("the model is odd"), "RuntimeError: the model is odd"),
        (errors.EmbedderUnavailable("no model", "get one"), "no model"),
        (OSError("no space"), "no space"),
    ],
)
def test_it_goes_on_after_a_problem_and_tells_it_once(site, problem, said):
    site.filled().close()
    embedder = Bag()
    tries = []

    def index():
        tries.append(1)
        if len(tries) < 4:
            raise problem
        return Embedded(site.root / "index", embedder=embedder)

    with filling(site, index) as (_, told):
        until(lambda: embedder.embedded == len(MEMORIES))
    assert len(told) == 1
    assert told[0].startswith(said)


def test_vectors_are_made_after_somebody_held_the_file_too_long(site):
    site.filled().close()
    embedder = Bag()
    site.search("port", "--vectors")
    other = sqlite3.connect(site.root / "index" / "vectors.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    index = Embedded(site.root / "index", embedder=embedder, wait_s=0.05)
    with filling(site, lambda: index) as (_, told):
        until(lambda: told)
        other.execute("ROLLBACK")
        until(lambda: embedder.embedded == len(MEMORIES))
    other.close()
    assert len(told) == 1


class Odd(Bag):
    """Raises what no embedder should, the first time."""

    def embed(self, texts, *, query=False):
        if not query and not self.embedded:
            self.embedded += len(texts)
            raise KeyError("odd")
        return super().embed(texts, query=query)


def test_the_log_of_the_store_says_what_went_wrong(site):
    site.filled().close()
    with site.server(embedder=Odd()):
        log = site.root / "logs" / "memory.log"
        until(lambda: "KeyError" in (log.read_text() if log.exists() else ""))
    told = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["event"] for line in told if "KeyError" in line.get("reason", "")] == ["vectors_failed"]
