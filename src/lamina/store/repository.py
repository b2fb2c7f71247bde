"""What a `.git` says, read from its files: no process is started, nothing is written.

Hooks ask on every event which repository a folder belongs to; starting git would cost more than the hook.
"""

# os.path answers False where pathlib raises: a folder that we may not read is no repository for us.
# ruff: noqa: PTH112, PTH113, PTH114, PTH115, PTH120

from __future__ import annotations

import os
from pathlib import Path

from lamina.formats.frozen import NamedTuple
from lamina.formats.gitconfig import first_value

_MAX_POINTER = 65_536
_MAX_CONFIG = 4_194_304


class Repository(NamedTuple):
    """A repository as seen from one folder; all paths are real paths."""

    top: Path | None
    """The top level of this worktree; None in a bare repository."""
    git_dir: Path
    """This worktree's own git folder; it may be gone when the worktree was pruned."""
    common_dir: Path
    """The git folder that all worktrees share; it may be gone when the repository moved."""
    linked: bool
    """Whether this is a worktree beside the main one."""

    @property
    def name(self) -> str:
        """The name of the folder that the main worktree has, whichever worktree this is."""
        if self.top is not None and not self.linked:
            return self.top.name
        name = self.common_dir.name
        return self.common_dir.parent.name if name.startswith(".") else name.removesuffix(".git")

    def origin(self) -> str:
        """Return the URL of `origin` as configured, or ""."""
        config = _read(self.common_dir / "config", _MAX_CONFIG)
        return (first_value(config, "remote", "origin", "url") or "") if config else ""

    def branch(self) -> str | None:
        """Return the branch that is checked out, also before its first commit; None for a detached head."""
        head = self.git_dir / "HEAD"
        if os.path.islink(head):
            text = "ref: " + os.readlink(head)
        else:
            text = (_read(head, _MAX_POINTER) or "").strip()
        name = text.removeprefix("ref:").strip().removeprefix("refs/heads/")
        # A repository with reftables keeps a stand-in here that names no branch.
        return name if text.startswith("ref:") and name not in ("", ".invalid") else None

    def has_worktree(self, folder: str) -> bool:
        """Tell whether the repository still lists a worktree at this path, be it deleted or not."""
        try:
            names = os.listdir(self.common_dir / "worktrees")
        except OSError:
            return False
        return any(self._worktree(name) == folder for name in names)

    def _worktree(self, name: str) -> str:
        admin = self.common_dir / "worktrees" / name
        text = (_read(admin / "gitdir", _MAX_POINTER) or "").strip()
        return os.path.dirname(os.path.normpath(admin / text)) if text else ""


def find(folder: Path) -> Repository | None:
    """Return the repository that a folder lies in, or None; the folder must be a real path."""
    for place in (folder, *folder.parents):
        found = repository_at(place)
        if found is not None:
            return found
    return None


def repository_at(folder: Path) -> Repository | None:
    """Return the repository whose top level (or bare folder) is exactly this folder, or None."""
    dot = folder / ".git"
    if _is_git_dir(dot):
        return _described(folder, Path(os.path.realpath(dot)))
    pointer = _read(dot, _MAX_POINTER)
    if pointer and pointer.startswith("gitdir:"):
        target = pointer.removeprefix("gitdir:").strip("\r\n").strip()
        return _described(folder, Path(os.path.realpath(folder / target))) if target else None
    if not _is_git_dir(folder):
        return None
    return repository_at(folder.parent) if folder.name == ".git" else _described(None, folder)


def current_branch(folder: Path) -> str | None:
    """Return the branch checked out where a folder lies; None without one (detached head, no repository)."""
    found = find(Path(os.path.realpath(folder)))
    return found.branch() if found else None


def _described(top: Path | None, git_dir: Path) -> Repository:
    shared = (_read(git_dir / "commondir", _MAX_POINTER) or "").strip()
    if shared:
        return Repository(top, git_dir, Path(os.path.realpath(git_dir / shared)), linked=True)
    if git_dir.parent.name == "worktrees" and not _is_git_dir(git_dir):
        # Pruned, or the repository moved away: the pointer still tells whose worktree this was.
        return Repository(top, git_dir, git_dir.parent.parent, linked=True)
    return Repository(top, git_dir, git_dir, linked=False)


def _is_git_dir(folder: Path) -> bool:
    head = folder / "HEAD"
    if not (os.path.islink(head) or os.path.isfile(head)):
        return False
    whole = os.path.isdir(folder / "objects") and os.path.isdir(folder / "refs")
    return whole or os.path.isfile(folder / "commondir")


def _read(path: Path, limit: int) -> str | None:
    """Read a small plain file; None for anything else, since a foreign folder may hold anything."""
    try:
        if not os.path.isfile(path):
            return None
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError:
        return None
    return data.decode("utf-8", "replace") if len(data) <= limit else None
