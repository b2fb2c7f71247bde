"""Which workspaces a store knows: `memory.json`, each `meta.json`, and this machine's folders in `state/`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

from lamina import errors
from lamina.formats.frozen import NamedTuple
from lamina.formats.remote import normalise
from lamina.formats.scope import is_key
from lamina.store import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lamina.store.batch import Batch

CONFIG = "memory.json"
PATHS = "state/paths.json"


class Spot(NamedTuple):
    """What this machine knows of one folder."""

    key: str
    kind: str
    """`common` (a repository's shared git folder), `worktree`, `folder` (its own identity) or `gone`."""
    roots: tuple[str, ...] | None = None
    """The repository's root commits; None if not asked for, empty before the first commit."""
    inode: int = 0


class Known(NamedTuple):
    """A workspace as the store's files describe it."""

    key: str
    title: str
    created: str = ""
    remotes: tuple[str, ...] = ()
    uid: str = ""
    listed: bool = True
    """Whether memory.json names it; a folder alone is enough to be known."""


class Registry:
    """The workspaces of one store, read when first asked for; it never writes.

    `read` returns a file of the store by its relative path, so a batch can show what it is about to write.
    `problems` tells what of it is damaged.
    """

    def __init__(self, root: Path, read: Callable[[str], str | None]) -> None:
        self.root = root
        self.read = read
        self.problems: list[str] = []

    @classmethod
    def load(cls, root: Path) -> Registry:
        """Read the registry of the store at `root`; a store that is not there knows no workspace."""
        return cls(root, lambda rel: files.read_optional(root / rel))

    @property
    def schema(self) -> int:
        """The version that memory.json names; 0 where it names none."""
        said = self._json(CONFIG).get("schemaVersion")
        return said if isinstance(said, int) else 0

    @cached_property
    def keys(self) -> dict[str, dict[str, Any]]:
        """Every known key, sorted, with what memory.json says of it."""
        found = {key: _mapping(value) for key, value in self._listed.items() if is_key(key)}
        for key in self._folders():
            found.setdefault(key, {})
        return dict(sorted(found.items()))

    @cached_property
    def paths(self) -> dict[str, Spot]:
        """What this machine knows of folders, by real path."""
        listed = _mapping(self._local.get("paths"))
        return {path: spot for path, value in listed.items() if (spot := _spot(value)) is not None}

    @cached_property
    def unclaimed(self) -> frozenset[str]:
        """Keys made here by name alone, which the first folder of that name may claim."""
        named = self._local.get("unclaimed")
        return (
            frozenset(key for key in named if isinstance(key, str))
            if isinstance(named, list)
            else frozenset()
        )

    def __contains__(self, key: str) -> bool:
        return key in self.keys

    def __iter__(self) -> Iterator[Known]:
        return iter(self._known.values())

    def get(self, key: str) -> Known | None:
        """Return what is known of a workspace, or None."""
        return self._known.get(key)

    def with_remote(self, remote: str) -> list[str]:
        """Return the keys, sorted, whose workspace had this normalised remote as origin."""
        return self._by_remote.get(remote, [])

    def spot(self, path: str | Path) -> Spot | None:
        """Return what this machine knows of a folder; a record of a workspace that is gone counts as none."""
        spot = self.paths.get(str(path))
        return spot if spot is not None and spot.key in self.keys else None

    def spots(self, *kinds: str) -> Iterator[tuple[str, Spot]]:
        """Yield the folders of these kinds (all without any) whose workspace is known, sorted."""
        for path, spot in sorted(self.paths.items()):
            if (not kinds or spot.kind in kinds) and spot.key in self.keys:
                yield path, spot

    def is_unclaimed(self, key: str) -> bool:
        """Tell whether no identity holds this key yet.

        That is so for a key made here by name, and for one whose store recorded neither remote nor uid.
        """
        known = self.get(key)
        if known is None or known.remotes or any(spot.key == key for spot in self.paths.values()):
            return False
        return key in self.unclaimed or not known.uid

    def titled(self, title: str) -> list[str]:
        """Return the keys of the workspaces with this title."""
        return [known.key for known in self if known.title == title]

    @cached_property
    def _listed(self) -> dict[str, Any]:
        return _mapping(self._json(CONFIG).get("workspaces"))

    @cached_property
    def _local(self) -> dict[str, Any]:
        return self._json(PATHS)

    @cached_property
    def _known(self) -> dict[str, Known]:
        return {key: self._describe(key, said) for key, said in self.keys.items()}

    @cached_property
    def _by_remote(self) -> dict[str, list[str]]:
        table: dict[str, list[str]] = {}
        for known in self._known.values():
            for remote in known.remotes:
                table.setdefault(remote, []).append(known.key)
        return table

    def _folders(self) -> list[str]:
        try:
            with os.scandir(self.root / "workspaces") as found:
                return [
                    item.name for item in found if is_key(item.name) and item.is_dir(follow_symlinks=False)
                ]
        except OSError:
            return []

    def _describe(self, key: str, said: Mapping[str, Any]) -> Known:
        meta = self._json(f"workspaces/{key}/meta.json")
        remotes = meta.get("remotes")
        urls = (
            [normalise(url) for url in remotes if isinstance(url, str)] if isinstance(remotes, list) else []
        )
        return Known(
            key,
            title=_text(said, "title") or _text(meta, "title") or key,
            created=_text(said, "created") or _text(meta, "created"),
            remotes=tuple(sorted({url for url in urls if url})),
            uid=_text(meta, "uid"),
            listed=key in self._listed,
        )

    def _json(self, rel: str) -> dict[str, Any]:
        try:
            return parse_object(self.read(rel) or "{}", rel)
        except errors.LaminaError as problem:
            if problem.message not in self.problems:
                self.problems.append(problem.message)
            return {}


def parse_object(text: str, name: str) -> dict[str, Any]:
    """Read a JSON object; raises BadInput with `name:line` for anything else."""
    try:
        value = files.parse_json(text.removeprefix("\ufeff"))
    except ValueError as problem:
        line, why = getattr(problem, "lineno", 1), getattr(problem, "msg", problem)
        raise errors.BadInput(f"{name}:{line}: not JSON: {why}", "repair the file") from None
    if not isinstance(value, dict):
        raise errors.BadInput(f"{name}:1: not a JSON object", "repair the file")
    return value


def edit(batch: Batch, rel: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Change a JSON file of the store in a batch; its keys are sorted, for people and for merges.

    A damaged file stays as it is for a person to repair: an overwrite would lose what it held.
    """

    def apply(text: str | None) -> str | None:
        try:
            value, before = parse_object(text or "{}", rel), parse_object(text or "{}", rel)
        except errors.BadInput:
            return text
        change(value)
        if value == before:
            return text
        return _escaped(json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)) + "\n"

    batch.edit(rel, apply)


def part(said: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the object under a name, made if there is none."""
    found = said.get(name)
    if not isinstance(found, dict):
        found = said[name] = {}
    return found


def _escaped(text: str) -> str:
    """Write as JSON escapes what UTF-8 can't hold: a folder's name may be any bytes."""
    parts = (char if not "\ud800" <= char <= "\udfff" else f"\\u{ord(char):04x}" for char in text)
    return text if text.isascii() else "".join(parts)


def _spot(value: object) -> Spot | None:
    said = _mapping(value)
    key, kind, roots, inode = (said.get(name) for name in ("key", "kind", "roots", "inode"))
    if not isinstance(key, str) or not is_key(key):
        return None
    commits = tuple(str(root) for root in roots) if isinstance(roots, list) else None
    number = inode if isinstance(inode, int) else 0
    return Spot(key, kind if isinstance(kind, str) else "folder", commits, number)


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(said: Mapping[str, Any], name: str) -> str:
    value = said.get(name)
    return value if isinstance(value, str) else ""
