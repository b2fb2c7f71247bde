"""What a model is shown for one consolidation: notes, and the existing entries nearest to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property

from lamina.formats.bullet import Bullet
from lamina.formats.lines import size_of
from lamina.formats.note import Note, Section
from lamina.formats.scope import Scope
from lamina.formats.structure import one_line
from lamina.models.base import Prompt
from lamina.pipeline.checks.support import Passage, passages_of_note
from lamina.pipeline.drafts import day_of, scope_of
from lamina.pipeline.filters import IN_FORCE
from lamina.pipeline.ground import Shown
from lamina.pipeline.layout import laid_out
from lamina.pipeline.prompts import grammar, load, one_of
from lamina.pipeline.relevance import clip
from lamina.store.notes import NoteFile
from lamina.store.store import Located, Store
from lamina.store.tombstones import Graves

Nearest = Callable[[str, Scope], Sequence[str]]
"""Gives the ids of the entries nearest to a text, in a scope and the global one, best first."""

_ENTRIES = 24
_ENTRY_CHARS = 400
_FOR_ENTRIES = 0.3  # of the room: what entries may take from notes
_LEAST = 2_000  # bytes of material, however small the limit is set
_SPEAKERS = {"user": "person", "assistant": "agent", "tool": "tool"}


@dataclass(frozen=True, slots=True)
class Bounds:
    """Sizes of one prompt (SPEC section 12): notes, and bytes of all of it and of one note."""

    notes: int = 6
    bytes: int = 48_000
    note_bytes: int = 8_000
    attempts: int = 3


@dataclass(frozen=True)
class Part:
    """One note as far as it is shown; `left` holds the sections' bullets that did not fit."""

    file: NoteFile
    shown: Note
    left: Note | None
    text: str

    @property
    def name(self) -> str:
        """The note's name, by which a reply names it."""
        return self.file.name

    @cached_property
    def scope(self) -> Scope:
        """The scope of its session."""
        return scope_of(self.file.note)

    @cached_property
    def day(self) -> date:
        """The UTC day of its session."""
        return day_of(self.file.note)

    @cached_property
    def passages(self) -> list[Passage]:
        """Its bullets, as what a fact may rest on."""
        return passages_of_note(self.shown)

    @cached_property
    def grounds(self) -> Shown:
        """Its text, as what a fact's values must stand in; its name is an address and no value."""
        return Shown(self.text.partition("\n")[2])

    @property
    def through(self) -> int:
        """The last record that it reaches to, `left` included."""
        return max((section.last for section in self.file.note.waiting), default=self.file.note.last)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A prompt, and what its names and ids stand for."""

    prompt: Prompt
    parts: Mapping[str, Part]
    entries: Mapping[str, Located]


def parts_of(store: Store, waiting: Iterable[NoteFile], bounds: Bounds) -> list[list[Part]]:
    """Cut notes into batches, those of one scope side by side.

    A note that a model left out before is asked about alone. What was forgotten is not shown.
    """
    scopes: dict[Scope, list[NoteFile]] = {}
    for each in waiting:
        scopes.setdefault(scope_of(each.note), []).append(each)
    graves = {scope: Graves.load(store, scope) for scope in scopes}
    shown = [_unburied(each, graves[scope]) for scope, some in scopes.items() for each in some]
    return _batches(shown, bounds)


def _unburied(file: NoteFile, graves: Graves) -> NoteFile:
    """Leave out the bullets whose content was forgotten."""
    sections = tuple(
        replace(section, bullets=tuple(each for each in section.bullets if not _is_buried(each, graves)))
        for section in file.note.sections
    )
    return (
        file if sections == file.note.sections else file._replace(note=replace(file.note, sections=sections))
    )


def _is_buried(bullet: Bullet, graves: Graves) -> bool:
    heading, body, _ = laid_out(bullet.label, bullet.text, bullet.day or date.min)
    return graves.refusal(heading, body) is not None or graves.near(bullet.text, "") is not None


def _batches(waiting: Iterable[NoteFile], bounds: Bounds) -> list[list[Part]]:
    room = _room(bounds) * (1 - _FOR_ENTRIES)
    batches: list[list[Part]] = []
    size = 0.0
    for each in waiting:
        part = part_of(each, int(min(bounds.note_bytes, room)))
        own = size_of(part.text)
        alone = each.note.attempts > 0 or (batches and batches[-1][0].file.note.attempts > 0)
        if not batches or alone or len(batches[-1]) >= max(1, bounds.notes) or size + own > room:
            batches.append([])
            size = 0.0
        batches[-1].append(part)
        size += own
    return batches


def part_of(file: NoteFile, room: int) -> Part:
    """Show what waits in a note, in at most `room` bytes: whole bullets, in their order."""
    sections, left, size = [], [], 0
    head = _head(file)
    size = size_of(head)
    for section in file.note.waiting:
        taken: list[Bullet] = []
        for bullet in section.bullets:
            own = size_of(_line(bullet)) + 1
            if size + own > room and size > size_of(head):
                break
            taken.append(bullet)
            size += own
        sections.append(_with(section, taken))
        if len(taken) < len(section.bullets):
            left.append(_with(section, section.bullets[len(taken) :]))
    note = replace(file.note, sections=tuple(sections))
    text = "\n".join([head, *(clip(_line(bullet), room) for bullet in note.bullets)])
    return Part(file, note, replace(file.note, sections=tuple(left)) if left else None, text)


def _with(section: Section, bullets: Sequence[Bullet]) -> Section:
    return replace(section, bullets=tuple(bullets), raw="")


def _head(file: NoteFile) -> str:
    scope = scope_of(file.note)
    return f"## {file.name} · {scope.name}\n{day_of(file.note)}, {file.note.host}"


def _line(bullet: Bullet) -> str:
    label = f"**{bullet.label}:** " if bullet.label else ""
    day = f"{bullet.day}: " if bullet.day else ""
    return f"- {label}{day}{one_line(bullet.text)} [{_SPEAKERS.get(bullet.who, 'agent')}]"


def sheet_of(store: Store, parts: Sequence[Part], bounds: Bounds, nearest: Nearest) -> Sheet:
    """Write the prompt for a batch of notes."""
    told = "\n\n".join(part.text for part in parts)
    room = max(int(_room(bounds) * _FOR_ENTRIES), _room(bounds) - size_of(told))
    entries: dict[str, Located] = {}
    lines: list[str] = []
    for located in _near(store, parts, nearest):
        line = entry_line(located)
        if len(entries) >= _ENTRIES or sum(map(size_of, lines)) + size_of(line) > room:
            break
        entries[located.entry.id] = located
        lines.append(line)
    shown = "\n".join(["EXISTING ENTRIES", *(lines or ["(none)"]), "", "NOTES", told])
    prompt = Prompt(load("consolidate"), f"BEGIN\n{shown}\nEND", grammar=_grammar(parts, entries))
    return Sheet(prompt, {part.name: part for part in parts}, entries)


def _grammar(parts: Sequence[Part], entries: Iterable[str]) -> str:
    """Write the grammar of a reply: it names no note and no entry but those that are shown."""
    ids = tuple(entries)
    scopes = dict.fromkeys(["global", *(part.scope.name for part in parts)])
    return grammar(
        "consolidate",
        lines="fact | change | done" if ids else "fact | done",
        notes=one_of(tuple(part.name for part in parts)),
        scopes=one_of(tuple(scopes)),
        ids=one_of(ids or ("none",)),
    )


def entry_line(located: Located) -> str:
    """Show one entry on one line."""
    entry = located.entry
    said = one_line(f"{entry.heading}: {entry.body}" if entry.body else entry.heading)
    where = (
        f"{located.scope.name}, {located.layer}, topic {one_line(located.topic)}, {entry.date}, {entry.trust}"
    )
    return f"[{entry.id}] ({where}) {clip(said, _ENTRY_CHARS)}"


def _near(store: Store, parts: Sequence[Part], nearest: Nearest) -> Iterator[Located]:
    """Yield the entries in force that are nearest to the bullets, first the best of each bullet."""
    found = [nearest(bullet.text, part.scope) for part in parts for bullet in part.shown.bullets]
    seen: set[str] = set()
    branches = {"", *(part.file.note.branch for part in parts)}
    for rank in range(max(map(len, found), default=0)):
        for ids in found:
            id_ = ids[rank] if rank < len(ids) else ""
            if id_ and id_ not in seen:
                seen.add(id_)
                located = store.find(id_)
                if located is None or located.entry.trust not in IN_FORCE:
                    continue
                if located.entry.branch in branches:
                    yield located


def _room(bounds: Bounds) -> int:
    return max(_LEAST, bounds.bytes - size_of(load("consolidate")) - 64)
