"""A project's own memory, seen from where one stands: its folder, and whom its files may be trusted for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from lamina import errors
from lamina.memory.opened import root_commits
from lamina.store import files, memoryfolder, projects
from lamina.store.identity import resolve
from lamina.store.projects import Known
from lamina.store.registry import Registry

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


def meet(opened: Opened) -> tuple[Known, ...]:
    """Return the digests of the project that one stands in, noting those that are new here.

    A project whose files disagree on its folder has none until a person decided. Where the store takes no
    note, they are known to this process alone.
    """
    noted = projects.known(opened.root)
    found: dict[str, Known] = {}
    for root in opened.standing:
        try:
            folder = folder_of(opened, project=root)
        except errors.LaminaError:
            continue
        path = os.fspath(folder.digest)
        if path in found or not os.path.lexists(path):
            continue
        old = noted.get(path)
        new = Known(path, key_of(opened, folder), os.fspath(folder.root), old.sha256 if old else "")
        found[path] = new
        if new != old:
            _note(opened, folder, new.key)
    return tuple(found.values())


def key_of(opened: Opened, folder: MemoryFolder) -> str:
    """Return the key of the workspace that a project's folder is by itself, "" for none."""
    own = opened.workspace
    if own.bound and own.root == folder.root:
        return own.key or ""
    found = resolve(
        folder.root, registry=Registry.load(opened.root), env={}, home=opened.home, root_commits=root_commits
    )
    return found.key or ""


def is_own(opened: Opened, folder: MemoryFolder) -> bool:
    """Tell whether what a project's digest says of its trust counts here, so that it still does once written.

    It does where there is none yet, where the file is the one that was written here last, and in a repository
    that the person accepted.
    """
    from lamina.store.trusted import is_accepted

    try:
        data = files.read_bytes(folder.digest)
    except errors.NoSuchFile:
        return True
    except errors.LaminaError:
        return False
    return is_accepted(opened.root, _known(opened, folder), data)


def remember(opened: Opened, folder: MemoryFolder, *, own: bool) -> None:
    """Note on this machine that the project has a digest, and if it is our `own`, as it is now.

    Nothing of the project's memory depends on it, so a store that can't be written stops nothing.
    """
    if not opened.exists:
        return
    try:
        sha256 = files.fingerprint(files.read_bytes(folder.digest)) if own else ""
    except errors.LaminaError:
        return
    _note(opened, folder, key_of(opened, folder), sha256)


def _known(opened: Opened, folder: MemoryFolder) -> Known:
    path = os.fspath(folder.digest)
    noted = projects.known(opened.root).get(path)
    return noted or Known(path, "", os.fspath(folder.root))


def _note(opened: Opened, folder: MemoryFolder, key: str, sha256: str = "") -> None:
    try:
        projects.remember(opened.root, folder.digest, key=key, project=folder.root, sha256=sha256)
    except (errors.LaminaError, OSError):
        return


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
