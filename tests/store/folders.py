"""A machine in a temporary folder: a home, a store, and real git repositories."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from lamina.store.identity import Workspace, resolve
from lamina.store.registry import Registry
from lamina.store.store import Store
from lamina.store.workspaces import register

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


class Machine:
    """What one person's computer holds; `known` ends in the workspace as every write would record it."""

    def __init__(self, base: Path) -> None:
        self.base = Path(os.path.realpath(base))
        self.home = self.base / "home"
        self.work = self.home / "work"
        self.root = self.home / ".lamina"
        self.work.mkdir(parents=True)
        self.asked: list[Path] = []

    def git(self, *args: str, at: Path) -> str:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "T",
            "GIT_AUTHOR_EMAIL": "t@example.org",
            "GIT_COMMITTER_NAME": "T",
            "GIT_COMMITTER_EMAIL": "t@example.org",
        }
        settings = ("-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always")
        done = subprocess.run(
            ["git", *settings, *args], cwd=at, env=env, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def repository(self, path: Path, origin: str = "", *, commit: bool = True) -> Path:
        path.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", at=path)
        if commit:
            self.commit(path, f"first in {path}")
        if origin:
            self.git("remote", "add", "origin", origin, at=path)
        return path

    def commit(self, path: Path, subject: str) -> None:
        self.git("commit", "-q", "--allow-empty", "-m", subject, at=path)

    def root_commits(self, path: Path) -> tuple[str, ...]:
        self.asked.append(path)
        try:
            return tuple(self.git("rev-list", "--max-parents=0", "HEAD", at=path).split())
        except (subprocess.CalledProcessError, FileNotFoundError):
            return ()

    def resolve(
        self,
        cwd: Path | str | None,
        *,
        explicit: str | None = None,
        env: Mapping[str, str] | None = None,
        remote: str | None = None,
    ) -> Workspace:
        return resolve(
            cwd,
            registry=Registry.load(self.root),
            env=env or {},
            home=self.home,
            root_commits=self.root_commits,
            explicit=explicit,
            transcript_remote=remote,
        )

    def store(self) -> Store:
        return Store.open(self.root, create=True, now=NOW)

    def register(self, workspace: Workspace) -> Workspace:
        with self.store().writing(label="register", at=NOW) as batch:
            return register(batch, workspace, root_commits=self.root_commits)

    def known(self, cwd: Path | str | None, **said) -> Workspace:
        """Resolve as a writer does, then as a reader does: both must agree."""
        written = self.register(self.resolve(cwd, **said))
        read = self.resolve(cwd, **said)
        assert (read.key, read.title) == (written.key, written.title)
        assert read.known or read.key is None
        return read

    def key(self, cwd: Path | str | None, **said) -> str | None:
        return self.known(cwd, **said).key

    def keys(self) -> list[str]:
        return list(Registry.load(self.root).keys)

    def everything(self) -> set[str]:
        """Every path under the base, to prove that reading made none."""
        return {str(path) for path in self.base.rglob("*")}
