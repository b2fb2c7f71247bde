"""A home with hosts in it, and everything in it as bytes."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from lamina.install import engine
from lamina.install.engine import Done, Site

AT = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
HOSTS = ("claude-code", "codex")


@dataclass(frozen=True)
class Home:
    """A person's home; the store stands in it, at a path that shells stumble over."""

    path: Path
    recall: bool = False
    env: dict[str, str] = field(default_factory=lambda: {"PATH": "/usr/bin:/bin"})

    @property
    def root(self) -> Path:
        return self.path / "my 'own' \"store\""

    @property
    def site(self) -> Site:
        return Site(self.root, self.path, self.env, self.recall)

    def write(self, name: str, data: str | bytes, *, mode: int = 0o644) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        path.chmod(mode)
        return path

    def install(
        self, host: str, *, mode: str = "", project: Path | None = None, dry_run: bool = False
    ) -> Done:
        return engine.install(self.site, host, at=AT, mode=mode, project=project, dry_run=dry_run)

    def uninstall(self, host: str, *, project: Path | None = None, everywhere: bool = True) -> list[Done]:
        return engine.uninstall(self.site, host, project=project, everywhere=everywhere)

    def snapshot(self, *, store: bool = False) -> dict[str, tuple[str, bytes | str, int]]:
        """Return everything in the home, and in the store only if asked for: kind, bytes and mode."""
        found = {}
        for path in sorted(self.path.rglob("*")):
            if not store and (path == self.root or path.is_relative_to(self.root)):
                continue
            found[str(path.relative_to(self.path))] = _what(path)
        return found


def _what(path: Path) -> tuple[str, bytes | str, int]:
    mode = path.lstat().st_mode & 0o777
    if path.is_symlink():
        return "link", str(path.readlink()), 0
    return ("folder", "", mode) if path.is_dir() else ("file", path.read_bytes(), mode)
