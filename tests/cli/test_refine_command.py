"""`lamina refine` as a person, an agent and a program use it, with the core that is always there."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from hashlib import sha256

import pytest

from lamina.formats.digestreader import parse_digest
from lamina.store.memoryfolder import resolve

DAY = """# Memory — harbor — {day}

<!-- memory:session id={day}T09:00:00Z -->
## Session 10:00 — work

{parts}
"""
ESM = "Use plain ESM with no build step."
REASON = "Use plain ESM with no build step, because what we ship is what we test."
PORT, PORT2 = "The staging server listens on port 9090.", "The staging server listens on port 9191."
GUIDE, MIRROR = "Write the upgrade guide.", "The mirror refuses files larger than 4 MB."
FIRST = {"Decisions": [ESM], "Done": [PORT], "Open / next action": [GUIDE]}
SECOND = {"Decisions": [REASON], "Done": [f"Done: {GUIDE}", f"Learning: {MIRROR}"]}


@pytest.fixture
def harbor(lamina):
    """A project with two digested days, the first of them ten days ago."""
    lamina.monkeypatch.setenv("LAMINA_EMBEDDER", "none")
    (lamina.project / "memory").mkdir()
    lamina.folder = resolve(lamina.project)
    for day, parts in (("2026-11-01", FIRST), ("2026-11-02", SECOND)):
        record(lamina, day, parts)
        assert lamina("digest").code == 0
    return lamina


def record(lamina, day, parts):
    told = "\n\n".join(
        f"**{name}**:\n" + "\n".join(f"- {each} Evidence: `session`" for each in said)
        for name, said in parts.items()
    )
    (lamina.folder.path / f"{day}-esm-memory.md").write_text(DAY.format(day=day, parts=told))


def parsed(lamina):
    return parse_digest(lamina.folder.digest.read_bytes().decode())


def bytes_of(lamina):
    return {each.name: each.read_bytes() for each in lamina.folder.path.glob("*.md")}


def found(lamina, query, **more):
    asked = {"dbPath": str(lamina.folder.vectors), "query": query, **more}
    done = lamina.process("semantic", "query", stdin=json.dumps(asked).encode())
    return [(each["content"], each["status"], each["confidence"]) for each in done.json["results"]]


def test_a_digest_is_refined_approved_and_found(harbor):
    before = bytes_of(harbor)
    assert found(harbor, "plain ESM build") == []
    done = harbor("refine", "--yes")
    assert (done.code, done.err) == (0, "")
    assert "1 merged, 1 resolved" in done.out
    assert "semantic core: synced" in done.out
    after = parsed(harbor)
    assert [each.text for each in after.refined if each.kind == "decision"] == [REASON]
    assert {each.text for each in after.refined} == {REASON, PORT, f"Done: {GUIDE}", MIRROR}
    assert all(each.sync == "approved" for each in after.refined)
    assert found(harbor, "plain ESM build") == [(REASON, "approved", 0.9)]
    assert found(harbor, "staging server port") == [(PORT, "approved", 0.8)]
    assert found(harbor, "upgrade guide", includeCandidates=True) == [(f"Done: {GUIDE}", "approved", 0.8)]
    now = bytes_of(harbor)
    assert {name for name in now if now[name] != before[name]} == {"digest.md"}
    assert harbor("digest", "--json").json["section"] is None, "no session is read again"


def test_the_report_has_what_programs_rely_on(harbor):
    old = harbor.folder.digest.read_text()
    done = harbor("refine", "--yes", "--json").json
    new = harbor.folder.digest.read_text()
    assert done["digest"] == str(harbor.folder.digest)
    assert done["words"] == {"before": len(old.split()), "after": len(new.split())}
    assert done["sha256"] == {
        "before": sha256(old.encode()).hexdigest(),
        "after": sha256(new.encode()).hexdigest(),
    }
    assert (done["merged"], done["resolved"], done["dropped"], done["conflicts"]) == (1, 1, 0, 0)
    assert done["sync"] == {"status": "synced", "pending": []}
    assert done["limitations"] == []


def test_new_words_update_what_was_approved_and_what_is_dropped_is_gone(harbor):
    harbor("refine", "--yes")
    plan = harbor("digest", "--plan").json
    record(harbor, "2026-11-03", {"Done": [PORT2]})
    port = next(each["id"] for each in plan["items"] if each["text"] == PORT)
    source = harbor("digest", "--plan").json["sessions"][0]["source"]
    chosen = {"items": [{"kind": "state", "text": PORT2, "source": source, "id": port}]}
    (harbor.project / "items.json").write_text(json.dumps(chosen))
    assert harbor("digest", "--apply", "items.json").code == 0
    plan = harbor("refine", "--plan").json
    (row,) = [each for each in plan["items"] if each["id"] == port]
    assert (row["text"], row["older"]) == (PORT2, [PORT])
    for each in plan["items"]:
        if each["text"] == f"Done: {GUIDE}":
            each.update(action="drop", reason="noise: the guide is there for all to see")
    (harbor.project / "plan.json").write_text(json.dumps(plan))
    done = harbor("refine", "--apply", "plan.json", "--yes", "--json").json
    assert (done["dropped"], done["sync"]["status"]) == (1, "synced")
    assert found(harbor, "staging server port", includeCandidates=True) == [(PORT2, "approved", 0.8)]
    assert found(harbor, "upgrade guide", includeCandidates=True) == []
    data = harbor.folder.vectors.read_bytes()
    assert PORT.encode() not in data, "what was purged is in no byte of the file"
    assert GUIDE.encode() not in data


def test_records_made_anew_from_the_digest_answer_alike(harbor):
    harbor("refine", "--yes")
    queries = ("esm", "port", "guide", "mirror 4 MB", "what we ship")
    before = [found(harbor, each, includeCandidates=True) for each in queries]
    harbor.folder.vectors.unlink()
    assert harbor("digest", "--json").json["sync"]["status"] == "synced"
    assert [found(harbor, each, includeCandidates=True) for each in queries] == before


# --- gates and approval


def test_without_a_yes_nothing_is_written_and_the_ways_to_give_it_are_told(harbor):
    before = bytes_of(harbor)
    done = harbor("refine", "--json")
    assert done.code == 3
    assert "lamina refine --yes" in done.json["error"]["choices"]
    told = harbor.process("refine")
    assert told.code == 3
    assert "  - lamina refine --yes" in told.err.splitlines()
    assert bytes_of(harbor) == before


@pytest.mark.parametrize(
    ("answer", "yes"), [("y", True), ("yes", True), ("", False), ("n", False), ("ok", False)]
)
def test_a_person_at_a_terminal_is_asked_with_what_would_go(harbor, answer, yes):
    before = bytes_of(harbor)
    theirs, ours = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "lamina", "refine"], stdin=ours, stdout=ours, stderr=ours, cwd=harbor.project
    ) as running:
        os.close(ours)
        os.write(theirs, f"{answer}\n".encode())
        shown = b""
        while True:
            try:
                piece = os.read(theirs, 4096)
            except OSError:
                break
            if not piece:
                break
            shown += piece
        code = running.wait(timeout=60)
    os.close(theirs)
    text = shown.decode()
    assert "Rewrite the digest?" in text
    assert "would refine" in text
    assert "resolved by" in text
    assert code == (0 if yes else 3), text
    assert (bytes_of(harbor) != before) == yes


def test_a_second_refine_stops_and_force_goes_on(harbor):
    harbor("refine", "--yes")
    before = bytes_of(harbor)
    done = harbor("refine", "--yes", "--json")
    assert done.code == 3
    assert "lamina refine --force" in done.json["error"]["choices"]
    assert bytes_of(harbor) == before
    assert harbor("refine", "--force", "--json").code == 3, "force is no yes"
    assert harbor("refine", "--yes", "--force").code == 0


def test_a_young_digest_waits(lamina):
    (lamina.project / "memory").mkdir()
    lamina.folder = resolve(lamina.project)
    record(lamina, "2026-11-01", FIRST)
    lamina("digest")
    assert lamina("refine", "--plan").json["gates"] == ["young", "approval"]
    done = lamina("refine", "--yes")
    assert done.code == 3
    assert "young" in done.err
    assert lamina("refine", "--yes", "--force").code == 0


def test_a_project_without_a_digest_is_told_what_makes_one(lamina):
    done = lamina("refine", "--yes")
    assert done.code == 1
    assert "lamina digest" in done.err
    assert not (lamina.project / "memory").exists()


# --- plans


def test_a_plan_is_given_back_as_it_was_printed(harbor):
    before = bytes_of(harbor)
    plan = harbor("refine", "--plan").json
    assert bytes_of(harbor) == before
    assert plan["digest"] == str(harbor.folder.digest)
    assert plan["gates"] == ["approval"]
    assert all(set(each) >= {"id", "hash", "kind", "text", "sources", "action"} for each in plan["items"])
    assert {each["action"] for each in plan["items"]} == {"keep", "merge", "drop"}
    done = harbor.process("refine", "--apply", "-", "--yes", "--json", stdin=json.dumps(plan).encode())
    assert (done.code, done.json["merged"], done.json["resolved"]) == (0, 1, 1)


def test_a_plan_that_does_not_account_for_everything_is_refused(harbor):
    before = bytes_of(harbor)
    plan = harbor("refine", "--plan").json
    gone = plan["items"].pop(0)
    plan["items"][0]["text"] = "Something else."
    (harbor.project / "plan.json").write_text(json.dumps(plan))
    done = harbor("refine", "--apply", "plan.json", "--yes")
    assert done.code == 2
    assert f"not accounted for: {gone['id']}" in done.err
    assert plan["items"][0]["id"] in done.err
    assert bytes_of(harbor) == before


def test_a_plan_for_another_state_of_the_digest_is_refused(harbor):
    plan = harbor("refine", "--plan").json
    (harbor.project / "plan.json").write_text(json.dumps(plan))
    text = harbor.folder.digest.read_text().replace("port 9090", "port 9091")
    harbor.folder.digest.write_text(text)
    done = harbor("refine", "--apply", "plan.json", "--yes")
    assert done.code == 2
    assert "the digest changed" in done.err
    assert harbor.folder.digest.read_text() == text


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"items": {}}', '{"items": [1]}', '{"items": []}'])
def test_what_is_no_plan_is_refused(harbor, text):
    before = bytes_of(harbor)
    (harbor.project / "plan.json").write_text(text)
    assert harbor("refine", "--apply", "plan.json", "--yes").code == 2
    assert bytes_of(harbor) == before


@pytest.mark.parametrize(
    "options",
    [
        ("--plan", "--apply", "x"),
        ("--model", "none", "--apply", "x"),
        ("a.md", "--digest", "b.md"),
        ("--yess",),
    ],
)
def test_options_that_exclude_each_other_are_told(harbor, options):
    assert harbor("refine", *options).code == 2


def test_a_dry_run_says_what_would_be_and_changes_nothing(harbor):
    before = {each.name: each.read_bytes() for each in harbor.folder.path.iterdir()}
    done = harbor("refine", "--dry-run")
    assert done.code == 0
    assert "would refine" in done.out
    assert "1 merged, 1 resolved" in done.out
    told = harbor("refine", "--dry-run", "--json").json
    assert told["written"] is False
    assert told["words"]["before"] > told["words"]["after"] > 0
    assert {each.name: each.read_bytes() for each in harbor.folder.path.iterdir()} == before


# --- copies


@pytest.mark.parametrize("option", [(), ("--digest",)])
def test_a_copy_needs_no_yes_and_touches_nothing_else(harbor, option):
    copy = harbor.project / "copy.md"
    shutil.copy(harbor.folder.digest, copy)
    before = {each.name: each.read_bytes() for each in harbor.folder.path.iterdir()}
    done = harbor("refine", *option, "copy.md", "--json")
    assert done.code == 0, done
    assert done.json["digest"] == str(copy)
    assert done.json["sync"]["status"] == "unavailable"
    assert any("--semantic-env" in each for each in done.json["limitations"])
    assert parse_digest(copy.read_text()).refined
    assert {each.name: each.read_bytes() for each in harbor.folder.path.iterdir()} == before
    assert sorted(each.name for each in harbor.project.iterdir()) == ["copy.md", "memory"]


def test_the_digest_by_its_own_name_is_no_copy(harbor):
    assert harbor("refine", "memory/digest.md").code == 3


@pytest.mark.parametrize(
    "name", ["memory/2026-11-01-esm-memory.md", "nowhere.md", "memory", "memory/vectors.db"]
)
def test_what_is_no_digest_is_left_alone(harbor, name):
    before = {each.name: each.read_bytes() for each in harbor.folder.path.iterdir()}
    done = harbor("refine", name, "--yes", "--force")
    assert done.code in (1, 2, 3)
    assert name.rpartition("/")[2] in done.err
    assert {each.name: each.read_bytes() for each in harbor.folder.path.iterdir()} == before


# --- the core


def test_without_a_core_the_hashes_wait_and_a_later_run_sends_them(harbor):
    done = harbor("refine", "--yes", "--semantic-env", "NO_SUCH_CORE", "--json").json
    assert done["sync"]["status"] == "unavailable"
    assert len(done["sync"]["pending"]) == 4
    assert any("NO_SUCH_CORE" in each for each in done["limitations"])
    refined = [each.text for each in parsed(harbor).refined]
    before = bytes_of(harbor)
    assert harbor("refine", "--semantic-env", "NO_SUCH_CORE").code == 0
    assert bytes_of(harbor) == before
    assert harbor("refine", "--plan").json["gates"] == ["retry"]
    again = harbor("refine", "--json").json
    assert (again["retried"], again["sync"]) == (True, {"status": "synced", "pending": []})
    assert [each.text for each in parsed(harbor).refined] == refined
    assert {each.sync for each in parsed(harbor).refined} == {"approved"}


def test_a_damaged_core_costs_nothing_and_is_repaired_by_the_next_run(harbor):
    harbor.folder.vectors.write_bytes(b"SQLite format 3\0" + b"\xff" * 5_000)
    done = harbor("refine", "--yes", "--json").json
    assert done["words"]["after"] < done["words"]["before"]
    if done["sync"]["status"] != "synced":
        assert harbor("refine", "--json").json["sync"] == {"status": "synced", "pending": []}
    assert found(harbor, "plain ESM build") == [(REASON, "approved", 0.9)]


CORE = """
import { readFileSync, appendFileSync } from 'node:fs';
const given = JSON.parse(readFileSync(0, 'utf8'));
appendFileSync(process.env.MY_CORE + '/log', JSON.stringify(given) + '\\n');
const all = given.items || given.operations || [given];
const of = each => each.contentHash || each.hash || each.newHash;
const results = all.map(each => ({ content_hash: of(each), ok: true, status: 'approved' }));
console.log(JSON.stringify({ ok: true, results }));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_an_external_core_is_told_to_ingest_and_then_to_promote(harbor, tmp_path):
    core = tmp_path / "core"
    core.mkdir()
    for name in ("ingest.mjs", "refine.mjs"):
        (core / name).write_text(CORE)
    harbor.monkeypatch.setenv("MY_CORE", str(core))
    done = harbor("refine", "--yes", "--semantic-env", "MY_CORE", "--json").json
    assert done["sync"] == {"status": "synced", "pending": []}, done
    calls = [json.loads(line) for line in (core / "log").read_text().splitlines()]
    hashes = {each.hash for each in parsed(harbor).refined}
    assert {each["contentHash"] for call in calls for each in call.get("items", [])} == hashes
    told = [each for call in calls for each in call.get("operations", [])]
    assert {(each["type"], each["hash"]) for each in told} == {("promote", each) for each in hashes}
    assert sorted(each["confidence"] for each in told) == [0.8, 0.8, 0.8, 0.9]
    assert all(call["dbPath"] == str(harbor.folder.vectors) for call in calls)


def test_the_help_names_every_option(lamina):
    told = lamina.process("refine", "--help").out
    for option in ("FILE", "--digest", "--plan", "--apply", "--yes", "--force", "--model", "--project",
                   "--memory-path", "--semantic-env", "--dry-run", "--json"):  # fmt: skip
        assert option in told
