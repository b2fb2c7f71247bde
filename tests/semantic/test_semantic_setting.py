"""Which core a memory folder has: by the setting, by the option, or none and why."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from tests.pipeline.opening import opened
from tests.semantic.cores import ESM, fact

from lamina import errors
from lamina.memory.semantics import core_of


def core(tmp_path, *, env_name=None, **env):
    memory = opened(tmp_path, env={"PATH": os.environ["PATH"], "LAMINA_EMBEDDER": "none"} | env)
    folder = tmp_path / "harbor" / "memory"
    folder.mkdir(exist_ok=True)
    return core_of(memory._at, memory=folder, env_name=env_name)


def test_the_builtin_core_is_the_usual_one(tmp_path):
    found, reason = core(tmp_path)
    assert (found.name, found.broken, reason) == ("builtin", "missing", "")
    assert found.ingest([fact(ESM)])[0].ok
    assert found.broken == ""
    assert (tmp_path / "harbor" / "memory" / "vectors.db").is_file()


def test_off_is_none(tmp_path):
    assert core(tmp_path, LAMINA_SEMANTIC="off") == (None, "the setting semantic is off")


@pytest.mark.parametrize("given", [{"env_name": "CORE"}, {"LAMINA_SEMANTIC": "env:CORE"}])
@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_a_variable_names_the_folder_of_another(tmp_path, given):
    folder = tmp_path / "core"
    folder.mkdir()
    (folder / "ingest.mjs").write_text("console.log(JSON.stringify({ results: [{ status: 'candidate' }] }))")
    found, reason = core(tmp_path, CORE=str(folder), **given)
    assert (found.name, found.broken, reason) == ("env:CORE", "", "")
    assert found.ingest([fact(ESM)])[0].ok
    assert os.listdir(tmp_path / "harbor" / "memory") == []


def test_the_option_counts_more_than_the_setting(tmp_path):
    found, _ = core(tmp_path, env_name="CORE", CORE=str(tmp_path), LAMINA_SEMANTIC="off")
    assert found.name == "env:CORE"


@pytest.mark.parametrize("value", [None, "", "no/such/folder", __file__, "a\udcff"])
def test_a_variable_that_names_no_folder_is_none_and_told(tmp_path, value):
    env = {} if value is None else {"CORE": value}
    found, reason = core(tmp_path, env_name="CORE", **env)
    assert found is None
    assert "CORE" in reason


@pytest.mark.parametrize("name", ["A B", "1A", "A-B", "A=B", "Ä", "x" * 200, "$(id)"])
def test_a_name_that_no_variable_has_is_bad(tmp_path, name):
    with pytest.raises(errors.BadSetting):
        core(tmp_path, env_name=name)
    with pytest.raises(errors.BadSetting):
        core(tmp_path, LAMINA_SEMANTIC=f"env:{name}")


def test_git_is_told_when_the_file_is_made_and_not_before(tmp_path):
    project = tmp_path / "harbor"
    project.mkdir()
    subprocess.run(["git", "init", "-q", project], check=True)
    exclude = project / ".git" / "info" / "exclude"
    found, _ = core(tmp_path)
    assert "vectors.db" not in exclude.read_text()
    found.ingest([fact(ESM)])
    found.ingest([fact("another")])
    assert exclude.read_text().splitlines().count("/memory/vectors.db*") == 1


def test_a_worktree_shares_the_list_of_its_repository(tmp_path):
    main, tree = tmp_path / "main", tmp_path / "harbor"
    for command in (
        ["git", "init", "-q", main],
        [
            "git",
            "-C",
            main,
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "1",
        ],
        ["git", "-C", main, "worktree", "add", "-q", tree],
    ):
        subprocess.run(command, check=True, capture_output=True)
    found, _ = core(tmp_path)
    found.ingest([fact(ESM)])
    assert "/memory/vectors.db*" in (main / ".git" / "info" / "exclude").read_text()
    told = subprocess.run(
        ["git", "-C", tree, "status", "--porcelain", "-uall"], check=True, capture_output=True, text=True
    )
    assert told.stdout == ""
