"""A memory in a temporary folder, seen from a project in it."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lamina.memory import Memory

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@dataclass
class Clock:
    """A clock that a test moves."""

    now: datetime = field(default=NOW)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **parts: float) -> None:
        self.now += timedelta(**parts)


def opened(tmp_path: Path, *, project: str = "harbor", clock: Clock | None = None, **given) -> Memory:
    """Open the memory of a test; everything lies below `tmp_path`."""
    home, folder = tmp_path / "home", tmp_path / project
    home.mkdir(exist_ok=True)
    folder.mkdir(exist_ok=True)
    env = {"HOME": str(home), **given.pop("env", {})}
    return Memory.open(tmp_path / "store", cwd=folder, env=env, clock=clock or Clock(), **given)


def tree(root: Path) -> dict[str, bytes | None]:
    """Return every file below a folder with its bytes, and every folder."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(root.rglob("*"))
    }


def git(root: Path, *args: str) -> str:
    """Run git as a person would."""
    done = subprocess.run(
        ["git", "-C", str(root), *args], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


def holding(root: Path, text: str, *, history: bool = False) -> list[str]:
    """Name the files whose bytes hold a text; git's own folder counts only with `history`."""
    needle = text.encode()
    return [
        path.relative_to(root).as_posix()
        for path in sorted(root.rglob("*"))
        if path.is_file()
        and (history or ".git" not in path.relative_to(root).parts)
        and (needle in path.read_bytes() or needle in path.relative_to(root).as_posix().encode())
    ]
