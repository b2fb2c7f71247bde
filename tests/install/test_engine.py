"""Lamina goes into hosts and comes out of them again."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.install.standing import AT, HOSTS, Home

from lamina import errors
from lamina.install import engine, record
from lamina.store.installed import installed

SETTINGS = """\
{
  // mine
  "model": "opus",
  "hooks": {
    "Stop": [
      {"hooks": [{"type": "command", "command": "other-tool stop"}]}
    ],
    "PreCompact": []
  },
  "enabledPlugins": {}
}
"""
CONFIG = '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "other"\n'
WAYS = [("claude-code", "plugin"), ("claude-code", "settings"), ("codex", "")]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "First Last's 家")
    home.write(".claude/settings.json", SETTINGS, mode=0o640)
    home.write(".claude.json", '{"numStartups":3,"projects":{"/p":{"x":[1]}}}', mode=0o600)
    home.write(".codex/config.toml", CONFIG)
    home.write(".codex/hooks.json", '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}]}}')
    return home


def commands(value: object) -> list[str]:
    """Return every command below a value."""
    if isinstance(value, dict):
        own = [value["command"]] if isinstance(value.get("command"), str) else []
        return own + [each for inner in value.values() for each in commands(inner)]
    return [each for inner in value for each in commands(inner)] if isinstance(value, list) else []


@pytest.mark.parametrize(("host", "mode"), WAYS)
def test_uninstall_restores_every_file_to_the_byte(home, host, mode):
    before = home.snapshot()
    home.install(host, mode=mode)
    assert home.snapshot() != before
    home.uninstall(host)
    assert home.snapshot() == before
    left = {str(path.relative_to(home.root)) for path in home.root.rglob("*") if path.is_file()}
    assert {Path(name).parts[:2] for name in left} == {("state", "locks")}


@pytest.mark.parametrize(("host", "mode"), WAYS)
def test_in_an_empty_home_nothing_is_left(tmp_path, host, mode):
    home = Home(tmp_path)
    home.install(host, mode=mode)
    home.uninstall(host)
    assert home.snapshot() == {}


@pytest.mark.parametrize(("host", "mode"), WAYS)
def test_twice_is_once(home, host, mode):
    home.install(host, mode=mode)
    before = home.snapshot(store=True)
    assert home.install(host).changed == []
    assert home.snapshot(store=True) == before


@pytest.mark.parametrize(("host", "mode"), WAYS)
def test_a_dry_run_touches_nothing_and_shows_each_file(home, host, mode):
    before = home.snapshot(store=True)
    done = home.install(host, mode=mode, dry_run=True)
    assert home.snapshot(store=True) == before
    assert all(change.diff().startswith("--- ") for change in done.changed)
    assert any("+++ " + str(home.path) in change.diff() for change in done.changed)


def test_every_hook_is_registered_once_beside_those_of_others(home):
    home.install("codex")
    said = json.loads((home.path / ".codex/hooks.json").read_text())
    assert commands(said["hooks"]["Stop"])[0] == "mine"
    assert all(len(groups) == (2 if event == "Stop" else 1) for event, groups in said["hooks"].items())
    assert tomllib.loads((home.path / ".codex/config.toml").read_text()) == {
        "model": "x",
        "mcp_servers": {
            "other": {"command": "other"},
            "lamina": {"command": str(home.root / "state/bin/lamina"), "args": ["mcp"]},
        },
    }


def test_the_commands_run_in_a_shell_whatever_the_path(home):
    home.install("codex")
    said = json.loads((home.path / ".codex/hooks.json").read_text())
    ours = [command for command in commands(said) if "state/bin" in command]
    assert len(ours) == 7
    hook = home.root / "state/bin/hook"
    for gone in (False, True):
        if gone:
            shutil.rmtree(hook.parent)
        for command in ours:
            ran = subprocess.run(
                ["/bin/sh", "-c", command], input=b"{}", capture_output=True, env={"PATH": ""}, check=False
            )
            assert (ran.returncode, ran.stderr) == (0, b"")
            assert bool(ran.stdout) == (not gone and "SubagentStart" in command)


def test_one_way_takes_the_place_of_the_other(home):
    before = home.snapshot()
    home.install("claude-code", mode="settings")
    home.install("claude-code", mode="plugin")
    text = (home.path / ".claude/settings.json").read_text()
    assert "state/bin/hook" not in text
    assert '"lamina@lamina": true' in text
    assert (home.path / ".claude.json").read_bytes() == before[".claude.json"][1]
    assert not (home.path / ".claude/skills").exists()
    home.install("claude-code", mode="settings")
    assert not (home.root / "state/hosts").exists()
    home.uninstall("claude-code")
    assert home.snapshot() == before


def test_what_the_host_and_the_person_wrote_meanwhile_stays(home):
    home.install("claude-code", mode="settings")
    settings, config = home.path / ".claude/settings.json", home.path / ".claude.json"
    settings.write_text(settings.read_text().replace('"opus"', '"haiku"'))
    said = json.loads(config.read_text())
    config.write_text(json.dumps(said | {"numStartups": 9}, indent=2, sort_keys=True))
    home.uninstall("claude-code")
    assert settings.read_text() == SETTINGS.replace('"opus"', '"haiku"')
    assert json.loads(config.read_text()) == {"numStartups": 9, "projects": {"/p": {"x": [1]}}}


def test_a_hook_that_the_person_put_beside_ours_stays(home):
    home.install("codex")
    file = home.path / ".codex/hooks.json"
    said = json.loads(file.read_text())
    said["hooks"]["SessionStart"][0]["hooks"].append({"type": "command", "command": "theirs"})
    said["hooks"]["PreToolUse"].append({"hooks": [{"type": "command", "command": "guard"}]})
    file.write_text(json.dumps(said))
    home.uninstall("codex")
    assert json.loads(file.read_text()) == {
        "hooks": {
            "Stop": [{"hooks": [{"type": "command", "command": "mine"}]}],
            "SessionStart": [{"hooks": [{"type": "command", "command": "theirs"}]}],
            "PreToolUse": [{"hooks": [{"type": "command", "command": "guard"}]}],
        }
    }


def test_a_file_that_only_we_made_goes_even_if_the_host_laid_it_out_anew(tmp_path):
    home = Home(tmp_path)
    home.install("codex")
    file = home.path / ".codex/hooks.json"
    file.write_text(json.dumps(json.loads(file.read_text())))
    assert home.install("codex").changed == []
    home.uninstall("codex")
    assert home.snapshot() == {}


def test_the_person_deleted_a_file(home):
    home.install("codex")
    (home.path / ".codex/hooks.json").unlink()
    home.uninstall("codex")
    assert not (home.path / ".codex/hooks.json").exists()
    assert (home.path / ".codex/config.toml").read_text() == CONFIG


@pytest.mark.parametrize("lost", ["record", "store"])
def test_entries_of_an_older_install_are_found_and_replaced(home, lost):
    home.write(".claude/settings.json", SETTINGS.replace(',\n    "PreCompact": []', ""), mode=0o640)
    before = home.snapshot()
    for host in HOSTS:
        home.install(host, mode="settings" if host == "claude-code" else "")
    shutil.rmtree(home.root / "state" / "installed" if lost == "record" else home.root)
    other = Home(home.path)
    for host in HOSTS:
        other.install(host)
        text = (home.path / ".claude/settings.json").read_text()
        assert "state/bin/hook" not in text
        other.uninstall(host)
    for name in (".claude/settings.json", ".claude.json", ".codex/hooks.json", ".codex/config.toml"):
        assert home.snapshot()[name] == before[name], name


def test_another_store_takes_over(home, tmp_path):
    before = home.snapshot()
    home.install("codex")
    (tmp_path / "two").mkdir()
    site = home.site
    second = replace(site, root=tmp_path / "two" / "store")
    engine.install(second, "codex", at=AT)
    text = (home.path / ".codex/hooks.json").read_text()
    assert str(tmp_path / "two") in text
    assert "own" not in text
    engine.uninstall(second, "codex")
    assert home.snapshot()[".codex/hooks.json"] == before[".codex/hooks.json"]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        (".codex/hooks.json", '{"hooks": ', "hooks.json:1: not JSON"),
        (".codex/hooks.json", "\n\n{'a': 1}", "hooks.json:3: not JSON"),
        (".codex/hooks.json", '{"hooks": []}', "hooks.json: hooks is not an object"),
        (".codex/hooks.json", b"\xff\xfe{\x00}\x00", "hooks.json: is not UTF-8"),
        (".codex/config.toml", "a = = 1\n", "config.toml: can't be read"),
        (".codex/config.toml", "mcp_servers = 1\n", "config.toml: mcp_servers is not a table"),
    ],
)
def test_a_file_that_can_t_be_edited_is_refused_and_nothing_is_done(home, name, text, told):
    home.write(name, text)
    before = home.snapshot(store=True)
    with pytest.raises(errors.BadInput) as caught:
        home.install("codex")
    assert told in caught.value.message
    assert caught.value.hint
    after = home.snapshot(store=True)
    assert {key: value for key, value in after.items() if "locks" not in key and "state" not in key} == {
        key: value for key, value in before.items() if "locks" not in key
    } | {key: value for key, value in after.items() if key == home.root.name}


def test_a_read_only_file_is_left_alone(home):
    home.write(".codex/config.toml", CONFIG, mode=0o444)
    before = home.snapshot()
    with pytest.raises(errors.UnwritableStore, match="read-only"):
        home.install("codex")
    assert home.snapshot() == before


def test_a_folder_where_a_file_should_be(home):
    (home.path / ".codex/hooks.json").unlink()
    (home.path / ".codex/hooks.json").mkdir()
    before = home.snapshot()
    with pytest.raises(errors.UnsafePath):
        home.install("codex")
    assert home.snapshot() == before


def test_a_file_where_a_folder_should_be(home):
    home.write(".codex/skills", "no folder")
    before = home.snapshot()
    with pytest.raises(errors.UnsafePath):
        home.install("codex")
    assert home.snapshot() == before


def test_settings_behind_a_link_are_written_through_it(home):
    dotfiles = home.write("dotfiles/claude.json", SETTINGS, mode=0o640)
    link = home.path / ".claude/settings.json"
    link.unlink()
    link.symlink_to("../dotfiles/claude.json")
    before = home.snapshot()
    home.install("claude-code")
    assert link.is_symlink()
    assert "lamina@lamina" in dotfiles.read_text()
    assert dotfiles.stat().st_mode & 0o777 == 0o640
    home.uninstall("claude-code")
    assert home.snapshot() == before


def test_a_link_to_a_file_that_is_not_there_yet(tmp_path):
    home = Home(tmp_path)
    (home.path / ".codex").mkdir()
    (home.path / ".codex/config.toml").symlink_to("../dotfiles/codex/config.toml")
    before = home.snapshot()
    home.install("codex")
    assert "lamina" in (home.path / "dotfiles/codex/config.toml").read_text()
    home.uninstall("codex")
    assert home.snapshot() == before


def test_a_file_of_megabytes_is_no_trouble(tmp_path):
    home = Home(tmp_path)
    projects = {f"/p{number}": {"history": ["x" * 50] * 20} for number in range(1000)}
    home.write(".claude.json", json.dumps({"projects": projects}, indent=2))
    before = home.snapshot()
    start = time.process_time()
    home.install("claude-code", mode="settings")
    assert time.process_time() - start < 6
    home.uninstall("claude-code")
    assert home.snapshot() == before


@pytest.mark.parametrize("text", ["", "\n", "{}", "{ }\n", "\ufeff{\r\n}\r\n", "// only a comment\n"])
def test_small_files_come_back_as_they_were(home, text):
    home.write(".codex/hooks.json", text.encode())
    home.write(".codex/config.toml", "")
    before = home.snapshot()
    home.install("codex")
    home.uninstall("codex")
    assert home.snapshot() == before


def test_a_server_that_the_person_named_lamina_comes_back(home):
    home.write(".codex/config.toml", CONFIG + '\n[mcp_servers.lamina]\ncommand = "my-own"\n')
    before = home.snapshot()
    home.install("codex")
    file = home.path / ".codex/config.toml"
    file.write_text(file.read_text() + "\n[tui]\nx = 1\n")
    home.uninstall("codex")
    said = tomllib.loads(file.read_text())
    assert said["mcp_servers"]["lamina"] == {"command": "my-own"}
    assert said["tui"] == {"x": 1}
    assert home.snapshot()[".codex/hooks.json"] == before[".codex/hooks.json"]


def test_a_project_has_an_install_of_its_own(home):
    project = home.path / "src" / "港"
    home.write("src/港/.codex/config.toml", "")
    before = home.snapshot()
    for host in HOSTS:
        home.install(host, project=project)
        home.install(host)
    assert installed(home.root)["codex"].projects == (str(project),)
    assert (project / ".codex/hooks.json").exists()
    for host in HOSTS:
        home.uninstall(host, project=project, everywhere=False)
    assert "lamina@lamina" in (home.path / ".claude/settings.json").read_text()
    assert (home.root / "state/hosts/claude-code/lamina/hooks/hooks.json").exists()
    assert not (project / ".claude").exists()
    for host in HOSTS:
        home.install(host, project=project)
        home.uninstall(host)
    assert home.snapshot() == before
    assert installed(home.root) == {}


def test_what_claude_code_noted_of_the_plugin_goes_with_it(home):
    home.install("claude-code")
    other = {"source": {"source": "github", "repo": "a/b"}}
    noted = {"other": other, "lamina": {"installLocation": str(home.root / "state/hosts/claude-code")}}
    file = home.write(".claude/plugins/known_marketplaces.json", json.dumps(noted))
    assert home.install("claude-code").changed == []
    used = home.write(".claude.json", '{"pluginUsage":{"lamina@lamina":{"n":9},"b":1},"x":2}')
    home.uninstall("claude-code")
    assert json.loads(file.read_text()) == {"other": other}
    assert used.read_text() == '{"pluginUsage":{"b":1},"x":2}'


def test_state_bin_stays_while_a_host_is_installed(home):
    for host in HOSTS:
        home.install(host)
    home.uninstall("codex")
    assert (home.root / "state/bin/hook").exists()
    home.uninstall("claude-code")
    assert not (home.root / "state/bin").exists()


def test_uninstalling_what_is_not_there_makes_no_store(tmp_path):
    home = Home(tmp_path)
    assert [done.changed for done in home.uninstall("codex")] == [[]]
    assert home.snapshot(store=True) == {}


def test_the_first_install_counts_for_since(home):
    home.install("codex")
    engine.install(replace(home.site, recall=True), "codex", at=AT + timedelta(days=1))
    assert installed(home.root)["codex"].since == AT
    matcher = json.loads((home.path / ".codex/hooks.json").read_text())["hooks"]["PreToolUse"][0]["matcher"]
    assert matcher.startswith("^(?:Bash|")


KILLED = """
import os, sys
from pathlib import Path
from lamina.install import engine, record, disk
from tests.install.standing import AT, Home

steps, what, left = 0, sys.argv[2], int(sys.argv[3])

def watch(event, args):
    global steps
    if event in ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree") or (
        event == "open" and isinstance(args[2], int) and args[2] & os.O_WRONLY
    ):
        steps += 1
        if steps == left:
            os.kill(os.getpid(), 9)

home = Home(Path(sys.argv[1]))
sys.addaudithook(watch)
if what == "install":
    home.install("claude-code", mode="settings")
else:
    home.uninstall("claude-code")
"""


@pytest.mark.parametrize("what", ["install", "uninstall"])
def test_a_kill_at_any_step_can_be_completed_or_taken_back(home, tmp_path, what):
    """Each write, rename and removal is a step; the process is killed before it."""
    before = home.snapshot()
    if what == "uninstall":
        home.install("claude-code", mode="settings")
    start = tmp_path / "start"
    shutil.copytree(home.path, start, symlinks=True)
    survived = False
    for step in range(1, 200):
        shutil.rmtree(home.path)
        shutil.copytree(start, home.path, symlinks=True)
        ran = subprocess.run(
            [sys.executable, "-c", KILLED, str(home.path), what, str(step)],
            cwd=Path(__file__).parents[2],
            check=False,
        )
        survived = ran.returncode == 0
        assert survived or ran.returncode == -signal.SIGKILL
        if step % 2:
            home.install("claude-code", mode="settings")
            assert len(commands(json.loads((home.path / ".claude.json").read_text()))) == 1
        home.uninstall("claude-code")
        assert home.snapshot() == before, step
        if survived:
            break
    assert survived


def test_ten_installs_at_once_are_one(home):
    before = home.snapshot()
    code = (
        "import sys; from pathlib import Path; from tests.install.standing import Home;"
        "Home(Path(sys.argv[1])).install('codex')"
    )
    with ThreadPoolExecutor(10) as pool:
        ran = pool.map(
            lambda _: subprocess.run(
                [sys.executable, "-c", code, str(home.path)],
                cwd=Path(__file__).parents[2],
                capture_output=True,
                check=False,
            ),
            range(10),
        )
    assert [each.returncode for each in ran] == [0] * 10
    said = json.loads((home.path / ".codex/hooks.json").read_text())
    assert len([command for command in commands(said) if "state/bin" in command]) == 7
    home.uninstall("codex")
    assert home.snapshot() == before


FULL = """
import resource, sys
from pathlib import Path
from tests.install.standing import Home

def watch(event, args):
    # A disk that fills up: what is written behind the record is cut off.
    if event == "open" and "skills" in str(args[0]):
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
    elif event == "os.remove":
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)

sys.addaudithook(watch)
Home(Path(sys.argv[1])).install("codex")
"""


def test_a_failed_write_takes_back_what_was_written(home):
    (home.path / ".codex/skills").mkdir()
    before = home.snapshot()
    ran = subprocess.run(
        [sys.executable, "-c", FULL, str(home.path)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "UnwritableStore" in ran.stderr, ran.stderr
    assert home.snapshot() == before
    assert record.records(home.root, "codex") == []


AGAIN = """
import resource, sys
from pathlib import Path
from tests.install.standing import Home

done = []

def watch(event, args):
    # A disk that is full between the first file and the second, and has room again for what is taken back.
    if event == "os.remove" and ".codex" in str(args[0]):
        done.append(args)
        most = 1000 if len(done) == 1 else resource.RLIM_INFINITY
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))

sys.addaudithook(watch)
Home(Path(sys.argv[1]), recall=True).install("codex")
"""


def test_a_failed_write_of_a_second_install_leaves_the_first_as_it_was(home):
    home.install("codex")
    toml = home.path / ".codex/config.toml"
    toml.write_text(
        toml.read_text().replace('args = ["mcp"]', 'args = ["mcp", "--old"]') + "# " + "x" * 2_000
    )
    before = home.snapshot()
    kept = record.records(home.root, "codex")
    ran = subprocess.run(
        [sys.executable, "-c", AGAIN, str(home.path)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "UnwritableStore" in ran.stderr, ran.stderr
    assert home.snapshot() == before
    assert record.records(home.root, "codex") == kept


def test_an_install_is_quick(home):
    start = time.process_time()
    home.install("codex")
    assert time.process_time() - start < 5
