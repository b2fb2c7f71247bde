"""A derived cache of what the files of one layer hold; only files that changed are read again.

It serves id allocation, looking up an id, finding equal content and the generated layer files.
Deleting it costs one reading of the layer.
"""

from __future__ import annotations

import json
import os
import stat
import time
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from lamina import errors
from lamina.formats.entry import Entry, Topic, parse_topic
from lamina.formats.ids import parse_id
from lamina.formats.layers import LAYERS
from lamina.formats.scope import Scope
from lamina.store import files
from lamina.store.files import Problem, Stamp
from lamina.store.layout import Layout

HASH_SIZE = 32
"""So much of a content hash is kept: enough to tell entries apart."""

_VERSION = 2
_LISTED = "decisions"
"""The layer whose generated file lists the headings of its entries."""

_TICK_NS = 20_000_000
"""File systems stamp in ticks of up to 10 ms: what changed a moment ago may change again unseen."""


_TOO_HIGH = 10**12
"""A number that no store reaches: whoever wrote it by hand must not make all later ids that long."""


class Known(NamedTuple):
    """One entry as the ledger remembers it.

    `id` is "" when it has none yet, `hash` the head of its content hash, `day` its date; `heading` is kept
    in the layer that lists headings.
    """

    id: str
    hash: str
    day: str
    trust: str
    aliases: tuple[str, ...]
    heading: str


class Record(NamedTuple):
    """What one file of a layer holds. `stamp` None: compare its `print` next time."""

    stamp: Stamp | None
    print: str
    title: str
    shown: int
    updated: str
    numbers: dict[str, int]
    entries: tuple[Known, ...]
    headings: tuple[str, ...]

    @property
    def aliases(self) -> Iterator[str]:
        """All earlier ids of its entries."""
        return (alias for known in self.entries for alias in known.aliases)


def record_of(topic: Topic, layer: str, print_: str, old: dict[str, Known]) -> Record:
    """Sum up a topic file. Forgotten entries are not counted, superseded decisions not listed.

    `old` gives what is known already of entries, by their text.
    """
    entries = tuple([old.get(entry.raw) or _known(entry, layer) for entry in topic.entries])
    shown = [known for known in entries if known.trust != "forgotten"]
    listed = tuple(known.heading for known in shown if known.trust != "superseded")
    return Record(
        None,
        print_,
        topic.title,
        len(shown),
        max((known.day for known in shown), default=""),
        highest([known.id for known in entries], *(known.aliases for known in entries if known.aliases)),
        entries,
        listed if layer == _LISTED else (),
    )


def ids_of(topic: Topic) -> list[str]:
    """Return all ids and aliases that stand in a topic."""
    return [id_ for entry in topic.entries for id_ in (entry.id, *entry.aliases)]


def _known(entry: Entry, layer: str) -> Known:
    day = entry.date
    return Known(
        canonical(entry.id),
        entry.content_hash[:HASH_SIZE],
        day.isoformat() if day else "",
        entry.trust,
        tuple([canonical(alias) for alias in entry.aliases]),
        entry.heading if layer == _LISTED else "",
    )


def highest(*groups: Iterable[str]) -> dict[str, int]:
    """Map `<key>-<abbreviation>` to the highest number among ids."""
    numbers: dict[str, int] = {}
    for group in groups:
        for text in group:
            if text and (id_ := parse_id(text)) and id_.number < _TOO_HIGH:
                prefix = f"{id_.key}-{id_.abbreviation}"
                numbers[prefix] = max(numbers.get(prefix, 0), id_.number)
    return numbers


class Ledger:
    """The cache of one layer of one scope: file name → record."""

    def __init__(self, layout: Layout, scope: Scope, layer: str) -> None:
        self.scope = scope
        self.layer = layer
        self.records: dict[str, Record] = {}
        self.changed = False
        """Whether what is saved differs from what is known."""
        self._layout = layout
        self._load()

    def refresh(self) -> list[Problem]:
        """Bring the records up to date with the files; returns what could not be read."""
        problems: list[Problem] = []
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
            self.changed = True
        return problems

    def set(self, name: str, topic: Topic | None, text: str, first: Topic | None) -> None:
        """Record what a file of ours holds now, made from its `first` topic; None: it is gone."""
        self.changed = True
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
        path = self._layout.layer(self.scope, self.layer) / name
        if name in self.records:
            self.records[name] = self.records[name]._replace(stamp=files.stamp(path))

    def files_with(self, id_: str) -> list[str]:
        """Name the files that hold an entry of this id; those with it as an alias come last."""
        records = sorted(self.records.items())
        own = [name for name, record in records if any(id_ == each.id for each in record.entries)]
        return own + [name for name, record in records if id_ in record.aliases]

    def with_hash(self, hash_: str) -> list[str]:
        """Return the ids of entries with this content hash, "" for one that has no id."""
        head = hash_[:HASH_SIZE]
        return [each.id for record in self.records.values() for each in record.entries if each.hash == head]

    def number(self, prefix: str) -> int:
        """Return the highest number in use under `<key>-<abbreviation>`."""
        return max((record.numbers.get(prefix, 0) for record in self.records.values()), default=0)

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
        data = {
            "version": _VERSION,
            "files": {name: _pack(record, now) for name, record in sorted(self.records.items())},
        }
        path = self._layout.ledger(self.scope, self.layer)
        files.renew(path, json.dumps(data, ensure_ascii=False, separators=(",", ":")))
        self.changed = False

    def _read(self, name: str, path: str, stamp: Stamp, problems: list[Problem]) -> None:
        racy = time.time_ns() - max(stamp.mtime_ns, stamp.ctime_ns) < _TICK_NS
        try:
            data = files.read_bytes(Path(path))
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
        self.records[name] = record._replace(stamp=None if racy else stamp)
        self.changed = True

    def _load(self) -> None:
        path = self._layout.ledger(self.scope, self.layer)
        try:
            data = json.loads(files.read_bytes(path))
            if data["version"] == _VERSION:
                self.records = {name: _unpack(each) for name, each in data["files"].items()}
        except (errors.LaminaError, ValueError, KeyError, TypeError, AttributeError):
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
        try:
            info = each.stat(follow_symlinks=False)
        except OSError:
            continue  # gone between listing and looking
        if stat.S_ISREG(info.st_mode):
            yield each.name, each.path, info
        else:
            problems.append(Problem(each.path, 0, "is not a plain file; it is left out"))


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


def canonical(id_: str) -> str:
    """Return an id as the program writes it; what is no id stays as it is."""
    parsed = parse_id(id_) if id_ else None
    return str(parsed) if parsed else id_


def prefix_of(scope: Scope, layer: str) -> str:
    """Return what the ids of a layer begin with: `<key>-<abbreviation>`."""
    return f"{scope.id_key}-{LAYERS[layer].abbreviation}"


def _pack(record: Record, now_ns: int) -> dict[str, Any]:
    stamp = record.stamp
    if stamp is not None and now_ns - max(stamp.mtime_ns, stamp.ctime_ns) < _TICK_NS:
        stamp = None
    return {**record._asdict(), "stamp": stamp}


def _unpack(data: dict[str, Any]) -> Record:
    stamp = data["stamp"]
    return Record(
        Stamp(*stamp) if stamp else None,
        data["print"],
        data["title"],
        data["shown"],
        data["updated"],
        data["numbers"],
        tuple([_unpack_known(*each) for each in data["entries"]]),
        tuple(data["headings"]),
    )


def _unpack_known(id_: str, hash_: str, day: str, trust: str, aliases: list[str], heading: str) -> Known:
    return Known(id_, hash_, day, trust, tuple(aliases), heading)
