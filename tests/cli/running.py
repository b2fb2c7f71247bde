"""Runs `lamina` as a person does, in a temporary home and project."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lamina.interfaces.cli.main import main


class Ran(NamedTuple):
    """What a command gave."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on standard output."""
        assert self.out.count("\n") == 1, self.out
        return json.loads(self.out)


class Shell:
    """A person's shell in a project called harbor."""

    def __init__(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.tmp_path = tmp_path
        self.home = tmp_path / "home"
        self.project = tmp_path / "harbor"
        self.root = self.home / ".lamina"
        self.home.mkdir()
        self.project.mkdir()
        self._capsys = capsys
        self.monkeypatch = monkeypatch
        for name in [name for name in os.environ if name.startswith(("LAMINA_", "XDG_"))]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("HOME", str(self.home))
        monkeypatch.chdir(self.project)

    def __call__(self, *arguments: str) -> Ran:
        """Run a command in this process."""
        self._capsys.readouterr()
        code = main(arguments)
        out, err = self._capsys.readouterr()
        return Ran(code, out, err)

    def process(self, *arguments: str | bytes, stdin: bytes = b"", **env: str) -> Ran:
        """Run a command in a process of its own."""
        done = subprocess.run(
            [sys.executable, "-m", "lamina", *arguments],
            input=stdin,
            capture_output=True,
            cwd=self.project,
            check=False,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **env},
            timeout=120,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def lamina(tmp_path, monkeypatch, capsys):
    return Shell(tmp_path, monkeypatch, capsys)
