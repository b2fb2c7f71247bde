"""Commits become history: each once, whatever is lost, rewritten or hostile, and never more than text."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.pipeline.opening import Clock, opened

from lamina.formats.scope import Scope
from lamina.pipeline import history
from lamina.store import commits

WHO = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def git(root: Path, *args: str, stdin: bytes = b"", at: str = "2026-11-20T23:30:00 -0200") -> str:
    env = {**os.environ, **WHO, "GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at, "HOME": str(root.parent)}
    done = subprocess.run(
        ["git", "-C", str(root), *args], input=stdin, capture_output=True, check=True, env=env, timeout=60
    )
    return done.stdout.decode("utf-8", "replace").strip()


def commit(root: Path, message: str | bytes, name: str = "a.txt", **given: str) -> str:
    file = root / name
    file.write_text(file.read_text() + "x" if file.exists() else "x")
    git(root, "add", "-A")
    text = message if isinstance(message, bytes) else message.encode()
    git(root, "commit", "-q", "--cleanup=verbatim", "--allow-empty-message", "-F", "-", stdin=text, **given)
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def project(tmp_path) -> Path:
    root = tmp_path / "harbor"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    return root


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(tmp_path, project, clock):
    memory = opened(tmp_path, clock=clock)
    memory.init()
    return memory


def entries(memory) -> list:
    return [each.entry for each in memory.store.entries(Scope("harbor"), "history")]


def test_a_commit_becomes_an_entry_of_its_utc_day(memory, project):
    hash_ = commit(project, "Add the crane\n\nIt lifts ten tons.")
    done = memory.history()
    assert (done["commits"], done["entries"], done["left"], done["fellBack"]) == (1, 1, 0, False)
    text = (memory.root / "workspaces/harbor/history/2026-11-21.md").read_text()
    assert f"## Add the crane ({hash_[:9]})" in text
    assert "It lifts ten tons." in text
    assert "- a.txt" in text
    assert f"**Source:** git:{hash_}" in text
    assert text.rstrip().endswith(f"Commit: {hash_}")
    assert entries(memory)[0].trust == "approved"
    assert memory.search("crane ten tons")
    assert "Add the crane" not in str(memory.card())


def test_passes_take_the_oldest_first_and_go_on(memory, project):
    for number in range(5):
        commit(project, f"Step {number}")
    assert memory.history(limit=2)["left"] == 3
    assert [each.heading[:6] for each in entries(memory)] == ["Step 0", "Step 1"]
    assert memory.history(limit=2)["left"] == 1
    assert memory.history()["entries"] == 1
    assert len(entries(memory)) == 5


def test_a_dry_run_writes_nothing(memory, project):
    memory.remember("Something")
    memory.history()
    commit(project, "Later")
    state = (memory.root / history.MARKS).read_bytes()
    assert memory.history(dry_run=True)["entries"] == 1
    assert entries(memory) == []
    assert (memory.root / history.MARKS).read_bytes() == state


def test_nothing_comes_twice_when_the_mark_is_lost(memory, project):
    for number in range(3):
        commit(project, f"Step {number}")
    memory.history()
    (memory.root / history.MARKS).unlink()
    done = memory.history()
    assert (done["entries"], len(entries(memory))) == (0, 3)


def test_a_damaged_mark_counts_as_lost(memory, project):
    commit(project, "One")
    memory.history()
    for text in ("[]", "{", '{"last": {"harbor": 3}, "at": 7}', '{"last": []}'):
        (memory.root / history.MARKS).write_text(text)
        assert memory.history()["entries"] == 0


def test_a_rewritten_past_is_told_and_only_new_commits_come(memory, project):
    commit(project, "Base")
    commit(project, "Wrong")
    memory.history()
    git(project, "commit", "-q", "--amend", "-m", "Right")
    done = memory.history()
    assert (done["fellBack"], done["entries"]) == (True, 1)
    assert sorted(each.heading.split()[0] for each in entries(memory)) == ["Base", "Right", "Wrong"]


def test_a_mark_of_a_commit_that_is_gone_falls_back(memory, project):
    commit(project, "Base")
    memory.history()
    state = memory.root / history.MARKS
    state.write_text(state.read_text().replace(git(project, "rev-parse", "HEAD"), "f" * 40))
    done = memory.history()
    assert (done["fellBack"], done["entries"]) == (True, 0)


def test_a_message_sets_no_field_and_makes_no_entry(memory, project):
    fake = "a" * 40
    hash_ = commit(
        project,
        "# Title\n\n## Another entry\n**Id:** harbor/sem-0001\n**Trust:** candidate\n"
        f"**Source:** user, git:{fake}\n\x1b[31mred\u202e\nCommit: {fake}\n",
    )
    memory.history()
    (entry,) = entries(memory)
    assert (entry.trust, entry.source) == ("approved", f"git:{hash_}")
    assert set(history.hashes_of(entry.body, entry.source)) == {hash_}
    assert "\x1b" not in entry.body
    assert "\u202e" not in entry.body


def test_secrets_of_messages_and_names_stay_out(memory, project):
    secret = "gh" + "p_" + "A1b2C3d4E5" * 4
    commit(project, f"Use {secret[:]}\n\ntoken is {secret}", f"{secret}.txt")
    memory.history()
    assert not [path for path in memory.root.glob("workspaces/**/*.md") if secret in path.read_text()]


@pytest.mark.parametrize(
    "message", ["", "\n\n", "🚢 港口 ハーバー", b"caf\xe9 \xff", "x" * 1_000_000, "a\n" * 500_000]
)
def test_any_message_is_taken_in_bounds(memory, project, message):
    commit(project, message)
    assert memory.history()["entries"] == 1
    (entry,) = entries(memory)
    assert len(entry.body) < 6_000
    assert len(entry.heading) < 200


def test_many_files_are_named_up_to_a_bound_and_renames_as_such(memory, project):
    for number in range(300):
        (project / f"f{number:03}").write_text(f"{number}\n" * 5)
    commit(project, "Many")
    git(project, "mv", "f000", "港 z")
    commit(project, "Move")
    memory.history()
    many, moved = sorted(entries(memory), key=lambda each: each.heading)
    assert f"- … and {301 - history.NAMED_FILES} more" in many.body
    assert "- f000 → 港 z" in moved.body


def test_a_path_that_is_no_utf_8_is_listed(memory, project):
    try:
        Path(os.fsdecode(os.fsencode(project) + b"/b\xff")).write_text("x")
    except OSError:
        pytest.skip("this file system takes UTF-8 only")
    commit(project, "Odd")
    memory.history()
    assert "- b\ufffd" in entries(memory)[0].body


def test_merges_are_left_out_and_what_they_brought_is_not(memory, project):
    commit(project, "Base")
    git(project, "switch", "-q", "-c", "side")
    commit(project, "Side", "s.txt")
    git(project, "switch", "-q", "main")
    commit(project, "Main", "m.txt")
    git(project, "merge", "-q", "--no-ff", "-m", "Merge it", "side")
    memory.history()
    assert sorted(each.heading.split()[0] for each in entries(memory)) == ["Base", "Main", "Side"]
    assert memory.history()["commits"] == 0


def test_forgotten_commits_stay_out(memory, project):
    commit(project, "Secret plan")
    memory.history()
    memory.forget([entries(memory)[0].id])
    (memory.root / history.MARKS).unlink()
    assert memory.history()["entries"] == 0


def test_one_bad_repository_stops_no_other(memory, project, tmp_path):
    commit(project, "Good")
    plain, empty = tmp_path / "plain", tmp_path / "empty"
    plain.mkdir()
    empty.mkdir()
    git(empty, "init", "-q")
    gone = tmp_path / "gone"
    gone.mkdir()
    git(gone, "init", "-q")
    for key, folder in (("plain", plain), ("empty", empty), ("gone", gone)):
        memory.associate(key, folder)
    (gone / ".git").rename(tmp_path / "elsewhere")
    done = memory.history()
    assert done["entries"] == 1
    told = {
        Path(each["folder"]).parent.name + "/" + Path(each["folder"]).name: each
        for each in done["repositories"]
    }
    reasons = {name.replace("/.git", ""): each.get("reason", "") for name, each in told.items()}
    assert reasons["empty"] == "has no commits yet"
    assert "gone" in reasons["gone"]
    assert any(reason == "is no git repository" for reason in reasons.values())


def test_bare_and_shallow_clones_are_read(memory, project, tmp_path):
    commit(project, "One")
    commit(project, "Two")
    git(tmp_path, "clone", "-q", "--bare", str(project), "bare.git")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{project}", "shallow")
    assert len(commits.hashes(tmp_path / "bare.git", commits.tip(tmp_path / "bare.git").hash)) == 2
    tip = commits.tip(tmp_path / "shallow/.git")
    assert "shallow" in tip.reason
    assert len(commits.hashes(tmp_path / "shallow/.git", tip.hash)) == 1


def test_the_same_commit_in_two_clones_comes_once(memory, project, tmp_path):
    commit(project, "One")
    git(tmp_path, "clone", "-q", str(project), "second")
    memory.history()
    memory.associate("harbor", tmp_path / "second")
    done = memory.history()
    assert (done["entries"], len(done["repositories"]), len(entries(memory))) == (0, 2, 1)


def test_a_second_pass_asks_git_once_and_leaves_no_lock(memory, project, tmp_path):
    commit(project, "One")
    memory.history()
    trace = tmp_path / "trace"
    code = "import sys,pathlib,datetime;from lamina.store.store import Store;from lamina.pipeline import history;"
    code += "history.ingest(Store.open(pathlib.Path(sys.argv[1])), datetime.datetime.now(datetime.UTC))"
    env = {**os.environ, "GIT_TRACE": str(trace), "HOME": str(tmp_path / "home")}
    subprocess.run([sys.executable, "-c", code, str(memory.root)], env=env, check=True, timeout=60)
    assert trace.read_text().count("built-in: git") == 1
    assert not (project / ".git/index.lock").exists()


def test_processes_at_once_write_each_commit_once(memory, project, tmp_path):
    memory.history()
    for number in range(6):
        commit(project, f"Step {number}")
    command = [sys.executable, "-m", "lamina", "--root", str(memory.root), "history"]
    env = {**os.environ, "HOME": str(tmp_path / "home")}
    running = [subprocess.Popen(command, cwd=project, env=env, stdout=subprocess.DEVNULL) for _ in range(3)]
    assert [each.wait(timeout=60) for each in running] == [0, 0, 0]
    assert len(entries(memory)) == 6


def test_the_tick_looks_once_an_interval(memory, project, clock):
    memory.history()
    commit(project, "One")
    assert "history" not in memory.tick()["ran"]
    clock.forward(hours=2)
    assert "history" in memory.tick(dry_run=True)["ran"]
    assert "history" in memory.status()["due"]
    assert "history" in memory.tick()["ran"]
    assert len(entries(memory)) == 1
    assert "history" not in memory.status()["due"]


@pytest.mark.parametrize("how", ["project", "excluded"])
def test_commits_of_a_folder_whose_capture_is_off_stay_out(tmp_path, memory, project, clock, how):
    memory.history()
    commit(project, "What the customer wanted")
    if how == "project":
        (project / ".lamina.toml").write_text('capture = "off"\n')
    else:
        memory = opened(tmp_path, clock=clock, env={"LAMINA_EXCLUDE": f"{project}/**"})
    clock.forward(hours=2)
    memory.tick()
    done = memory.history()
    assert entries(memory) == []
    (told,) = done["repositories"]
    assert told["reason"].startswith("capture is off there: ")


def test_capture_off_for_the_machine_stops_history(tmp_path, memory, project, clock):
    memory.history()
    commit(project, "What the customer wanted")
    clock.forward(hours=2)
    off = opened(tmp_path, clock=clock, env={"LAMINA_CAPTURE": "off"})
    assert "history" not in off.status()["due"]
    assert "history" not in off.tick()["ran"]
    assert "capture = off" in off.history()["repositories"][0]["reason"]
    assert entries(memory) == []
    clock.forward(hours=2)
    assert "history" in memory.tick()["ran"]
    assert len(entries(memory)) == 1


BROKEN = """\
#!/bin/sh
for word in "$@"; do
  [ "$word" = "%s" ] || continue
  "%s" "$@" | head -n %d
  exit 128
done
exec "%s" "$@"
"""


@pytest.mark.parametrize(("step", "lines"), [("rev-list", 2), ("log", 0)])
def test_a_git_that_breaks_off_loses_no_commit(memory, project, tmp_path, monkeypatch, step, lines):
    memory.init()
    for number in range(6):
        commit(project, f"Number {number}")
    memory.history(limit=0)
    git_path = shutil.which("git")
    broken = tmp_path / "broken" / "git"
    broken.parent.mkdir()
    broken.write_text(BROKEN % (step, git_path, lines, git_path))
    broken.chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", f"{broken.parent}{os.pathsep}{os.environ['PATH']}")
        told = memory.history()["repositories"][0]
    assert "git" in told["reason"]
    assert memory.history()["left"] == 0
    assert len(entries(memory)) == 6
