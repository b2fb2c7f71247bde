import pytest
from tests.store.folders import NOW, Machine

from lamina import errors
from lamina.store import project as projects
from lamina.store.project import Trust, distrust, trust
from lamina.store.repository import find


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


@pytest.fixture
def repo(machine):
    return machine.repository(machine.work / "app", "https://github.com/acme/app")


def say(folder, text):
    (folder / ".lamina.toml").write_text(text)
    return folder / ".lamina.toml"


def trusting(machine, workspace):
    with machine.store().writing(label="trust", at=NOW) as batch:
        trust(batch, workspace.site.repository, workspace.project)


def test_no_file_is_no_project(machine, repo):
    assert machine.resolve(repo).project is None


def test_the_harmless_settings_count_at_once(machine, repo):
    say(
        repo,
        'isolate = "worktree"\nstage = "branch"\nmemory_path = "docs/memory"\ncapture = "off"\nexclude = ["x"]\nreview = "all"\n',
    )
    found = machine.resolve(repo)
    project = found.project
    assert found.warnings == ()
    assert (project.isolate, project.stage, project.folder, project.trusted) == (True, "branch", repo, False)
    assert set(project.allowed) == {"isolate", "stage", "memory_path", "capture", "exclude", "review"}


def test_every_other_key_waits_for_trust_with_one_warning(machine, repo):
    path = say(
        repo, 'model = "x/y"\ngit_remote = "https://evil.example/x"\ncapture = "on"\nstage = "branch"\n'
    )
    found = machine.resolve(repo)
    assert found.warnings == (f"{path}: model, git_remote, capture: ignored until `lamina trust`",)
    assert set(found.project.allowed) == {"stage"}
    trusting(machine, found)
    again = machine.resolve(repo)
    assert again.project.trusted
    assert again.warnings == ()
    assert set(again.project.allowed) == {"model", "git_remote", "capture", "stage"}


def test_trust_ends_when_the_content_changes(machine, repo):
    path = say(repo, 'model = "x/y"\n')
    trusting(machine, machine.resolve(repo))
    path.write_text('model = "x/z"\n')
    assert not machine.resolve(repo).project.trusted
    path.write_text('model = "x/y"\n')
    assert machine.resolve(repo).project.trusted


def test_trust_ends_when_the_repository_changes(machine, repo):
    say(repo, 'model = "x/y"\n')
    trusting(machine, machine.resolve(repo))
    machine.git("remote", "set-url", "origin", "https://github.com/evil/app", at=repo)
    assert not machine.resolve(repo).project.trusted


def test_trust_is_for_one_place(machine, repo):
    say(repo, 'model = "x/y"\n')
    trusting(machine, machine.resolve(repo))
    copy = machine.repository(machine.work / "copy", "https://github.com/acme/app")
    say(copy, 'model = "x/y"\n')
    assert not machine.resolve(copy).project.trusted


def test_trust_can_be_taken_back_and_covers_what_a_repository_brings(machine, repo):
    say(repo, 'model = "x/y"\n')
    found = machine.resolve(repo)
    assert not Trust.load(machine.root).accepts(found.identity)
    trusting(machine, found)
    assert Trust.load(machine.root).accepts(found.identity)
    with machine.store().writing(label="distrust", at=NOW) as batch:
        distrust(batch, found.site.repository, found.project)
    assert not machine.resolve(repo).project.trusted
    assert not Trust.load(machine.root).accepts(found.identity)


def test_a_repository_without_a_project_file_can_be_accepted(machine, repo):
    found = machine.resolve(repo)
    with machine.store().writing(label="trust", at=NOW) as batch:
        trust(batch, found.site.repository, None)
    assert Trust.load(machine.root).accepts("remote:github.com/acme/app")


def test_a_damaged_trust_record_trusts_nothing_and_is_not_overwritten(machine, repo):
    say(repo, 'model = "x/y"\n')
    found = machine.resolve(repo)
    machine.store()
    (machine.root / "state" / "trust.json").write_text("{")
    assert not machine.resolve(repo).project.trusted
    with pytest.raises(errors.BadInput, match=r"state/trust.json:1"):
        trusting(machine, found)
    assert (machine.root / "state" / "trust.json").read_text() == "{"


def test_a_workspace_of_its_own_name_needs_no_trust(machine, repo):
    say(repo, 'workspace = "shop"\n')
    assert machine.key(repo) == "shop"
    assert machine.key(repo) == "shop"
    clone = machine.repository(machine.work / "clone", "git@github.com:acme/app")
    say(clone, 'workspace = "shop"\n')
    assert machine.key(clone) == "shop"


def test_the_workspace_of_another_identity_needs_trust(machine, repo):
    machine.known(machine.repository(machine.work / "secret", "https://github.com/me/secret"))
    path = say(repo, 'workspace = "secret"\n')
    found = machine.resolve(repo)
    assert found.key == "app"
    assert found.warnings == (
        f"{path}: workspace 'secret' belongs to another project and is ignored until `lamina trust`",
    )
    trusting(machine, found)
    assert machine.key(repo) == "secret"
    assert machine.keys() == ["secret"]
    assert machine.resolve(machine.work / "secret").key == "secret"


def test_a_workspace_that_can_be_no_key_is_ignored_with_a_warning(machine, repo):
    for said in ("global", "a/b", "con"):
        say(repo, f'workspace = "{said}"\n')
        found = machine.resolve(repo)
        assert found.key == "app"
        assert len(found.warnings) == 1


def test_a_part_of_a_repository_may_have_its_own_workspace(machine, repo):
    (repo / "packages" / "pay" / "src").mkdir(parents=True)
    say(repo / "packages" / "pay", 'workspace = "pay"\n')
    assert machine.key(repo / "packages" / "pay" / "src") == "pay"
    assert machine.key(repo) == "app"
    assert machine.key(repo / "packages") == "app"


def test_the_nearest_file_counts(machine, repo):
    (repo / "a" / "b").mkdir(parents=True)
    say(repo, 'capture = "off"\n')
    say(repo / "a", 'exclude = ["x"]\n')
    assert set(machine.resolve(repo / "a" / "b").project.allowed) == {"exclude"}


@pytest.mark.parametrize(
    "text, line, told",
    [
        ('\nisolate = "branch"\n', 2, 'expected "worktree"'),
        ("stage = 1\n", 1, 'expected "branch"'),
        ("exclude = 'x'\n", 1, "expected a list of folder patterns"),
        ("exclude = [1]\n", 1, "expected a list of folder patterns"),
        ('memory_path = "../outside"\n', 1, "expected a path inside the project"),
        ('memory_path = "/etc"\n', 1, "expected a path inside the project"),
        ("\n\nworkspace = 3\n", 3, "expected a workspace key"),
        ('root = "/x"\n', 1, "expected no such setting in a project"),
    ],
)
def test_a_wrong_value_is_a_warning_with_its_line(machine, repo, text, line, told):
    path = say(repo, text)
    found = machine.resolve(repo)
    assert len(found.warnings) == 1
    assert found.warnings[0].startswith(f"{path}:{line}: ")
    assert told in found.warnings[0]
    assert found.project.allowed == {}


def test_a_memory_path_through_a_link_is_judged_by_where_it_leads(machine, repo):
    (repo / "out").symlink_to(machine.home)
    say(repo, 'memory_path = "out/memory"\n')
    assert "inside the project" in machine.resolve(repo).warnings[0]


def test_a_damaged_file_is_told_by_line_and_its_harmless_lines_count(machine, repo):
    path = say(
        repo, 'workspace = "shop"\ncapture = "off"\nmodel = "x/y"\nreview = = 3\n[table]\nstage = "branch"\n'
    )
    found = machine.resolve(repo)
    assert found.warnings[0].startswith(f"{path}:4: not TOML")
    assert found.key == "shop"
    assert dict(found.project.values) == {"workspace": "shop", "capture": "off"}
    trusting(machine, found)
    assert not machine.resolve(repo).project.trusted


@pytest.mark.parametrize(
    "content", [b"\xff", b"\xef\xbb\xbfstage = 'branch'\n", b"\0", b"a = " + b"[" * 3000, b""]
)
def test_a_project_file_of_any_bytes_is_never_fatal(machine, repo, content):
    (repo / ".lamina.toml").write_bytes(content)
    assert machine.resolve(repo).key == "app"


def test_a_folder_called_like_the_file_is_no_file(machine, repo):
    (repo / ".lamina.toml").mkdir()
    assert machine.resolve(repo).project is None


def test_home_root_and_store_are_no_projects(machine):
    say(machine.home, 'workspace = "everything"\n')
    (machine.work / "plain").mkdir()
    assert machine.resolve(machine.work / "plain").project is None
    assert machine.resolve(machine.work / "plain").key == "plain"


def test_a_file_above_a_repository_counts_unless_it_is_another_repositorys(machine, repo):
    def found(folder):
        return projects.find_file(folder, home=machine.home, store_root=machine.root, repository=find(folder))

    above = say(machine.work, "")
    nested = machine.repository(repo / "vendor" / "lib")
    assert found(repo) == above
    own = say(repo, "")
    assert found(repo) == own
    assert found(nested) is None


def test_a_worktree_inside_the_repository_is_ruled_by_the_repositorys_file(machine, repo):
    machine.git("worktree", "add", "-q", "-b", "x", ".worktrees/x", at=repo)
    say(repo, 'workspace = "shop"\n')
    assert machine.key(repo / ".worktrees" / "x") == "shop"
