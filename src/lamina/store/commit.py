"""Writing a batch: stage every file, write the record, rename, then renew what is derived.

A kill before the record leaves nothing but staged files; a kill after it is finished by the next writer.
A full disk shows while staging, when nothing has changed yet.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lamina import errors
from lamina.formats.entry import Topic
from lamina.formats.layerindex import TopicSummary, render_layer_index
from lamina.formats.layers import LAYERS
from lamina.formats.scope import Scope
from lamina.store import files, git, journal, log, migrate
from lamina.store.change import Change
from lamina.store.files import Problem
from lamina.store.journal import FileChange, Record
from lamina.store.layout import is_local, place_of
from lamina.store.ledger import Ledger, slug_of
from lamina.store.locks import Held
from lamina.store.record import canonical, ids_of

if TYPE_CHECKING:
    from lamina.store.write import Writing

_TRIES = 6
"""The first attempt and five more when somebody saves a file meanwhile."""


def commit(batch: Writing, held: Held, step: Callable[[str], None]) -> None:
    """Write what a batch changed. Raises ChangedMeanwhile or UnwritableStore with nothing half written.

    Once the files are in place the batch is done: a cache or mark that can't be written is a problem, no
    failure, or the person would do it all again.
    """
    writer = _Writer(batch, held, step)
    try:
        for _ in range(_TRIES):
            if writer.run():
                break
        else:
            raise errors.ChangedMeanwhile(
                f"{batch.store.layout.path(writer.contested)}: is being changed again and again",
                "close the program that writes to it and run the command again",
            )
    except errors.LaminaError:
        writer.take_back()
        raise
    writer.renew_derived()


class _Writer:
    """The state of one batch's way to the disk."""

    def __init__(self, batch: Writing, held: Held, step: Callable[[str], None]) -> None:
        self.batch = batch
        self.held = held
        self.step = step
        self.layout = batch.store.layout
        self.record: Record | None = None
        self.placed: dict[str, Change] = {}
        self.topics: dict[str, Topic | None] = {}
        self.layers: set[tuple[Scope, str]] = set()
        self.contested = ""
        self._number = 0

    def run(self) -> bool:
        """Try once; False: a file was changed meanwhile and everything was worked out anew."""
        plan = self._plan()
        stale = [change for change in plan if change.is_stale()]
        if stale:
            self._rebase(stale)
            return False
        if not plan:
            return True
        staged = self._stage(plan)
        try:
            self._check_lock()
            self._open_record(plan)
            for change in plan:
                self._check_lock()
                if not self._place(change, staged.pop(change.rel)):
                    return False
        finally:
            for left in staged.values():
                if left is not None:
                    files.discard(left)
        return True

    def take_back(self) -> None:
        """Undo renames that were done before the batch failed, unless somebody changed the file since."""
        for change in self.placed.values():
            try:
                if change.before is None:
                    files.remove(change.path, expected=change.expected)
                else:
                    files.write_text(change.path, change.before, expected=change.expected)
            except errors.LaminaError:
                return  # the record stays open: the next writer finishes the batch
        if self.record is not None:
            journal.cancel(self.layout, self.record)

    def renew_derived(self) -> None:
        """Save caches, mark the store as dirty and the record as done."""
        batch = self.batch
        for ledger in batch.ledgers.values():
            for rel in self.placed:
                place = place_of(rel)
                if place and (place.scope, place.layer) == (ledger.scope, ledger.layer) and place.slug:
                    ledger.trust(rel.rsplit("/", 1)[1])
            self._try(ledger.save)
        self._try(batch.numbers.save)
        self.step("ledgers")
        marked = True
        if any(not is_local(rel) for rel in self.placed):
            self._try(partial(migrate.remember_singles, batch))
            marked = self._try(partial(git.mark_dirty, self.layout, batch.at, batch.label))
        self.step("dirty")
        if self.record is not None and marked:
            self._try(partial(journal.finish, self.layout, self.record))
        self.step("done")
        batch.touched = set(self.placed)
        self._tell_activity()
        self._tell_lines()

    def _tell_activity(self) -> None:
        """Log where memory was written; never a topic's name, which may hold what is purged one day."""
        written = [rel for rel in self.placed if not is_local(rel) and not journal.is_generated(rel)]
        if written:
            folders = sorted({rel.rpartition("/")[0] for rel in written})
            log.activity(self.layout, self.batch.label, at=self.batch.at, files=len(written), folders=folders)

    def _plan(self) -> list[Change]:
        """Work out all files to write: topics first, then the generated lists of their layers."""
        batch = self.batch
        if any(change.changed and not is_local(rel) for rel, change in batch.changes.items()):
            migrate.singles(batch)
        for rel, change in list(batch.changes.items()):
            place = place_of(rel)
            if place is None or place.slug is None or not change.changed:
                continue
            ledger = batch.ledger(place.scope, place.layer)
            if change.foreign:
                batch.numbers.reserve(ids_of(change.work.topic))
            change.work.name_unnamed(partial(batch.new_id, ledger.scope, ledger.layer))
            text = change.work.text
            self.topics[rel] = None if text is None else change.work.topic
            ledger.set(rel.rsplit("/", 1)[1], self.topics[rel], text or "", change.work.first)
            self.layers.add((place.scope, place.layer))
        for scope, layer in sorted(self.layers | batch.due, key=str):
            batch.generate(scope, layer, _layer_text(batch.ledger(scope, layer)))
        return [change for change in batch.changes.values() if change.changed]

    def _rebase(self, stale: list[Change]) -> None:
        for change in stale:
            self.contested = change.rel
            if change.exact and not is_local(change.rel) and not journal.is_generated(change.rel):
                raise errors.ChangedMeanwhile(
                    f"{change.path}: was changed while it was being replaced",
                    "nothing was overwritten; run the command again",
                )
            change.rebase()
            self._reread(change.rel)

    def _reread(self, rel: str) -> None:
        place = place_of(rel)
        if place is not None and journal.is_generated(rel):
            migrate.layer(self.batch, place.scope, place.layer)

    def _stage(self, plan: list[Change]) -> dict[str, Path | None]:
        staged: dict[str, Path | None] = {}
        try:
            for change in plan:
                text = change.work.text
                durable = not journal.is_generated(change.rel)
                staged[change.rel] = (
                    None if text is None else files.stage(text, self.layout.staging, durable=durable)
                )
                self.step(f"staged {change.rel}")
        except BaseException:
            for left in staged.values():
                if left is not None:
                    files.discard(left)
            raise
        return staged

    def _open_record(self, plan: list[Change]) -> None:
        self._number = self._number or journal.next_number(self.layout)
        changes = {change.rel: change for change in [*self.placed.values(), *plan]}
        self.record = Record(
            self._number,
            self.batch.label,
            self.batch.at,
            tuple(FileChange(rel, change.before, change.work.text) for rel, change in changes.items()),
            self.batch.undoes,
        )
        journal.begin(self.layout, self.record)
        self.step("recorded")

    def _place(self, change: Change, staged: Path | None) -> bool:
        try:
            files.refuse_links(self.layout.root, change.rel)
            if staged is None:
                files.remove(change.path, expected=change.expected)
            else:
                files.put_in_place(staged, change.path, expected=change.expected)
        except errors.ChangedMeanwhile:
            if staged is not None:
                files.discard(staged)
            self._rebase([change])
            return False
        except errors.LaminaError:
            if staged is not None:
                files.discard(staged)
            raise
        change.placed()
        self.placed[change.rel] = change
        self.step(f"placed {change.rel}")
        return True

    def _try(self, act: Callable[[], None]) -> bool:
        try:
            act()
        except errors.LaminaError as problem:
            told = Problem(str(self.layout.state), 0, problem.message)
            if told not in self.batch.store.problems:
                self.batch.store.problems.append(told)
            log.log(self.layout, "derived", at=self.batch.at, problem=problem.message)
            return False
        return True

    def _check_lock(self) -> None:
        if self.held.is_lost:
            raise errors.ChangedMeanwhile(
                f"{self.layout.state}: was removed while the store was being written",
                "nothing was written; run the command again",
            )

    def _tell_lines(self) -> None:
        """Give each result its entry and line as they stand in the file."""
        places: dict[str, dict[str, int]] = {}
        for written in self.batch.written:
            topic = self.topics.get(written.rel)
            if topic is None:
                continue
            index = places.get(written.rel)
            if index is None:
                index = places[written.rel] = {}
                for place, entry in enumerate(topic.entries):
                    index.setdefault(canonical(entry.id or ""), place)
            if written.id in index:
                written.entry = topic.entries[index[written.id]]
                written.line = written.entry.line


def _layer_text(ledger: Ledger) -> str:
    summaries = [
        TopicSummary(
            title=record.title or slug_of(name),
            slug=slug_of(name),
            count=record.shown,
            updated=date.fromisoformat(record.updated) if record.updated else None,
            headings=record.headings,
        )
        for name, record in sorted(ledger.records.items())
    ]
    return render_layer_index(LAYERS[ledger.layer], summaries)
