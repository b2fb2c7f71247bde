"""Where everything stands in a store: path arithmetic only, nothing is touched.

Every name that came from outside is validated here before it becomes part of a path.
"""

from __future__ import annotations

import os
from pathlib import Path

from lamina import errors
from lamina.formats.frozen import NamedTuple
from lamina.formats.layers import LAYERS
from lamina.formats.scope import GLOBAL, Scope, is_device_name, is_key

SCHEMA = 2
LOCAL_FOLDERS = ("index", "state", "digests", "logs")
"""Folders that are derived or belong to one machine: never committed."""

_MAX_NAME_BYTES = 255
_FORBIDDEN = frozenset('<>:"/|?*\\') | {chr(code) for code in range(32)} | {"\x7f"}


class Place(NamedTuple):
    """What a path in the store is: a topic file, or (`slug` None) the file `<layer>.md` itself."""

    scope: Scope
    layer: str
    slug: str | None


class Layout:
    """The paths of one store."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.config = root / "memory.json"
        self.state = root / "state"
        self.notes = root / "digests"
        self.logs = root / "logs"
        self.index = root / "index"
        self.store_lock = self.state / "locks" / "store.lock"
        self.dirty = self.state / "dirty.json"
        self.committing = self.state / "committing.json"
        self.ids = self.state / "ids.json"
        self.singles = self.state / "ledger" / "singles.json"
        self.journal = self.state / "journal"
        self.staging = self.state / "staging"

    def scope(self, scope: Scope) -> Path:
        """Return a scope's folder; raises BadKey for a key that must not become a path."""
        if scope.key is None:
            return self.root / GLOBAL
        if not is_key(scope.key):
            raise errors.BadKey(f"{scope.key!r} is not a workspace key", "use a-z, 0-9, '.', '_' and '-'")
        return self.root / "workspaces" / scope.key

    def layer(self, scope: Scope, layer: str) -> Path:
        """Return the folder of a layer's topic files."""
        return self.scope(scope) / _known(layer)

    def layer_file(self, scope: Scope, layer: str) -> Path:
        """Return `<layer>.md`: the generated list of topics, or a single-file layer itself."""
        return self.scope(scope) / f"{_known(layer)}.md"

    def topic(self, scope: Scope, layer: str, slug: str) -> Path:
        """Return the path of a topic file."""
        return self.layer(scope, layer) / safe_name(f"{slug}.md")

    def suppressed(self, scope: Scope) -> Path:
        """Return the tombstones' file; the global one stands at the root."""
        return (self.root if scope.key is None else self.scope(scope)) / "suppressed.jsonl"

    def meta(self, scope: Scope) -> Path:
        """Return a workspace's meta.json."""
        return self.scope(scope) / "meta.json"

    def note(self, name: str) -> Path:
        """Return the path of a note by its name without `.md`."""
        return self.notes / safe_name(f"{name}.md")

    def session(self, name: str) -> Path:
        """Return the path of a session's watermark."""
        return self.state / "sessions" / safe_name(f"{name}.json")

    def ledger(self, scope: Scope, layer: str) -> Path:
        """Return the cache of what a layer's files hold."""
        return self.state / "ledger" / scope.folder / f"{_known(layer)}.json"

    def lock(self, name: str) -> Path:
        """Return the path of a named lock."""
        return self.state / "locks" / safe_name(f"{name}.lock")

    def rel(self, path: Path) -> str:
        """Return a path relative to the root, with `/` on every platform."""
        rel = os.path.relpath(path, self.root)
        return rel.replace(os.sep, "/") if os.sep != "/" else rel

    def path(self, rel: str) -> Path:
        """Return the path of a relative name; raises UnsafePath for anything that leaves the store."""
        parts = rel.split("/")
        if not all(map(_is_inside, parts)) or parts[0].casefold() == ".git":
            raise errors.UnsafePath(f"{rel!r} is not a path inside the store", "use a plain relative path")
        return self.root.joinpath(*parts)


def place_of(rel: str) -> Place | None:
    """Tell what a relative path is, or None if it is no file of a layer."""
    parts = rel.split("/")
    if parts[0] == GLOBAL:
        scope, rest = Scope(None), parts[1:]
    elif parts[0] == "workspaces" and len(parts) > 2 and is_key(parts[1]):
        scope, rest = Scope(parts[1]), parts[2:]
    else:
        return None
    if not rest or not rest[-1].endswith(".md"):
        return None
    name = rest[-1].removesuffix(".md")
    if len(rest) == 1:
        return Place(scope, name, None) if name in LAYERS else None
    return Place(scope, rest[0], name) if len(rest) == 2 and _has_topics(rest[0]) else None


def is_local(rel: str) -> bool:
    """Tell whether a relative path is derived or machine-local, so never committed."""
    return rel.split("/", 1)[0] in LOCAL_FOLDERS


def safe_name(name: str) -> str:
    """Return a file name as it is, or raise UnsafePath if it could leave its folder or break on Windows."""
    if not _is_safe(name) or is_device_name(name):
        raise errors.UnsafePath(f"{name!r} can't be a file name in the store", "choose a plain name")
    return name


def _is_safe(part: str) -> bool:
    if not _is_inside(part) or part[-1] in ". ":
        return False
    return _FORBIDDEN.isdisjoint(part) and len(part.encode("utf-8", "surrogatepass")) <= _MAX_NAME_BYTES


def _is_inside(part: str) -> bool:
    """Names of existing files may be odd, as long as they are names and no ways out."""
    return part not in ("", ".", "..") and "\0" not in part and (os.name != "nt" or not {"\\", ":"} & {*part})


def _known(layer: str) -> str:
    if layer not in LAYERS:
        raise errors.UnknownLayer(f"{layer!r} is not a layer", "one of: " + ", ".join(LAYERS))
    return layer


def _has_topics(layer: str) -> bool:
    return layer in LAYERS and LAYERS[layer].many
