"""`lamina semantic` as a program uses it: JSON in, JSON out, and an exit code that tells."""

import json
import os
import shutil
import sqlite3
import subprocess
from contextlib import closing

import pytest
from tests.embed.endpoint import running
from tests.pipeline.test_digest_fixtures import DATA

from lamina.formats.hashing import content_hash

ESM = "Decision: use plain ESM with no build step."
SOURCE = "memory/2026-12-01-a-memory.md#session-2026-12-01T09:00:00Z"
HASH = content_hash(ESM)
ITEM = {"content": ESM, "sourceRef": SOURCE}


@pytest.fixture
def ask(lamina):
    (lamina.project / "memory").mkdir()
    lamina.monkeypatch.setenv("LAMINA_EMBEDDER", "none")

    def asked(verb, said, **env):
        data = (
            said if isinstance(said, bytes) else json.dumps({"dbPath": "memory/vectors.db"} | said).encode()
        )
        return lamina.process("semantic", verb, stdin=data, **({"LAMINA_EMBEDDER": "none"} | env))

    asked.vectors = lamina.project / "memory" / "vectors.db"
    asked.lamina = lamina
    return asked


def test_a_record_goes_in_is_approved_and_found(ask):
    stored = ask("ingest", ITEM)
    assert stored.code == 0, stored
    result = {"content_hash": HASH, "status": "candidate", "created": True, "embedded": False}
    assert stored.json == {"ok": True, "results": [result]}
    promoted = ask("refine", {"operations": [{"type": "promote", "hash": HASH, "confidence": 0.9}]})
    assert (promoted.code, promoted.json["ok"]) == (0, True)
    found = ask("query", {"query": "build step"})
    assert (found.code, found.json["mode"], found.err) == (0, "fts", "")
    assert [(each["content_hash"], each["confidence"]) for each in found.json["results"]] == [(HASH, 0.9)]


def test_an_operation_that_fails_gives_one_and_the_results(ask):
    done = ask("ingest", {"items": [ITEM, ITEM | {"contentHash": "0" * 64}]})
    assert (done.code, done.json["ok"]) == (1, False)
    assert [each.get("error") for each in done.json["results"]] == [None, "hash_mismatch"]
    done = ask("refine", {"operations": [{"type": "promote", "hash": "0" * 64, "confidence": 0.5}]})
    assert (done.code, done.json["results"][0]["error"]) == (1, "not_found")


BAD = [
    ("ingest", b"", "no JSON"),
    ("ingest", b"[]", "no JSON object"),
    ("ingest", b"\xff\xfe", "no JSON"),
    ("ingest", b"[" * 100_000, "nested too deep"),
    ("ingest", b'{"content": "x", "sourceRef": "y"}', "dbPath"),
    ("ingest", ITEM | {"dbPath": 1}, "dbPath"),
    ("ingest", ITEM | {"dbPath": "a\0b"}, "dbPath"),
    ("ingest", ITEM | {"dbPath": "no/such/vectors.db"}, "no folder"),
    ("ingest", {}, "has no content"),
    ("ingest", {"content": " \n", "sourceRef": SOURCE}, "has no content"),
    ("ingest", {"content": ESM}, "sourceRef"),
    ("ingest", {"items": ITEM}, "items"),
    ("ingest", {"items": [ITEM, ITEM, 3]}, "item 2 is no JSON object"),
    ("ingest", {"items": [ITEM, ITEM | {"content": ["x"]}]}, "item 1 has no content"),
    ("ingest", {"items": [ITEM, ITEM | {"content": "x" * 70_000}]}, "item 1: its content is longer"),
    ("ingest", {"items": [ITEM, ITEM | {"content": "a\x07b"}]}, "item 1: its content holds what is no text"),
    (
        "ingest",
        {"items": [ITEM, ITEM | {"content": "a\ud800b"}]},
        "item 1: its content holds what is no text",
    ),
    ("ingest", {"items": [ITEM, ITEM | {"itemId": "a\ud800b"}]}, "item 1: its itemId"),
    ("ingest", {"items": [ITEM, ITEM | {"kind": {}}]}, "item 1: its kind"),
    ("ingest", {"items": [ITEM, ITEM | {"confidence": float("nan")}]}, "item 1: its confidence"),
    ("ingest", {"items": [ITEM, ITEM | {"confidence": 10**400}]}, "item 1: its confidence"),
    ("ingest", {"items": [ITEM, ITEM | {"confidence": True}]}, "item 1: its confidence"),
    ("ingest", ITEM | {"requireEmbedding": "yes"}, "requireEmbedding"),
    ("refine", {}, "operations"),
    ("refine", {"operations": []}, "operations"),
    (
        "refine",
        {"operations": [{"type": "promote", "hash": HASH, "confidence": 2}]},
        "operation 0: its confidence",
    ),
    ("refine", {"operations": [{"type": "promote", "hash": "abc"}]}, "operation 0: its hash"),
    ("refine", {"operations": [{"type": "approve", "hash": HASH}]}, "no type 'approve'"),
    ("refine", {"operations": [{"type": "update", "oldHash": HASH}]}, "operation 0"),
    ("query", {}, "query"),
    ("query", {"query": "  "}, "query"),
    ("query", {"query": "x", "limit": 0}, "limit"),
    ("query", {"query": "x", "limit": 2.5}, "limit"),
    ("query", {"query": "x", "minScore": "much"}, "minScore"),
    ("query", {"query": "x", "includeCandidates": 1}, "includeCandidates"),
]


def test_bad_input_gives_two_names_the_thing_and_does_nothing(ask):
    for verb, said, named in BAD:
        done = told(ask, verb, said)
        assert done.code == 2, (verb, said, done)
        assert named in done.json["error"]["message"], done.json
        assert done.json["error"]["hint"]
        assert os.listdir(ask.vectors.parent) == []


def told(ask, verb, said):
    """Ask in this process, which is quicker than one for each."""
    import io

    data = said if isinstance(said, bytes) else json.dumps({"dbPath": "memory/vectors.db"} | said).encode()
    ask.lamina.monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    return ask.lamina("semantic", verb)


def test_unknown_keys_are_ignored_and_a_byte_order_mark_too(ask):
    data = json.dumps(ITEM | {"dbPath": str(ask.vectors), "more": [1]}).encode()
    assert ask("ingest", b"\xef\xbb\xbf" + data).code == 0


def test_too_much_is_refused(ask):
    done = told(ask, "ingest", b'{"content": "' + b"x" * (64 << 20) + b'"}')
    assert (done.code, "64 MB" in done.json["error"]["message"]) == (2, True)


def test_an_embedder_that_is_down_gives_three_and_the_text_is_stored(ask):
    with running() as endpoint:
        env = {"LAMINA_EMBEDDER": f"ollama:small@{endpoint.url}"}
        assert ask("ingest", ITEM, **env).json["results"][0]["embedded"] is True
        for _ in range(9):
            endpoint.then(500, {"error": "out of memory"})
        done = ask("ingest", ITEM | {"content": "Something else."}, **env)
        assert (done.code, done.json["results"][0]["embedded"]) == (3, False)
    done = ask("ingest", {"items": [ITEM, ITEM | {"content": "A third."}]}, **env)
    assert done.code == 3, done
    assert [(each["status"], each["embedded"]) for each in done.json["results"]] == [
        ("candidate", True),
        ("candidate", False),
    ]
    found = ask("query", {"query": "third", "includeCandidates": True}, **env)
    assert (found.code, found.json["mode"], len(found.json["results"])) == (3, "fts", 1)


def test_a_vector_that_is_required_and_not_there_gives_three(ask):
    done = ask("ingest", ITEM | {"requireEmbedding": True})
    assert (done.code, done.json["ok"], done.json["results"][0]["embedded"]) == (3, True, False)


def test_a_database_that_is_busy_or_damaged_gives_four(ask):
    assert ask("ingest", ITEM).code == 0
    with closing(sqlite3.connect(ask.vectors, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        promote = {"operations": [{"type": "promote", "hash": HASH, "confidence": 0.9}]}
        for done in (ask("ingest", ITEM), ask("refine", promote)):
            assert (done.code, done.json["error"]["kind"]) == (4, "semantic_core")
    ask.vectors.write_bytes(b"garbage" * 1_000)
    for verb, said in (("ingest", ITEM), ("refine", promote), ("query", {"query": "ESM"})):
        done = ask(verb, said)
        assert (done.code, "damaged" in done.json["error"]["message"]) == (4, True), done


def test_refining_without_records_and_a_link_are_failures(ask):
    promote = {"operations": [{"type": "promote", "hash": HASH, "confidence": 0.9}]}
    assert ask("refine", promote).code == 1
    ask.vectors.symlink_to("elsewhere.db")
    assert ask("ingest", ITEM).json["error"]["kind"] == "unsafe_path"
    assert os.listdir(ask.vectors.parent) == ["vectors.db"]


def test_an_unknown_verb_is_named(ask):
    done = ask("remember", ITEM)
    assert (done.code, "remember" in done.err) == (2, True)


@pytest.mark.parametrize("folder", ["memory", "memory [old]*"])
def test_git_does_not_see_the_records(lamina, ask, folder):
    def git(*arguments):
        return subprocess.run(
            ["git", *arguments], cwd=lamina.project, check=True, capture_output=True, text=True
        ).stdout

    git("init", "-q")
    exclude = lamina.project / ".git" / "info" / "exclude"
    exclude.write_bytes(b"# mine\r\n*.log")
    (lamina.project / folder).mkdir(exist_ok=True)
    path = f"{folder}/vectors.db"
    assert ask("ingest", ITEM | {"dbPath": path}).code == 0
    assert ask("ingest", ITEM | {"dbPath": path}).code == 0
    data = exclude.read_bytes()
    assert data.startswith(b"# mine\r\n*.log\n")
    assert data.count(b"vectors.db") == 1
    assert git("status", "--porcelain") == ""
    (lamina.project / folder / "digest.md").write_text("mine")
    assert "digest.md" in git("status", "--porcelain", "-uall")


def test_a_repository_that_takes_nothing_stops_nothing(lamina, ask):
    subprocess.run(["git", "init", "-q"], cwd=lamina.project, check=True)
    info = lamina.project / ".git" / "info"
    for each in info.iterdir():
        each.unlink()
    info.rmdir()
    info.write_text("no folder")
    assert ask("ingest", ITEM).code == 0


def test_rebuilding_needs_a_digest(lamina, ask):
    done = lamina.process("semantic", "rebuild", "--json")
    assert (done.code, done.json["error"]["kind"]) == (1, "no_file")


def test_rebuilding_gives_the_records_of_the_digest_again(lamina, ask):
    shutil.rmtree(lamina.project / "memory")
    shutil.copytree(DATA / "canonical", lamina.project / "memory", ignore=shutil.ignore_patterns("*.json"))
    assert lamina("digest", "--json").json["sync"]["status"] == "synced"
    assert lamina("refine", "--yes", "--force", "--json").json["sync"]["status"] == "synced"
    asked = [{"query": words, "limit": 50} for words in ("Postgres job queue", "ESM", "the")]
    before = [ask("query", each).json for each in asked]
    assert before[0]["results"]
    ask.vectors.unlink()
    done = lamina.process("semantic", "rebuild", "--json")
    assert (done.code, done.json["failed"]) == (0, [])
    assert [ask("query", each).json for each in asked] == before
    ask.vectors.write_bytes(b"garbage" * 1_000)
    assert "records in" in lamina.process("semantic", "rebuild").out
    assert [ask("query", each).json for each in asked] == before
    assert len(list(ask.vectors.parent.glob("vectors.db.damaged-*"))) == 1
    with closing(sqlite3.connect(ask.vectors, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert lamina.process("semantic", "rebuild").code == 4
