from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest
from tests.store.making import NOW, remember, write

from lamina import errors
from lamina.store import git
from lamina.store.store import Store


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's git configuration of their own, empty at first."""
    config = tmp_path / "gitconfig"
    config.touch()
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL"):
        monkeypatch.delenv(name, raising=False)
    return config


def run(store: Store, *args: str) -> str:
    return subprocess.run(["git", "-C", store.root, *args], check=True, capture_output=True, text=True).stdout


def commit(store: Store, **given) -> str | None:
    return git.commit_if_dirty(store, **({"now": NOW, "older_than_s": 0} | given))


def test_a_write_is_committed_once_it_is_old_enough(store: Store) -> None:
    remember(store, "One")
    assert git.is_dirty(store.layout)
    assert commit(store, older_than_s=10) is None
    assert commit(store, now=NOW + timedelta(seconds=5), older_than_s=10) is None
    made = commit(store, now=NOW + timedelta(seconds=10), older_than_s=10)
    assert made == run(store, "rev-parse", "HEAD").strip()
    assert not git.is_dirty(store.layout)
    assert commit(store) is None
    tracked = run(store, "ls-files").split()
    assert tracked == [
        ".gitattributes",
        ".gitignore",
        "global/semantic.md",
        "global/semantic/things.md",
        "memory.json",
    ]
    assert (
        run(store, "log", "-1", "--format=%an <%ae> %s").strip()
        == "Lamina <lamina@localhost> Update memory: remember"
    )
    assert run(store, "status", "--porcelain") == ""


def test_a_clock_that_jumped_back_does_not_hold_commits_up(store: Store) -> None:
    remember(store, "One")
    assert commit(store, now=NOW - timedelta(days=400), older_than_s=10)


def test_the_configured_identity_is_used(store: Store, machine: Path) -> None:
    machine.write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    remember(store, "One")
    assert commit(store)
    assert run(store, "log", "-1", "--format=%an <%ae>").strip() == "Ada <ada@example.org>"


def test_signing_hooks_editors_and_ignore_rules_of_the_machine_do_not_matter(
    store: Store, machine: Path
) -> None:
    ran = machine.parent / "ran"
    hooks = machine.parent / "hooks"
    hooks.mkdir()
    for name in ("pre-commit", "commit-msg", "post-commit", "post-index-change", "prepare-commit-msg"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {ran}\nexit 1\n")
        (hooks / name).chmod(0o755)
        own = store.root / ".git" / "hooks" / name
        own.parent.mkdir(exist_ok=True)
        own.write_text(f"#!/bin/sh\ntouch {ran}\nexit 1\n")
        own.chmod(0o755)
    (machine.parent / "ignore").write_text("*.md\nlogs/\n")
    machine.write_text(
        "[commit]\n\tgpgsign = true\n\tverbose = true\n[gpg]\n\tprogram = /bin/false\n[user]\n\tsigningkey = x\n"
        f"[core]\n\thooksPath = {hooks}\n\teditor = /bin/false\n\tautocrlf = true\n\texcludesFile = {machine.parent}/ignore\n"
    )
    write(store, "global/semantic/crlf.md", "# C\r\n\r\n## X\r\n\r\ny\r\n")
    remember(store, "One")
    assert scope_named_logs(store)
    assert commit(store)
    assert not ran.exists()
    assert "workspaces/logs/semantic/things.md" in run(store, "ls-files")
    assert subprocess.run(
        ["git", "-C", store.root, "show", "HEAD:global/semantic/crlf.md"], capture_output=True, check=True
    ).stdout.startswith(b"# C\r\n")


def scope_named_logs(store: Store) -> str:
    from lamina.formats.scope import Scope

    return remember(store, "A workspace called logs", scope=Scope("logs")).id


def test_local_folders_are_never_committed_whatever_gitignore_says(store: Store) -> None:
    remember(store, "One")
    write(store, ".gitignore", "!/state/\n!/logs/\n")
    write(store, "logs/secret.log", "x")
    write(store, "digests/a.md", "x")
    write(store, "global/.lamina-1-2-3.tmp", "x")
    assert commit(store)
    assert {name.split("/")[0] for name in run(store, "ls-files").split()} == {
        ".gitattributes",
        ".gitignore",
        "global",
        "memory.json",
    }
    assert "tmp" not in run(store, "ls-files")


def test_a_store_inside_a_project_commits_nothing_of_the_project(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    subprocess.run(["git", "init", "-q", project], check=True)
    (project / "code.py").write_text("refactored\n")
    store = Store.open(project / "memory", create=True, now=NOW)
    remember(store, "One")
    assert commit(store)
    assert "code.py" not in run(store, "ls-tree", "-r", "--name-only", "HEAD")
    status = subprocess.run(
        ["git", "-C", project, "status", "--porcelain"], capture_output=True, text=True, check=True
    )
    assert "?? code.py" in status.stdout
    head = subprocess.run(
        ["git", "-C", project, "rev-parse", "-q", "--verify", "HEAD"], capture_output=True, check=False
    )
    assert head.returncode != 0


def test_a_damaged_repository_never_makes_git_look_above(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    store = Store.open(tmp_path / "memory", create=True, now=NOW)
    remember(store, "One")
    (store.root / ".git" / "objects").rename(tmp_path / "objects")
    with pytest.raises(errors.GitFailed, match="damaged"):
        commit(store)
    assert subprocess.run(["git", "-C", tmp_path, "ls-files"], capture_output=True, check=True).stdout == b""


def test_variables_of_a_surrounding_git_do_not_lead_astray(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "-q", tmp_path / "other"], check=True)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other/.git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "other"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "other/.git/index"))
    remember(store, "One")
    assert commit(store)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name)
    assert run(store, "log", "--oneline").count("\n") == 1


def test_a_persons_commit_in_progress_is_left_alone(store: Store) -> None:
    remember(store, "One")
    commit(store)
    write(store, "global/INDEX.md", "mine\n")
    run(store, "add", "global/INDEX.md")
    remember(store, "Two")
    assert commit(store, now=NOW + timedelta(seconds=60)) is None
    assert run(store, "diff", "--cached", "--name-only").split() == ["global/INDEX.md"]
    assert git.is_dirty(store.layout)
    assert commit(store, now=NOW + timedelta(minutes=11))


@pytest.mark.parametrize("name", ["index.lock", "MERGE_HEAD", "rebase-merge"])
def test_what_stands_in_the_way_is_told(store: Store, name: str) -> None:
    remember(store, "One")
    commit(store)
    remember(store, "Two")
    (store.root / ".git" / name).write_text("x")
    assert commit(store) is None
    assert name in git.obstacle(store.root)
    (store.root / ".git" / name).unlink()
    assert git.obstacle(store.root) == ""
    assert commit(store)


def test_a_detached_head_takes_no_commits(store: Store) -> None:
    remember(store, "One")
    commit(store)
    run(store, "checkout", "-q", "--detach")
    remember(store, "Two")
    assert commit(store) is None
    assert "detached" in git.obstacle(store.root)


def test_a_commit_that_failed_is_tried_again(store: Store) -> None:
    remember(store, "One")
    blocked = store.root / ".git/refs/heads"
    blocked.rename(store.root / ".git/refs/heads-away")
    blocked.write_text("in the way")
    with pytest.raises(errors.GitFailed, match="git commit failed"):
        commit(store)
    assert git.is_dirty(store.layout)
    blocked.unlink()
    blocked.with_name("heads-away").rename(blocked)
    assert commit(store, older_than_s=1000)
    assert not git.is_dirty(store.layout)


def test_one_file_that_git_refuses_does_not_hold_up_the_rest(store: Store) -> None:
    remember(store, "One")
    nested = store.root / "global/semantic/nested"
    nested.mkdir()
    subprocess.run(["git", "init", "-q", nested], check=True)  # git adds no repository without a commit
    with pytest.raises(errors.GitFailed, match="nested"):
        commit(store)
    assert "global/semantic/things.md" in run(store, "ls-files").split()
    assert run(store, "log", "-1", "--format=%s").strip() == "Update memory: remember"
    assert git.is_dirty(store.layout)
    shutil.rmtree(nested)
    assert commit(store) is None
    assert not git.is_dirty(store.layout)


def test_a_pipe_that_git_would_wait_for_is_told(store: Store) -> None:
    remember(store, "One")
    (store.root / ".gitignore").unlink()
    os.mkfifo(store.root / ".gitignore")
    began = time.monotonic()
    assert commit(store) is None
    assert time.monotonic() - began < 10
    assert ".gitignore is no plain file" in git.obstacle(store.root)


def test_the_repository_is_private_whatever_the_umask(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        store = Store.open(tmp_path / "private", create=True, now=NOW)
    finally:
        os.umask(old)
    assert stat.S_IMODE((store.root / ".git").stat().st_mode) == 0o700


def test_without_git_there_is_no_history_and_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    store = Store.open(tmp_path / "s", create=True, now=NOW)
    assert remember(store, "One").id == "global-sem-0001"
    assert commit(store) is None
    assert git.run(store.root, ["status"]).code == git.MISSING
    assert git.root_commits(store.root) == frozenset()
    assert not (store.root / ".git").exists()
    monkeypatch.undo()
    assert commit(store)


def test_root_commits(store: Store, tmp_path: Path) -> None:
    assert git.root_commits(store.root) == frozenset()
    remember(store, "One")
    first = commit(store)
    remember(store, "Two")
    commit(store)
    assert git.root_commits(store.root) == {first}
    assert git.root_commits(tmp_path / "none") == frozenset()


def test_a_slow_git_is_ended_politely_with_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin/git"
    fake.write_text(
        f"#!/bin/sh\ntrap 'echo polite > {tmp_path}/ended; exit 1' TERM\nsleep 60 &\necho $! > {tmp_path}/child\nwait\n"
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    began = time.monotonic()
    ran = git.run(tmp_path, ["fetch"], timeout_s=1)
    assert time.monotonic() - began < 10
    assert "took longer than 1 s" in ran.err
    assert not ran.ok
    assert (tmp_path / "ended").read_text() == "polite\n"
    child = int((tmp_path / "child").read_text())
    until = time.monotonic() + 10  # a busy machine takes its time to end a process
    while lives(child) and time.monotonic() < until:
        time.sleep(0.02)
    assert not lives(child)


def lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_what_git_writes_is_for_the_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        store = Store.open(tmp_path / "open", create=True, now=NOW)
        remember(store, "One")
        assert commit(store)
    finally:
        os.umask(before)
    found = [path for path in (tmp_path / "open").rglob("*") if path.stat().st_mode & 0o077]
    assert found == []


def test_a_newer_store_is_never_committed(store: Store) -> None:
    remember(store, "One")
    write(store, "memory.json", '{"schemaVersion": 9}')
    assert commit(Store.open(store.root)) is None


def test_opening_and_reading_imports_nothing_heavy() -> None:
    code = (
        "import sys; from lamina.store.store import Store; import lamina.store.files;"
        "print(*sorted({'subprocess','tempfile','uuid','logging','tomllib','sqlite3','email','asyncio','lamina.store.write',"
        "'lamina.store.git','yaml'} & set(sys.modules)))"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    out = subprocess.run(
        [sys.executable, "-S", "-c", code], env=env, check=True, capture_output=True, text=True
    ).stdout
    assert out.strip() == ""
