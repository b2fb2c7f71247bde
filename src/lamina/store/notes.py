"""The notes in `digests/`: listing, loading, and saving them with a batch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lamina import errors
from lamina.formats.note import Note, parse_note, render_note
from lamina.store import files
from lamina.store.files import Problem
from lamina.store.store import Store
from lamina.store.write import Writing


class NoteFile(NamedTuple):
    """A note and its file. `name` is the file's name without `.md`."""

    name: str
    path: Path
    rel: str
    note: Note


def names(store: Store) -> list[str]:
    """List the names of all notes, sorted."""
    try:
        files.refuse_links(store.root, "digests/")
        found = sorted(path.name for path in store.layout.notes.iterdir())
    except FileNotFoundError:
        return []
    except (OSError, errors.UnsafePath) as problem:
        store.problems.append(Problem(str(store.layout.notes), 0, f"can't be listed ({problem})"))
        return []
    return [name.removesuffix(".md") for name in found if name.endswith(".md") and not name.startswith(".")]


def load(store: Store, name: str) -> NoteFile | None:
    """Load one note, or None where there is none; raises if it can't be read."""
    path = store.layout.note(name)
    rel = store.layout.rel(path)
    text = store.text(rel)
    return None if text is None else NoteFile(name, path, rel, parse_note(text))


def notes(store: Store) -> Iterator[NoteFile]:
    """Yield all notes; one that can't be read becomes a problem of the store."""
    for name in names(store):
        try:
            found = load(store, name)
        except errors.LaminaError as problem:
            store.problems.append(Problem(str(store.layout.notes / f"{name}.md"), 0, problem.message))
            continue
        if found is not None:
            yield found


def pending(store: Store) -> list[NoteFile]:
    """List the notes that wait for consolidation, first captured first, without the needs-review ones."""
    waiting = [each for each in notes(store) if each.note.consolidated is None and not each.note.needs_review]
    return sorted(waiting, key=lambda each: (str(each.note.captured or ""), each.name))


def save(batch: Writing, note: Note, *, name: str | None = None) -> str:
    """Write a note with the batch; returns its path in the store."""
    rel = f"digests/{name or note.name}.md"
    batch.put(rel, render_note(note))
    return rel


def remove(batch: Writing, name: str) -> None:
    """Remove a note with the batch."""
    batch.put(batch.store.layout.rel(batch.store.layout.note(name)), None)
