import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.store.folders import NOW, Machine

from lamina import errors
from lamina.store.identity import Workspace
from lamina.store.registry import Registry
from lamina.store.workspaces import associate, register


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def read(machine, rel):
    return json.loads((machine.root / rel).read_text())


def bind(machine, key, folder=None, **said):
    site = machine.resolve(folder).site if folder else None
    with machine.store().writing(label="associate", at=NOW) as batch:
        return associate(batch, key, site, root_commits=machine.root_commits, **said)


def test_the_first_use_writes_key_title_remote_and_folder(machine):
    repo = machine.repository(machine.work / "App", "https://user:pw@GitHub.com/acme/My-App.git?x=1")
    machine.known(repo)
    assert read(machine, "memory.json")["workspaces"] == {
        "my-app": {"title": "My-App", "created": "2026-11-30T12:00:00Z"}
    }
    assert read(machine, "workspaces/my-app/meta.json") == {
        "key": "my-app",
        "title": "My-App",
        "created": "2026-11-30T12:00:00Z",
        "remotes": ["github.com/acme/My-App"],
    }
    paths = read(machine, "state/paths.json")["paths"]
    assert {path: spot["kind"] for path, spot in paths.items()} == {
        str(repo / ".git"): "common",
        str(repo): "worktree",
    }
    assert paths[str(repo / ".git")]["roots"] == list(machine.root_commits(repo))


def test_no_folder_of_this_machine_travels_with_the_store(machine):
    machine.known(machine.repository(machine.work / "app"))
    for rel in ("memory.json", "workspaces/app/meta.json"):
        assert str(machine.home) not in (machine.root / rel).read_text()


def test_a_workspace_without_remote_gets_a_uid_and_keeps_it(machine):
    repo = machine.repository(machine.work / "app")
    machine.known(repo)
    uid = read(machine, "workspaces/app/meta.json")["uid"]
    assert len(uid) == 32
    machine.git("remote", "add", "origin", "https://github.com/acme/app", at=repo)
    machine.known(repo)
    meta = read(machine, "workspaces/app/meta.json")
    assert (meta["uid"], meta["remotes"]) == (uid, ["github.com/acme/app"])


def test_a_second_use_writes_nothing(machine):
    repo = machine.repository(machine.work / "app", "https://github.com/acme/app")
    machine.known(repo)
    asked = len(machine.asked)
    with machine.store().writing(label="register", at=NOW) as batch:
        register(batch, machine.resolve(repo), root_commits=machine.root_commits)
    assert batch.touched == set()
    assert len(machine.asked) == asked


def test_the_global_scope_needs_no_record(machine):
    with machine.store().writing(label="register", at=NOW) as batch:
        assert register(batch, Workspace(None), root_commits=machine.root_commits).key is None
    assert batch.touched == set()


def test_what_others_wrote_into_the_files_stays(machine):
    machine.known(machine.repository(machine.work / "one"))
    path = machine.root / "memory.json"
    config = json.loads(path.read_text()) | {"mine": {"ü": 1}}
    config["workspaces"]["one"]["colour"] = "red"
    path.write_text(json.dumps(config))
    machine.known(machine.repository(machine.work / "two"))
    after = json.loads(path.read_text())
    assert after["mine"] == {"ü": 1}
    assert after["workspaces"]["one"]["colour"] == "red"
    assert list(after["workspaces"]) == ["one", "two"]
    assert "ü" in path.read_text()


def test_two_writers_of_one_name_agree_on_two_keys(machine):
    machine.store()
    repos = [
        machine.repository(machine.work / str(n) / "api", f"https://host{n}.org/x/api") for n in range(4)
    ]
    with ThreadPoolExecutor(4) as pool:
        written = list(pool.map(machine.register, [machine.resolve(repo) for repo in repos]))
    keys = [workspace.key for workspace in written]
    assert len(set(keys)) == 4
    assert "api" in keys
    assert [machine.resolve(repo).key for repo in repos] == keys


def test_two_workspaces_in_one_batch_see_each_other(machine):
    repos = [
        machine.repository(machine.work / str(n) / "api", f"https://host{n}.org/x/api") for n in range(2)
    ]
    resolved = [machine.resolve(repo) for repo in repos]
    assert [workspace.key for workspace in resolved] == ["api", "api"]
    with machine.store().writing(label="import", at=NOW) as batch:
        keys = [register(batch, each, root_commits=machine.root_commits).key for each in resolved]
    assert keys[0] == "api"
    assert keys[1].startswith("api-")


def test_a_moved_folder_without_remote_is_bound_again_by_hand(machine):
    repo = machine.repository(machine.work / "app")
    machine.known(repo)
    moved = repo.rename(machine.work / "renamed")
    assert machine.resolve(moved).key == "renamed"
    assert bind(machine, "app", moved).key == "app"
    assert machine.key(moved) == "app"
    assert machine.keys() == ["app"]


def test_a_plain_folder_is_bound_by_hand(machine):
    (machine.work / "notes").mkdir()
    bind(machine, "diary", machine.work / "notes", title="My diary")
    found = machine.known(machine.work / "notes")
    assert (found.key, found.title) == ("diary", "My diary")


def test_binding_moves_the_remote_from_the_workspace_that_held_it(machine):
    old = machine.repository(machine.work / "old")
    machine.known(old)
    new = machine.repository(machine.work / "new", "https://github.com/acme/new")
    assert machine.key(new) == "new"
    bind(machine, "old", new)
    assert machine.key(new) == "old"
    clone = machine.repository(machine.work / "clone", "git@github.com:acme/new.git")
    assert machine.key(clone) == "old"
    assert Registry.load(machine.root).get("new").remotes == ()


def test_binding_makes_a_workspace_and_renames_a_title(machine):
    assert bind(machine, "team", title="The team").title == "The team"
    bind(machine, "team", title="Team two")
    assert machine.resolve(None, explicit="team").title == "Team two"
    assert read(machine, "workspaces/team/meta.json")["title"] == "Team two"
    with pytest.raises(errors.BadKey):
        bind(machine, "a/b")


def test_a_worktree_bound_by_hand_binds_its_repository(machine):
    repo = machine.repository(machine.work / "app")
    machine.git("worktree", "add", "-q", "-b", "x", str(machine.work / "tree"), at=repo)
    bind(machine, "shop", machine.work / "tree")
    assert machine.resolve(repo).key == "shop"


def test_a_store_of_dsh_memory_is_adopted_by_name(machine):
    machine.store()
    (machine.root / "memory.json").write_text(
        '{"schemaVersion": 2, "git": {"remote": "", "branch": "main"}, "workspaces": {"role-model": {"title": "role-model"}}}'
    )
    (machine.root / "workspaces" / "role-model").mkdir()
    (machine.root / "workspaces" / "role-model" / "meta.json").write_text('{"key": "role-model"}')
    repo = machine.repository(machine.work / "role-model", "https://github.com/acme/role-model")
    other = machine.repository(machine.work / "x" / "role-model", "https://github.com/other/role-model")
    assert machine.key(repo) == "role-model"
    assert machine.key(other) != "role-model"


def test_a_workspace_from_another_machine_without_remote_is_not_taken_by_name(machine):
    machine.store()
    (machine.root / "workspaces" / "app").mkdir()
    (machine.root / "workspaces" / "app" / "meta.json").write_text(
        '{"key": "app", "remotes": [], "uid": "00ff"}'
    )
    found = machine.known(machine.repository(machine.work / "app"))
    assert found.key.startswith("app-")


def test_a_folder_without_a_line_in_memory_json_is_known_and_gets_one(machine):
    repo = machine.repository(machine.work / "app", "https://github.com/acme/app")
    machine.known(repo)
    (machine.root / "memory.json").write_text('{"schemaVersion": 2}')
    assert machine.key(repo) == "app"
    assert read(machine, "memory.json")["workspaces"]["app"]["created"] == "2026-11-30T12:00:00Z"


@pytest.mark.parametrize("rel", ["workspaces/app/meta.json", "state/paths.json"])
@pytest.mark.parametrize("content", ["{", "[]", "null", "", '{"remotes": 7, "paths": [], "unclaimed": {}}'])
def test_a_damaged_record_is_told_and_never_overwritten_blindly(machine, rel, content):
    repo = machine.repository(machine.work / "app", "https://github.com/acme/app")
    machine.known(repo)
    (machine.root / rel).write_text(content)
    registry = Registry.load(machine.root)
    assert "app" in [known.key for known in registry]
    machine.register(machine.resolve(repo))
    if content in ("{", "[]", "null"):
        assert any(problem.startswith(f"{rel}:1") for problem in registry.problems) or rel.startswith("state")
        assert (machine.root / rel).read_text() == content


def test_the_registry_ignores_what_is_no_key_and_no_folder(machine):
    machine.store()
    (machine.root / "workspaces" / "file").write_text("")
    (machine.root / "workspaces" / "Upper").mkdir()
    (machine.root / "workspaces" / "link").symlink_to(machine.home)
    (machine.root / "memory.json").write_text(
        '{"schemaVersion": 2, "workspaces": {"../x": {}, "con": {}, "ok": 3}}'
    )
    assert list(Registry.load(machine.root).keys) == ["ok"]


def test_a_store_that_is_not_there_knows_nothing(machine):
    registry = Registry.load(machine.root)
    assert (list(registry), registry.keys, registry.problems) == ([], {}, [])
    assert not machine.root.exists()
