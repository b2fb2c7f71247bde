"""What the ledger remembers of one file: little enough to be kept, looked up and saved again in microseconds.

A record is one line of text: a JSON array about the file, a tab, a JSON array about its entries. The second
one is read only when it is asked for, and a line that did not change is written again as it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from lamina.formats.entry import Entry, Topic
from lamina.formats.ids import parse_id
from lamina.store import files
from lamina.store.files import Stamp

HASH_SIZE = 32
"""So much of a content hash is kept: enough to tell entries apart."""

_LISTED = "decisions"
"""The layer whose generated file lists the headings of its entries."""

TOO_HIGH = 10**12
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


class About(NamedTuple):
    """The file as a whole. `print` is the fingerprint of its text, `numbers` the highest of its ids."""

    print: str
    title: str
    shown: int
    updated: str
    numbers: dict[str, int]
    headings: tuple[str, ...]


class Record:
    """What one file of a layer holds. `stamp` None: compare its fingerprint next time."""

    __slots__ = ("_about", "_entries", "_line", "_tail", "stamp")

    def __init__(self, stamp: Stamp | None, about: About, tail: str, line: str = "") -> None:
        self.stamp = stamp
        self._about = about
        self._tail = tail
        self._line = line
        self._entries: tuple[Known, ...] | None = None

    @property
    def print(self) -> str:
        """The fingerprint of the text."""
        return self._about.print

    @property
    def title(self) -> str:
        """The topic's title, "" if the file says none."""
        return self._about.title

    @property
    def shown(self) -> int:
        """How many entries are not forgotten."""
        return self._about.shown

    @property
    def updated(self) -> str:
        """The newest day of an entry, "" if none has one."""
        return self._about.updated

    @property
    def numbers(self) -> dict[str, int]:
        """The highest number of an id or alias under each `<key>-<abbreviation>`."""
        return self._about.numbers

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings in force, in the layer that lists them."""
        return self._about.headings

    @property
    def entries(self) -> tuple[Known, ...]:
        """The entries, in file order."""
        if self._entries is None:
            self._entries = tuple([_known_again(*each) for each in files.parse_json(self._tail)])
        return self._entries

    def mentions(self, word: str) -> bool:
        """Tell fast whether an id, alias or hash may stand here."""
        return f'"{word}"' in self._tail

    def line(self, name: str, stamp: Stamp | None) -> str:
        """Write the record as a line."""
        if not self._line or stamp != self.stamp:
            # A name of bytes that are no text can be written as escapes only.
            ascii_only = not name.isprintable()
            head = json.dumps([name, stamp, *self._about], ensure_ascii=ascii_only, separators=(",", ":"))
            return f"{head}\t{self._tail}"
        return self._line

    def stamped(self, stamp: Stamp | None) -> Record:
        """Return the record under another stamp."""
        return Record(stamp, self._about, self._tail)


def parse_record(line: str) -> tuple[str, Record]:
    """Read a line; returns the file's name too. Raises ValueError or TypeError for a damaged one."""
    head, _, tail = line.partition("\t")
    name, stamp, print_, title, shown, updated, numbers, headings = files.parse_json(head)
    about = About(print_, title, shown, updated, numbers, tuple(headings))
    return name, Record(Stamp(*stamp) if stamp else None, about, tail, line)


def record_of(topic: Topic, layer: str, print_: str, old: dict[str, Known]) -> Record:
    """Sum up a topic file. Forgotten entries are not counted, superseded decisions not listed.

    `old` gives what is known already of entries, by their text.
    """
    entries = tuple([old.get(entry.raw) or _known(entry, layer) for entry in topic.entries])
    shown = [known for known in entries if known.trust != "forgotten"]
    about = About(
        print_,
        topic.title,
        len(shown),
        max((known.day for known in shown), default=""),
        highest([known.id for known in entries], *(known.aliases for known in entries if known.aliases)),
        tuple(known.heading for known in shown if known.heading and known.trust != "superseded"),
    )
    return Record(None, about, json.dumps(entries, ensure_ascii=False, separators=(",", ":")))


def ids_of(topic: Topic) -> list[str]:
    """Return all ids and aliases that stand in a topic."""
    return [id_ for entry in topic.entries for id_ in (entry.id, *entry.aliases)]


def highest(*groups: Iterable[str]) -> dict[str, int]:
    """Map `<key>-<abbreviation>` to the highest number among ids."""
    numbers: dict[str, int] = {}
    for group in groups:
        for text in group:
            if text and (id_ := parse_id(text)) and id_.number < TOO_HIGH:
                prefix = f"{id_.key}-{id_.abbreviation}"
                numbers[prefix] = max(numbers.get(prefix, 0), id_.number)
    return numbers


def canonical(id_: str) -> str:
    """Return an id as the program writes it; what is no id stays as it is."""
    parsed = parse_id(id_) if id_ else None
    return str(parsed) if parsed else id_


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


def _known_again(*values: Any) -> Known:
    id_, hash_, day, trust, aliases, heading = values
    return Known(id_, hash_, day, trust, tuple(aliases), heading)
