"""`.lamina.toml`: what a project may say about its own memory, and what only after `lamina trust`.

The file travels with a repository, so whoever wrote the repository wrote it. It may narrow what is
remembered; everything else waits for the person.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from lamina import errors
from lamina.formats.dates import render_time
from lamina.formats.frozen import NamedTuple
from lamina.store import files, tomlfile
from lamina.store.registry import edit, parse_object, part
from lamina.store.repository import Repository, find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lamina.store.batch import Batch

NAME = ".lamina.toml"
TRUST = "state/trust.json"
_FIXED = {"isolate": "worktree", "stage": "branch"}
_OWN_RULE = frozenset({"workspace", "review", "exclude", "memory_path"})
_NEVER = frozenset({"root"})
"""The store is open before a project is read; a repository can't move it."""


class Project(NamedTuple):
    """A `.lamina.toml` as read. `values` holds what is well formed, trusted or not: ask `allowed`."""

    path: Path
    sha256: str = ""
    values: Mapping[str, Any] = MappingProxyType({})
    warnings: tuple[str, ...] = ()
    trusted: bool = False

    @property
    def folder(self) -> Path:
        """The folder that the file speaks for."""
        return self.path.parent

    @property
    def workspace(self) -> str | None:
        """The workspace it asks for; the resolver decides whether it may have it."""
        return self.values.get("workspace")

    @property
    def isolate(self) -> bool:
        """Whether each linked worktree is a workspace of its own."""
        return self.values.get("isolate") == "worktree"

    @property
    def stage(self) -> str | None:
        """`branch` if what is learnt on a branch stays there until it is merged."""
        return self.values.get("stage")

    @property
    def allowed(self) -> dict[str, Any]:
        """What counts now: the harmless settings, and the others once the file is trusted.

        `review` is here too: whether it is stricter is known only beside the person's own.
        """
        return {key: value for key, value in self.values.items() if self.trusted or _is_free(key, value)}

    @property
    def waiting(self) -> tuple[str, ...]:
        """The settings that wait for trust."""
        return (
            ()
            if self.trusted
            else tuple(key for key, value in self.values.items() if not _is_free(key, value))
        )

    def judged(self, trust: Trust, identity: str) -> Project:
        """Return it with trust decided for a repository of this identity."""
        return self._replace(trusted=trust.covers(self, identity))


class Trust(NamedTuple):
    """What the person has trusted on this machine: files by real path, repositories by identity."""

    files: Mapping[str, tuple[str, str]] = MappingProxyType({})
    repositories: frozenset[str] = frozenset()

    @classmethod
    def load(cls, root: Path) -> Trust:
        """Read `state/trust.json`; a file that is absent or damaged trusts nothing."""
        try:
            said = parse_object(files.read_optional(root / TRUST) or "{}", TRUST)
        except errors.LaminaError:
            return cls()
        listed, known = said.get("files"), said.get("repositories")
        return cls(
            {path: pair for path, value in _items(listed) if (pair := _pair(value))},
            frozenset(identity for identity, _ in _items(known)),
        )

    def covers(self, project: Project, identity: str) -> bool:
        """Tell whether path, repository and content are all what the person saw."""
        return bool(project.sha256) and self.files.get(_real(project.path)) == (identity, project.sha256)

    def accepts(self, identity: str) -> bool:
        """Tell whether the person accepted what a repository brings along (checkpoints, digests)."""
        return identity in self.repositories


def trust(batch: Batch, identity: str, project: Project | None) -> None:
    """Remember that the person accepts a repository and, if it has one, its project file as it is now."""

    def change(said: dict[str, Any]) -> None:
        part(said, "repositories")[identity] = render_time(batch.at)
        if project is not None:
            record = {"identity": identity, "sha256": project.sha256, "at": render_time(batch.at)}
            part(said, "files")[_real(project.path)] = record

    _change_trust(batch, change)


def distrust(batch: Batch, identity: str, project: Project | None) -> None:
    """Take trust back."""

    def change(said: dict[str, Any]) -> None:
        part(said, "repositories").pop(identity, None)
        if project is not None:
            part(said, "files").pop(_real(project.path), None)

    _change_trust(batch, change)


def find_file(folder: Path, *, home: Path, store_root: Path, repository: Repository | None) -> Path | None:
    """Return the nearest project file at or above a folder (a real path), or None.

    A file above the repository counts only if it lies in no other repository, so a submodule is not ruled by
    the repository around it. `$HOME`, `/` and the store are no projects.
    """
    outside = {_real(home), _real(store_root), os.path.abspath(os.sep)}
    top = repository.top or repository.common_dir if repository else None
    for place in (folder, *folder.parents):
        if str(place) in outside:
            return None
        if os.path.isfile(place / NAME):  # noqa: PTH113 - answers False where pathlib raises
            return place / NAME if top is None or _reaches(place, top, repository) else None
    return None


def read(path: Path) -> Project:
    """Read a project file; whatever is wrong with it is a warning `file:line: …`, never an error.

    Of a damaged file only the harmless settings count that can still be read, and it can't be trusted.
    """
    file = tomlfile.load(path)
    if file is None:
        return Project(path)
    values: dict[str, Any] = {}
    warnings = [*file.warnings]
    for key, value in file.values.items():
        expected = _expected(path.parent, key, value)
        if expected:
            line = tomlfile.line_of(file.text, key)
            warnings.append(f"{path}:{line}: {key} = {value!r} is not used: expected {expected}")
        elif file.whole or _is_free(key, value):
            values[key] = value
    return Project(path, files.fingerprint(file.text) if file.whole else "", values, tuple(warnings))


def _expected(folder: Path, key: str, value: object) -> str:
    """Return what a value had to be, or "" if it is well formed; other settings are checked with the rest."""
    if key in _NEVER:
        return "no such setting in a project"
    if key in _FIXED:
        return "" if value == _FIXED[key] else f'"{_FIXED[key]}"'
    if key == "workspace":
        return "" if isinstance(value, str) and value.strip() else "a workspace key"
    if key == "exclude":
        well = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return "" if well else "a list of folder patterns"
    if key == "memory_path":
        return "" if isinstance(value, str) and _inside(folder, value) else "a path inside the project"
    return ""


def _is_free(key: str, value: object) -> bool:
    return key in _FIXED or key in _OWN_RULE or (key == "capture" and value == "off")


def _inside(folder: Path, value: str) -> bool:
    base = _real(folder)
    target = _real(folder / value)
    return bool(value) and (target == base or target.startswith(base.rstrip(os.sep) + os.sep))


def _reaches(place: Path, top: Path, repository: Repository | None) -> bool:
    if place == top or top in place.parents:
        return True
    around = find(place)
    return around is None or (repository is not None and around.common_dir == repository.common_dir)


def _change_trust(batch: Batch, change: Callable[[dict[str, Any]], None]) -> None:
    try:
        parse_object(batch.text(TRUST) or "{}", TRUST)
    except errors.BadInput as problem:
        raise errors.BadInput(problem.message, f"repair or delete {TRUST}, then trust again") from problem
    edit(batch, TRUST, change)


def _items(value: object) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []


def _pair(value: object) -> tuple[str, str] | None:
    if not isinstance(value, dict):
        return None
    identity, sha256 = value.get("identity"), value.get("sha256")
    return (identity, sha256) if isinstance(identity, str) and isinstance(sha256, str) else None


def _real(path: Path) -> str:
    return os.path.realpath(path)
