"""What was forgotten on purpose, and whether a text would bring it back.

A tombstone binds to the content: to its hash, and, while the forgotten text is still on disk, to what says
nearly the same. An id alone binds nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from lamina import errors
from lamina.formats.hashing import entry_hash
from lamina.formats.scope import Scope
from lamina.formats.slug import heading_of
from lamina.formats.tombstone import Tombstone, Tombstones, parse_tombstones, render_tombstones
from lamina.store import files
from lamina.store.files import Problem
from lamina.store.store import Store

if TYPE_CHECKING:
    from lamina.store.batch import Batch

Texts = Callable[[Tombstone], tuple[str, str] | None]
"""Gives heading and body of what a tombstone buried, None where the text is gone."""

_MOST_COMPARED = 2.0
"""Texts that differ more than this in length are not nearly the same, so they aren't compared."""


class _Entry(Protocol):
    @property
    def heading(self) -> str: ...
    @property
    def body(self) -> str: ...
    @property
    def id(self) -> str | None: ...


@dataclass
class Graves:
    """The tombstones that bind in one scope: its own and the global ones."""

    records: tuple[Tombstones, ...]
    texts: Texts = lambda _: None
    problems: tuple[Problem, ...] = ()
    _said: dict[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, store: Store, scope: Scope) -> Graves:
        """Read the tombstones that a write to a scope must respect; lines that are none are problems."""
        found: list[Tombstones] = []
        problems: list[Problem] = []
        for each in dict.fromkeys((scope, Scope(None))):
            path = store.layout.suppressed(each)
            records = parse_tombstones(_text(path, problems))
            found.append(records)
            problems += [Problem(str(path), line, message) for line, message in records.problems]
        return cls(tuple(found), lambda record: _buried(store, record), tuple(problems))

    def refusal(self, heading: str, body: str) -> Tombstone | None:
        """Return the tombstone that forbids to write this, or None; nearly the same is forbidden too."""
        return self.exact(heading, body) or self.near(heading, body)

    def exact(self, heading: str, body: str) -> Tombstone | None:
        """Return the tombstone of exactly this content, purged ones included. Merging asks for no more."""
        content = entry_hash(heading, body)
        return next((found for each in self.records if (found := each.find(content))), None)

    def near(self, heading: str, body: str) -> Tombstone | None:
        """Return the tombstone of content that differs in nothing that could be a correction."""
        from lamina.formats.near import nearly_same

        text = content_of(heading, body)
        for record in self._standing():
            said = self._content(record)
            short, long = sorted((len(text), len(said)))
            if said and long <= short * _MOST_COMPARED and nearly_same(said, text):
                return record
        return None

    def _standing(self) -> list[Tombstone]:
        return [record for each in self.records for record in each.standing if record.hash]

    def _content(self, record: Tombstone) -> str:
        said = self._said.get(record.hash)
        if said is None:
            if entry_hash(record.heading, record.heading) == record.hash:
                buried: tuple[str, str] | None = (record.heading, record.heading)
            else:
                buried = self.texts(record)
            said = self._said[record.hash] = content_of(*buried) if buried else ""
        return said


def content_of(heading: str, body: str) -> str:
    """Return what an entry says: a heading that was only cut from its body adds nothing."""
    own = heading_of(body) == heading or body.lstrip().startswith(heading)
    return body if body.strip() and own else f"{heading}\n{body}"


def bury(batch: Batch, scope: Scope, entry: _Entry, *, reason: str = "") -> Tombstone:
    """Write a tombstone for an entry's content into its scope's file, in the batch that forgets it."""
    content = entry_hash(entry.heading, entry.body)
    record = Tombstone(content, entry.id or "", entry.heading, batch.at, reason)
    _change(batch, scope, lambda found: found.adding(_later(found, record)))
    return record


def release(batch: Batch, scope: Scope, entry: _Entry) -> Tombstone | None:
    """Write the line that lets an entry's content come back; None if nothing bound it in this scope."""
    content = entry_hash(entry.heading, entry.body)
    standing = parse_tombstones(batch.text(_rel(scope)) or "").find(content)
    if standing is None:
        return None
    released = standing.releasing(batch.at)
    _change(batch, scope, lambda found: found.adding(released))
    return released


def purge(batch: Batch, scope: Scope, content: str, *, new_salt: Callable[[], bytes]) -> None:
    """Reduce every line of a content hash to a salted slow hash, with the salt that the file already uses."""

    def apply(found: Tombstones) -> Tombstones:
        used = next((record.slow.salt for record in found.records if record.slow), None)
        return found.purging(content, bytes.fromhex(used) if used else new_salt())

    _change(batch, scope, apply)


def refuse(record: Tombstone) -> errors.ForgottenContent:
    """Make the error for a write that a tombstone forbids."""
    why = record.reason or "no reason was given"
    what = record.id or "this content"
    hint = f"`lamina forget {what} --undo` releases it" if record.id else "word it anew if it has changed"
    return errors.ForgottenContent(f"{what} was forgotten on {record.time:%Y-%m-%d}: {why}", hint)


def _later(found: Tombstones, record: Tombstone) -> Tombstone:
    """Return the record, stamped not before the lines that it has to outweigh."""
    moments: list[datetime] = [line.moment for line in found.records if line.hash == record.hash]
    latest = max(moments, default=record.time)
    if latest <= record.time:
        return record
    return Tombstone(record.hash, record.id, record.heading, latest, record.reason)


def _change(batch: Batch, scope: Scope, change: Callable[[Tombstones], Tombstones]) -> None:
    batch.edit(_rel(scope), lambda text: render_tombstones(change(parse_tombstones(text or ""))))


def _rel(scope: Scope) -> str:
    return "suppressed.jsonl" if scope.key is None else f"{scope.folder}/suppressed.jsonl"


def _text(path: Path, problems: list[Problem]) -> str:
    try:
        return files.read_optional(path) or ""
    except errors.LaminaError as problem:
        problems.append(Problem(str(path), 0, problem.message))
        return ""


def _buried(store: Store, record: Tombstone) -> tuple[str, str] | None:
    """Find the forgotten entry's text; an id that holds other content by now says nothing."""
    located = store.find(record.id) if record.id else None
    if located is None:
        return None
    heading, body = located.entry.heading, located.entry.body
    return (heading, body) if entry_hash(heading, body) == record.hash else None
