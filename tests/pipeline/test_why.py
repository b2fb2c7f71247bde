"""The way back from an entry to where it came from."""

from __future__ import annotations

from datetime import date

import pytest
from tests.pipeline.opening import NOW, Clock, git, opened

from lamina.formats.bullet import Bullet
from lamina.formats.note import Note, Section
from lamina.hosts.render import Said, render_claude
from lamina.store import notes

KINDS = {"entry", "note", "record", "digest", "session", "commit", "evidence"}
STATES = {"here", "elsewhere", "gone"}


@pytest.fixture
def memory(tmp_path):
    memory = opened(tmp_path, clock=Clock())
    memory.init()
    return memory


def chain(memory, id_: str) -> list[dict]:
    found = memory.why(id_)
    assert set(found) == {"id", "heading", "chain"}
    for link in found["chain"]:
        assert {"kind", "ref", "state"} <= set(link) <= {"kind", "ref", "state", "file", "lines", "quote"}
        assert link["kind"] in KINDS
        assert link["state"] in STATES
        assert all(isinstance(value, str) for value in link.values())
    return found["chain"]


def test_what_a_person_said_has_nothing_behind_it_and_no_invented_quote(memory):
    outcome = memory.remember("The port is 8081")
    entry, said = chain(memory, outcome.id)
    lines = (memory.root / outcome.file).read_text().splitlines()
    first, last = map(int, entry["lines"].split("-"))
    assert (lines[first - 1], lines[last - 1]) == ("## The port is 8081", "The port is 8081")
    assert said == {"kind": "evidence", "ref": "user", "state": "here"}


def test_a_note_that_is_here_is_quoted_with_the_bullet_that_became_the_entry(memory):
    bullets = (
        Bullet("finding", "The pier is 80 m long.", date(2026, 11, 30), 3, 7, "80 metres", "user"),
        Bullet("finding", "The crane lifts 5 t.", date(2026, 11, 30), 3, 7, "five tons", "user"),
    )
    with memory.store.writing(label="capture", at=NOW) as batch:
        section = Section(NOW, bullets, 0, 9)
        notes.save(
            batch, Note("4f3a", "claude-code", "workspace:harbor", "/w", 0, 9, NOW, NOW, sections=(section,))
        )
    memory.consolidate()
    id_ = next(item["id"] for item in memory.list()[0] if "crane" in item["heading"])
    _, evidence, note, session = chain(memory, id_)
    assert evidence == {"kind": "evidence", "ref": "user", "state": "here", "quote": "five tons"}
    assert note["quote"] == "finding: The crane lifts 5 t."
    assert note["file"] == "digests/claude-code_4f3a.md"
    assert session == {"kind": "session", "ref": "session:claude-code/4f3a#3-7", "state": "elsewhere"}


def test_a_session_from_another_machine_is_elsewhere(memory):
    outcome = memory.remember("The port is 8081", source="session:codex/abc#1-2, agent")
    _, note, session, agent = chain(memory, outcome.id)
    assert (note["state"], session["state"]) == ("elsewhere", "elsewhere")
    assert agent == {"kind": "evidence", "ref": "agent", "state": "here"}


def test_an_imported_session_is_followed_to_its_lines_and_is_gone_with_its_file(memory, tmp_path):
    said = [
        Said("user", "Let's use SQLite for the queue, because one file is easy to back up."),
        Said("assistant", "Done: the queue now lives in one SQLite file. " * 8),
        Said("user", "No, use port 8081 for staging, never 8080. " * 3),
        Said("assistant", "Staging now listens on port 8081. " * 10),
    ]
    folder = tmp_path / "sessions"
    folder.mkdir()
    path = folder / "4f3a1b2c-0000-4000-8000-000000000000.jsonl"
    path.write_text(render_claude(path.stem, said, cwd=str(tmp_path / "harbor"), started=NOW))
    memory.import_sessions([folder])
    id_ = next(item["id"] for item in memory.list(scope="all")[0] if "8081" in item["heading"])
    links = {link["kind"]: link for link in chain(memory, id_)}
    assert links["session"]["state"] == "here"
    assert links["session"]["file"] == str(path)
    first = int(links["session"]["lines"].split("-")[0])
    assert "never 8080" in path.read_text().splitlines()[first - 1]
    assert links["note"]["state"] == "here"
    assert "never 8080" in links["evidence"]["quote"]
    path.unlink()
    (memory.root / links["note"]["file"]).unlink()
    links = {link["kind"]: link for link in chain(memory, id_)}
    assert (links["session"]["state"], links["note"]["state"]) == ("gone", "gone")
    assert "never 8080" in links["evidence"]["quote"]


def test_a_commit_is_here_where_the_repository_holds_it(memory, tmp_path):
    folder = tmp_path / "harbor"
    git(folder, "init", "-q")
    git(folder, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x")
    hash_ = git(folder, "rev-parse", "HEAD").strip()
    inside = opened(tmp_path)
    one = inside.remember("Made", source=f"git:{hash_}").id
    two = inside.remember("Unmade", source="git:" + "0" * 40).id
    three = inside.remember("Hostile", source="git:--output=x").id
    assert [chain(inside, id_)[1]["state"] for id_ in (one, two, three)] == ["here", "elsewhere", "elsewhere"]


def test_a_record_is_looked_for_in_the_project(memory, tmp_path):
    inside = opened(tmp_path)
    source = "record:memory/2026-11-30-x-memory.md#session-1"
    id_ = inside.remember("Recorded", source=source).id
    assert chain(inside, id_)[1]["state"] == "gone"
    path = tmp_path / "harbor" / "memory" / "2026-11-30-x-memory.md"
    path.parent.mkdir()
    path.write_text("x")
    link = chain(inside, id_)[1]
    assert (link["kind"], link["state"], link["file"]) == ("record", "here", str(path))
    out = inside.remember("Climbs", source="digest:../../etc/passwd#1").id
    assert chain(inside, out)[1]["state"] == "elsewhere"


def test_an_alias_finds_the_chain(memory):
    id_ = memory.remember("The port is 8081").id
    moved = memory.move(id_, layer="procedural")["id"]
    assert memory.why(id_)["id"] == moved
