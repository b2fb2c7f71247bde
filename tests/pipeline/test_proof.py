"""Proof from a real repository: what is found, what is never shown, and that a hostile one runs nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest
from tests.pipeline.opening import NOW, Clock, opened

from lamina.pipeline.proof import BYTES, LINES, gather, said_in, terms_of
from lamina.store import tracked

IDENTITY = ("-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgSign=false")


class Project:
    """A memory seen from a project that is a git repository."""

    def __init__(self, tmp_path: Path) -> None:
        self.clock = Clock(NOW - timedelta(days=200))
        self.folder = tmp_path / "harbor"
        self.folder.mkdir()
        self.home = tmp_path / "home"
        self.home.mkdir()
        self.git("init", "-q", "-b", "main")
        self.memory = opened(tmp_path, clock=self.clock)

    def git(self, *args: str, day: str = "2026-05-01") -> str:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "GIT_AUTHOR_DATE": f"{day}T12:00:00Z",
            "GIT_COMMITTER_DATE": f"{day}T12:00:00Z",
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        done = subprocess.run(
            ["git", *IDENTITY, *args], cwd=self.folder, env=env, capture_output=True, check=True, timeout=60
        )
        return done.stdout.decode()

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def commit(self, message: str = "work", day: str = "2026-05-01") -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message, day=day)

    def remember(self, text: str, **given) -> str:
        return self.memory.remember(text, **given).id

    def proof(self, id_: str) -> tuple[str, ...]:
        located = self.memory.store.find(id_)
        assert located is not None
        return gather(self.memory.store, [located]).get(id_, ())


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def test_lines_that_hold_an_entrys_terms_are_shown_with_their_place(project):
    project.write("src/config.py", "import os\nSTAGING_PORT = 9090\n")
    project.write("README.md", "Nothing of that.\n")
    project.commit()
    id_ = project.remember("The staging server reads `STAGING_PORT` from src/config.py")
    assert project.proof(id_) == ("src/config.py: is tracked", "src/config.py:2: STAGING_PORT = 9090")


def test_commits_since_the_entrys_day_that_name_a_term_or_touch_its_file_are_told(project):
    project.write("src/config.py", "STAGING_PORT = 8081\n")
    project.commit("Start with STAGING_PORT", day="2026-01-02")
    id_ = project.remember("The staging server reads `STAGING_PORT` from src/config.py")
    project.write("src/config.py", "STAGING_PORT = 9090\n")
    project.commit("Move staging behind the proxy", day="2026-07-02")
    project.write("other.py", "x = 1\n")
    project.commit("Something else", day="2026-07-03")
    told = [line for line in project.proof(id_) if line.startswith("commit ")]
    assert [line.partition(": ")[2] for line in told] == ["Move staging behind the proxy (src/config.py)"]
    assert told[0].split()[2] == "2026-07-02:"


def test_a_deleted_file_is_told_by_the_commit_that_deleted_it(project):
    project.write("deploy/jenkins.groovy", "stage('x')\n")
    project.commit(day="2026-01-02")
    id_ = project.remember("Releases are built by deploy/jenkins.groovy")
    project.git("rm", "-q", "deploy/jenkins.groovy")
    project.commit("Build releases with GitHub Actions", day="2026-08-01")
    assert project.proof(id_)[0] == "deploy/jenkins.groovy: was deleted or moved, is no longer tracked"
    assert any(
        "Build releases with GitHub Actions (deploy/jenkins.groovy)" in line for line in project.proof(id_)
    )


def test_a_file_that_never_was_or_is_there_again_is_not_told_as_gone(project):
    project.write("a/now.py", "x = 1\n")
    project.commit(day="2026-01-02")
    id_ = project.remember("It is in a/now.py, a/never.py and ../a/other.py")
    project.git("rm", "-q", "a/now.py")
    project.commit("Take it out", day="2026-08-01")
    project.write("a/now.py", "x = 2\n")
    project.commit("Put it back", day="2026-08-02")
    assert not any("no longer" in line for line in project.proof(id_))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("src/config.py:2: STAGING_PORT = 9090", "STAGING_PORT = 9090"),
        ("设置/缓存.py:1: 缓存 = 1", "缓存 = 1"),
        ("commit 0123456789 2026-08-01: Remove it (a.py, b.py)", "Remove it"),
        ("commit 0123456789 2026-08-01: Remove it", "Remove it"),
        ("a.py: is no longer tracked", "a.py: is no longer tracked"),
        ("", ""),
    ],
)
def test_what_a_line_says_without_its_place(line, said):
    assert said_in(line) == said


def test_untracked_and_ignored_files_are_never_shown(project):
    project.write(".gitignore", "local.env\n")
    project.write("local.env", "STAGING_PORT=1111\n")
    project.commit()
    project.write("scratch.py", "STAGING_PORT = 2222\n")
    id_ = project.remember("The staging port is in `STAGING_PORT`")
    assert project.proof(id_) == ()


@pytest.mark.parametrize("what", ["file", "folder", "committed"])
def test_links_are_never_followed_out_of_the_repository(project, tmp_path, what):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "config.py").write_text("STAGING_PORT = 31337\n")
    if what == "committed":
        (project.folder / "config.py").symlink_to(outside / "config.py")
        project.commit()
    else:
        path = project.write("src/config.py", "nothing = 1\n")
        project.commit()
        path.unlink()
        if what == "file":
            path.symlink_to(outside / "config.py")
        else:
            path.parent.rmdir()
            path.parent.symlink_to(outside)
    id_ = project.remember("The staging port is in `STAGING_PORT` of config.py")
    assert "31337" not in "".join(project.proof(id_))


def test_secrets_beside_a_term_are_redacted_and_keys_left_out(project):
    token = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    key = (
        "-----BEGIN RSA PRIVATE "
        "KEY-----\n" + "MIIEowIBAAKCAQEA7\nSTAGING_PORT\n" * 3 + "-----END RSA PRIVATE KEY-----\n"
    )
    project.write("a.py", f'STAGING_PORT = 9090; TOKEN = "{token}"\n')
    project.write("key.pem", key)
    project.commit(f"Use {token} for STAGING_PORT", day="2026-08-01")
    told = "\n".join(project.proof(project.remember("The staging port is in `STAGING_PORT`")))
    assert "a.py:1: STAGING_PORT = 9090" in told
    assert token not in told
    assert "MIIE" not in told
    assert "key.pem:" not in told


def test_little_is_shown_however_much_there_is(project):
    for number in range(40):
        project.write(f"f{number}.py", f"STAGING_PORT = {number}  # {'x' * 900}\n" * 40)
    project.commit()
    told = project.proof(project.remember("The staging port is in `STAGING_PORT`"))
    assert 0 < len(told) <= LINES
    assert sum(len(line.encode()) + 1 for line in told) <= BYTES


def test_a_number_alone_is_no_proof_without_company(project):
    project.write("style.css", "margin: 80px 81px;\n.x { width: 80 }\n")
    project.write("server.py", "the staging port = 80\n")
    project.commit()
    assert project.proof(project.remember("The staging port is 80")) == (
        "server.py:1: the staging port = 80",
    )


def test_a_part_of_a_longer_word_is_no_proof(project):
    project.write("a.py", "MY_STAGING_PORTS = 1\n")
    project.commit()
    assert project.proof(project.remember("It is in `STAGING_PORT`")) == ()


def test_laminas_own_records_are_no_proof(project):
    for name in ("memory/2026-05-01-ports-memory.md", "memory/digest.md", "state/digests/latest.md"):
        project.write(name, "- The staging port is in `STAGING_PORT`\n")
    project.commit()
    assert project.proof(project.remember("The staging port is in `STAGING_PORT`")) == ()


def test_other_scripts_are_looked_up(project):
    project.write("设置/缓存.py", '缓存 = "Redis"  # 缓存后端\n')
    project.commit()
    told = project.proof(project.remember("项目使用 Redis 作为「缓存后端」"))
    assert told == ('设置/缓存.py:1: 缓存 = "Redis"  # 缓存后端',)


def test_global_entries_and_folders_that_are_gone_have_no_proof(project):
    project.write("a.py", "STAGING_PORT = 1\n")
    project.commit()
    everywhere = project.remember("It is in `STAGING_PORT`", scope="global")
    assert project.proof(everywhere) == ()
    here = project.remember("It is in `STAGING_PORT` here")
    assert project.proof(here) != ()
    project.folder.rename(project.folder.with_name("moved"))
    assert project.proof(here) == ()


def test_a_repository_above_the_folder_is_not_read(tmp_path):
    memory = opened(tmp_path, project="plain")
    (tmp_path / "plain" / "a.py").write_text("STAGING_PORT = 1\n")
    id_ = memory.remember("It is in `STAGING_PORT`").id
    located = memory.store.find(id_)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)  # such as a home folder's dotfiles
    subprocess.run(["git", "-C", str(tmp_path), "add", "plain/a.py"], check=True)
    assert gather(memory.store, [located]) == {}
    subprocess.run(["git", "init", "-q", str(tmp_path / "plain")], check=True)
    subprocess.run(["git", "-C", str(tmp_path / "plain"), "add", "a.py"], check=True)
    assert gather(memory.store, [located]) == {id_: ("a.py:1: STAGING_PORT = 1",)}


HOSTILE = "#!/bin/sh\necho ran >> {mark}\ncat\nexit 0\n"


def test_a_hostile_repository_runs_nothing(project, tmp_path):
    mark = tmp_path / "ran"
    script = tmp_path / "evil.sh"
    script.write_text(HOSTILE.format(mark=mark))
    script.chmod(0o755)
    project.write("a.py", "STAGING_PORT = 9090\n")
    project.write(".gitattributes", "*.py diff=evil filter=evil merge=evil\n")
    project.write("-e", "STAGING_PORT = 1\n")
    project.write("--open-files-in-pager=x", "STAGING_PORT = 2\n")
    project.write("new\nline.py", "STAGING_PORT = 3\n")
    project.commit("STAGING_PORT moved", day="2026-08-01")
    for hook in ("post-checkout", "post-index-change", "pre-commit", "fsmonitor-watchman"):
        path = project.folder / ".git" / "hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(HOSTILE.format(mark=mark))
        path.chmod(0o755)
    for name, value in {
        "core.fsmonitor": script, "diff.external": script, "diff.evil.textconv": script,
        "diff.evil.command": script, "filter.evil.clean": script, "filter.evil.smudge": script,
        "filter.evil.process": script, "core.pager": script, "pager.log": script, "pager.grep": script,
        "log.showSignature": "true", "gpg.program": script, "core.sshCommand": script, "core.editor": script,
        "core.hooksPath": project.folder / ".git" / "hooks", "color.grep": "always", "color.ui": "always",
        "grep.patternType": "perl", "grep.column": "true", "format.pretty": "oneline",
        "core.askPass": script, "credential.helper": f"!{script}", "core.alternateRefsCommand": script,
        "submodule.recurse": "true", "grep.fullName": "false", "log.decorate": "full",
    }.items():  # fmt: skip
        project.git("config", name, str(value))
    id_ = project.remember(
        "The staging port is in `STAGING_PORT`, never `--open-files-in-pager=evil` or `-e`"
    )
    if mark.exists():
        mark.unlink()  # what git itself did while the test set the scene
    told = project.proof(id_)
    assert not mark.exists()
    assert "a.py:1: STAGING_PORT = 9090" in told
    assert "-e:1: STAGING_PORT = 1" in told
    assert "new\ufffdline.py:1: STAGING_PORT = 3" in told
    assert any(line.startswith("commit ") and "STAGING_PORT moved" in line for line in told)
    assert all("\n" not in line and "\x1b" not in line for line in told)


def test_objects_that_are_missing_are_not_fetched(project, tmp_path):
    mark = tmp_path / "ran"
    script = tmp_path / "evil.sh"
    script.write_text(HOSTILE.format(mark=mark))
    script.chmod(0o755)
    project.write("a.py", "STAGING_PORT = 9090\n")
    project.commit()
    project.write("a.py", "STAGING_PORT = 9091\n")
    project.commit("Change STAGING_PORT", day="2026-08-01")
    other = tmp_path / "other"
    subprocess.run(["git", "clone", "-q", "--bare", str(project.folder), str(other)], check=True)
    for name, value in {
        "core.repositoryFormatVersion": "1", "extensions.partialClone": "origin",
        "remote.origin.url": str(other), "remote.origin.promisor": "true",
        "remote.origin.uploadpack": str(script), "protocol.allow": "always",
    }.items():  # fmt: skip
        project.git("config", name, value)
    id_ = project.remember("The staging port is in `STAGING_PORT`")
    # every object but those of the branch's tip commit is gone: reading them would fetch
    keep = project.git("rev-parse", "HEAD").strip()
    for path in (project.folder / ".git" / "objects").glob("??/*"):
        if path.parent.name + path.name != keep:
            path.unlink()
    project.git("update-index", "--skip-worktree", "a.py")  # makes a search read the object, not the file
    mark.unlink(missing_ok=True)
    project.proof(id_)
    assert not mark.exists()


def test_a_worktree_that_its_settings_move_elsewhere_is_not_read(project, tmp_path):
    project.write("id_rsa", "STAGING_PORT = 1\n")
    project.commit()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "id_rsa").write_text("STAGING_PORT is secret 31337\n")
    project.git("config", "core.worktree", str(elsewhere))
    id_ = project.remember("The staging port is in `STAGING_PORT`")
    assert "31337" not in "".join(project.proof(id_))


def test_a_damaged_repository_gives_nothing(project):
    project.write("a.py", "STAGING_PORT = 1\n")
    project.commit()
    id_ = project.remember("It is in `STAGING_PORT`")
    (project.folder / ".git" / "index").write_bytes(b"DIRC" + b"\xff" * 64)
    assert project.proof(id_) == ()
    (project.folder / ".git" / "HEAD").write_text("nonsense")
    assert project.proof(id_) == ()


def test_pipes_and_huge_files_and_binaries_are_passed_over(project):
    project.write("big.py", "STAGING_PORT = 1\n" + "x = 1\n" * 400_000)
    (project.folder / "bin.dat").write_bytes(b"STAGING_PORT\0\1\2" * 50)
    path = project.write("pipe.py", "STAGING_PORT = 2\n")
    project.write("latin.py", "x\n")
    (project.folder / "latin.py").write_bytes("STAGING_PORT = 'é'\n".encode("latin-1"))
    project.commit()
    path.unlink()
    os.mkfifo(path)
    start = time.monotonic()
    assert project.proof(project.remember("It is in `STAGING_PORT`")) == ()
    assert time.monotonic() - start < 10


def test_git_is_ended_when_enough_was_read(project):
    project.write("a.py", "STAGING_PORT = 1\n" * 5)
    project.commit()
    from lamina.store import git

    ran = git.head(project.folder, ["log", "--format=%H"], most=7)
    assert (len(ran.out), ran.code) == (7, -1)
    script = "import time; time.sleep(60)"
    start = time.monotonic()
    ran = git.head(
        project.folder, ["-c", f"alias.slow=!{sys.executable} -c '{script}'", "slow"], most=10, timeout_s=0.5
    )
    assert ran.code == -1
    assert time.monotonic() - start < 20


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Set `npm run build` in package.json", {"npm run build", "package.json"}),
        ("The API listens on 8081", {"8081", "API"}),
        (
            "Use HTTP_PROXY and parseConfig from lib/net.ts, v2.14.0",
            {"HTTP_PROXY", "parseConfig", "lib/net.ts", "v2.14.0"},
        ),
        ("We deploy with Ansible every week", {"Ansible"}),
        ("部署使用 kubernetes 集群", {"kubernetes"}),
        ("Pass --no-cache to docker", {"--no-cache"}),
        ("See https://example.com/a/b?c=d.", {"https://example.com/a/b?c=d"}),
        ("Put it in C:\\work\\app.ini", {"C:\\work\\app.ini"}),
        ("On 2026-05-01 the team met and talked", set()),
    ],
)
def test_the_terms_of_a_text(text, wanted):
    found = {term.text for term in terms_of(text)}
    assert wanted <= found if wanted else not found


def test_terms_take_linear_time():
    start = time.monotonic()
    for text in (
        "a_" * 50_000,
        "`" * 100_000,
        "a/" * 50_000,
        "9," * 50_000,
        "A-" * 50_000,
        "a." * 50_000,
        "'" * 100_000,
    ):
        terms_of(text)
    assert time.monotonic() - start < 5


def test_tracked_files_are_plain_files_alone(project):
    project.write("a b/é.py", "x\n")
    (project.folder / "link").symlink_to("a b/é.py")
    project.commit()
    assert tracked.tracked_files(project.folder) == ["a b/é.py"]
    assert tracked.read_tracked(project.folder, "a b/é.py") == "x\n"
    for path in ("../harbor/a b/é.py", ".git/config", "link", "", "a b", "/etc/passwd", "a\0b"):
        assert tracked.read_tracked(project.folder, path) is None
