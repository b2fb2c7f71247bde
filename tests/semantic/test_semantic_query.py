"""What a query of the records answers: by words and by meaning, approved ones first asked for, any text safe."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.index.standin import Hashed
from tests.semantic.cores import ESM, PORT, RETRY, SOURCE, Talk, promote, purge, rows, supersede

from lamina.errors import EmbedderUnavailable
from lamina.formats.hashing import content_hash

DOWN = EmbedderUnavailable("the endpoint is down")
CAR = "The car needs fuel."


@pytest.fixture
def talk(tmp_path):
    return Talk(tmp_path / "vectors.db")


def full(talk):
    talk.ingest(ESM, PORT, RETRY)
    talk.refine(promote(ESM), promote(PORT, 0.6))
    return talk


def test_approved_records_alone_are_found_unless_candidates_are_asked_for(talk):
    full(talk)
    assert talk.found("retries ESM port") == [ESM, PORT] or talk.found("retries ESM port") == [PORT, ESM]
    assert set(talk.found("retries ESM port", includeCandidates=True)) == {ESM, PORT, RETRY}
    talk.refine(supersede(ESM))
    assert talk.found("ESM", includeCandidates=True) == []


def test_a_result_says_all_that_is_known(talk):
    talk.ingest_one(PORT, itemId="state-port", kind="state", contentHash=content_hash(PORT))
    talk.refine(promote(PORT, 0.6))
    code, reply = talk.query("port")
    assert (code, reply["ok"], reply["mode"]) == (0, True, "fts")
    (result,) = reply["results"]
    assert 0 < result.pop("score") <= 1
    assert result == {
        "content_hash": content_hash(PORT),
        "content": PORT,
        "source_ref": SOURCE,
        "item_id": "state-port",
        "kind": "state",
        "status": "approved",
        "confidence": 0.6,
    }


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("東京の倉庫は火曜日に閉まる。", "倉庫"),
        ("결제는 두 번만 다시 시도한다.", "결제"),
        ("Der Zähler läuft über.", "zahler"),
        ("Call getUserName() before logout.", "user name"),
        ("See src/app/main.py for the entry.", "main.py"),
        ("Write it in C++ only.", "C++"),
        ("Retries are limited.", "retry limits"),
    ],
)
def test_words_of_any_script_are_found_in_parts_and_other_forms(talk, content, query):
    talk.ingest(content, "Something else entirely.")
    assert talk.found(query, includeCandidates=True) == [content]


def test_the_least_score_and_the_limit_are_kept(talk):
    talk.ingest(*(f"Port number {n} of gateway" for n in range(20)), "port")
    scored = talk.query("port gateway", includeCandidates=True, limit=30)[1]["results"]
    assert len(scored) == 21
    assert [each["score"] for each in scored] == sorted((each["score"] for each in scored), reverse=True)
    middle = scored[-2]["score"]
    least = talk.query("port gateway", includeCandidates=True, limit=30, minScore=middle)[1]["results"]
    assert least == [each for each in scored if each["score"] >= middle]
    assert len(talk.found("port gateway", includeCandidates=True)) == 5
    assert len(talk.found("port gateway", includeCandidates=True, limit=1)) == 1


def test_equal_scores_have_one_order(talk, tmp_path):
    said = [f"port {word}" for word in ("alpha", "beta", "gamma", "delta", "omega")]
    talk.ingest(*said)
    other = Talk(tmp_path / "other.db")
    other.ingest(*reversed(said))
    assert talk.query("port", includeCandidates=True) == other.query("port", includeCandidates=True)


def test_meaning_finds_what_words_do_not(tmp_path):
    talk = Talk(tmp_path / "vectors.db", Hashed())
    assert talk.ingest(CAR, PORT)[1]["results"][0]["embedded"] is True
    code, reply = talk.query("vehicle", includeCandidates=True)
    assert (code, reply["mode"], reply["results"][0]["content"]) == (0, "hybrid", CAR)


def test_vectors_of_two_models_are_never_mixed(tmp_path):
    talk = Talk(tmp_path / "vectors.db", Hashed(name="old"))
    talk.ingest(CAR)
    for other in (Hashed(name="new"), Hashed(32, name="old")):
        talk.embedder = other
        talk.query("vehicle", includeCandidates=True)
    found = rows(talk.path, "SELECT model, dimension, length(code) FROM vector ORDER BY model")
    assert found == [("new-64", 64, 64), ("old-32", 32, 32), ("old-64", 64, 64)]


def test_what_was_stored_without_an_embedder_gets_its_vector_later(talk):
    assert talk.ingest(CAR)[1]["results"][0]["embedded"] is False
    talk.embedder = Hashed()
    code, reply = talk.ingest(CAR)
    assert (code, reply["results"][0]["embedded"], reply["results"][0]["created"]) == (0, True, False)


def test_a_record_without_a_vector_yet_is_found_by_its_words(tmp_path, monkeypatch):
    talk = Talk(tmp_path / "vectors.db")
    talk.ingest(PORT)
    talk.embedder = Hashed(pause_s=0.01)
    monkeypatch.setattr("lamina.pipeline.builtin.EMBED_S", 0.0)
    _, reply = talk.query("gateway port", includeCandidates=True)
    assert (reply["mode"], [each["score"] for each in reply["results"]]) == ("hybrid", [1.0])


@pytest.mark.parametrize("embedder", [DOWN, None])
def test_a_missing_vector_is_told_by_the_exit_code(tmp_path, embedder):
    talk = Talk(tmp_path / "vectors.db", embedder)
    wanted = {} if embedder else {"requireEmbedding": True}
    code, reply = talk.ingest(ESM, PORT, **wanted)
    assert (code, reply["ok"], [each["embedded"] for each in reply["results"]]) == (3, True, [False, False])
    assert talk.refine(promote(ESM), **wanted)[0] in ((0,) if embedder else (3,))
    code, reply = talk.query("ESM", **wanted)
    assert (code, reply["mode"], [each["content"] for each in reply["results"]]) == (3, "fts", [ESM])
    talk.embedder = Hashed()
    assert talk.ingest(ESM, requireEmbedding=True)[0] == 0
    assert talk.query("ESM", requireEmbedding=True)[0] == 0


def test_without_an_embedder_that_is_wanted_all_is_well(talk):
    assert talk.ingest(ESM)[0] == 0
    assert talk.query("ESM")[0] == 0


def test_an_embedder_with_nothing_to_compare_is_no_failure(tmp_path):
    talk = Talk(tmp_path / "vectors.db", Hashed())
    code, reply = talk.query("ESM", requireEmbedding=True)
    assert (code, reply) == (0, {"ok": True, "mode": "hybrid", "results": []})


@pytest.mark.parametrize("place", ["vectors.db", "no/such/folder/vectors.db"])
def test_a_query_of_nothing_makes_nothing(tmp_path, place):
    talk = Talk(tmp_path / place)
    assert talk.query("anything") == (0, {"ok": True, "mode": "fts", "results": []})
    assert list(tmp_path.iterdir()) == []


QUERIES = st.one_of(
    st.text(max_size=40),
    st.lists(st.sampled_from(['"', "*", "^", "NEAR(", "AND", "OR NOT", "said:", "-", "(", ")", "ESM", "port", "'", ";"]))
    .map(" ".join),
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=QUERIES.filter(str.strip))
def test_any_text_is_a_query(tmp_path, query):
    talk = Talk(tmp_path / "vectors.db", Hashed())
    if not talk.path.exists():
        full(talk)
    code, reply = talk.query(query, includeCandidates=True)
    assert (code, reply["ok"]) == (0, True)
    assert all(0 < each["score"] <= 1 for each in reply["results"])


def test_a_purged_record_is_not_found_by_meaning(tmp_path):
    talk = Talk(tmp_path / "vectors.db", Hashed())
    talk.ingest(CAR, PORT)
    talk.refine(purge(CAR))
    assert talk.found("vehicle car fuel", includeCandidates=True, minScore=0.3) == []


def test_a_file_that_takes_no_vector_keeps_nobody_busy(tmp_path):
    talk = Talk(tmp_path / "vectors.db")
    talk.ingest(CAR, PORT)
    with closing(sqlite3.connect(talk.path)) as db:
        db.execute("CREATE TRIGGER lost BEFORE INSERT ON vector BEGIN SELECT raise(IGNORE); END")
    talk.embedder = Hashed()
    began = time.monotonic()
    assert [each["embedded"] for each in talk.ingest(CAR)[1]["results"]] == [False]
    assert time.monotonic() - began < 5
