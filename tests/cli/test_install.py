"""`lamina install` and `lamina uninstall`, as a person calls them."""

from __future__ import annotations

import json


def test_it_says_what_was_done_what_is_next_and_how_to_undo_it(lamina):
    (lamina.home / ".codex").mkdir()
    ran = lamina("install", "codex")
    assert ran.code == 0
    assert f"+ {lamina.home / '.codex/hooks.json'}" in ran.out
    for words in ("start codex anew", "/hooks", "capture is on", "lamina uninstall codex"):
        assert words in ran.out
    again = lamina("install", "codex")
    assert "installed already" in again.out
    assert "hosts       codex" in lamina("status").out
    gone = lamina("uninstall", "codex")
    assert gone.code == 0
    assert list((lamina.home / ".codex").iterdir()) == []
    assert "nothing of Lamina" in lamina("uninstall", "codex").out


def test_without_a_host_it_lists_them(lamina):
    (lamina.home / ".codex").mkdir()
    ran = lamina("install", "--json")
    row = next(row for row in ran.json["hosts"] if row["host"] == "codex")
    assert row == {"host": "codex", "found": True, "installed": False, "as": "", "projects": []}
    assert not lamina.root.exists()


def test_all_takes_what_is_there_and_one_that_fails_stops_no_other(lamina):
    (lamina.home / ".codex").mkdir()
    (lamina.home / ".claude").mkdir()
    (lamina.home / ".claude/settings.json").write_text("{")
    lamina.monkeypatch.setenv("PATH", "/usr/bin:/bin")
    ran = lamina("install", "all", "--json")
    assert ran.code == 1
    assert [each["host"] for each in ran.json["hosts"]] == ["codex"]
    assert [each["kind"] for each in ran.json["failed"]] == ["bad_input"]
    assert (lamina.home / ".claude/settings.json").read_text() == "{"
    assert lamina("uninstall", "all", "--json").json["hosts"][0]["host"] == "codex"


def test_a_dry_run_prints_the_plan_and_makes_nothing(lamina):
    ran = lamina("install", "codex", "--dry-run")
    assert f"+++ {lamina.home / '.codex/hooks.json'}" in ran.out
    assert list(lamina.home.iterdir()) == []
    plan = lamina("install", "codex", "--dry-run", "--json").json["hosts"][0]
    assert all(each["diff"].startswith("--- /dev/null") for each in plan["files"])


def test_into_the_project_from_a_folder_below(lamina):
    lamina("install", "codex", "--project")
    assert (lamina.project / ".codex/hooks.json").exists()
    assert not (lamina.home / ".codex").exists()
    lamina("uninstall", "codex", "--project")
    assert list(lamina.project.iterdir()) == []


def test_the_way_can_be_chosen_for_claude_code(lamina):
    lamina("install", "claude-code", "--as", "settings")
    settings = lamina.home / ".claude/settings.json"
    assert "SessionStart" in json.loads(settings.read_text())["hooks"]
    assert lamina("install", "codex", "--as", "plugin").code == 2
    assert lamina("install", "claude-code", "--as", "magic").code == 2
    assert lamina("install", "nope").code == 2
    lamina("uninstall", "all")
    assert not settings.exists()


def test_doctor_renews_the_commands(lamina):
    lamina("install", "claude-code")
    (lamina.root / "state/bin/hook").unlink()
    assert lamina("doctor").code == 1
    assert "written anew" in lamina("doctor", "--fix").out
    assert (lamina.root / "state/bin/hook").exists()


def test_the_home_is_no_project(lamina):
    """Its settings are those of the user, and two installs would share one file."""
    lamina.monkeypatch.chdir(lamina.home)
    for words in (("install", "codex", "--project"), ("uninstall", "codex", "--project")):
        ran = lamina(*words)
        assert ran.code == 2
        assert "is no project" in ran.err
    assert not (lamina.home / ".codex").exists()


def test_hooks_of_others_at_a_path_like_ours_stay(lamina):
    file = lamina.home / ".claude" / "settings.json"
    file.parent.mkdir()
    commands = [
        "backup.sh /srv/state/hosts/web1",
        "/opt/other/state/bin/hook run",
        "/home/me/.lamina/state/bin/lamina status",
        "cat /var/lib/x/state/hosts/claude-code",
    ]
    hooks = [{"hooks": [{"type": "command", "command": each}]} for each in commands]
    before = json.dumps({"hooks": {"Stop": hooks}}, indent=2)
    file.write_text(before)
    for way in ("settings", "plugin"):
        lamina("install", "claude-code", "--as", way)
        assert all(each in file.read_text() for each in commands)
        lamina("uninstall", "claude-code")
        assert file.read_text() == before
    lamina("uninstall", "claude-code")
    assert file.read_text() == before
