"""A core answers by what is in force, whatever came before; so one made anew from a digest answers alike."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.index.standin import Hashed
from tests.semantic.cores import Talk, builtin, fact, is_sound, rows

from lamina.formats.hashing import content_hash
from lamina.pipeline.semantic import Promote, Purge, Record, Supersede, Update

WORDS = ("gateway", "proxy", "port", "socket", "car", "retry", "retries", "倉庫は閉まる", "getUserName", "a")
CONTENTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("ingest"), st.lists(CONTENTS, min_size=1, max_size=3)),
        st.tuples(st.just("promote"), CONTENTS),
        st.tuples(st.just("update"), CONTENTS, CONTENTS),
        st.tuples(st.just("supersede"), CONTENTS),
        st.tuples(st.just("purge"), CONTENTS),
    ),
    max_size=15,
)
QUERIES = ("gateway", "vehicle port", "retry proxy", "倉庫", "user name", "socket car a")


def done(core, operation):
    match operation:
        case ("ingest", contents):
            core.ingest([fact(each) for each in contents])
        case ("promote", content):
            core.refine([Promote(content_hash(content), 0.8)])
        case ("update", old, new):
            core.refine([Update(content_hash(old), fact(new, confidence=0.8))])
        case ("supersede", content):
            core.refine([Supersede(content_hash(content))])
        case ("purge", content):
            core.refine([Purge(content_hash(content))])


def answers(path, embedder):
    talk = Talk(path, embedder)
    return [
        talk.query(each, includeCandidates=candidates, limit=1000)
        for each in QUERIES
        for candidates in (False, True)
    ]


def in_force(path):
    sql = "SELECT content, status = 'approved', confidence FROM record WHERE status IN ('candidate', 'approved')"
    return [Record(fact(said, confidence=sure), bool(approved)) for said, approved, sure in rows(path, sql)]


@settings(max_examples=60)
@given(operations=OPERATIONS, order=st.randoms(use_true_random=False), vectors=st.booleans())
def test_a_core_made_anew_answers_like_the_one_before(operations, order, vectors):
    embedder = Hashed() if vectors else None
    with tempfile.TemporaryDirectory() as folder:
        path, other = Path(folder) / "vectors.db", Path(folder) / "other.db"
        core = builtin(path, embedder)
        core.ingest([fact("gateway")])
        for operation in operations:
            done(core, operation)
        assert is_sound(path)
        before, held = answers(path, embedder), in_force(path)
        order.shuffle(held)
        assert all(each.ok for each in builtin(other, embedder).rebuild(held))
        assert answers(other, embedder) == before
        assert all(each.ok for each in core.rebuild(held))
        assert answers(path, embedder) == before
        assert is_sound(path)
        assert not rows(path, "SELECT 1 FROM vector v LEFT JOIN record r ON r.hash = v.hash"
                              " WHERE r.status IS NULL OR r.status NOT IN ('candidate', 'approved')")  # fmt: skip


@given(operations=OPERATIONS)
@settings(max_examples=40)
def test_no_order_of_operations_leaves_the_states(operations):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.db"
        core = builtin(path)
        core.ingest([fact("gateway")])
        was = dict(rows(path, "SELECT hash, status FROM record"))
        for operation in operations:
            done(core, operation)
            now = dict(rows(path, "SELECT hash, status FROM record"))
            assert set(was) <= set(now)
            for found, before in was.items():
                assert (before, now[found]) != ("approved", "purged")
                assert now[found] != "approved" or before not in ("purged", "superseded") or (
                    operation[0] == "update" and content_hash(operation[2]) == found
                )  # fmt: skip
            assert all(
                (not said) == (status == "purged")
                for said, status in rows(path, "SELECT content, status FROM record")
            )
            was = now


def test_a_core_made_anew_keeps_what_was_done_and_what_was_retired(tmp_path):
    path = tmp_path / "vectors.db"
    core = builtin(path, Hashed())
    core.ingest([fact(each) for each in ("gateway", "port", "car")])
    core.refine(
        [Supersede(content_hash("port")), Purge(content_hash("port")), Supersede(content_hash("car"))]
    )
    told = rows(path, "SELECT hash, what FROM event ORDER BY id")
    core.rebuild([Record(fact("gateway"), approved=True), Record(fact("car"), approved=False)])
    assert rows(path, "SELECT hash, what FROM event ORDER BY id")[: len(told)] == told
    status = dict(rows(path, "SELECT content, status FROM record"))
    assert status == {"gateway": "approved", "": "purged", "car": "candidate"}


def test_vectors_are_not_made_twice(tmp_path):
    embedder = Hashed()
    core = builtin(tmp_path / "vectors.db", embedder)
    core.ingest([fact(each) for each in ("gateway", "port")])
    core.rebuild([Record(fact("port"), approved=True), Record(fact("car"), approved=False)])
    assert sorted(embedder.embedded) == ["car", "gateway", "port"]


def test_what_a_digest_does_not_say_is_purged_when_records_are_made_anew(tmp_path):
    path = tmp_path / "vectors.db"
    gone = "The quokkaxylophon stands in Zwiebelturm."
    core = builtin(path, Hashed())
    core.ingest([fact("gateway"), fact(gone)])
    ((code,),) = rows(path, f"SELECT code FROM vector WHERE hash = '{content_hash(gone)}'")
    core.refine([Promote(content_hash(gone), 0.8)])
    core.rebuild([Record(fact("gateway"), approved=True)])
    data = path.read_bytes()
    assert not any(word in data for word in (b"quokka", b"wiebelturm", code))
    assert dict(rows(path, "SELECT hash, status FROM record"))[content_hash(gone)] == "purged"
