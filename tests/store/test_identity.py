import os
import shutil
from hashlib import sha256
from pathlib import Path

import pytest
from tests.store.folders import Machine

from lamina import errors
from lamina.formats.scope import is_key
from lamina.store.identity import derive_key, slug_of
from lamina.store.registry import Registry
from lamina.store.repository import current_branch
from lamina.store.site import pick_directory


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def worktree(machine, repository, path, branch):
    path.parent.mkdir(parents=True, exist_ok=True)
    machine.git("worktree", "add", "-q", "-b", branch, str(path), at=repository)
    return path


# The cases, in their order.


def test_a_worktree_beside_the_repository_shares_its_workspace(machine):
    repo = machine.repository(machine.work / "zurich", "git@github.com:acme/zurich.git")
    beside = worktree(machine, repo, machine.work / "zurich-v1", "b")
    assert machine.key(beside) == "zurich"
    assert machine.key(repo) == "zurich"
    assert machine.keys() == ["zurich"]


def test_a_worktree_without_a_remote_shares_the_name_of_the_main_one(machine):
    repo = machine.repository(machine.work / "zurich")
    beside = worktree(machine, repo, machine.work / "zurich-v1", "b")
    assert machine.key(beside) == "zurich"
    assert machine.key(repo) == "zurich"


@pytest.mark.parametrize("place", [".worktrees/x", ".claude/worktrees/x", "tmp/x"])
def test_a_worktree_inside_the_repository_shares_its_workspace(machine, place):
    repo = machine.repository(machine.work / "app", "https://github.com/acme/app")
    inside = worktree(machine, repo, repo / place, "x")
    found = machine.known(inside)
    assert (found.key, found.root, found.common_dir) == ("app", inside, repo / ".git")


def test_what_is_written_is_found_by_reading(machine):
    repo = machine.repository(machine.work / "folder-name", "https://github.com/acme/repo-name.git")
    (repo / "src" / "deep").mkdir(parents=True)
    written = machine.register(machine.resolve(repo / "src" / "deep"))
    assert [machine.resolve(place).key for place in (repo, repo / "src", repo / "src" / "deep")] == [
        written.key
    ] * 3
    assert written.key == "repo-name"


def test_a_deleted_worktree_of_a_host_keeps_its_memory(machine):
    repo = machine.repository(machine.work / "myrepo")
    inside = worktree(machine, repo, machine.home / ".codex/worktrees/6389/myrepo", "w")
    assert machine.key(inside) == "myrepo"
    machine.git("worktree", "remove", "--force", str(inside), at=repo)
    assert not inside.exists()
    assert machine.resolve(inside).key == "myrepo"
    assert machine.resolve(inside / "src").key == "myrepo"


def test_a_deleted_worktree_that_git_still_lists_is_its_repositorys(machine):
    repo = machine.repository(machine.work / "myrepo")
    inside = worktree(machine, repo, machine.home / ".codex/worktrees/6389/myrepo", "w")
    machine.known(repo)
    shutil.rmtree(inside)
    found = machine.resolve(inside)
    assert (found.key, found.known) == ("myrepo", True)


def test_without_git_the_folder_itself_is_the_workspace(machine):
    (machine.work / "proj" / "sub").mkdir(parents=True)
    assert machine.key(machine.work / "proj") == "proj"
    assert machine.key(machine.work / "proj" / "sub") == "sub"


def test_without_git_a_project_file_above_makes_it_one_workspace(machine):
    (machine.work / "proj" / "sub").mkdir(parents=True)
    (machine.work / "proj" / ".lamina.toml").write_text("")
    assert machine.key(machine.work / "proj" / "sub") == "proj"
    assert machine.key(machine.work / "proj") == "proj"
    assert machine.keys() == ["proj"]


def test_a_servers_own_folder_says_nothing_about_the_session(machine, monkeypatch):
    plugin = machine.repository(machine.home / "plugins" / "lamina-plugin", "https://github.com/acme/plugin")
    repo = machine.repository(machine.work / "app", "https://github.com/acme/app")
    monkeypatch.chdir(plugin)
    assert machine.resolve(pick_directory({"cwd": str(repo)})).key == "app"
    assert machine.resolve(pick_directory({})).key is None
    assert machine.resolve(".").key is None


def test_a_key_typed_as_the_title_finds_the_same_workspace(machine):
    repo = machine.repository(machine.work / "Foo.Bar")
    stored = machine.known(repo)
    assert (stored.key, stored.title) == ("foo.bar", "Foo.Bar")
    for said in ("foo.bar", "Foo.Bar", "FOO.BAR", "workspace:foo.bar"):
        found = machine.resolve(machine.work, explicit=said)
        assert (found.key, found.known) == ("foo.bar", True)
    assert not machine.resolve(machine.work, explicit="foo-bar").known


def test_an_explicit_workspace_is_used_for_all_records(machine):
    repo = machine.repository(machine.work / "app", "https://github.com/acme/app")
    machine.known(repo)
    found = machine.known(repo, explicit="other", env={"LAMINA_WORKSPACE": "third"})
    assert (found.key, found.scope.name, found.how) == ("other", "workspace:other", "argument")
    assert (found.root, found.common_dir, found.remotes) == (None, None, ())
    assert machine.keys() == ["app", "other"]
    assert Registry.load(machine.root).get("other").remotes == ()
    assert machine.resolve(repo).key == "app"


def test_the_home_folder_is_never_a_workspace_and_nothing_is_made_in_it(machine):
    (machine.work / "proj").mkdir()
    before = machine.everything()
    assert machine.resolve(machine.home).scope.name == "global"
    assert machine.resolve(machine.work / "proj").key == "proj"
    assert machine.everything() == before
    machine.known(machine.home)
    assert machine.key(machine.work / "proj") == "proj"
    assert sorted(path.name for path in machine.home.iterdir()) == [".lamina", "work"]


def test_a_nested_repository_in_a_tool_call_does_not_rebind_the_session(machine):
    repo = machine.repository(machine.work / "a", "https://github.com/acme/a")
    nested = machine.repository(repo / "vendor" / "b", "https://github.com/acme/b")
    payload = {"cwd": str(repo), "tool_name": "Read", "tool_input": {"file_path": str(nested / "x.py")}}
    assert machine.resolve(pick_directory(payload)).key == "a"
    assert machine.resolve(nested).key == "b"


@pytest.mark.parametrize(
    "payload, expected",
    [
        ({"workspace_roots": ["/r", "/s"]}, "/r"),
        ({"workspace_roots": []}, None),
        ({"workspace_roots": None, "cwd": ""}, None),
        ({"workspace_roots": ["file:///r%20x"]}, "/r x"),
        ({"workspace_roots": [{"uri": "file:///r"}]}, "/r"),
        ({"workspace_roots": [3, None, "", "relative", "/r"]}, "/r"),
        ({"workspace_roots": "/r"}, "/r"),
        ({"cwd": "/c", "workspace_roots": ["/r"]}, "/c"),
        ({"cwd": 7}, None),
    ],
)
def test_a_payload_names_its_folder_by_cwd_or_by_its_roots(payload, expected):
    assert pick_directory(payload) == expected


def test_worktrees_that_must_not_share_are_workspaces_of_their_own(machine):
    repo = machine.repository(machine.work / "app", "https://github.com/acme/app")
    (repo / ".lamina.toml").write_text('isolate = "worktree"\n')
    machine.git("add", ".lamina.toml", at=repo)
    machine.commit(repo, "isolate")
    one, two = (worktree(machine, repo, machine.work / name, name) for name in ("one", "two"))
    assert [machine.key(place) for place in (repo, one, two, one)] == ["app", "one", "two", "one"]
    assert Registry.load(machine.root).get("one").remotes == ()
    (one / "src").mkdir()
    assert machine.resolve(one / "src").root == one


def test_two_repositories_called_alike_are_two_workspaces(machine):
    one = machine.repository(machine.work / "one" / "api", "https://github.com/acme/api")
    two = machine.repository(machine.work / "two" / "api", "https://gitlab.com/other/api")
    digest = sha256(b"remote:gitlab.com/other/api").hexdigest()[:6]
    assert [machine.key(place) for place in (one, two, one)] == ["api", f"api-{digest}", "api"]
    assert machine.known(two).title == "api"


def test_clones_by_ssh_and_https_are_one_workspace(machine):
    urls = (
        "git@github.com:acme/app.git",
        "https://GitHub.com/acme/app",
        "ssh://git@github.com:22/acme/app.git/",
    )
    repos = [machine.repository(machine.work / str(n) / "clone", url) for n, url in enumerate(urls)]
    assert [machine.key(repo) for repo in repos] == ["app"] * 3
    assert machine.keys() == ["app"]
    assert Registry.load(machine.root).get("app").remotes == ("github.com/acme/app",)


def test_a_renamed_folder_keeps_its_workspace(machine):
    repo = machine.repository(machine.work / "app", "https://github.com/acme/app")
    machine.known(repo)
    moved = repo.rename(machine.work / "new-name")
    assert machine.key(moved) == "app"


def test_an_origin_that_changed_its_host_keeps_the_workspace(machine):
    repo = machine.repository(machine.work / "app", "https://github.com/acme/app")
    machine.known(repo)
    machine.git("remote", "set-url", "origin", "https://codeberg.org/acme/app2", at=repo)
    assert machine.key(repo) == "app"
    assert Registry.load(machine.root).get("app").remotes == ("codeberg.org/acme/app2", "github.com/acme/app")
    clone = machine.repository(machine.work / "elsewhere" / "app2", "git@codeberg.org:acme/app2.git")
    assert machine.key(clone) == "app"


def test_another_repository_at_the_same_path_is_another_workspace(machine):
    repo = machine.repository(machine.work / "app", "https://github.com/acme/app")
    machine.known(repo)
    shutil.rmtree(repo)
    machine.repository(repo, "https://github.com/other/app", commit=False)
    machine.commit(repo, "another beginning")
    assert machine.key(repo) == derive_key("app", "remote:github.com/other/app", {"app"}.__contains__)


def test_a_key_never_comes_from_a_path(machine):
    for said in ("a/b", "/home/me/app", "..\\app", "a b", "../x", "-x", "x" * 65, ".."):
        with pytest.raises(errors.BadKey) as caught:
            machine.resolve(machine.work, explicit=said)
        assert caught.value.hint
    odd = machine.repository(machine.work / "x", "https://example.org/a/b%2Fc")
    assert machine.key(odd) == "b-c"
    assert sorted(os.listdir(machine.root / "workspaces")) == ["b-c"]


# More of the rule.


def test_resolving_writes_nothing_and_starts_no_process(machine, monkeypatch):
    repo = machine.repository(machine.work / "app", "https://github.com/acme/app")
    before = machine.everything()
    monkeypatch.setenv("PATH", "")
    found = machine.resolve(repo)
    assert (found.key, found.known, found.identity) == ("app", False, "remote:github.com/acme/app")
    assert machine.asked == []
    assert machine.everything() == before


def test_the_environment_names_a_workspace_and_an_argument_overrules_it(machine):
    repo = machine.repository(machine.work / "app")
    assert machine.resolve(repo, env={"LAMINA_WORKSPACE": "team"}).key == "team"
    assert machine.resolve(None, env={"LAMINA_WORKSPACE": "team"}).key == "team"
    assert machine.resolve(repo, env={"LAMINA_WORKSPACE": " "}).key == "app"
    assert machine.resolve(repo, env={"LAMINA_WORKSPACE": "team"}, explicit="other").key == "other"
    with pytest.raises(errors.BadKey, match="LAMINA_WORKSPACE"):
        machine.resolve(repo, env={"LAMINA_WORKSPACE": "a/b"})


@pytest.mark.parametrize("said", ["global", "Global", "con", "aux.txt", "nul", "lpt1"])
def test_names_with_another_meaning_are_refused_with_a_hint(machine, said):
    with pytest.raises(errors.BadKey) as caught:
        machine.resolve(machine.work, explicit=said)
    assert caught.value.hint


@pytest.mark.parametrize("name", ["global", "con", "aux.txt", "日本語", "🚀", "...", "Ω"])
def test_derived_names_that_cannot_be_keys_get_a_tag_and_keep_their_title(machine, name):
    folder = machine.repository(machine.work / "x" / name)
    found = machine.known(folder)
    digest = sha256(f"path:{folder / '.git'}".encode()).hexdigest()[:6]
    slug = {"global": "global", "con": "con", "aux.txt": "aux-txt"}.get(name, "ws")
    assert (found.key, found.title) == (f"{slug}-{digest}", name)


@pytest.mark.parametrize(
    "name, slug",
    [
        ("Foo.Bar", "foo.bar"),
        ("Café Straße", "cafe-strasse"),
        (".dotfiles", "dotfiles"),
        ("my app (old)", "my-app-old"),
        ("日本語-app", "app"),
        ("x" * 80, "x" * 64),
        ("trailing.", "trailing"),
        ("snake_case", "snake_case"),
    ],
)
def test_a_name_becomes_a_key_as_far_as_ascii_holds_it(name, slug):
    assert slug_of(name) == slug


def test_a_long_name_leaves_room_for_the_tag():
    key = derive_key("x" * 80, "path:/x", lambda key: "-" not in key)
    assert len(key) == 64
    assert key.startswith("x" * 57 + "-")


def test_the_home_folder_as_a_repository_is_global_and_does_not_swallow_other_folders(machine):
    machine.repository(machine.home, "git@github.com:me/dotfiles")
    (machine.work / "plain").mkdir()
    assert machine.resolve(machine.home).key is None
    assert machine.resolve(machine.home / ".git" / "hooks").key is None
    assert machine.resolve(machine.work / "plain").key == "plain"
    assert machine.resolve("/").key is None


def test_the_store_and_all_in_it_are_global(machine):
    machine.store()
    for place in (machine.root, machine.root / "global", machine.root / "state" / "x"):
        assert machine.resolve(place).key is None


def test_a_link_to_the_home_folder_is_the_home_folder(machine, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(machine.home)
    assert machine.resolve(link).key is None


def test_a_submodule_is_its_own_workspace(machine):
    library = machine.repository(machine.work / "lib")
    repo = machine.repository(machine.work / "app", "https://github.com/acme/app")
    machine.git("submodule", "add", "-q", str(library), "deps/lib", at=repo)
    (repo / ".lamina.toml").write_text('workspace = "everything"\n')
    inside = machine.known(repo / "deps" / "lib")
    assert (inside.key, inside.project) == ("lib", None)
    assert machine.key(repo) == "everything"


def test_a_submodule_without_origin_is_named_after_its_folder(machine):
    library = machine.repository(machine.work / "lib")
    repo = machine.repository(machine.work / "app", "https://github.com/acme/app")
    machine.git("submodule", "add", "-q", str(library), "deps/lib", at=repo)
    machine.git("remote", "remove", "origin", at=repo / "deps" / "lib")
    found = machine.known(repo / "deps" / "lib")
    assert found.key == "lib"
    assert found.common_dir == repo / ".git" / "modules" / "deps" / "lib"


def test_a_bare_repository_and_its_worktrees_are_one_workspace(machine):
    source = machine.repository(machine.work / "source")
    machine.git("clone", "-q", "--bare", str(source), "app.git", at=machine.work)
    machine.git("remote", "remove", "origin", at=machine.work / "app.git")
    inside = worktree(machine, machine.work / "app.git", machine.work / "trees" / "x", "x")
    assert machine.key(inside) == "app"
    assert machine.key(machine.work / "app.git") == "app"


def test_a_hidden_bare_repository_is_named_after_the_folder_around_it(machine):
    source = machine.repository(machine.work / "source")
    (machine.work / "proj").mkdir()
    machine.git("clone", "-q", "--bare", str(source), ".bare", at=machine.work / "proj")
    machine.git("remote", "remove", "origin", at=machine.work / "proj" / ".bare")
    (machine.work / "proj" / ".git").write_text("gitdir: ./.bare\n")
    inside = worktree(machine, machine.work / "proj", machine.work / "proj" / "main-tree", "x")
    assert machine.key(inside) == "proj"
    assert machine.key(machine.work / "proj") == "proj"


def test_a_repository_with_its_git_folder_elsewhere(machine):
    (machine.work / "app").mkdir()
    machine.git("init", "-q", "--separate-git-dir", str(machine.work / "store.git"), at=machine.work / "app")
    found = machine.known(machine.work / "app")
    assert (found.key, found.common_dir) == ("app", machine.work / "store.git")


def test_relative_worktree_pointers_are_followed(machine):
    repo = machine.repository(machine.work / "app")
    tree = worktree(machine, repo, machine.work / "tree", "x")
    (tree / ".git").write_text("gitdir: ../app/.git/worktrees/tree\n")
    assert machine.resolve(tree).common_dir == repo / ".git"


def test_a_clone_of_a_local_repository_shares_its_workspace(machine):
    repo = machine.repository(machine.work / "app", "https://github.com/acme/app")
    machine.git("clone", "-q", str(repo), str(machine.work / "copy"), at=machine.work)
    assert machine.key(repo) == "app"
    assert machine.key(machine.work / "copy") == "app"


def test_the_local_repository_shares_the_workspace_of_its_clone(machine):
    repo = machine.repository(machine.work / "app", "https://github.com/acme/app")
    machine.git("clone", "-q", str(repo), str(machine.work / "copy"), at=machine.work)
    first = machine.key(machine.work / "copy")
    assert machine.key(repo) == first


def test_a_remote_that_came_later_keeps_the_workspace(machine):
    repo = machine.repository(machine.work / "app")
    machine.known(repo)
    machine.git("remote", "add", "origin", "https://github.com/acme/other-name", at=repo)
    assert machine.key(repo) == "app"
    assert Registry.load(machine.root).get("app").remotes == ("github.com/acme/other-name",)


def test_a_remote_that_went_away_keeps_the_workspace(machine):
    repo = machine.repository(machine.work / "app", "https://github.com/acme/app")
    machine.known(repo)
    machine.git("remote", "remove", "origin", at=repo)
    assert machine.key(repo) == "app"


def test_a_repository_known_before_its_first_commit_keeps_its_workspace(machine):
    repo = machine.repository(machine.work / "app", commit=False)
    machine.known(repo)
    machine.commit(repo, "first")
    machine.git("remote", "add", "origin", "https://github.com/acme/other-name", at=repo)
    assert machine.key(repo) == "app"
    machine.git("remote", "set-url", "origin", "https://github.com/acme/third-name", at=repo)
    assert machine.key(repo) == "app"


def test_a_folder_that_becomes_a_repository_keeps_its_workspace(machine):
    (machine.work / "app").mkdir()
    assert machine.key(machine.work / "app") == "app"
    machine.repository(machine.work / "app", "https://github.com/acme/other-name")
    assert machine.key(machine.work / "app") == "app"


def test_a_repository_that_is_none_any_more_keeps_its_workspace(machine):
    repo = machine.repository(machine.work / "app", "https://github.com/acme/app")
    assert machine.key(repo) == "app"
    shutil.rmtree(repo / ".git")
    assert machine.key(repo) == "app"


def test_a_stored_url_decides_before_this_machines_record(machine):
    one = machine.repository(machine.work / "one", "https://github.com/acme/one")
    two = machine.repository(machine.work / "two", "https://github.com/acme/two")
    machine.known(one)
    machine.known(two)
    machine.git("remote", "set-url", "origin", "https://github.com/acme/two", at=one)
    assert machine.key(one) == "two"


def test_a_worktree_whose_repository_moved_is_found_by_its_record(machine):
    repo = machine.repository(machine.work / "app")
    tree = worktree(machine, repo, machine.work / "tree", "x")
    assert machine.key(tree) == "app"
    repo.rename(machine.work / "moved")
    assert machine.resolve(tree).key == "app"


def test_a_name_given_by_hand_is_claimed_by_the_first_folder_of_that_name(machine):
    assert machine.key(None, explicit="app") == "app"
    one = machine.repository(machine.work / "one" / "app", "https://github.com/acme/app")
    two = machine.repository(machine.work / "two" / "app", "https://github.com/other/app")
    assert machine.key(one) == "app"
    assert machine.key(two) != "app"


def test_naming_the_folders_own_key_binds_the_folder(machine):
    repo = machine.repository(machine.work / "app", "https://github.com/acme/app")
    found = machine.known(repo, explicit="app")
    assert (found.how, found.remotes) == ("argument", ("github.com/acme/app",))
    assert machine.resolve(repo).known


# Folders that are gone.


def test_a_gone_folder_is_known_by_the_transcripts_remote_first(machine):
    repo = machine.repository(machine.work / "app", "https://github.com/acme/app")
    machine.known(repo)
    gone = machine.work / "gone"
    found = machine.resolve(gone, remote="git@github.com:acme/app.git")
    assert (found.key, found.how) == ("app", "remote")
    assert machine.resolve(repo, remote="git@github.com:acme/else.git").key == "app"


def test_a_gone_folder_is_known_by_this_machines_record(machine):
    repo = machine.repository(machine.work / "app", "https://github.com/acme/name")
    machine.known(repo)
    shutil.rmtree(repo)
    assert machine.resolve(repo).key == "name"
    assert machine.resolve(repo / "src" / "deep").key == "name"


def test_a_gone_worktree_in_the_usual_place_is_its_repositorys(machine):
    repo = machine.repository(machine.work / "app", "https://github.com/acme/app")
    assert machine.resolve(repo / ".claude" / "worktrees" / "x" / "src").key == "app"


def test_a_gone_folder_is_never_given_to_what_exists_above_it(machine):
    repo = machine.repository(machine.work / "app", "https://github.com/acme/app")
    (machine.work / "plain").mkdir()
    machine.known(repo)
    machine.known(machine.work / "plain")
    for gone in (repo / "sub", machine.work / "plain" / "sub", machine.work / "sub"):
        found = machine.resolve(gone)
        assert (found.key, found.identity) == ("sub", f"path:{gone}")
    digest = sha256(f"path:{machine.work / 'old' / 'app'}".encode()).hexdigest()[:6]
    assert machine.resolve(machine.work / "old" / "app").key == f"app-{digest}"


def test_a_gone_folder_is_one_workspace_for_all_its_sessions(machine):
    gone = machine.work / "old" / "thing"
    assert machine.key(gone) == "thing"
    assert machine.key(gone) == "thing"
    gone.mkdir(parents=True)
    assert machine.key(gone) == "thing"


def test_a_windows_path_from_elsewhere_is_named_after_its_folder(machine):
    found = machine.known("C:\\Users\\me\\Projects\\Shop")
    assert (found.key, found.title, found.identity) == ("shop", "Shop", "path:C:\\Users\\me\\Projects\\Shop")


# Hostile and broken folders.


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"gitdir:",
        b"gitdir: \n",
        b"nonsense",
        b"gitdir: /nowhere/at/all",
        b"\xff\xfe",
        b"gitdir: " + b"x" * 100_000,
    ],
)
def test_a_broken_git_file_makes_no_error(machine, content):
    (machine.work / "app").mkdir()
    (machine.work / "app" / ".git").write_bytes(content)
    assert machine.key(machine.work / "app") == "app"


def test_a_broken_git_folder_makes_no_error(machine):
    (machine.work / "app" / ".git").mkdir(parents=True)
    assert machine.key(machine.work / "app") == "app"
    os.mkfifo(machine.work / "app" / ".git" / "HEAD")
    assert machine.resolve(machine.work / "app").key == "app"


def test_an_odd_folder_makes_no_error(machine):
    for odd in ("", "relative/x", "a\0b", "~", "~/x"):
        assert machine.resolve(odd).key is None
    (machine.work / "file.txt").write_text("")
    assert machine.resolve(machine.work / "file.txt").key == "work"


def test_a_folder_whose_name_is_no_text_is_a_workspace(machine):
    odd = os.fsdecode(os.fsencode(machine.work) + b"/app-\xff")
    Path(odd).mkdir()
    assert machine.key(odd) == "app"
    assert machine.key(odd) == "app"


def test_an_include_in_the_configuration_is_not_followed(machine):
    repo = machine.repository(machine.work / "app")
    (machine.work / "extra").write_text('[remote "origin"]\n\turl = https://example.org/x/other\n')
    with (repo / ".git" / "config").open("a") as config:
        config.write("[include]\n\tpath = ../../extra\n")
    assert machine.key(repo) == "app"


# Branches.


def test_the_branch_is_read_from_the_worktrees_own_head(machine):
    repo = machine.repository(machine.work / "app")
    tree = worktree(machine, repo, machine.work / "tree", "feat/x-y")
    (tree / "sub").mkdir()
    assert current_branch(repo) == "main"
    assert current_branch(tree / "sub") == "feat/x-y"
    machine.git("checkout", "-q", "--detach", at=repo)
    assert current_branch(repo) is None
    assert current_branch(machine.work) is None


def test_the_branch_is_known_before_the_first_commit(machine):
    assert current_branch(machine.repository(machine.work / "new", commit=False)) == "main"


def test_a_pointer_to_its_own_folder_is_one_workspace(machine: Machine) -> None:
    folder = machine.work / "loop"
    folder.mkdir()
    (folder / ".git").write_text(f"gitdir: {folder}\n")
    assert machine.key(folder) == "loop"
    assert machine.keys() == ["loop"]


@pytest.mark.parametrize("name", ["a" * 5000, "\udcff", "new\nline", "日本"])
def test_a_gone_folder_of_any_name_is_a_workspace(machine: Machine, name: str) -> None:
    key = machine.key(f"/gone/{name}")
    assert key is not None
    assert is_key(key)
    assert machine.key(f"/gone/{name}") == key
