"""What becomes of a record: candidate → approved → superseded → purged, and nothing else."""

from __future__ import annotations

import sqlite3

import pytest
from tests.index.standin import Hashed
from tests.semantic.cores import (
    ESM,
    NOW,
    PORT,
    RETRY,
    SOURCE,
    Talk,
    is_sound,
    promote,
    purge,
    rows,
    states,
    supersede,
    update,
)

from lamina.formats.hashing import content_hash
from lamina.index import core

ONE = content_hash(ESM)
SAME = "- Decision: use  plain ESM\nwith no build step. Source: `memory/other.md#session-1`."
WAYS = {  # how a record gets into each state
    "none": [],
    "candidate": ["ingest"],
    "approved": ["ingest", promote(ESM)],
    "superseded": ["ingest", promote(ESM), supersede(ESM)],
    "purged": ["ingest", supersede(ESM), purge(ESM)],
}


@pytest.fixture
def talk(tmp_path):
    return Talk(tmp_path / "vectors.db")


def bring(talk, state):
    talk.ingest(PORT)
    for step in WAYS[state]:
        talk.ingest(ESM) if step == "ingest" else talk.refine(step)
    assert states(talk.path).get(ONE, "none") == state


@pytest.mark.parametrize(
    ("state", "operation", "error", "after"),
    [
        ("none", promote(ESM), "not_found", "none"),
        ("none", supersede(ESM), "not_found", "none"),
        ("none", purge(ESM), "not_found", "none"),
        ("none", update(ESM, RETRY), "not_found", "none"),
        ("candidate", promote(ESM), "", "approved"),
        ("candidate", supersede(ESM), "", "superseded"),
        ("candidate", purge(ESM), "", "purged"),
        ("candidate", update(ESM, RETRY), "", "superseded"),
        ("approved", promote(ESM), "", "approved"),
        ("approved", supersede(ESM), "", "superseded"),
        ("approved", purge(ESM), "must_supersede_first", "approved"),
        ("approved", update(ESM, RETRY), "", "superseded"),
        ("approved", update(ESM, SAME), "", "approved"),
        ("superseded", promote(ESM), "not_a_candidate", "superseded"),
        ("superseded", supersede(ESM), "", "superseded"),
        ("superseded", purge(ESM), "", "purged"),
        ("superseded", update(ESM, RETRY), "", "superseded"),
        ("purged", promote(ESM), "not_a_candidate", "purged"),
        ("purged", supersede(ESM), "purged", "purged"),
        ("purged", purge(ESM), "", "purged"),
        ("purged", update(ESM, RETRY), "purged", "purged"),
    ],
)
def test_every_operation_in_every_state(talk, state, operation, error, after):
    bring(talk, state)
    code, reply = talk.refine(operation)
    (result,) = reply["results"]
    assert (code, reply["ok"]) == ((1, False) if error else (0, True))
    assert result.get("error", "") == error
    assert states(talk.path).get(ONE, "none") == after
    assert is_sound(talk.path)


@pytest.mark.parametrize(
    ("state", "status", "created"),
    [
        ("none", "candidate", True),
        ("candidate", "candidate", False),
        ("approved", "approved", False),
        ("superseded", "candidate", True),
        ("purged", "candidate", True),
    ],
)
def test_ingesting_in_every_state(talk, state, status, created):
    bring(talk, state)
    code, reply = talk.ingest(SAME)
    expected = {"content_hash": ONE, "status": status, "created": created, "embedded": False}
    assert (code, reply) == (0, {"ok": True, "results": [expected]})
    assert talk.found("plain ESM", includeCandidates=True)
    assert is_sound(talk.path)


def test_what_is_known_keeps_its_words_source_and_confidence(talk):
    talk.ingest(ESM)
    talk.refine(promote(ESM, 0.9))
    talk.ingest_one(SAME, sourceRef="elsewhere#session-1", confidence=0.1, itemId="other")
    (result,) = talk.query("plain ESM")[1]["results"]
    assert (result["content"], result["source_ref"], result["confidence"]) == (ESM, SOURCE, 0.9)


def test_an_update_approves_the_new_words_and_names_their_hash(talk):
    bring(talk, "approved")
    _, reply = talk.refine(update(ESM, RETRY))
    expected = {"type": "update", "content_hash": content_hash(RETRY), "ok": True, "status": "approved"}
    assert reply["results"] == [expected]
    assert talk.found("retries ESM") == [RETRY]
    ((by, reason),) = rows(talk.path, f"SELECT by, reason FROM record WHERE hash = '{ONE}'")
    assert (by, reason) == (content_hash(RETRY), "updated")


def test_superseding_and_purging_go_in_one_request(talk):
    bring(talk, "approved")
    code, reply = talk.refine(supersede(ESM), purge(ESM))
    assert (code, [each["status"] for each in reply["results"]]) == (0, ["superseded", "purged"])


def test_one_failure_takes_all_operations_back(talk):
    talk.ingest(ESM, PORT)
    before = talk.path.read_bytes()
    code, reply = talk.refine(promote(ESM), update(PORT, RETRY), purge(ESM), promote(PORT))
    assert code == 1
    assert [each.get("error") for each in reply["results"]] == [
        "rolled_back",
        "rolled_back",
        "must_supersede_first",
        "rolled_back",
    ]
    assert [each["ok"] for each in reply["results"]] == [False] * 4
    assert set(states(talk.path).values()) == {"candidate"}
    assert talk.path.read_bytes() == before


def test_what_was_done_is_told_for_ever(talk):
    bring(talk, "superseded")
    talk.refine(purge(ESM))
    talk.ingest(ESM)
    told = rows(talk.path, f"SELECT what, detail FROM event WHERE hash = '{ONE}' ORDER BY id")
    assert told == [
        ("ingested", ""),
        ("promoted", "0.8"),
        ("superseded", "old"),
        ("purged", ""),
        ("revived", ""),
    ]
    with sqlite3.connect(talk.path) as db, pytest.raises(sqlite3.IntegrityError, match="events"):
        db.execute("DELETE FROM event")
    db.close()
    with sqlite3.connect(talk.path) as db, pytest.raises(sqlite3.IntegrityError, match="events"):
        db.execute("UPDATE event SET what = 'nothing'")
    db.close()


def test_doing_it_again_tells_nothing_new(talk):
    bring(talk, "approved")
    before = rows(talk.path, "SELECT * FROM event")
    talk.ingest(ESM)
    talk.refine(promote(ESM))
    assert rows(talk.path, "SELECT * FROM event") == before


def test_nothing_of_a_purged_record_is_left_in_the_file(tmp_path):
    talk = Talk(tmp_path / "vectors.db", Hashed())
    gone = "Zwiebelturm quokkaxylophon 4711, because Blaubeerkuchen."
    talk.ingest(*(f"{n}: {ESM}" for n in range(300)), gone, *(f"{n}: {PORT}" for n in range(300)))
    ((code,),) = rows(talk.path, f"SELECT code FROM vector WHERE hash = '{content_hash(gone)}'")
    assert code in talk.path.read_bytes()
    talk.refine(promote(gone), supersede(gone), purge(gone))
    data = talk.path.read_bytes()
    for word in (b"quokkaxylophon", b"Zwiebelturm", b"zwiebelturm", b"Blaubeer", b"blaubeer", code):
        assert word not in data
    assert content_hash(gone).encode() in data
    assert states(talk.path)[content_hash(gone)] == "purged"
    assert [each.name for each in tmp_path.iterdir()] == ["vectors.db"]


def test_a_vector_that_comes_too_late_is_not_kept(talk):

    bring(talk, "candidate")
    embedder = Hashed()
    with core.opened(talk.path, at=NOW) as records:
        wanted = records.without_vector(embedder.name, embedder.dimension, 10)
        talk.refine(purge(ESM))
        with records.change():
            records.put_vectors(
                embedder.name, [each for each, _ in wanted], embedder.embed([said for _, said in wanted])
            )
    assert rows(talk.path, "SELECT hash FROM vector") == [(content_hash(PORT),)]
