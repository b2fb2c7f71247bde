"""The record of each batch, written before its files: it finishes a killed batch and undoes the last one.

`state/journal/<number>.open` is a batch that is being written, `<number>.json` one that is done. A record
holds every file's text before and after. A person's own change always wins over a record.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lamina import errors
from lamina.formats.dates import parse_time, render_time
from lamina.store import files
from lamina.store.files import Problem
from lamina.store.layout import Layout, is_local, place_of

if TYPE_CHECKING:
    from lamina.formats.entry import Entry
    from lamina.store.change import Work
    from lamina.store.store import Store

KEEP = 20
SYSTEM = "SYSTEM.md"
NO_MEMORY = "capture"
DECIDED = "review"
"""How the labels of batches begin in which a person decided on notes: undone, those wait again."""
"""What such a batch changes for others to see is that a workspace became known: nothing to undo."""


class FileChange(NamedTuple):
    """One file's text before and after a batch; None: there was or is no such file."""

    rel: str
    before: str | None
    after: str | None


class Record(NamedTuple):
    """One batch. `undoes` names the batch that this one took back."""

    number: int
    label: str
    time: datetime | None
    files: tuple[FileChange, ...]
    undoes: int | None = None

    @property
    def tracked(self) -> tuple[str, ...]:
        """The files that people see: committed ones that are not generated."""
        return tuple(each.rel for each in self.files if not is_local(each.rel) and not is_generated(each.rel))


def begin(layout: Layout, record: Record) -> Path:
    """Write a record to the disk before the files of its batch.

    It is synced, so a batch whose record is whole survives a power cut without syncing folders: whatever
    rename is lost is done again.
    """
    data = {
        "version": 1,
        "label": record.label,
        "time": render_time(record.time) if record.time else "",
        "undoes": record.undoes,
        "files": record.files,
    }
    path = layout.journal / f"{record.number:08d}.open"
    odd = not all(each.rel.isprintable() for each in record.files)  # perhaps bytes that are no text
    text = json.dumps(data, ensure_ascii=odd, separators=(",", ":"))
    if files.is_there(path):
        files.write_text(path, text)  # files of this batch are in place already, so it must never be missing
    else:
        files.write_new(path, text)
    return path


def finish(layout: Layout, record: Record) -> None:
    """Mark a batch as done. What touched only local files is not kept, the oldest records go."""
    path = layout.journal / f"{record.number:08d}.open"
    if not record.tracked:
        files.discard(path)
        return
    _rename(path, path.with_suffix(".json"))
    for number in _numbers(layout, ".json")[:-KEEP]:
        files.discard(layout.journal / f"{number:08d}.json")


def cancel(layout: Layout, record: Record) -> None:
    """Drop the record of a batch that was taken back."""
    files.discard(layout.journal / f"{record.number:08d}.open")


def next_number(layout: Layout) -> int:
    """Return the number of the next batch."""
    return max(_numbers(layout, ".json", ".open", ".kept"), default=0) + 1


def is_unfinished(layout: Layout) -> bool:
    """Tell whether a killed writer left a batch."""
    return bool(_numbers(layout, ".open"))


def recover(layout: Layout) -> list[Problem]:
    """Finish the batches of killed writers, oldest first. The caller holds the store's lock.

    What a person changed meanwhile is kept and returned as a problem; the record then stays as
    `<number>.kept`, so that nothing of it is lost.
    """
    problems: list[Problem] = []
    for number in _numbers(layout, ".open"):
        path = layout.journal / f"{number:08d}.open"
        try:
            record = _load(path, number)
            found = _roll_forward(layout, record)
        except _Torn:
            files.discard(path)  # killed while it was written, so before any file of the batch
            continue
        except errors.UnwritableStore:
            raise
        except errors.LaminaError as problem:
            found = [Problem(str(path), 0, f"can't be finished and is kept aside ({problem})")]
        problems += found
        if found:
            _rename(path, path.with_suffix(".kept"))
        else:
            finish(layout, record)
    with suppress(OSError):
        for left in os.listdir(layout.staging):
            files.discard(layout.staging / left)
    return problems


def recent(store: Store, limit: int = KEEP) -> list[Record]:
    """List the last batches that changed what people see, newest first."""
    found = []
    for number in reversed(_numbers(store.layout, ".json")):
        try:
            found.append(_load(store.layout.journal / f"{number:08d}.json", number))
        except errors.LaminaError as problem:
            store.problems.append(Problem(f"state/journal/{number:08d}.json", 0, problem.message))
        if len(found) == limit:
            break
    return found


def undo_last(store: Store, *, at: datetime, dry_run: bool = False) -> Record:
    """Take the last batch back that is not taken back yet, and return it.

    A note that a person decided on waits for a decision again; one that was consolidated does not, since the
    next pass would only write again what was just taken back. Raises Refused if there is none, or if one of
    its files was changed since, naming it.
    """
    with store.writing(label="undo", at=at, dry_run=dry_run) as batch:
        record = _last(store)
        for each in record.files:
            if each.rel not in record.tracked:
                note = record.label.startswith(DECIDED) and each.rel.startswith("digests/")
                if note and batch.text(each.rel) == each.after:
                    batch.put(each.rel, each.before)
                continue
            if batch.text(each.rel) != each.after:
                raise errors.Refused(
                    f"{store.layout.path(each.rel)}: was changed after “{record.label}”, so it is not undone",
                    "change the file back by hand, or restore it with git",
                )
            batch.put(each.rel, each.before)
        batch.label = f"undo {record.label}"
        batch.undoes = record.number
    return record


def clear(layout: Layout) -> None:
    """Drop the records of batches that are done, with the texts in them (for a purge)."""
    for suffix in (".json", ".kept"):
        for number in _numbers(layout, suffix):
            files.discard(layout.journal / f"{number:08d}{suffix}")


def is_generated(rel: str) -> bool:
    """Tell whether a file is made from others after every write."""
    from lamina.formats.layers import LAYERS

    place = place_of(rel)
    return rel == SYSTEM or (place is not None and place.slug is None and LAYERS[place.layer].many)


def _last(store: Store) -> Record:
    undone: set[int | None] = set()
    for record in recent(store):
        if record.label == NO_MEMORY:
            continue
        if record.undoes is None and record.number not in undone:
            return record
        undone.add(record.undoes)
    raise errors.Refused("there is no write left to undo", f"the last {KEEP} writes are kept")


def _roll_forward(layout: Layout, record: Record) -> list[Problem]:
    problems = []
    for each in record.files:
        path = layout.root / each.rel
        try:
            path = layout.path(each.rel)
            files.refuse_links(layout.root, each.rel)
            now = files.read_optional(path)
            wanted = each.after if now in (each.before, each.after) else _joined(each, now)
            if now != wanted:
                _write(path, now, wanted)
        except errors.UnwritableStore:
            raise  # the disk refuses: the record stays for the next writer
        except (_NotJoined, errors.LaminaError) as problem:
            if is_generated(each.rel):
                continue  # made anew by the next write of its layer
            reason = f"was changed while “{record.label}” was being written; your text is kept ({problem})"
            problems.append(Problem(str(path), 0, reason))
    return problems


class _NotJoined(Exception):  # a signal inside this module
    """Two changes of one file can't both stand."""


def _joined(each: FileChange, now: str | None) -> str | None:
    """Apply what a batch did to the entries of a topic to the text that a person saved meanwhile."""
    from lamina.formats.entry import parse_topic
    from lamina.store.change import Work

    place = place_of(each.rel)
    if place is None or place.slug is None or each.after is None or now is None:
        raise _NotJoined("see state/journal")
    before = {entry.id: entry for entry in parse_topic(each.before or "").entries if entry.id}
    after = {entry.id: entry for entry in parse_topic(each.after).entries if entry.id}
    unnamed = {
        (entry.heading, entry.body) for entry in parse_topic(each.before or "").entries if not entry.id
    }
    work = Work(now, "")
    for id_, entry in after.items():
        old = before.get(id_)
        if _same(work, id_, entry) or (old is not None and _text(old) == _text(entry)):
            continue
        if old is None and not work.has(id_):
            if (said := (entry.heading, entry.body)) in unnamed:
                _name(work, said, id_)
            else:
                work.add(entry)
        elif old is None or not _same(work, id_, old):
            raise _NotJoined(f"entry {id_}, see state/journal")
        else:
            work.change(id_, partial(_instead, entry))
    for id_ in before.keys() - after.keys():
        if _same(work, id_, before[id_]):
            work.remove(id_)
    return work.text


def _name(work: Work, said: tuple[str, str], id_: str) -> None:
    """Give an entry that a person wrote the id that the batch gave it; one that changed since waits."""
    from lamina.formats.entry import with_field

    for place, entry in enumerate(work.topic.entries):
        if not entry.id and (entry.heading, entry.body) == said:
            work.replace({place: with_field(entry, "Id", id_)})
            return


def _instead(new: Entry, _old: Entry) -> Entry:
    return new


def _same(work: Work, id_: str, entry: Entry) -> bool:
    return work.has(id_) and _text(work.entry(id_)) == _text(entry)


def _text(entry: Entry) -> str:
    """Return an entry's text without the blank lines that part it from the next one."""
    return entry.raw.rstrip()


def _write(path: Path, now: str | None, wanted: str | None) -> None:
    expected = None if now is None else files.fingerprint(now)
    if wanted is None:
        files.remove(path, expected=expected)
    else:
        files.write_text(path, wanted, expected=expected)


def _numbers(layout: Layout, *suffixes: str) -> list[int]:
    try:
        names = os.listdir(layout.journal)
    except OSError:
        return []
    stems = (name.split(".", 1)[0] for name in names if name.endswith(suffixes))
    return sorted(int(stem) for stem in stems if stem.isdecimal())


class _Torn(errors.UnreadableFile):
    """A record is no whole JSON: whoever wrote it was killed."""


def _load(path: Path, number: int) -> Record:
    try:
        data = files.parse_json(files.read_bytes(path))
    except ValueError as problem:
        raise _Torn(f"{path}: is damaged ({problem})", "it is left aside") from None
    try:
        changes = tuple(_change(*each) for each in data["files"])
        return Record(number, str(data["label"]), parse_time(str(data["time"])), changes, data.get("undoes"))
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise errors.UnreadableFile(f"{path}: is no record ({problem})", "it is left aside") from None


def _change(rel: object, before: object, after: object) -> FileChange:
    if not isinstance(rel, str) or not isinstance(before, str | None) or not isinstance(after, str | None):
        raise TypeError("a file's text is no text")
    return FileChange(rel, before, after)


def _rename(path: Path, target: Path) -> None:
    try:
        path.replace(target)
    except OSError as problem:
        raise files.unwritable(path, problem) from problem
