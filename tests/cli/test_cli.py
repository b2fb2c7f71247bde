"""Exit codes, the shapes of JSON, and what a command does with whatever it is given."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.running import Ran
from tests.pipeline.opening import NOW, tree

from lamina.hosts.render import Said, render_claude
from lamina.interfaces.cli.main import COMMANDS

SAID = [
    Said("user", "Let's use SQLite for the queue, because one file is easy to back up."),
    Said("assistant", "Done: the queue now lives in one SQLite file. " * 8),
    Said("user", "No, use port 8081 for staging, never 8080. " * 3),
    Said("assistant", "Staging now listens on port 8081. " * 10),
]
HIT = {
    "id", "scope", "layer", "topic", "heading", "snippet", "file", "line", "score", "parts", "priors", "trust", "freshness",
    "age_days", "source",
}  # fmt: skip


def transcripts(folder: Path, count: int = 1) -> Path:
    folder.mkdir()
    for number in range(count):
        id_ = f"4f3a1b2c-0000-4000-8000-{number:012}"
        text = render_claude(id_, SAID, cwd=str(folder.parent / "harbor"), started=NOW)
        (folder / f"{id_}.jsonl").write_text(text)
    return folder


def stdin(lamina, data: bytes) -> None:
    lamina.monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


# --- reading ---------------------------------------------------------------------------------------------

READING = [
    ("search", "x"),
    ("list",),
    ("log",),
    ("card",),
    ("state",),
    ("working",),
    ("status",),
    ("doctor",),
    ("workspaces",),
    ("config",),
    ("export",),
    ("index", "check"),
    ("index", "rebuild"),
]


@pytest.mark.parametrize("command", READING, ids=" ".join)
@pytest.mark.parametrize("more", [(), ("--json",)], ids=["text", "json"])
def test_a_reading_command_without_a_store_makes_nothing_and_ends_well(lamina, command, more):
    ran = lamina(*command, *more)
    assert ran.code == 0
    assert tree(lamina.home) == {}
    assert tree(lamina.project) == {}
    if more:
        assert isinstance(ran.json, dict)
    if command[0] not in ("config", "doctor"):
        assert ran.err.count("\n") == 1
        assert "no store" in ran.err


def test_show_and_why_without_a_store_fail_and_make_nothing(lamina):
    for command in ("show", "why"):
        ran = lamina(command, "harbor-sem-0001", "--json")
        assert (ran.code, ran.json["error"]["kind"]) == (1, "no_entry")
    assert tree(lamina.home) == {}


def test_a_reading_command_registers_no_workspace(lamina):
    lamina("init")
    before = tree(lamina.root / "workspaces"), (lamina.root / "memory.json").read_bytes()
    for command in READING:
        assert lamina(*command).code == 0
    assert (tree(lamina.root / "workspaces"), (lamina.root / "memory.json").read_bytes()) == before


# --- shapes ----------------------------------------------------------------------------------------------


def test_the_shapes_that_programs_rely_on(lamina):
    written = lamina("remember", "The staging port is 8081", "--json").json
    assert written == {
        "id": "harbor-sem-0001",
        "file": "workspaces/harbor/semantic/the-staging-port-is-8081.md",
        "line": 3,
        "status": "written",
        "similar": [],
    }
    known = lamina("remember", "The staging port is 8081", "--json")
    assert (known.code, known.json["status"], known.json["id"]) == (0, "known", "harbor-sem-0001")
    assert set(lamina("decision", "Use X", "--rationale", "r", "--json").json) == set(written)
    assert set(lamina("codebase", "src", "The source", "--json").json) == set(written)

    found = lamina("search", "staging", "--json").json
    assert {"query", "engines", "hits"} <= set(found)
    assert (found["query"], found["engines"]) == ("staging", ["words"])
    assert set(found["hits"][0]) == HIT
    assert isinstance(found["hits"][0]["parts"], dict)

    listed = lamina("list", "--json").json
    assert set(listed) == {"entries", "problems"}
    shown = lamina("show", "harbor-sem-0001", "--json").json
    assert shown["fields"] == {
        "Id": "harbor-sem-0001", "Date": shown["date"], "Importance": "3", "Source": "user",
    }  # fmt: skip
    chain = lamina("why", "harbor-sem-0001", "--json").json
    assert set(chain) == {"id", "heading", "chain"}

    lamina("forget", "harbor-sem-0001", "--reason", "never true")
    refused = lamina("remember", "The staging port is 8081", "--json")
    assert refused.code == 3
    assert set(refused.json) == {"id", "file", "line", "status", "reason", "similar"}
    assert "never true" in refused.json["reason"]
    assert set(lamina("forget", "harbor-sem-0001", "--undo", "--json").json) == {"entries", "left"}

    status = lamina("status", "--json").json
    assert set(status) == {
        "root", "schema_version", "workspaces", "entries", "notes", "sync", "models", "events", "saved", "paused", "hosts",
        "capture_off", "vectors", "resident", "review",
        "due", "system_doc_stale", "workspace",
    }  # fmt: skip
    assert set(status["notes"]) == {"pending", "needs_review", "failed"}
    assert set(status["sync"]) == {"at", "ok", "conflict", "error"}
    assert set(status["saved"]) == {"thin", "trivial"}


def test_every_other_command_gives_one_object_too(lamina):
    lamina("remember", "One")
    keys = {
        ("init",): {"root", "existed", "remote"},
        ("log",): {"sessions"},
        ("card",): {"card", "characters"},
        ("state",): {"file", "sections"},
        ("state", "Health", "green"): {"file", "section", "status"},
        ("working",): {"file", "text", "grade"},
        ("working", "Task", "x"): {"file", "status"},
        ("edit", "harbor-sem-0001", "--importance", "5"): {"id", "file", "line"},
        ("move", "harbor-sem-0001", "--topic", "T"): {"id", "file", "line"},
        ("undo",): {"label", "at", "files"},
        ("consolidate",): {
            "notes",
            "entries",
            "known",
            "refused",
            "superseded",
            "updated",
            "candidates",
            "rejected",
            "calls",
            "tokens",
            "unattributed",
            "needs_review",
            "parseFailed",
            "writeFailed",
            "waits",
        },
        ("refresh", "--dry-run"): {
            "stale",
            "entries",
            "kept",
            "updated",
            "superseded",
            "candidates",
            "unproven",
            "left",
            "rejected",
            "calls",
            "parseFailed",
            "waits",
            "hint",
        },
        ("review",): {"candidates", "notes"},
        ("config", "models"): {"model", "model_routes", "routes", "waiting"},
        ("tick",): {"ran"},
        ("doctor",): {"findings"},
        ("workspaces",): {"workspaces"},
        ("associate", "quay"): {"key", "path", "title"},
        ("pause", "1h"): {"paused", "until"},
        ("resume",): {"paused", "until"},
        ("config",): {"settings"},
        ("config", "get", "card_chars"): {"key", "value", "origin"},
        ("config", "set", "card_chars", "5000"): {"key", "value", "file"},
        ("export",): {"format", "exported", "entries"},
        ("export", "--output", "out.md"): {"file", "entries"},
        ("index", "check"): {"action", "differences", "vectors"},
        ("index", "rebuild"): {"action", "entries"},
        ("completion", "bash"): {"shell", "script"},
        ("--version",): {"version"},
    }
    for command, expected in keys.items():
        ran = lamina(*command, "--json")
        assert (ran.code, set(ran.json)) == (0, expected), command


def test_import_gives_a_line_a_session_and_the_summary_last(lamina):
    folder = transcripts(lamina.tmp_path / "sessions", 3)
    (folder / "broken.jsonl").write_text("{broken\n")
    ran = lamina("import", str(folder), "--json")
    *steps, summary = [json.loads(line) for line in ran.out.splitlines()]
    assert ran.code == 0
    assert [step["number"] for step in steps] == [1, 2, 3]
    assert {"number", "of", "host", "session", "status", "events", "note"} <= set(steps[0])
    assert set(summary) >= {"sessions", "events", "notes", "entries", "skipped", "damaged"}
    assert {"trivial", "thin", "subagent", "known", "own"} <= set(summary["skipped"])
    assert (summary["sessions"], summary["notes"]) == (3, 3)
    assert set(summary["damaged"][0]) == {"file", "line", "reason"}
    again = lamina("import", str(folder), "--json").out.splitlines()
    assert json.loads(again[-1])["skipped"]["known"] == 3


def test_import_in_words(lamina):
    folder = transcripts(lamina.tmp_path / "sessions", 1)
    assert "would read 1 session" in lamina("import", str(folder), "--dry-run").out
    ran = lamina("import", str(folder))
    assert "read 1 session (" in ran.out
    assert "wrote 1 note and " in ran.out
    assert ran.err == ""
    assert "skipped: 1 known" in lamina("import", str(folder)).out


def test_non_ascii_is_not_escaped(lamina):
    lamina("remember", "Café «ä» 漢字 🚀")
    assert "Café «ä» 漢字 🚀" in lamina("search", "Café", "--json").out


# --- errors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "code", "kind"),
    [
        (("nonsense",), 2, "usage"),
        (("search",), 2, "usage"),
        (("search", " "), 2, "usage"),
        (("search", "x", "--limit", "0"), 2, "usage"),
        (("search", "x", "--limit", "many"), 2, "usage"),
        (("search", "x", "--limt", "3"), 2, "usage"),
        (("search", "x", "--layer", "nonsense"), 2, "unknown_layer"),
        (("search", "x", "--scope", "nonsense"), 2, "unknown_scope"),
        (("search", "x", "--trust", "nonsense"), 2, "usage"),
        (("search", "x", "--since", "soon"), 2, "usage"),
        (("list", "--layer", "nonsense"), 2, "unknown_layer"),
        (("remember",), 2, "usage"),
        (("remember", " "), 2, "usage"),
        (("remember", "x", "--layer", "nonsense"), 2, "unknown_layer"),
        (("remember", "x", "--workspace", "a/b"), 2, "bad_key"),
        (("remember", "x", "--workspace", "global"), 2, "bad_key"),
        (("decision", "x"), 2, "usage"),
        (("state", "Health"), 2, "usage"),
        (("edit", "harbor-sem-0001"), 2, "usage"),
        (("move", "harbor-sem-0001"), 2, "usage"),
        (("forget",), 2, "usage"),
        (("show", "harbor-sem-0099"), 1, "no_entry"),
        (("why", "nonsense"), 1, "no_entry"),
        (("edit", "harbor-sem-0099", "--text", "x"), 1, "no_entry"),
        (("forget", "harbor-sem-0099"), 1, "no_entry"),
        (("import", "/no/such/place"), 1, "no_file"),
        (("import", "--host", "nonsense"), 2, "bad_input"),
        (("capture", "/no/such/file.jsonl"), 1, "no_file"),
        (("associate", "Not A Key"), 2, "bad_key"),
        (("associate", "quay", "/no/such/place"), 1, "no_file"),
        (("trust",), 1, "no_file"),
        (("pause", "soon"), 2, "usage"),
        (("config", "get", "nonsense"), 2, "bad_setting"),
        (("config", "set", "card_chars", "many"), 2, "bad_setting"),
        (("config", "get"), 2, "usage"),
        (("index",), 2, "usage"),
        (("index", "burn"), 2, "usage"),
        (("completion", "tcsh"), 2, "usage"),
        (("init", "--remote", "https://me:" + "hunter2hunter2" + "@example.com/x.git"), 3, "refused"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)
def test_each_mistake_has_one_clear_message(lamina, command, code, kind):
    lamina("init")
    before = tree(lamina.root)
    ran = lamina(*command)
    assert (ran.code, ran.out) == (code, "")
    assert ran.err.startswith("lamina: ")
    assert ran.err.count("\n") <= 2
    assert "Traceback" not in ran.err
    told = lamina(*command, "--json")
    assert told.code == code
    assert set(told.json) == {"error"}
    assert set(told.json["error"]) == {"kind", "message", "hint"}
    assert told.json["error"]["kind"] == kind
    assert told.err == ""
    local = ("index", "state", "logs")
    assert {k: v for k, v in tree(lamina.root).items() if not k.startswith(local)} == {
        k: v for k, v in before.items() if not k.startswith(local)
    }


def test_a_mistyped_command_is_guessed(lamina):
    assert "lamina search" in lamina("serach", "x").err
    assert "lamina --help" in lamina("zzzz").err


def test_json_behind_two_dashes_is_text(lamina):
    ran = lamina("remember", "--", "--json")
    assert ran.out.startswith("stored ")
    assert lamina("show", "harbor-sem-0001", "--json").json["body"] == "--json"


def test_an_unexpected_failure_is_one_message(lamina, monkeypatch):
    import lamina.memory.memory as module

    def fail(*_args, **_given):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(module.Memory, "status", fail)
    lamina("init")
    ran = lamina("status")
    assert ran.code == 1
    assert ran.err.startswith("lamina: unexpected ZeroDivisionError: by zero\n")
    monkeypatch.setenv("LAMINA_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        lamina("status")


# --- queries and text ------------------------------------------------------------------------------------

QUERIES = [
    "-", "->", "- item", "-1.5", "---", "*", "()", "NEAR", "AND", "OR NOT", "don't", "Downloads/transcripts", "GB/s",
    "C++", "foo:bar", '"unbalanced', "'", "`", "a AND (b", "^x", "{}", "[x]", "\\", "%", "_", "?", "!", "~", "é", "设",
    "🚀", "\u202e", "x" * 5_000, "NEAR(a b, 3)", "col:", "+a -b", "a\tb\nc",
]  # fmt: skip


@pytest.mark.parametrize("query", QUERIES, ids=range(len(QUERIES)))
def test_no_query_fails(lamina, query):
    lamina("remember", "The staging port is 8081")
    ran = lamina("search", query, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["query"] == query


def test_words_that_begin_with_a_dash_keep_their_place(lamina):
    lamina("remember", "a", "->", "b", "--heading", "- x")
    shown = lamina("show", "harbor-sem-0001", "--json").json
    assert (shown["body"], shown["heading"]) == ("a -> b", "- x")


def test_a_lone_dash_reads_standard_input_where_it_should(lamina):
    stdin(lamina, "\ufeffFrom a pipe: «ä»\r\nand more".encode())
    assert lamina("remember", "-").code == 0
    assert lamina("show", "harbor-sem-0001", "--json").json["body"] == "From a pipe: «ä»\nand more"
    stdin(lamina, b"Use pipes\n")
    assert lamina("decision", "-", "--rationale", "they compose").code == 0
    stdin(lamina, b"harbor-dec-0001\n")
    assert lamina("show", "-", "--json").json["heading"] == "Use pipes"
    stdin(lamina, b"harbor-dec-0001\n")
    assert lamina("why", "-").code == 0
    stdin(lamina, b"harbor-sem-0001\nharbor-dec-0001\n")
    assert len(lamina("forget", "-", "--json").json["entries"]) == 2


@pytest.mark.parametrize(
    "command",
    [("search", "-"), ("codebase", "src", "-"), ("state", "Health", "-"), ("working", "Task", "-")],
    ids=" ".join,
)
def test_elsewhere_a_lone_dash_is_text(lamina, command):
    stdin(lamina, b"FROM STDIN")
    lamina("init")
    assert lamina(*command).code == 0
    assert not any(b"FROM STDIN" in (data or b"") for data in tree(lamina.root).values())


def test_standard_input_that_says_nothing_or_is_no_text(lamina):
    stdin(lamina, b" \n")
    assert lamina("remember", "-").code == 2
    stdin(lamina, b"caf\xe9")
    ran = lamina("remember", "-")
    assert ran.code == 2
    assert "not UTF-8" in ran.err
    stdin(lamina, b"")
    assert lamina("forget", "-").code == 2
    lamina.monkeypatch.setattr(sys, "stdin", None)
    assert lamina("remember", "-").code == 2
    assert tree(lamina.home) == {}


def test_remembered_control_characters_do_not_reach_the_terminal(lamina):
    lamina("remember", "red \x1b[31malert\x1b]0;title\x07 here")
    for command in (("search", "alert"), ("list",), ("show", "harbor-sem-0001"), ("card",)):
        assert "\x1b" not in lamina(*command).out, command


# --- dry runs --------------------------------------------------------------------------------------------

CHANGING = [
    ("init", "--remote", "https://example.com/x.git"),
    ("remember", "Something new"),
    ("remember", "Elsewhere", "--scope", "workspace:quay"),
    ("decision", "Use X", "--rationale", "r"),
    ("codebase", "src", "The source"),
    ("state", "Health", "green"),
    ("working", "Task", "x", "--activity", "y"),
    ("pause", "2h"),
    ("resume",),
    ("associate", "quay"),
    ("tick",),
    ("consolidate",),
    ("config", "set", "card_chars", "5000"),
    ("config", "set", "capture", "off", "--project"),
    ("export", "--output", "out.md"),
    ("import",),
]
WITH_A_STORE = [
    ("edit", "harbor-sem-0001", "--text", "Changed"),
    ("move", "harbor-sem-0001", "--layer", "procedural"),
    ("forget", "harbor-sem-0001"),
    ("forget", "harbor-sem-0001", "--purge"),
    ("forget", "--workspace", "harbor"),
    ("forget", "harbor-sem-0002", "--undo"),
    ("undo",),
    ("trust",),
]


@pytest.mark.parametrize("command", CHANGING, ids=" ".join)
def test_a_dry_run_without_a_store_changes_no_byte(lamina, command):
    before = tree(lamina.tmp_path)
    ran = lamina(*command, "--dry-run")
    assert ran.code == 0
    assert tree(lamina.tmp_path) == before


@pytest.mark.parametrize("command", [*CHANGING, *WITH_A_STORE], ids=" ".join)
def test_a_dry_run_changes_no_byte(lamina, command):
    lamina("remember", "One")
    lamina("remember", "Two")
    lamina("forget", "harbor-sem-0002")
    (lamina.project / ".lamina.toml").write_text('review = "off"\n')
    (lamina.root / "workspaces/harbor/semantic/by-hand.md").write_text("## By hand\n\nx\n")
    before = tree(lamina.tmp_path)
    ran = lamina(*command, "--dry-run")
    assert ran.code == 0, ran.err
    assert tree(lamina.tmp_path) == before


def test_a_dry_import_and_capture_change_no_byte(lamina):
    folder = transcripts(lamina.tmp_path / "sessions", 2)
    before = tree(lamina.tmp_path)
    assert lamina("import", str(folder), "--dry-run", "--json").json["sessions"] == 2
    path = next(folder.iterdir())
    assert lamina("capture", str(path), "--final", "--dry-run", "--json").json["status"] == "captured"
    assert tree(lamina.tmp_path) == before


# --- disks and damage ------------------------------------------------------------------------------------


def test_a_damaged_index_is_built_anew(lamina):
    lamina("remember", "The staging port is 8081")
    for damage in (b"", b"garbage" * 999):
        (lamina.root / "index" / "lamina.db").write_bytes(damage)
        ran = lamina("search", "staging")
        assert (ran.code, ran.err) == (0, "")
        assert "8081" in ran.out


def test_a_folder_where_the_index_should_be(lamina):
    lamina("remember", "The staging port is 8081")
    (lamina.root / "index" / "lamina.db").unlink()
    (lamina.root / "index" / "lamina.db").mkdir()
    ran = lamina("search", "staging")
    assert ran.code == 0
    assert "8081" in ran.out


@pytest.mark.parametrize(
    "text", ["{damaged", "[]", '{"schemaVersion": "x"}', '{"schemaVersion": 2, "git": 3}', ""]
)
def test_a_damaged_memory_json_is_named_and_nothing_is_lost(lamina, text):
    lamina("remember", "The staging port is 8081")
    (lamina.root / "memory.json").write_text(text)
    before = tree(lamina.root / "workspaces")
    for command in (("remember", "Another"), ("list",), ("status",), ("card",), ("show", "harbor-sem-0001")):
        ran = lamina(*command, "--json")
        assert ran.code == 1, command
        assert ran.json["error"]["kind"] == "unreadable"
        assert "memory.json" in ran.json["error"]["message"]
        assert ran.json["error"]["hint"]
    assert (lamina.root / "memory.json").read_text() == text
    assert tree(lamina.root / "workspaces") == before
    assert "8081" in lamina("search", "staging").out


def test_a_newer_schema_is_read_and_not_written(lamina):
    lamina("remember", "The staging port is 8081")
    config = lamina.root / "memory.json"
    config.write_text(config.read_text().replace('"schemaVersion": 2', '"schemaVersion": 3'))
    for command in (("search", "staging"), ("list",), ("show", "harbor-sem-0001"), ("card",), ("status",)):
        ran = lamina(*command)
        assert ran.code == 0
        assert "newer Lamina" in ran.err
    for command in (("remember", "Another"), ("forget", "harbor-sem-0001"), ("state", "a", "b"), ("undo",)):
        ran = lamina(*command, "--json")
        assert (ran.code, ran.json["error"]["kind"]) == (3, "read_only")
    assert lamina("tick").code == 0


def test_a_file_where_the_store_should_be(lamina):
    (lamina.home / ".lamina").write_text("mine")
    ran = lamina("remember", "x")
    assert ran.code == 1
    assert "a file stands where a folder is needed" in ran.err
    assert (lamina.home / ".lamina").read_text() == "mine"


def test_a_folder_of_something_else_is_not_taken(lamina):
    (lamina.home / ".lamina").mkdir()
    (lamina.home / ".lamina" / "thesis.doc").write_text("mine")
    assert lamina("remember", "x").code == 3
    assert tree(lamina.home / ".lamina") == {"thesis.doc": b"mine"}


def test_a_folder_where_a_topic_should_be(lamina):
    lamina("remember", "One", "--topic", "T")
    (lamina.root / "workspaces/harbor/semantic/u.md").mkdir()
    assert lamina("remember", "Two", "--topic", "T").code == 0
    ran = lamina("list")
    assert ran.code == 0
    assert "u.md" in ran.err
    ran = lamina("remember", "Three", "--topic", "U")
    assert ran.code in (0, 1)
    assert "Traceback" not in ran.err


def test_a_file_without_permission(lamina):
    if os.geteuid() == 0:
        folder = lamina.root
        lamina("remember", "One")
        (folder / "workspaces/harbor/semantic/two.md").write_bytes(b"## \xff\n")
    else:
        lamina("remember", "One")
        path = lamina.root / "workspaces/harbor/semantic/two.md"
        path.write_text("## Two\n\nx\n")
        path.chmod(0)
    ran = lamina("list")
    assert ran.code == 0
    assert "two.md" in ran.err
    assert "One" in ran.out


def mounted(lamina, how: str) -> bool:
    done = subprocess.run(["mount", *how.split(), str(lamina.root)], capture_output=True, check=False)
    return done.returncode == 0


def test_a_read_only_disk(lamina):
    if os.geteuid() != 0:
        pytest.xfail("only root can mount")
    lamina.root.mkdir()
    if not mounted(lamina, "-t tmpfs -o size=8m tmpfs"):
        pytest.xfail("this machine allows no mounts")
    try:
        lamina.process("remember", "The staging port is 8081")
        lamina.process("tick")
        assert mounted(lamina, "-o remount,ro")
        before = tree(lamina.root)
        ran = lamina("remember", "Another")
        assert (ran.code, ran.out) == (1, "")
        assert "read-only" in ran.err
        assert "8081" in lamina("search", "staging").out
        for command in (
            ("list",),
            ("show", "harbor-sem-0001"),
            ("card",),
            ("status",),
            ("export",),
            ("log",),
        ):
            assert lamina(*command).code == 0, command
        assert tree(lamina.root) == before
    finally:
        subprocess.run(["umount", "-l", str(lamina.root)], check=True)


def test_a_full_disk(lamina):
    if os.geteuid() != 0:
        pytest.xfail("only root can mount")
    lamina.root.mkdir()
    if not mounted(lamina, "-t tmpfs -o size=1m tmpfs"):
        pytest.xfail("this machine allows no mounts")
    try:
        lamina("remember", "The staging port is 8081")
        (lamina.root / "logs" / "ballast").write_bytes(b"")
        with (lamina.root / "logs" / "ballast").open("wb", buffering=0) as ballast:
            try:
                while ballast.write(b"x" * 4096):
                    pass
            except OSError:
                pass
        ran = lamina("remember", "Another " + "thing " * 2_000)
        assert (ran.code, ran.out) == (1, "")
        assert "full" in ran.err or "No space" in ran.err
        assert "8081" in lamina("search", "staging").out
        (lamina.root / "logs" / "ballast").unlink()
        assert lamina("remember", "Another").code == 0
        assert len(lamina("list", "--json").json["entries"]) == 2
    finally:
        subprocess.run(["umount", "-l", str(lamina.root)], check=True)


# --- processes -------------------------------------------------------------------------------------------


def test_arguments_that_are_no_utf_8(lamina):
    ran = lamina.process("remember", b"caf\xe9")
    assert ran.code == 2
    assert "half a character" in ran.err
    lamina("remember", "Something")
    for command in (
        ("search", b"caf\xe9"),
        ("list", "--topic", b"caf\xe9"),
        ("show", b"caf\xe9"),
        (b"caf\xe9",),
    ):
        ran = lamina.process(*command)
        assert ran.code in (0, 1, 2), command
        assert "Traceback" not in ran.err
    assert lamina.process("remember", "x", "--root", os.fsencode(lamina.tmp_path) + b"/caf\xe9").code == 0


def test_a_locale_without_utf_8(lamina):
    ran = lamina.process(
        "remember", "Café 漢字", LC_ALL="C", LANG="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"
    )
    assert ran.code == 0
    ran = lamina.process("search", "漢字", LC_ALL="C", LANG="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert "Café 漢字" in ran.out


def piped(lamina, command: str) -> Ran:
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        capture_output=True, cwd=lamina.project, timeout=60, check=False, env={**os.environ, "PY": sys.executable},
    )  # fmt: skip
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_a_reader_that_goes_away(lamina):
    for number in range(30):
        lamina("remember", f"Fact {number} " + "long " * 2_000, "--topic", "T")
    ran = piped(lamina, '"$PY" -m lamina export | head -c 10')
    assert (ran.code, ran.err) == (0, "")
    ran = piped(lamina, '"$PY" -m lamina list --json | true')
    assert (ran.code, ran.err) == (0, "")


def test_a_result_that_cannot_be_written(lamina):
    lamina("remember", "One")
    ran = piped(lamina, '"$PY" -m lamina list > /dev/full')
    assert ran.code == 1
    assert ran.err.startswith("lamina: the result can't be written")
    assert ran.err.count("\n") == 1


def test_closed_outputs(lamina):
    assert piped(lamina, '"$PY" -m lamina remember One >&-').code == 0
    assert piped(lamina, '"$PY" -m lamina remember Two 2>&-').code == 0
    assert len(lamina("list", "--json").json["entries"]) == 2


def test_ctrl_c_ends_an_import_that_can_go_on(lamina):
    folder = transcripts(lamina.tmp_path / "sessions", 60)
    process = subprocess.Popen(
        [sys.executable, "-m", "lamina", "import", str(folder), "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=lamina.project,
    )  # fmt: skip
    assert process.stdout is not None
    for _ in range(3):
        process.stdout.readline()
    time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    if process.returncode == 130:
        assert err.decode() == "interrupted; run it again to go on\n"
    done = json.loads(lamina("import", str(folder), "--json").out.splitlines()[-1])
    assert done["sessions"] + done["skipped"]["known"] == 60
    assert lamina("doctor").code == 0


# --- warnings, workspaces, settings ----------------------------------------------------------------------


def test_what_cannot_be_used_is_told_once_on_stderr(lamina):
    lamina("remember", "One")
    config = lamina.home / ".config" / "lamina" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("card_charz = 3\n")
    (lamina.project / ".lamina.toml").write_text('review = "off"\nworkspace = 3\n')
    for command in (("search", "One"), ("list",), ("remember", "Two"), ("card",), ("status", "--json")):
        ran = lamina(*command)
        assert ran.code == 0
        assert ran.err.count("card_charz") == 1, command
        assert ran.err.count("lamina trust") == 1, command
        assert ran.err.count("warning: ") == len(ran.err.splitlines())


def test_global_options_may_stand_first(lamina):
    other = str(lamina.tmp_path / "other")
    assert lamina("--root", other, "--json", "remember", "One").json["id"] == "harbor-sem-0001"
    assert lamina(f"--root={other}", "--workspace", "quay", "remember", "One").code == 0
    assert [each["key"] for each in lamina("workspaces", "--root", other, "--json").json["workspaces"]] == [
        "harbor",
        "quay",
    ]
    assert lamina("--root").code == 2


def test_the_environment_names_root_and_workspace(lamina):
    lamina.monkeypatch.setenv("LAMINA_ROOT", str(lamina.tmp_path / "other"))
    lamina.monkeypatch.setenv("LAMINA_WORKSPACE", "quay")
    assert lamina("remember", "One", "--json").json["id"] == "quay-sem-0001"
    assert (lamina.tmp_path / "other" / "memory.json").is_file()
    lamina.monkeypatch.setenv("LAMINA_WORKSPACE", "a/b")
    ran = lamina("status")
    assert ran.code == 2
    assert "LAMINA_WORKSPACE" in ran.err


def test_a_working_directory_that_is_gone(lamina):
    lamina.project.rmdir()
    assert lamina("remember", "One", "--json").json["id"] == "global-sem-0001"
    assert lamina("card").code == 0


@pytest.mark.parametrize(
    "words", [["import", "t.jsonl"], ["capture", "t.jsonl"], ["--root", "here", "list"], ["associate", "k"]]
)
def test_a_relative_path_in_a_folder_that_is_gone(lamina, words):
    lamina.project.rmdir()
    told = lamina(*words)
    assert told.code == 1
    assert told.err.startswith("lamina: the current folder was removed")


def test_config_writes_to_the_right_file(lamina):
    assert lamina("config", "set", "card_chars", "5000").code == 0
    assert lamina("config", "set", "capture", "off", "--project").code == 0
    assert lamina("config", "get", "card_chars").out == "5000\n"
    assert "capture" in (lamina.project / ".lamina.toml").read_text()
    assert lamina("config", "get", "capture", "--json").json["origin"].endswith(".lamina.toml")


def test_capture_off_in_a_project_leaves_its_sessions_out(lamina):
    folder = transcripts(lamina.tmp_path / "sessions", 1)
    (lamina.project / ".lamina.toml").write_text('capture = "off"\n')
    summary = json.loads(lamina("import", str(folder), "--json").out.splitlines()[-1])
    assert (summary["sessions"], summary["skipped"]["off"]) == (0, 1)


def test_a_paused_import_is_refused(lamina):
    lamina("pause")
    ran = lamina("import")
    assert ran.code == 3
    assert "paused" in ran.err


def test_undo_after_a_tick_takes_back_the_last_memory(lamina):
    lamina("remember", "One")
    lamina("remember", "Two")
    lamina("tick")
    assert "took back remember" in lamina("undo").out
    assert [each["heading"] for each in lamina("list", "--json").json["entries"]] == ["One"]
    lamina("tick")
    assert lamina("undo").code == 0
    assert lamina("list", "--json").json["entries"] == []
    assert lamina("undo").code == 3


# --- help ------------------------------------------------------------------------------------------------


def helped(lamina, *arguments: str) -> str:
    lamina._capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        lamina(*arguments)
    assert ended.value.code == 0
    return lamina._capsys.readouterr().out


def test_help_names_every_command(lamina):
    for arguments in ((), ("--help",), ("-h",), ("help",)):
        ran = lamina(*arguments)
        assert ran.code == 0
        assert all(f"  {name} " in ran.out for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_an_example(lamina, name):
    text = helped(lamina, name, "--help")
    assert text.startswith(f"usage: lamina {name}")
    assert "examples:\n  " in text
    assert f"lamina {name}" in text.split("examples:")[1]
    assert "  -h, --help " in text
    assert max(len(line) for line in text.split("examples:")[0].splitlines()) <= 100
    for option in ("--root", "--workspace", "--json"):
        assert option in text


def test_the_examples_of_the_help_can_be_parsed(lamina):
    assert helped(lamina, "help", "search") == helped(lamina, "search", "-h")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_know_every_command(lamina, shell):
    script = lamina("completion", shell).out
    assert all(name in script for name in COMMANDS)


def test_the_bash_completion_runs(lamina):
    script = lamina("completion", "bash").out
    done = subprocess.run(
        ["bash", "-c", f"{script}\nCOMP_WORDS=(lamina se); COMP_CWORD=1; _lamina; echo ${{COMPREPLY[@]}}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "search serve semantic\n"
