"""A derived cache of what the files of one layer hold; only files that changed are read again.

It serves id allocation, looking up an id, finding equal content and the generated layer files.
Deleting it costs one reading of the layer.
"""

from __future__ import annotations

import os
import stat
import time
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

from lamina import errors
from lamina.formats.entry import Topic, parse_topic
from lamina.formats.layers import LAYERS
from lamina.formats.scope import Scope
from lamina.store import files
from lamina.store.files import Problem, Stamp
from lamina.store.layout import Layout
from lamina.store.record import HASH_SIZE, Known, Record, canonical, parse_record, record_of

_HEAD = "lamina ledger 3"
_TICK_NS = 20_000_000
"""File systems stamp in ticks of up to 10 ms: what changed a moment ago may change again unseen."""

_FEW = 16
"""So many look-ups are made by searching; for more, a table is made."""


class Ledger:
    """The cache of one layer of one scope: file name → record."""

    def __init__(self, layout: Layout, scope: Scope, layer: str) -> None:
        self.scope = scope
        self.layer = layer
        self.records: dict[str, Record] = {}
        self.changed = False
        """Whether what is saved differs from what is known."""
        self._layout = layout
        self._path = layout.ledger(scope, layer)
        self._loaded: Stamp | None = None
        self._asked = 0
        self._table: dict[str, dict[str, Record]] | None = None
        self._load()

    def refresh(self) -> list[Problem]:
        """Bring the records up to date with the files; returns what could not be read."""
        problems: list[Problem] = []
        self._take_over()
        names = set()
        for name, path, info in listing(self._layout, self.scope, self.layer, problems):
            names.add(name)
            old = self.records.get(name)
            stamp = files.stamp_of(info)
            if old is not None and old.stamp == stamp:
                continue
            self._read(name, path, stamp, problems)
        for name in self.records.keys() - names:
            del self.records[name]
            self._forget_table()
        return problems

    def set(self, name: str, topic: Topic | None, text: str, first: Topic | None) -> None:
        """Record what a file of ours holds now, made from its `first` topic; None: it is gone."""
        self._forget_table()
        if topic is None:
            self.records.pop(name, None)
            return
        record = self.records.get(name)
        old: dict[str, Known] = {}
        if record is not None and first is not None and len(first.entries) == len(record.entries):
            pairs = zip(first.entries, record.entries, strict=True)
            old = {entry.raw: known for entry, known in pairs if known.id == canonical(entry.id)}
        self.records[name] = record_of(topic, self.layer, files.fingerprint(text), old)

    def trust(self, name: str) -> None:
        """Stamp a file that was just written by us."""
        record = self.records.get(name)
        if record is not None:
            path = self._layout.layer(self.scope, self.layer) / name
            self.records[name] = record.stamped(files.stamp(path))

    def files_with(self, id_: str) -> list[str]:
        """Name the files that hold an entry of this id; those with it as an alias come last."""
        own, alias = [], []
        for name, record in self._mentioning(id_):
            if any(id_ == each.id for each in record.entries):
                own.append(name)
            elif any(id_ in each.aliases for each in record.entries):
                alias.append(name)
        return [*sorted(own), *sorted(alias)]

    def with_hash(self, hash_: str) -> list[str]:
        """Return the ids of entries with this content hash, "" for one that has no id."""
        head = hash_[:HASH_SIZE]
        return [
            each.id for _, record in self._mentioning(head) for each in record.entries if each.hash == head
        ]

    def file_of(self, title: str) -> str | None:
        """Return the first file whose title is exactly this one."""
        return min((name for name, record in self.records.items() if record.title == title), default=None)

    def doubles(self) -> Iterator[tuple[str, str, str]]:
        """Yield each id that stands twice, with the file that keeps it and the later one."""
        seen: dict[str, str] = {}
        for name, record in sorted(self.records.items()):
            for known in record.entries:
                if known.id and known.id in seen:
                    yield known.id, seen[known.id], name
                elif known.id:
                    seen[known.id] = name

    def save(self) -> None:
        """Write the cache if it changed. Its loss costs time only, so it is not synced to the disk."""
        if not self.changed:
            return
        now = time.time_ns()
        lines = [_HEAD]
        lines += [record.line(name, _settled(record.stamp, now)) for name, record in self.records.items()]
        files.renew(self._path, "\n".join(lines))
        self._loaded = files.stamp(self._path)
        self.changed = False

    def _mentioning(self, word: str) -> Iterable[tuple[str, Record]]:
        """Yield the records that may hold an id, an alias or a hash."""
        self._asked += 1
        if self._asked <= _FEW:
            return [(name, record) for name, record in self.records.items() if record.mentions(word)]
        if self._table is None:
            self._table = {}
            for name, record in self.records.items():
                for each in record.entries:
                    for key in (each.id, each.hash, *each.aliases):
                        self._table.setdefault(key, {})[name] = record
        return list(self._table.get(word, {}).items())

    def _forget_table(self) -> None:
        self._table = None
        self.changed = True

    def _read(self, name: str, path: str, stamp: Stamp, problems: list[Problem]) -> None:
        racy = time.time_ns() - max(stamp.mtime_ns, stamp.ctime_ns) < _TICK_NS
        try:
            data = files.read_settled(Path(path))
            print_ = files.fingerprint(data)
            record = self.records.get(name)
            if record is None or record.print != print_:
                topic = parse_topic(files.decode(Path(path), data))
                record = record_of(topic, self.layer, print_, {})
        except errors.NoSuchFile:
            return
        except errors.LaminaError as problem:
            problems.append(Problem(path, 0, problem.message))
            return
        self.records[name] = record.stamped(None if racy else stamp)
        self._forget_table()

    def _take_over(self) -> None:
        """Load what another writer has saved meanwhile: it need not be worked out again."""
        saved = files.stamp(self._path)
        if saved is not None and saved != self._loaded:
            self._load()
            self._table, self.changed = None, False

    def _load(self) -> None:
        path = self._path
        self._loaded = files.stamp(path)
        try:
            head, *lines = files.read_text(path).split("\n")
            if head == _HEAD:
                self.records = dict(map(parse_record, lines))
        except (errors.LaminaError, ValueError, TypeError):
            self.records = {}  # derived: whatever is wrong with it, the files are read again


def listing(
    layout: Layout, scope: Scope, layer: str, problems: list[Problem]
) -> list[tuple[str, str, os.stat_result]]:
    """List the topic files of a layer as (name, path, stat), sorted by name.

    What is no plain file is told as a problem and left out.
    """
    folder = layout.layer(scope, layer)
    try:
        files.refuse_links(layout.root, layout.rel(folder) + "/")
        with os.scandir(folder) as found:
            return sorted(_plain(found, problems), key=lambda each: each[0])
    except (FileNotFoundError, NotADirectoryError):
        return []
    except errors.UnsafePath as problem:
        problems.append(Problem(str(folder), 0, problem.message))
    except OSError as problem:
        problems.append(Problem(str(folder), 0, f"can't be listed ({problem.strerror or problem})"))
    return []


def _plain(
    found: Iterable[os.DirEntry[str]], problems: list[Problem]
) -> Iterator[tuple[str, str, os.stat_result]]:
    for each in found:
        if not each.name.endswith(".md") or each.name.startswith("."):
            continue
        if not is_text(each.name):
            problems.append(Problem(each.path, 0, "its name is not UTF-8 text; it is left out until renamed"))
            continue
        try:
            info = each.stat(follow_symlinks=False)
        except OSError:
            continue  # gone between listing and looking
        if stat.S_ISREG(info.st_mode):
            yield each.name, each.path, info
        else:
            problems.append(Problem(each.path, 0, "is not a plain file; it is left out"))


def is_text(name: str) -> bool:
    """Tell whether a file's name can be written in a list, an index, a commit: names may be any bytes."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def nfc(text: str) -> str:
    """Return a text in NFC."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def folded(slug: str) -> str:
    """Return the form in which two names are one file on a disk that ignores case or Unicode form."""
    if slug.isascii():
        return slug.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", slug).casefold())


def slug_of(name: str) -> str:
    """Return the slug of a file name; some disks keep names decomposed."""
    return nfc(name.removesuffix(".md"))


def prefix_of(scope: Scope, layer: str) -> str:
    """Return what the ids of a layer begin with: `<key>-<abbreviation>`."""
    return f"{scope.id_key}-{LAYERS[layer].abbreviation}"


def _settled(stamp: Stamp | None, now_ns: int) -> Stamp | None:
    """Return a stamp that can be relied on: not one of a moment ago."""
    if stamp is None or now_ns - max(stamp.mtime_ns, stamp.ctime_ns) < _TICK_NS:
        return None
    return stamp
