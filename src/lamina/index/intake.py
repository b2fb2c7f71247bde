"""What changed on disk since the index was written, and taking it in."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping

from lamina.errors import LaminaError
from lamina.formats.frozen import NamedTuple
from lamina.index import tables
from lamina.index.base import Changes, Reading, Stamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lamina.index.engine import Source

# A file that was written this shortly before it was read may change again within one tick of its
# disk's clock and keep its stamp (2 s on FAT, less elsewhere).
_RACY_NS = 2_000_000_000
_UNREAD: Stamp = (0, 0, 0, 0)


class Look(NamedTuple):
    """What the disk holds at a moment: all files or the touched ones; settled if none is too young.

    `version` is the database's, to notice that somebody else wrote since.
    """

    stamps: dict[str, Stamp]
    at: int
    touched: Collection[str] | None
    settled: bool
    version: int


class Plan(NamedTuple):
    """What differs between the disk and the index."""

    read: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    settled: tuple[str, ...] = ()

    @property
    def any(self) -> bool:
        """Tell whether anything differs."""
        return bool(self.read or self.gone or self.settled)


def look_at(source: Source, touched: Collection[str] | None, now: int, version: int = 0) -> Look:
    """List the disk."""
    stamps = source.stamps(touched)
    settled = touched is None and not any(_racy(stamp, now) for stamp in stamps.values())
    return Look(stamps, now, touched, settled, version)


def plan(known: Mapping[str, tables.Known], look: Look, source: Source) -> Plan:
    """Compare the disk with the index; files that were too young when read are compared by content."""
    read: list[str] = []
    settled: list[str] = []
    for rel, stamp in look.stamps.items():
        entry = known.get(rel)
        if entry is None or entry[1:5] != stamp:
            read.append(rel)
        elif entry[6]:
            if _checksum(source, rel) != entry[5]:
                read.append(rel)
            elif not _racy(stamp, look.at):
                settled.append(rel)
    return Plan(tuple(sorted(read)), tuple(sorted(known.keys() - look.stamps.keys())), tuple(settled))


def apply(
    db: sqlite3.Connection, known: Mapping[str, tables.Known], todo: Plan, look: Look, source: Source
) -> Changes:
    """Write a plan's rows; a file that can't be read keeps no rows and is tried again next time."""
    batch = tables.Batch(db)
    problems: list[str] = []
    told: list[str] = []
    documents = 0
    for rel in todo.gone:
        batch.remove(tables.file_number(db, rel))
    for rel in todo.settled:
        tables.put_stamp(db, rel, look.stamps[rel], checksum=known[rel][5], racy=False)
    for rel in todo.read:
        reading, problem = _read(source, rel)
        stamp = _UNREAD if problem else look.stamps[rel]
        problems += [problem] if problem else []
        told += [reading.problem] if reading.problem else []
        racy = not problem and _racy(stamp, look.at)
        number = tables.put_stamp(db, rel, stamp, checksum=reading.checksum, racy=racy)
        batch.replace(number, reading.documents)
        documents += len(reading.documents)
    batch.finish()
    tables.put_listing(db, look.stamps if look.settled and not problems else None)
    added = sum(rel not in known for rel in todo.read)
    return Changes(added, len(todo.read) - added, len(todo.gone), documents, problems=(*problems, *told))


def _read(source: Source, rel: str) -> tuple[Reading, str]:
    try:
        return source.read(rel), ""
    except LaminaError as problem:
        return Reading((), 0), str(problem)
    except OSError as problem:
        return Reading((), 0), f"{rel}: {problem.strerror or problem}"


def _checksum(source: Source, rel: str) -> int | None:
    try:
        return source.checksum(rel)
    except (LaminaError, OSError):
        return None


def _racy(stamp: Stamp, now: int) -> bool:
    return stamp[0] > now - _RACY_NS
