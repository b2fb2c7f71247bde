"""A project's own memory, seen from where one stands: its folder, and whom its files may be trusted for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from lamina import errors
from lamina.store import files, memoryfolder, projects

if TYPE_CHECKING:
    from lamina.memory.opened import Opened
    from lamina.store.memoryfolder import MemoryFolder


def folder_of(
    opened: Opened, *, project: str | os.PathLike[str] | None = None, memory_path: str | None = None
) -> MemoryFolder:
    """Find the memory folder of a project: the folder that one stands in, or the one that is named.

    A `.lamina.toml` in that very folder may say where it is. Raises Undecided where the project's files
    disagree, NoSuchFile, UsageError without a folder to stand in.
    """
    root = Path(os.path.abspath(project)) if project is not None else opened.cwd
    if root is None:
        raise errors.UsageError("the current folder was removed", "name the project's folder with --project")
    given = None if memory_path is None else Path(os.path.abspath(memory_path))
    found = opened.workspace_of(root).project
    says = found.allowed if found is not None and _same(found.folder, root) else {}
    return memoryfolder.resolve(root, given=given, setting=str(says.get("memory_path") or ""))


def remember(opened: Opened, folder: MemoryFolder) -> None:
    """Note on this machine that the project's digest was written here, as it is now, where there is a store.

    Nothing of the project's memory depends on it, so a store that can't be written stops nothing.
    """
    if not opened.exists:
        return
    site = opened.workspace_of(folder.root)
    try:
        sha256 = files.fingerprint(files.read_bytes(folder.digest))
        projects.remember(
            opened.root, folder.digest, key=site.scope.key or "", project=folder.root, sha256=sha256
        )
    except errors.LaminaError:
        return


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
