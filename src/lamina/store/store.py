"""The store: opening it, listing what it holds, reading it. Writing is `Store.writing`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lamina import errors
from lamina.formats.entry import Entry, Topic, parse_topic
from lamina.formats.ids import parse_id
from lamina.formats.layers import LAYERS
from lamina.formats.scope import GLOBAL, Scope, is_key
from lamina.formats.slug import topic_slug
from lamina.store import files
from lamina.store.files import Problem
from lamina.store.layout import LOCAL_FOLDERS, SCHEMA, Layout
from lamina.store.ledger import Ledger, listing, slug_of
from lamina.store.record import canonical

if TYPE_CHECKING:
    from lamina.store.write import Writing

_GITIGNORE = "".join(f"/{name}/\n" for name in LOCAL_FOLDERS)
_OURS = {*LOCAL_FOLDERS, GLOBAL, "workspaces", "SYSTEM.md", "suppressed.jsonl", "memory.json"}
_OURS |= {".git", ".gitignore", ".gitattributes", ".DS_Store"}
_MANY = tuple(name for name, layer in LAYERS.items() if layer.many)


class TopicFile(NamedTuple):
    """One file with entries. `slug` is "" for a layer's old single file, whose entries wait to be moved."""

    path: Path
    rel: str
    scope: Scope
    layer: str
    slug: str


class Located(NamedTuple):
    """An entry and where it stands. `topic` is the title of its topic."""

    entry: Entry
    scope: Scope
    layer: str
    topic: str
    slug: str
    path: Path
    rel: str


class Store:
    """An open store. It holds no file open and no lock; every call sees the disk as it is now.

    `problems` collects what single files had wrong with them while they were listed.
    """

    def __init__(self, root: Path, config: dict[str, Any]) -> None:
        self.root = root
        self.layout = Layout(root)
        self.config = config
        """What memory.json held when the store was opened."""
        self.problems: list[Problem] = []
        self._ledgers: dict[tuple[Scope, str], Ledger] = {}

    @classmethod
    def open(cls, root: Path, *, create: bool = False, now: datetime | None = None) -> Store:
        """Open the store at `root`; with `create`, make it first if there is none.

        Raises NoStore, Refused for a folder that holds other things, UnreadableFile for a damaged
        memory.json. `now` stamps the first commit's dirty mark.
        """
        root = _absolute(root)
        layout = Layout(root)
        text = files.read_optional(layout.config)
        if text is None and not create:
            hint = "run `lamina init`, or name another folder with --root"
            raise errors.NoStore(f"{root}: no store here", hint)
        if text is None:
            _create(layout, now)
            text = files.read_text(layout.config)
        return cls(root, _parse_config(layout.config, text))

    @property
    def schema(self) -> int:
        """The version of the store's layout."""
        return int(self.config.get("schemaVersion", SCHEMA))

    @property
    def read_only(self) -> bool:
        """Whether a newer Lamina wrote this store, so that this one only reads it."""
        return self.schema > SCHEMA

    def writing(
        self,
        *,
        label: str,
        at: datetime,
        timeout_s: float = 30.0,
        step: Callable[[str], None] | None = None,
        dry_run: bool = False,
    ) -> AbstractContextManager[Writing]:
        """Start a batch of changes that is written when the block ends, whole or not at all.

        Holds the store's lock all the time, so keep slow work outside. A raised exception writes nothing.
        `step` is told each step of the final writing; `dry_run` works everything out and writes nothing.
        Raises ReadOnlyStore, Busy, UnwritableStore.
        """
        from lamina.store.write import writing

        return writing(self, label=label, at=at, timeout_s=timeout_s, step=step, dry_run=dry_run)

    def scopes(self) -> list[Scope]:
        """List the scopes that have a folder, global first."""
        folder = self.root / "workspaces"
        try:
            files.refuse_links(self.root, "workspaces/")
            names = sorted(path.name for path in folder.iterdir())
        except FileNotFoundError:
            names = []
        except (OSError, errors.UnsafePath) as problem:
            self._tell(str(folder), f"can't be listed ({problem})")
            names = []
        return [Scope(None), *(Scope(name) for name in names if self._is_workspace(folder / name))]

    def topics(self, scope: Scope, layer: str) -> list[TopicFile]:
        """List the files of a layer that hold entries, sorted by name; a single-file layer has one."""
        single = self.layout.layer_file(scope, layer)
        if not LAYERS[layer].many:
            return [self._topic_file(single, scope, layer, layer)] if files.stamp(single) else []
        found = [
            TopicFile(Path(path), f"{scope.folder}/{layer}/{name}", scope, layer, slug_of(name))
            for name, path, _ in listing(self.layout, scope, layer, self.problems)
        ]
        if self.legacy(scope, layer):
            found.insert(0, self._topic_file(single, scope, layer, ""))
        return found

    def read_topic(self, ref: TopicFile) -> Topic:
        """Parse a topic file."""
        files.refuse_links(self.root, ref.rel)
        return parse_topic(files.read_text(ref.path))

    def legacy(self, scope: Scope, layer: str) -> Topic | None:
        """Return the old single file of a layer if entries still stand in it."""
        path = self.layout.layer_file(scope, layer)
        try:
            files.refuse_links(self.root, self.layout.rel(path))
            text = files.read_optional(path)
        except errors.LaminaError as problem:
            self._tell(str(path), problem.message)
            return None
        if text is None or not (text.startswith(("## ", "\ufeff## ")) or "\n## " in text):
            return None
        topic = parse_topic(text)
        return topic if topic.entries else None

    def entries(self, scope: Scope | None = None, layer: str | None = None) -> Iterator[Located]:
        """Yield the entries of one scope or all, of one layer or all that keep entries in topics."""
        for each in [scope] if scope else self.scopes():
            for name in [layer] if layer else _MANY:
                if each.key is not None or not LAYERS[name].workspace_only:
                    for ref in self.topics(each, name):
                        yield from self.entries_in(ref)

    def entries_in(self, ref: TopicFile) -> Iterator[Located]:
        """Yield the entries of one file; a file that can't be read becomes a problem."""
        try:
            topic = self.read_topic(ref)
        except errors.NoSuchFile:
            return  # gone between listing and reading
        except errors.LaminaError as problem:
            self._tell(str(ref.path), problem.message)
            return
        for entry in topic.entries:
            yield self._located(entry, ref, topic)

    def find(self, id_: str) -> Located | None:
        """Return the entry of this id or, if none has it, the one with it as an alias."""
        wanted = parse_id(id_)
        if wanted is None:
            return None
        id_ = str(wanted)
        alias: Located | None = None
        for scope, layer in self._places(wanted.key, wanted.abbreviation):
            for located in self._holders(scope, layer, id_):
                if canonical(located.entry.id or "") == id_:
                    return located
                alias = alias or located
        return alias

    def with_hash(self, scope: Scope, hash_: str) -> list[str]:
        """Return the ids of a scope's entries whose content hash is this one."""
        return [id_ for layer in _MANY for id_ in self.ledger(scope, layer).with_hash(hash_)]

    def ledger(self, scope: Scope, layer: str) -> Ledger:
        """Return what is known of a layer's topic files, brought up to date."""
        ledger = self._ledgers.get((scope, layer))
        if ledger is None:
            ledger = self._ledgers[scope, layer] = Ledger(self.layout, scope, layer)
        self.problems += [each for each in ledger.refresh() if each not in self.problems]
        return ledger

    def text(self, rel: str) -> str | None:
        """Return the text of any file of the store, or None where there is none."""
        path = self.layout.path(rel)
        files.refuse_links(self.root, rel)
        return files.read_optional(path)

    def settled(self, rel: str) -> str | None:
        """Return the text of a file that is going to be changed: not one that an editor is just saving."""
        path = self.layout.path(rel)
        files.refuse_links(self.root, rel)
        try:
            return files.decode(path, files.read_settled(path))
        except errors.NoSuchFile:
            return None

    def doubles(self) -> list[Problem]:
        """Report each id that two entries carry; the one that sorts first keeps it."""
        found: list[Problem] = []
        for scope in self.scopes():
            for layer in _MANY:
                for id_, first, later in self.ledger(scope, layer).doubles():
                    path = self.layout.layer(scope, layer) / later
                    message = f"the id {id_} stands twice, first in {first}; remove this Id to get a new one"
                    found.append(Problem(str(path), 0, message))
        return found

    def _places(self, key: str, abbreviation: str) -> list[tuple[Scope, str]]:
        """List all layers of all scopes, the one that the id names first."""
        everywhere = [
            (scope, layer)
            for scope in self.scopes()
            for layer in _MANY
            if scope.key is not None or not LAYERS[layer].workspace_only
        ]
        home = [
            (scope, layer)
            for scope, layer in everywhere
            if scope.id_key == key and LAYERS[layer].abbreviation == abbreviation
        ]
        return home + [each for each in everywhere if each not in home]

    def _holders(self, scope: Scope, layer: str, id_: str) -> Iterator[Located]:
        folder = self.layout.layer(scope, layer)
        refs = [
            self._topic_file(folder / name, scope, layer, slug_of(name))
            for name in self.ledger(scope, layer).files_with(id_)
        ]
        if self.legacy(scope, layer):
            refs.append(self._topic_file(self.layout.layer_file(scope, layer), scope, layer, ""))
        for ref in refs:
            for located in self.entries_in(ref):
                if id_ in map(canonical, [located.entry.id or "", *located.entry.aliases]):
                    yield located

    def _located(self, entry: Entry, ref: TopicFile, topic: Topic) -> Located:
        title, slug = (topic.title or ref.slug, ref.slug) if ref.slug else legacy_topic(entry, ref.layer)
        return Located(entry, ref.scope, ref.layer, title, slug, ref.path, ref.rel)

    def _topic_file(self, path: Path, scope: Scope, layer: str, slug: str) -> TopicFile:
        return TopicFile(path, self.layout.rel(path), scope, layer, slug)

    def _is_workspace(self, path: Path) -> bool:
        if path.name.startswith("."):
            return False
        if path.is_symlink() or not path.is_dir() or not is_key(path.name):
            self._tell(str(path), "is not a workspace's folder; it is left out")
            return False
        return True

    def _tell(self, path: str, message: str) -> None:
        problem = Problem(path, 0, message)
        if problem not in self.problems:
            self.problems.append(problem)


def legacy_topic(entry: Entry, layer: str) -> tuple[str, str]:
    """Return the title and slug of the topic that an entry of an old single file belongs to."""
    day = entry.date.isoformat() if layer == "history" and entry.date else ""
    title = day or entry.heading
    return title, topic_slug(title)


def _parse_config(path: Path, text: str) -> dict[str, Any]:
    """Read memory.json, or say where it is damaged."""
    hint = f"correct it by hand, or restore it: git -C {path.parent} checkout -- memory.json"
    try:
        config = files.parse_json(text.removeprefix("\ufeff"))
    except ValueError as problem:
        raise errors.UnreadableFile(f"{path}: is damaged ({problem})", hint) from None
    version = config.get("schemaVersion", SCHEMA) if isinstance(config, dict) else None
    if type(version) is not int or version < 1:
        raise errors.UnreadableFile(f"{path}: is damaged (no usable schemaVersion)", hint)
    if not all(isinstance(config.get(key, {}), dict) for key in ("git", "workspaces")):
        raise errors.UnreadableFile(f"{path}: is damaged (git and workspaces must be objects)", hint)
    return dict(config)


def _absolute(root: Path) -> Path:
    try:
        return Path(os.path.abspath(root.expanduser()))  # resolve() would follow the user's own link
    except RuntimeError:
        raise errors.NoSuchFile(
            f"{root}: there is no such home folder", "name a folder with --root"
        ) from None
    except FileNotFoundError:
        hint = "go to a folder that exists, or give --root as an absolute path"
        raise errors.NoSuchFile(f"{root}: the current folder was deleted", hint) from None


def _create(layout: Layout, now: datetime | None) -> None:
    """Make a new store; several processes may try at once."""
    from lamina.store import git, locks

    _refuse_strange(layout.root)
    files.make_dir(layout.root)
    with locks.lock(layout.store_lock):
        if files.is_there(layout.config):
            return
        for folder in (*LOCAL_FOLDERS, GLOBAL, "workspaces"):
            files.make_dir(layout.root / folder)
        _write_new(layout.root / ".gitignore", _GITIGNORE)
        _write_new(layout.root / ".gitattributes", _gitattributes())
        git.init(layout.root)
        config = {"schemaVersion": SCHEMA, "git": {"remote": "", "branch": "main"}, "workspaces": {}}
        _write_new(layout.config, json.dumps(config, indent=2, sort_keys=True) + "\n")
        git.mark_dirty(layout, now)


def _refuse_strange(root: Path) -> None:
    """Refuse a folder that holds other things: everything in a store is committed."""
    try:
        names = {path.name for path in root.iterdir() if not path.name.startswith(files.TEMPORARY)}
    except FileNotFoundError:
        return
    except NotADirectoryError:
        raise errors.UnsafePath(f"{root}: is a file", "name a folder with --root") from None
    except OSError as problem:
        raise files.unwritable(root, problem) from problem
    if names - _OURS:
        hint = "name an empty or new folder with --root"
        raise errors.Refused(f"{root}: is neither empty nor a store", hint)


def _write_new(path: Path, text: str) -> None:
    if not os.path.lexists(path):
        files.write_text(path, text, expected=None)


def _gitattributes() -> str:
    lines = ["# Files stay byte for byte as they are; generated ones never stop a merge.", "* -text"]
    for name in _MANY:
        if not LAYERS[name].workspace_only:
            lines.append(f"/global/{name}.md merge=union linguist-generated")
        lines.append(f"/workspaces/*/{name}.md merge=union linguist-generated")
    lines += ["/SYSTEM.md merge=union linguist-generated", "suppressed.jsonl merge=union"]
    return "\n".join(lines) + "\n"
