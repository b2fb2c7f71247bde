"""`lamina digest` as a person, an agent and a program use it, with the core that is always there."""

from __future__ import annotations

import json
import shutil

import pytest
from tests.pipeline.test_digest_fixtures import DATA, bytes_of

from lamina.formats.digestreader import parse_digest
from lamina.store.memoryfolder import resolve

ESM = "Use plain ESM, because what we ship is what we test."
QUEUE = "Use Postgres for the job queue, because Redis lost jobs twice."


def project(lamina, case):
    shutil.copytree(DATA / case, lamina.project / "memory", ignore=shutil.ignore_patterns("expected.json"))
    return resolve(lamina.project)


def parsed(folder):
    return parse_digest(folder.digest.read_bytes().decode())


def test_without_a_memory_folder_there_is_nothing_to_digest_and_nothing_is_made(lamina):
    done = lamina("digest")
    assert (done.code, done.err) == (0, "")
    assert "nothing to digest" in done.out
    (lamina.project / "memory").mkdir()
    done = lamina("digest", "--json")
    assert done.code == 0
    assert done.json["section"] is None
    assert list((lamina.project / "memory").iterdir()) == []


def test_what_is_new_is_digested_and_told(lamina):
    folder = project(lamina, "canonical")
    done = lamina("digest")
    assert done.code == 0
    assert "digested 2 sessions of 2026-11-30 to 2026-12-01" in done.out
    assert QUEUE in done.out
    assert "semantic core: synced" in done.out
    assert (parsed(folder).status, len(parsed(folder).sections)) == ("synced", 2)
    before = bytes_of(folder)
    again = lamina("digest")
    assert again.code == 0
    assert "nothing to digest" in again.out
    assert bytes_of(folder) == before


def test_the_report_has_what_programs_rely_on(lamina):
    folder = project(lamina, "canonical")
    done = lamina("digest", "--json").json
    assert done["digest"] == str(folder.digest)
    assert done["section"] == parsed(folder).sections[-1].id
    assert (done["sources"], done["from"], done["to"]) == (2, "2026-11-30", "2026-12-01")
    assert (done["decisions"], done["open"]) == (1, 1)
    assert done["sync"] == {"status": "synced", "pending": []}
    assert done["limitations"] == []


def test_an_agent_plans_and_applies(lamina):
    folder = project(lamina, "canonical")
    before = bytes_of(folder)
    plan = lamina("digest", "--plan").json
    assert bytes_of(folder) == before
    assert [each["date"] for each in plan["sessions"]] == ["2026-11-30", "2026-12-01"]
    assert all(set(each) >= {"source", "date", "text"} for each in plan["sessions"])
    assert all(set(each) >= {"id", "kind", "text", "hash", "sources"} for each in plan["items"])
    first, second = (each["source"] for each in plan["sessions"])
    chosen = {"items": [{"kind": "decision", "text": QUEUE, "source": second}], "nothing": [first]}
    (lamina.project / "items.json").write_text(json.dumps(chosen))
    done = lamina("digest", "--apply", "items.json", "--json")
    assert (done.code, done.json["sources"], done.json["decisions"]) == (0, 2, 1)
    assert [item.text for item in parsed(folder).sections[-1].items] == [QUEUE]
    assert lamina("digest", "--plan").json["sessions"] == []


def test_a_choice_may_come_from_standard_input(lamina):
    folder = project(lamina, "canonical")
    sources = [each["source"] for each in lamina("digest", "--plan").json["sessions"]]
    done = lamina.process("digest", "--apply", "-", stdin=json.dumps({"nothing": sources}).encode())
    assert done.code == 0, done.err
    assert parsed(folder).sections[-1].items == ()


def test_a_bad_choice_names_everything_and_writes_nothing(lamina):
    folder = project(lamina, "canonical")
    before = bytes_of(folder)
    bad = {"items": [{"kind": "fact", "text": "x", "source": "y"}], "nothing": ["z"]}
    for text, word in ((json.dumps(bad), "z"), ("{", "no JSON"), ("[]", "object")):
        (lamina.project / "items.json").write_text(text)
        done = lamina("digest", "--apply", "items.json")
        assert done.code == 2
        assert word in done.err
    assert lamina("digest", "--apply", "nowhere.json").code != 0
    assert bytes_of(folder) == before


@pytest.mark.parametrize(
    "options", [("--plan", "--apply", "x"), ("--model", "none", "--apply", "x"), ("--modle", "x")]
)
def test_options_that_exclude_each_other_are_told(lamina, options):
    assert lamina("digest", *options).code == 2


def test_a_dry_run_changes_nothing(lamina):
    folder = project(lamina, "canonical")
    before = bytes_of(folder)
    done = lamina("digest", "--dry-run")
    assert "would digest 2 sessions" in done.out
    assert bytes_of(folder) == before


def test_what_only_a_person_can_decide_ends_with_3_and_the_choices(lamina):
    folder = project(lamina, "damaged-git-conflict")
    before = bytes_of(folder)
    done = lamina("digest")
    line = json.loads((DATA / "damaged-git-conflict/expected.json").read_text())["digest"]["line"]
    assert done.code == 3
    assert f"digest.md:{line}: " in done.err
    choices = [each for each in done.err.splitlines() if each.startswith("  - ")]
    assert len(choices) >= 2
    told = lamina("digest", "--json")
    assert told.code == 3
    assert [f"  - {each}" for each in told.json["error"]["choices"]] == choices
    assert lamina("digest", "--plan").code == 3
    assert bytes_of(folder) == before


def test_paths_that_disagree_end_with_3_and_the_option_that_settles_it(lamina):
    folder = project(lamina, "canonical")
    (lamina.project / "AGENTS.md").write_text("Memory path: memory\n")
    (lamina.project / "CLAUDE.md").write_text("Memory path: other\n")
    done = lamina("digest", "--json")
    assert done.code == 3
    assert f"--memory-path {folder.path}" in done.json["error"]["choices"]
    assert lamina("digest", "--memory-path", "memory").code == 0


def test_another_project_and_another_folder_may_be_named(lamina, tmp_path):
    far = tmp_path / "far"
    shutil.copytree(DATA / "canonical", far, ignore=shutil.ignore_patterns("expected.json"))
    done = lamina("digest", "--memory-path", str(far), "--json").json
    assert done["digest"] == str(far / "digest.md")
    assert done["sessions"][0].startswith("memory/2026-11-30-esm-memory.md#session-")
    other = tmp_path / "other"
    shutil.copytree(DATA / "canonical", other / "memory", ignore=shutil.ignore_patterns("expected.json"))
    assert lamina("digest", "--project", str(other), "--json").json["sources"] == 2


# --- the core


def test_an_environment_variable_that_is_not_set_is_unavailable_and_named(lamina):
    folder = project(lamina, "canonical")
    done = lamina("digest", "--semantic-env", "NO_SUCH_CORE", "--json").json
    assert done["sync"]["status"] == "unavailable"
    assert len(done["sync"]["pending"]) == 3
    assert any("NO_SUCH_CORE" in each for each in done["limitations"])
    assert not folder.vectors.exists()
    done = lamina("digest", "--json").json
    assert (done["section"], done["sync"]) == (None, {"status": "synced", "pending": []})
    assert folder.vectors.exists()


def test_a_core_that_was_deleted_is_made_anew(lamina):
    folder = project(lamina, "canonical")
    lamina("digest")
    folder.vectors.unlink()
    assert lamina("digest", "--json").json["sync"]["status"] == "synced"
    assert folder.vectors.exists()


@pytest.mark.parametrize("damage", [b"", b"no database at all", b"SQLite format 3\0" + b"\xff" * 5_000])
def test_a_damaged_core_costs_nothing_and_is_repaired_by_the_next_run(lamina, damage):
    folder = project(lamina, "canonical")
    folder.vectors.write_bytes(damage)
    done = lamina("digest", "--json").json
    assert done["sources"] == 2
    if done["sync"]["status"] != "synced":
        assert done["sync"]["status"] == "pending"
        assert len(done["sync"]["pending"]) == 3
        assert lamina("digest", "--json").json["sync"] == {"status": "synced", "pending": []}
    assert parsed(folder).status == "synced"


def test_a_link_in_the_place_of_the_core_is_not_followed(lamina, tmp_path):
    folder = project(lamina, "canonical")
    theirs = tmp_path / "theirs.db"
    theirs.write_bytes(b"mine")
    folder.vectors.symlink_to(theirs)
    done = lamina("digest", "--json").json
    assert (done["sources"], done["sync"]["status"]) == (2, "pending")
    assert theirs.read_bytes() == b"mine"


TAKING = (
    "const given = JSON.parse(require('fs').readFileSync(0)); const all = given.items || [given];"
    "console.log(JSON.stringify({ok: true, results: all.map(each => ({content_hash: each.contentHash,"
    " status: 'candidate', created: true, embedded: true}))}))"
)


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize(
    ("script", "status"),
    [
        (TAKING, "synced"),
        ("process.exit(7)", "pending"),
        ("console.log('no json')", "pending"),
        ("console.log(JSON.stringify({ok: true, results: []}))", "pending"),
        ("console.log(JSON.stringify({ok: false, error: 'ollama is down'}))", "pending"),
    ],
)
def test_an_external_core_is_driven_by_its_variable(lamina, tmp_path, script, status):
    folder = project(lamina, "canonical")
    core = tmp_path / "core"
    core.mkdir()
    for name in ("ingest.mjs", "refine.mjs"):
        (core / name).write_text(script.replace("require('fs')", "(await import('node:fs'))"))
    lamina.monkeypatch.setenv("MY_CORE", str(core))
    done = lamina("digest", "--semantic-env", "MY_CORE", "--json")
    assert done.code == 0, done
    assert done.json["sync"]["status"] == status, done.json
    assert len(done.json["sync"]["pending"]) == (0 if status == "synced" else 3)
    assert len(parsed(folder).sections) == 2
    assert not folder.vectors.exists()


def test_the_help_names_every_option(lamina):
    told = lamina.process("digest", "--help").out
    for option in (
        "--plan",
        "--apply",
        "--model",
        "--project",
        "--memory-path",
        "--semantic-env",
        "--dry-run",
    ):
        assert option in told
