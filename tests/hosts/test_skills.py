"""The skills that agents read: valid front matter, commands that exist, short enough to be read."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from lamina.hosts.base import live_named
from lamina.hosts.setup import OwnFile, Where
from lamina.hosts.skill import NAMES, skill, skill_files
from lamina.interfaces.cli.main import COMMANDS, main

PROGRAM = "/opt/o neil/lamina"
COMMAND = re.compile(rf"{re.escape(shlex.quote(PROGRAM))} ([a-z]+)([^\n`]*)")


def where(tmp_path: Path, *, project: Path | None = None) -> Where:
    return Where(
        home=tmp_path,
        env={},
        project=project,
        hook=tmp_path / "store" / "state" / "bin" / "hook",
        program=Path(PROGRAM),
        assets=tmp_path / "store" / "state" / "hosts",
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("prefix", ["", "lamina-"])
def test_a_skill_is_named_as_its_folder_and_says_when_to_use_it(
    tmp_path: Path, name: str, prefix: str
) -> None:
    _, front, body = skill(where(tmp_path), name, prefix=prefix).split("---\n", 2)
    said = yaml.safe_load(front)
    assert set(said) == {"name", "description"}
    assert said["name"] == f"{prefix}{name}"
    assert re.fullmatch("[a-z0-9-]{1,64}", said["name"])
    assert 80 < len(said["description"]) <= 1024
    assert "Use it when" in said["description"]
    assert body.strip().startswith("# ")
    assert "@" not in body.replace("@lamina", "")


@pytest.mark.parametrize("name", NAMES)
def test_a_skill_is_short_enough_to_be_read(tmp_path: Path, name: str) -> None:
    assert len(skill(where(tmp_path), name).split()) < 450


@pytest.mark.parametrize("name", NAMES)
def test_a_skill_calls_commands_and_options_that_exist(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = COMMAND.findall(skill(where(tmp_path), name))
    assert found
    for command, rest in found:
        assert command in COMMANDS
        with pytest.raises(SystemExit, match="0"):
            main([command, "--help"])
        told = capsys.readouterr().out
        for option in re.findall(r"--[a-z][a-z-]*", rest):
            assert f"{option} " in told or f"{option}\n" in told, (command, option)


@pytest.mark.parametrize("host", ["claude-code", "codex", "opencode", "copilot"])
@pytest.mark.parametrize("inside", [False, True])
def test_a_host_that_reads_skills_gets_all_of_them(tmp_path: Path, host: str, inside: bool) -> None:
    place = where(tmp_path, project=tmp_path / "p" if inside else None)
    edits = live_named(host).setup(place)
    folders = [
        edit.file.parent.name for edit in edits if isinstance(edit, OwnFile) and edit.file.name == "SKILL.md"
    ]
    assert [folder.removeprefix("lamina-") for folder in folders] == list(NAMES)


def test_skills_stand_in_folders_of_their_names(tmp_path: Path) -> None:
    files = list(skill_files(where(tmp_path), tmp_path / "skills"))
    assert [edit.file.parent.name for edit in files] == [f"lamina-{name}" for name in NAMES]
