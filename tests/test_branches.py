"""What is learnt on a branch stays there until the branch is merged, where the project says so."""

from __future__ import annotations

import pytest
from tests.pipeline.opening import NOW, git, opened

from lamina.formats.note import parse_note
from lamina.hosts.render import Said, render_claude
from lamina.store import branches

IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@example.com")
FACT = "The gateway listens on port 7100"


def commit(folder, name: str) -> None:
    (folder / name).write_text(name)
    git(folder, "add", "--all")
    git(folder, *IDENTITY, "commit", "--quiet", "-m", name)


@pytest.fixture
def project(tmp_path):
    """A repository that stages by branch, with the branch feature/x checked out."""
    folder = tmp_path / "harbor"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch", "main")
    (folder / ".lamina.toml").write_text('stage = "branch"\n')
    commit(folder, "one")
    git(folder, "checkout", "--quiet", "-b", "feature/x")
    return folder


def seen(tmp_path) -> set[str]:
    """Say which of the ways to look at memory show the fact."""
    memory = opened(tmp_path)
    ways = {
        "search": bool(memory.search("gateway").hits),
        "list": bool(memory.list()[0]),
        "log": bool(memory.log()),
        "card": "7100" in memory.card(),
    }
    assert memory.show("harbor-sem-0001")["heading"] == FACT
    return {name for name, shown in ways.items() if shown}


EVERYWHERE = {"search", "list", "log", "card"}


def test_a_fact_learnt_on_a_branch_is_shown_there_only_until_it_is_merged(tmp_path, project):
    memory = opened(tmp_path)
    assert memory.remember(FACT).status == "written"
    assert memory.show("harbor-sem-0001")["fields"]["Branch"] == "feature/x"
    assert seen(tmp_path) == EVERYWHERE
    git(project, "checkout", "--quiet", "main")
    assert seen(tmp_path) == set()
    assert "branches" not in memory.tick()["ran"]
    git(project, "checkout", "--quiet", "feature/x")
    commit(project, "two")
    git(project, "checkout", "--quiet", "main")
    assert "branches" not in memory.tick()["ran"]
    git(project, *IDENTITY, "merge", "--quiet", "--no-ff", "--no-edit", "feature/x")
    assert "branches" in memory.tick()["ran"]
    assert seen(tmp_path) == EVERYWHERE
    assert "Branch" not in memory.show("harbor-sem-0001")["fields"]
    assert "branches" not in memory.tick()["ran"]


def test_an_export_holds_what_every_branch_knows(tmp_path, project):
    opened(tmp_path).remember(FACT)
    git(project, "checkout", "--quiet", "main")
    assert opened(tmp_path).export()["entries"] == 1


def test_on_the_default_branch_and_without_the_setting_nothing_is_staged(tmp_path, project):
    git(project, "checkout", "--quiet", "main")
    opened(tmp_path).remember(FACT)
    git(project, "checkout", "--quiet", "feature/x")
    (project / ".lamina.toml").unlink()
    opened(tmp_path).remember("The gateway is written in Go")
    opened(tmp_path).remember("Commit messages in English", scope="global")
    assert all(
        "Branch" not in opened(tmp_path).show(each["id"])["fields"] for each in opened(tmp_path).list()[0]
    )


def test_what_goes_to_another_scope_is_not_staged(tmp_path, project):
    memory = opened(tmp_path)
    memory.remember(FACT, scope="global")
    assert "Branch" not in memory.show("global-sem-0001")["fields"]


def test_a_note_carries_the_branch_of_its_session(tmp_path, project):
    commit(project, "two")
    path = tmp_path / "session.jsonl"
    turns = [Said("user", f"We use port 7100 for the gateway, because 80 is taken {'by the old one ' * 30}.")]
    path.write_text(render_claude("s1", turns, cwd=str(project), started=NOW, branch="feature/x"))
    memory = opened(tmp_path)
    captured = memory.capture(path, final=True)
    assert parse_note((memory.root / captured["note"]).read_text()).branch == "feature/x"


def test_what_git_says_of_a_branch(project):
    assert branches.default_branch(project) == "main"
    assert branches.is_merged(project, "main")
    assert not branches.is_merged(project, "feature/x"), "it has no commit of its own yet"
    commit(project, "two")
    assert not branches.is_merged(project, "feature/x")
    assert not branches.is_merged(project, "never-was")
    git(project, "checkout", "--quiet", "main")
    git(project, *IDENTITY, "merge", "--quiet", "--ff-only", "feature/x")
    assert branches.is_merged(project, "feature/x")


def test_a_branch_deleted_after_its_merge_counts_as_merged(project):
    commit(project, "two")
    git(project, "checkout", "--quiet", "main")
    git(project, *IDENTITY, "merge", "--quiet", "--no-ff", "--no-edit", "feature/x")
    git(project, "branch", "--quiet", "--delete", "feature/x")
    assert branches.is_merged(project, "feature/x")
    assert not branches.is_merged(project, "feature")
    assert not branches.is_merged(project, "--all")


def test_entries_made_from_a_session_carry_its_branch(tmp_path, project):
    commit(project, "two")
    path = tmp_path / "session.jsonl"
    reason = "by the old one " * 30
    turns = [Said("user", f"We use port 7100 for the gateway, because 80 is taken {reason}.")]
    path.write_text(render_claude("s1", turns, cwd=str(project), started=NOW, branch="feature/x"))
    memory = opened(tmp_path)
    assert memory.import_sessions([path])["entries"] == 1
    assert memory.list()[0]
    git(project, "checkout", "--quiet", "main")
    assert not opened(tmp_path).list()[0]
