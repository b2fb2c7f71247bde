"""Stage 1 of the project's memory: what is recorded, where, with which evidence, and that files only grow."""

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina import errors
from lamina.formats.daily import parse_daily
from lamina.formats.hashing import knowledge_text
from lamina.formats.lines import fold
from lamina.pipeline.record.body import Body, parse_body
from lamina.pipeline.record.evidence import Commit, evidence, listed
from lamina.pipeline.record.write import Wanted, record
from lamina.store import memoryfolder

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
DAY = NOW.astimezone().date().isoformat()
SECRET = "ghp_" + "a1B2" * 9
COMMIT = Commit("4f3a1b2c" * 5, "Drop the bundler for plain modules", ("src/index.js", "package.json"))


@pytest.fixture
def folder(tmp_path: Path) -> memoryfolder.MemoryFolder:
    root = tmp_path / "harbor"
    root.mkdir()
    return memoryfolder.resolve(root)


def write(folder, body: Body | str, *, commits=(), source="", file="", own=(), now=NOW, dry_run=False):
    said = parse_body(body) if isinstance(body, str) else body
    return record(folder, Wanted(said, commits, source, file), now=now, own=own, dry_run=dry_run)


# --- what is given


@pytest.mark.parametrize(
    "text",
    [
        (
            "Topic: plain ESM\n**Context**: It broke.\n**Done**:\n- One\n  goes on\n**Decisions:**\n"
            "* Two Evidence: `b.md`\n### Open / next action\n1. Three\n## Learnings\n- Four\n"
        ),
        json.dumps(
            {
                "topic": "plain ESM",
                "context": "It broke.",
                "done": ["One goes on"],
                "decisions": [{"text": "Two", "evidence": "`b.md`"}],
                "open": ["Three"],
                "learnings": ["Four"],
            }
        ),
    ],
)
def test_markdown_and_json_say_the_same(text):
    body = parse_body(text)
    assert (body.topic, body.context) == ("plain ESM", "It broke.")
    assert body.done == (("One goes on", ""),)
    assert body.decisions == (("Two", "`b.md`"),)
    assert body.open == (("Three", ""),)
    assert body.learnings == (("Four", ""),)


def test_bullets_without_a_label_were_done_and_paragraphs_are_context():
    assert parse_body("- one\n- two\n").done == (("one", ""), ("two", ""))
    assert parse_body("Only words.\n\nMore.\n").context == "Only words.\n\nMore."


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("{", "no JSON"),
        ('{"done": "x"}', "no list"),
        ('{"done": [1]}', "no text"),
        ('{"doen": []}', "'doen'"),
        ('{"topic": 3}', "no text"),
        ("- " + "x" * 3_000, "3000 characters"),
        ("x" * 70_000, "70000 bytes"),
        ("- x\n" * 300, "more than 200"),
    ],
)
def test_a_bad_body_is_one_message_and_writes_nothing(folder, text, word):
    with pytest.raises(errors.BadInput, match=word) as caught:
        write(folder, text)
    assert caught.value.hint
    assert not folder.path.exists()


def test_secrets_and_private_text_are_replaced_wherever_they_stand(folder):
    said = {
        "topic": f"key {SECRET}",
        "context": f"<private>mine</private> {SECRET}",
        "done": [f"set {SECRET}"],
    }
    done = write(folder, json.dumps(said))
    text = Path(done.file).read_text()
    assert SECRET not in text
    assert "mine" not in text
    assert SECRET not in done.file
    assert text.count("[redacted ") >= 3
    assert done.redacted >= 3


# --- evidence


@pytest.mark.parametrize(
    ("text", "given", "wanted"),
    [
        ("The package is plain ESM, see src/index.js.", "", "`src/index.js`"),
        ("package.json lost its build step", "", "`package.json`"),
        ("We did 4f3a1b2 today", "", "`commit 4f3a1b2`"),
        ("The bundler gave way to plain modules", "", "`commit 4f3a1b2`"),
        ("Nothing of the kind", "", "`session`"),
        ("x", "the log", "`the log`"),
        ("x", "`a.md`, `b.md`", "`a.md`, `b.md`"),
        ("x", "odd ` tick", "`odd ' tick`"),
    ],
)
def test_evidence_is_given_or_found_in_git_and_never_made_up(text, given, wanted):
    assert evidence(text, given, [COMMIT]) == wanted


def test_a_commit_is_listed_once_a_file():
    assert listed([COMMIT], "", 20) == (f"4f3a1b2 {COMMIT.subject}",)
    assert listed([COMMIT], "- 4f3a1b2 Drop", 20) == ()


def test_every_bullet_ends_in_its_evidence(folder):
    body = Body("esm", "", (("a", ""),), (("b", "`x`"),), (("c", ""),), (("d", ""),))
    (part,) = parse_daily(Path(write(folder, body).file).read_text()).parts
    assert [each.text for each in part.bullets] == [
        "a Evidence: `session`",
        "c Evidence: `session`",
        "b Evidence: `x`",
        "d Evidence: `session`",
    ]
    assert [each.kind for each in part.bullets] == ["state", "learning", "decision", "open"]


# --- the file


@pytest.mark.parametrize(
    ("topic", "name"),
    [
        ("plain ESM", "plain-esm"),
        ("ESM", "harbor-esm"),
        ("The build step is gone now and for ever", "the-build-step-is-gone"),
        ("🎉", "harbor-session"),
        ("построить заново", "построить-заново"),
    ],
)
def test_the_first_topic_names_the_file_in_two_to_five_words(folder, topic, name):
    done = write(folder, Body(topic, done=(("x", ""),)))
    assert done.created
    assert Path(done.file).name == f"{DAY}-{name}-memory.md"
    assert 2 <= len(name.split("-")) <= 5


def test_later_sessions_of_the_day_stand_in_the_same_file_under_ids_of_their_own(folder):
    first = write(folder, "- one")
    second = write(folder, "Topic: other thing\n- two")
    assert (first.file, second.file) == (second.file, first.file)
    assert (second.created, second.session) == (False, f"{first.session}-2")


def test_several_files_of_the_day_ask_which_unless_one_is_ours(folder):
    first = Path(write(folder, "- one").file)
    other = first.with_name(f"{DAY}-other-thing-memory.md")
    other.write_text("# Memory — harbor\n")
    with pytest.raises(errors.Undecided) as caught:
        write(folder, "- two")
    assert caught.value.exit_code == 3
    assert sorted(caught.value.choices) == sorted(f"--file {path.name}" for path in (first, other))
    assert Path(write(folder, "- two", own={other.name}).file) == other
    assert Path(write(folder, "- three", file=first.name).file) == first


@pytest.mark.parametrize("file", ["x.md", "2020-01-01-a-memory.md", "digest.md", "../../etc/passwd"])
def test_only_a_record_of_today_can_be_named(folder, file):
    with pytest.raises(errors.BadInput, match="no record of"):
        write(folder, "- x", file=file)


def test_a_record_that_is_a_link_is_refused(folder, tmp_path):
    folder.path.mkdir()
    (tmp_path / "elsewhere").write_text("kept")
    name = f"{DAY}-a-b-memory.md"
    (folder.path / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(errors.UnsafePath, match="symbolic link"):
        write(folder, "- x", file=name)
    assert (tmp_path / "elsewhere").read_text() == "kept"


@pytest.mark.parametrize(
    "old", ["# Memory\r\n\r\n**Done**:\r\n- a\r\n", "\ufeff# Memory\n", "no line end", ""]
)
def test_line_ends_marks_and_a_missing_last_line_end_are_respected(folder, old):
    folder.path.mkdir()
    path = folder.path / f"{DAY}-a-b-memory.md"
    path.write_bytes(old.encode())
    path.chmod(0o640)
    write(folder, "- new")
    text = path.read_bytes().decode()
    assert text.startswith(old)
    assert ("\r\n" in old) == ("\r\n" in text[len(old) :])
    assert path.stat().st_mode & 0o777 == 0o640
    assert parse_daily(text).parts[-1].bullets[0].text == "new Evidence: `session`"


def test_the_same_again_is_known_and_changes_nothing(folder):
    path = Path(write(folder, "- one", commits=[COMMIT]).file)
    before = path.read_bytes()
    assert write(folder, "- one").status == "known"
    assert path.read_bytes() == before


def test_a_captured_session_is_recorded_once_whatever_it_says_now(folder):
    first = write(folder, "- one", source="codex/4f3a")
    assert "source=codex/4f3a" in Path(first.file).read_text()
    assert write(folder, "- two", source="codex/4f3a").status == "known"
    assert write(folder, "- two", source="codex/4f3").status == "written"


def test_nothing_to_say_writes_nothing_and_makes_no_folder(folder):
    assert write(folder, Body("topic", "context")).status == "nothing"
    assert write(folder, "- x", dry_run=True).status == "planned"
    assert not folder.path.exists()


def test_commits_alone_are_a_record(folder):
    done = write(folder, Body("release"), commits=[COMMIT])
    assert (done.status, done.commits) == ("written", 1)


HOSTILE = st.lists(
    st.sampled_from(
        [
            "<!-- memory:session id=x -->",
            "## Session 10:00 — x",
            "**Open**:",
            "```",
            "~~~",
            "- x",
            "# T",
            "Evidence: `x`",
            "\\<!--",
            "<!--",
            "-->",
        ]
    )
    | st.text(max_size=10),
    min_size=1,
    max_size=4,
).map(" ".join)


@given(st.lists(st.tuples(HOSTILE, HOSTILE, HOSTILE), min_size=1, max_size=3))
def test_whatever_is_said_is_read_back_and_the_file_only_grows(tmp_path_factory, said):
    root = tmp_path_factory.mktemp("harbor")
    folder = memoryfolder.resolve(root)
    before = ""
    for n, (context, done, left) in enumerate(said):
        if not knowledge_text(fold(done)) or not knowledge_text(fold(left)):
            continue
        body = Body(f"number {n}", context, ((done, ""), (f"{n} {left}", "")), open=((left, ""),))
        path = Path(write(folder, body).file)
        text = path.read_bytes().decode()
        assert text.startswith(before)
        before = text
        part = parse_daily(text).parts[-1]
        assert [each.kind for each in part.bullets if each.kind != "learning"][-1] == "open"
        said_so = [each for each in part.bullets if each.kind]  # those of the context are no items
        assert len(said_so) == 3
        assert all(each.text.endswith("Evidence: `session`") for each in said_so)


# --- many at once, and killed

SCRIPT = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from lamina.pipeline.record.body import parse_body
from lamina.pipeline.record.write import Wanted, record
from lamina.store import files, memoryfolder
folder = memoryfolder.resolve(Path(sys.argv[1]))
if len(sys.argv) > 3:
    import os, signal
    at = sys.argv[3]
    real = files.put_in_place if at == "before" else files.sync_folder
    def dying(*args, **more):
        if at == "after":
            real(*args, **more)
        os.kill(os.getpid(), signal.SIGKILL)
    setattr(files, real.__name__, dying)
print(record(folder, Wanted(parse_body(sys.argv[2])), now=datetime.now(UTC), own=()).session)
"""


def run(root: Path, body: str, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, str(root), body, *more],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )


def test_ten_at_once_are_ten_sessions(folder):
    with ThreadPoolExecutor(10) as pool:
        done = list(pool.map(lambda n: run(folder.root, f"- said {n}"), range(10)))
    assert all(each.returncode == 0 for each in done), done
    (path,) = folder.path.glob("*-memory.md") if len(list(folder.path.glob("*-memory.md"))) == 1 else [None]
    assert path is not None
    parts = parse_daily(path.read_text()).parts
    assert len({part.id for part in parts}) == 10
    assert {part.bullets[0].text for part in parts} == {f"said {n} Evidence: `session`" for n in range(10)}


@pytest.mark.parametrize(("at", "count"), [("before", 1), ("after", 2)])
def test_killed_around_the_rename_the_file_is_the_old_or_the_new_one(folder, at, count):
    assert run(folder.root, "- one").returncode == 0
    (path,) = folder.path.glob("*-memory.md")
    old = path.read_text()
    assert run(folder.root, "- two", at).returncode == -signal.SIGKILL
    assert path.read_text().startswith(old)
    assert len(parse_daily(path.read_text()).parts) == count
    assert run(folder.root, "- three").returncode == 0
    assert len(parse_daily(path.read_text()).parts) == count + 1
    assert [each.name for each in folder.path.iterdir()] == [path.name]
