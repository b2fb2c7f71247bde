"""What the file system says of the folder that a session works in, before any workspace is named."""

# os.path answers False where pathlib raises, and keeps the path of a folder that is gone as it was told.
# ruff: noqa: PTH110, PTH112, PTH116, PTH117, PTH120

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from lamina.formats.frozen import NamedTuple
from lamina.formats.remote import has_drive, is_path, name_of, normalise
from lamina.store import project as projects
from lamina.store.project import Project
from lamina.store.registry import Registry, Spot
from lamina.store.repository import Repository, find, repository_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OWN = frozenset({"folder", "gone"})
_COMMON = frozenset({"common"})
_WORKTREE = frozenset({"worktree"})
_WORKTREE_FOLDERS = frozenset({"worktrees", ".worktrees"})


class Place(NamedTuple):
    """A path where a record may stand, the kinds of record that count there (all if empty).

    With `same`, only while it is the very same folder: it became a repository since, or is none any more.
    """

    path: Path
    kinds: frozenset[str] = frozenset()
    same: bool = False


class Site(NamedTuple):
    """A folder's identity and where this machine may have recorded it. Paths are real paths."""

    identity: str
    name: str
    root: Path
    kind: str
    """`repository` (all its worktrees are one), `folder` (its own identity), or `gone`."""
    repository: str
    """The identity that `lamina trust` is given for: the repository's, else the folder's own."""
    common_dir: Path | None = None
    top: Path | None = None
    remotes: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    """Where to look in this machine's record of folders, in order."""
    project: Project | None = None

    @property
    def inode(self) -> int:
        """What tells whether the folder is still the same one."""
        return inode_of(self.common_dir or self.root)

    def spot(self, registry: Registry) -> Spot | None:
        """Return this machine's record of the site, or None."""
        for place in self.places:
            found = registry.spot(place.path)
            if found is None or (place.kinds and found.kind not in place.kinds):
                continue
            if not place.same or found.inode == inode_of(place.path):
                return found
        return None


def site_of(
    cwd: str | Path | None, *, registry: Registry, home: Path, transcript_remote: str | None = None
) -> Site | None:
    """Return the site of a session's folder; None where there is no workspace but only the global scope.

    That is so without a folder, for a relative one, `$HOME`, `/` and everything in the store.
    """
    text = os.fspath(cwd) if cwd else ""
    if "\0" in text or not (os.path.isabs(text) or _is_foreign(text)):
        return None
    if not os.path.isabs(text):
        return _gone(text, registry, home, transcript_remote)
    real = os.path.realpath(text)
    if _is_nobodys(real, registry.root, home):
        return None
    if not os.path.exists(real):
        return _gone(real, registry, home, transcript_remote)
    folder = Path(real if os.path.isdir(real) else os.path.dirname(real))
    repository = find(folder)
    if repository and _is_nobodys(str(repository.top or repository.common_dir), registry.root, home):
        if _is_in(real, str(repository.common_dir)):
            return None
        repository = None
    return _here(folder, repository, registry, home)


def pick_directory(payload: Mapping[str, Any]) -> str | None:
    """Return the folder that a payload says the session works in: `cwd`, else the first workspace root.

    None means the global scope: the folder of the process that reads the payload is somebody else's. Files
    that a tool call names don't move a session.
    """
    roots = payload.get("workspace_roots") or payload.get("workspaceRoots")
    candidates = [payload.get("cwd"), *(roots if isinstance(roots, list) else [roots])]
    return next((path for value in candidates if (path := _plain(value))), None)


def inode_of(path: Path) -> int:
    """Return a folder's number on its disk, 0 if it is gone."""
    try:
        return os.stat(path).st_ino
    except (OSError, ValueError):
        return 0


def origin_dir(url: str, common: Path | None) -> Path | None:
    """Return the git folder of the local repository that a site was cloned from, if it is here."""
    if not is_path(url):
        return None
    found = repository_at(Path(os.path.realpath(url))) or repository_at(Path(os.path.realpath(url + ".git")))
    return found.common_dir if found and found.common_dir != common else None


def _here(folder: Path, repository: Repository | None, registry: Registry, home: Path) -> Site:
    file = projects.find_file(folder, home=home, store_root=registry.root, repository=repository)
    project = projects.read(file) if file else None
    if repository is None:
        return _folder(project.folder if project else folder, project)
    own = _repository(repository, project)
    top = own.top
    if top is None or project is None:
        return own
    if project.isolate and repository.linked:
        return _folder(top, project, own.identity)
    if project.workspace and top in project.folder.parents:
        # A part of the repository with a workspace of its own must not take the repository's remote.
        return _folder(project.folder, project, own.identity)
    return own


def _folder(root: Path, project: Project | None, repository: str = "") -> Site:
    identity = f"path:{root}"
    places = (Place(root, _OWN), Place(root, _WORKTREE, same=True))
    return Site(
        identity, root.name, root, "folder", repository or identity, top=root, places=places, project=project
    )


def _repository(repository: Repository, project: Project | None) -> Site:
    common, root = repository.common_dir, repository.top or repository.common_dir
    if not os.path.isdir(common):
        # A worktree whose repository moved or is gone: only this machine's record can tell whose it was.
        identity = f"path:{root}"
        places = (Place(root), Place(common))
        return Site(identity, root.name, root, "gone", identity, top=root, places=places, project=project)
    url = normalise(repository.origin())
    if url.startswith("."):
        url = normalise(os.path.normpath(common.parent / url))
    identity = f"remote:{url}" if url else f"path:{common}"
    cloned_from = origin_dir(url, common)
    return Site(
        identity,
        name=(name_of(url) if url else "") or repository.name,
        root=root,
        kind="repository",
        repository=identity,
        common_dir=common,
        top=repository.top,
        remotes=(url,) if url else (),
        places=(
            Place(common, _COMMON),
            *((Place(cloned_from, _COMMON),) if cloned_from else ()),
            Place(root, _OWN, same=True),
        ),
        project=project,
    )


def _gone(text: str, registry: Registry, home: Path, transcript_remote: str | None) -> Site:
    """Describe a folder that is no more.

    The transcript's remote decides, then this machine's record, then the repository whose worktree it was.
    What still exists above it is not asked: that is another project's folder as a rule.
    """
    path = Path(text)
    missing = [path, *(above for above in path.parents if not os.path.exists(above))]
    url = normalise(transcript_remote or "")
    identity = f"remote:{url}" if url else f"path:{text}"
    site = Site(
        identity,
        name=(name_of(url) if url else "") or text.rstrip("\\/").replace("\\", "/").rpartition("/")[2],
        root=path,
        kind="gone",
        repository=identity,
        remotes=(url,) if url else (),
        places=tuple(Place(place) for place in missing),
    )
    if url or site.spot(registry):
        return site
    parent = _parent_repository(missing, registry, home)
    return _repository(parent, None) if parent else site


def _parent_repository(missing: list[Path], registry: Registry, home: Path) -> Repository | None:
    """Return the repository that a deleted worktree belonged to, or None."""
    around = find(missing[-1].parent) if missing[-1].is_absolute() else None
    if around and _is_nobodys(str(around.top or around.common_dir), registry.root, home):
        around = None
    for candidate in (around, *_known_repositories(registry)):
        if candidate and any(candidate.has_worktree(str(path)) for path in missing):
            return candidate
    if around is None or around.top is None:
        return None
    between = missing[0].relative_to(around.top).parts[:-1]
    return around if _WORKTREE_FOLDERS.intersection(between) else None


def _known_repositories(registry: Registry) -> Iterator[Repository | None]:
    for path, _ in registry.spots("common"):
        common = Path(path)
        yield repository_at(common.parent if common.name == ".git" else common)


def _is_nobodys(real: str, store_root: Path, home: Path) -> bool:
    return real in {os.path.realpath(home), os.path.abspath(os.sep)} or _is_in(
        real, os.path.realpath(store_root)
    )


def _is_in(real: str, folder: str) -> bool:
    return real == folder or real.startswith(folder.rstrip(os.sep) + os.sep)


def _plain(value: object) -> str | None:
    """Return the path in a string, a `file:` URI, or an object that holds one; None for anything else."""
    if isinstance(value, Mapping):
        value = value.get("path") or value.get("uri")
    if not isinstance(value, str):
        return None
    if value.startswith("file:"):
        from urllib.parse import unquote, urlsplit

        value = unquote(urlsplit(value).path)
    return value if os.path.isabs(value) or _is_foreign(value) else None


def _is_foreign(path: str) -> bool:
    return has_drive(path) or path.startswith("\\\\")
