"""Installing the clients, with an npm that is a script: nothing is fetched here."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.clients.install import CLIENTS, NotInstalled, cache_folder, install, main

NPM = """#!/bin/sh
echo "$@" >> "{log}"
mkdir -p node_modules/.bin
{more}
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    (tmp_path / "bin").mkdir()
    return tmp_path / "log"


def put_npm(log: Path, more: str) -> None:
    npm = log.parent / "bin" / "npm"
    npm.write_text(NPM.format(log=log, more=more))
    npm.chmod(0o755)


def test_each_is_fetched_once_at_its_version(tmp_path: Path, log: Path) -> None:
    put_npm(log, "touch node_modules/.bin/codex")
    cache = tmp_path / "cache"
    first = install(["codex"], cache)
    assert install(["codex"], cache) == first
    assert first["codex"].is_file()
    (line,) = log.read_text().splitlines()
    assert line.endswith(f"@openai/codex@{CLIENTS['codex'].version}")
    assert [path.name for path in cache.iterdir()] == [f"codex-{CLIENTS['codex'].version}"]


def test_what_fails_or_lacks_its_program_leaves_nothing_half_done(tmp_path: Path, log: Path) -> None:
    cache = tmp_path / "cache"
    put_npm(log, "echo no such version >&2; exit 1")
    with pytest.raises(NotInstalled, match="no such version"):
        install(["gemini-cli"], cache)
    assert list(cache.iterdir()) == []
    put_npm(log, "true")
    with pytest.raises(NotInstalled, match=r"holds no \.bin/gemini"):
        install(["gemini-cli"], cache)
    assert list(cache.iterdir()) == []
    put_npm(log, "touch node_modules/.bin/gemini")
    assert install(["gemini-cli"], cache)["gemini-cli"].is_file()


def test_without_npm_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotInstalled, match="npm did not run"):
        install(["codex"], tmp_path / "cache")


def test_a_folder_in_the_way_is_named(tmp_path: Path, log: Path) -> None:
    put_npm(log, "touch node_modules/.bin/codex")
    stray = tmp_path / "cache" / f"codex-{CLIENTS['codex'].version}" / "stray"
    stray.parent.mkdir(parents=True)
    stray.write_text("")
    with pytest.raises(NotInstalled, match="is in the way"):
        install(["codex"], tmp_path / "cache")


def test_where_they_are_kept(tmp_path: Path) -> None:
    assert cache_folder({"LAMINA_CLIENTS": "/x/y", "HOME": "/h"}) == Path("/x/y")
    assert cache_folder({"XDG_CACHE_HOME": "/c", "HOME": "/h"}) == Path("/c/lamina-clients")
    assert cache_folder({"HOME": "/h"}) == Path("/h/.cache/lamina-clients")


def test_unknown_names_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["codex", "nosuch"]) == 2
    assert "nosuch" in capsys.readouterr().err
