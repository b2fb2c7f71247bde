"""`lamina doctor` tells what of an install no longer stands."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tests.install.standing import Home

from lamina.install import check
from lamina.live import program


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.install("claude-code", mode="settings")
    return home


def told(home: Home, *, fix: bool = False) -> list[tuple[str, str]]:
    return [(each.level, each.message) for each in check.findings(home.site, fix=fix)]


def test_a_whole_install_is_fine(home):
    assert told(home) == [("ok", "claude-code: installed settings")]


def test_no_install_says_nothing(tmp_path):
    assert told(Home(tmp_path)) == []


def test_the_commands_are_gone_and_made_anew(home):
    shutil.rmtree(home.root / "state/bin")
    assert told(home)[0][0] == "error"
    assert "missing" in told(home)[0][1]
    assert told(home, fix=True)[0][0] == "ok"
    assert program.stale(home.root) == []
    assert len(told(home)) == 1


def test_the_interpreter_is_gone(home):
    program.write(home.root, python="/gone/bin/python")
    assert "/gone/bin/python" in told(home)[0][1]
    told(home, fix=True)
    assert len(told(home)) == 1


def test_the_host_lost_our_entries(home):
    (home.path / ".claude/settings.json").write_text("{}")
    assert told(home)[-1][0] == "error"
    assert "missing or changed in" in told(home)[-1][1]
    home.install("claude-code")
    assert len(told(home)) == 1


def test_settings_that_are_no_json_are_named(home):
    (home.path / ".claude/settings.json").write_text("{")
    assert "settings.json:1: not JSON" in told(home)[-1][1]


def test_registered_twice_is_told(home):
    settings = home.path / ".claude/settings.json"
    text = settings.read_text()
    home.install("claude-code", mode="plugin")
    said = json.loads(settings.read_text()) | json.loads(text)
    settings.write_text(json.dumps(said))
    assert "missing or changed" in told(home)[-1][1]
    home.install("claude-code")
    assert "state/bin/hook" not in settings.read_text()


def test_for_the_user_and_in_a_project_is_told(home):
    project = home.path / "p"
    project.mkdir()
    home.install("claude-code", mode="settings", project=project)
    assert any("heard twice" in message for _, message in told(home))


def test_recall_is_on_but_the_host_does_not_ask(home):
    asking = replace(home, recall=True)
    assert "recall is on" in told(asking)[0][1]
    asking.install("claude-code")
    assert len(told(asking)) == 1
    assert "recall is off" in told(home)[0][1]


def test_entries_of_an_older_install_are_told(home):
    shutil.rmtree(home.root)
    assert "earlier install" in told(home)[0][1]
    assert check.with_traces(home.site) == ["claude-code"]


def test_codex_hooks_that_nobody_trusted_are_told(tmp_path):
    home = Home(tmp_path)
    home.install("codex")
    assert "not trusted yet" in told(home)[0][1]
    config = home.path / ".codex/config.toml"
    state = f'\n[hooks.state."{home.path}/.codex/hooks.json:stop:0:0"]\ntrusted_hash = "x"\n'
    config.write_text(config.read_text() + state)
    assert told(home) == [("ok", "codex: installed")]
