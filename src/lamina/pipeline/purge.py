"""Purging: the text of forgotten entries leaves every file that is ours to change.

What may not be touched is told instead: the hosts' transcripts, other entries that say the same, and the
history of git, for which the exact commands are given.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lamina import errors
from lamina.formats.entry import parse_topic
from lamina.formats.layers import LAYERS
from lamina.formats.note import Note, parse_note, render_note
from lamina.formats.slug import topic_slug
from lamina.formats.source import SessionRef
from lamina.pipeline.forget import identified, tell
from lamina.store import files, git, journal, notes, tombstones, watermarks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from lamina.formats.bullet import Bullet
    from lamina.formats.entry import Entry
    from lamina.store.layout import Layout
    from lamina.store.store import Located, Store
    from lamina.store.write import Writing

SALT_BYTES = 16
SHORTEST = 12
"""A line shorter than this says too little to look for it in other files."""

_AT_ONCE = 400
_LIST = "purged-objects"
_MARK = "purging"


class Traces(NamedTuple):
    """What gives purged entries away: their own lines, their ids, and the records they came from."""

    lines: tuple[str, ...]
    ids: tuple[str, ...]
    refs: tuple[SessionRef, ...]

    def within(self, text: str) -> bool:
        """Tell whether a text holds one of the lines, as it is or as JSON writes it."""
        return any(line in text or json.dumps(line, ensure_ascii=False)[1:-1] in text for line in self.lines)


def traces(entries: Iterable[Located]) -> Traces:
    """Collect the traces of entries."""
    lines: dict[str, None] = {}
    ids: dict[str, None] = {}
    refs: dict[SessionRef, None] = {}
    for located in entries:
        entry = located.entry
        lines |= dict.fromkeys(_lines(entry))
        ids |= dict.fromkeys((entry.id, *entry.aliases))
        refs |= dict.fromkeys(ref for ref in entry.sources if isinstance(ref, SessionRef))
    return Traces(tuple(lines), tuple(filter(None, ids)), tuple(refs))


def purge(
    store: Store, entries: Sequence[Located], now: datetime, *, dry_run: bool = False
) -> list[dict[str, str]]:
    """Take entries out of their files and out of the notes in one write; their tombstones keep no text.

    The caller finishes with `clean`, also after a crash: `is_unfinished` tells.
    """
    if dry_run:
        return [tell(each) for each in entries]
    files.overwrite(_mark(store.layout), "{}")
    try:
        chosen = identified(store, entries, now)
        gone = traces(chosen)
        with store.writing(label="purge", at=now) as batch:
            for each in chosen:
                tombstones.bury(batch, each.scope, each.entry)
                tombstones.purge(batch, each.scope, each.entry.content_hash, new_salt=_salt)
                batch.remove(each.entry.id)
            for each in {each.rel: each for each in chosen}.values():
                _retitle(store, batch, each, gone)
            _purge_notes(store, batch, gone)
    except errors.LaminaError:
        finished(store.layout)  # nothing was written
        raise
    return [tell(each) for each in chosen]


def is_unfinished(layout: Layout) -> bool:
    """Tell whether a purge was killed before it had cleaned the local files."""
    return _mark(layout).exists()


SHOWN = ("cards", "hooked")
"""Folders of the state that keep what sessions were shown; all of it can be made again."""


def clean(store: Store) -> None:
    """Drop old texts that local records keep: the journal of writes, the logs, what killed writers left."""
    layout = store.layout
    journal.clear(layout)
    shown = [path for name in SHOWN for path in _files(layout.state / name)]
    for path in [*_files(layout.logs), *shown, layout.state / "activity.jsonl", *_leftovers(store.root)]:
        files.discard(path)


def finished(layout: Layout) -> None:
    """Note that nothing of a purge is left to do."""
    files.discard(_mark(layout))


def left(store: Store, gone: Traces) -> list[str]:
    """Say where the text still stands and what removes it there."""
    lines = [f"not touched, it still says the same: {place}" for place in _remaining(store, gone)]
    lines += [f"not touched, the host's own transcript: {path}" for path in _transcripts(store, gone)]
    objects = _in_history(store, gone)
    if objects:
        lines += _commands(store, objects)
    return lines


# --- the store's own files ------------------------------------------------------------------------------


def _lines(entry: Entry) -> Iterator[str]:
    """Yield the lines of an entry that are its own, the longest one at least."""
    quote = entry.evidence.quote if entry.evidence else ""
    found = [
        entry.heading.rstrip("…"),
        quote.strip("…"),
        *(line.strip(" \t-*>#") for line in entry.body.split("\n")),
    ]
    own = [line for line in found if line and not line.endswith(":")]
    yield from dict.fromkeys([line for line in own if len(line) >= SHORTEST] or sorted(own, key=len)[-1:])


def _retitle(store: Store, batch: Writing, located: Located, gone: Traces) -> None:
    """Give a topic another name if its own was made from what is purged."""
    text = batch.text(located.rel)
    if text is None or not located.slug or not gone.within(located.topic):
        return
    topic = parse_topic(text)
    names = (entry.heading for entry in topic.entries if not gone.within(entry.heading))
    title = next(names, f"{LAYERS[located.layer].title} {os.urandom(3).hex()}")
    taken = {each.slug for each in store.topics(located.scope, located.layer)}
    rel = f"{located.scope.folder}/{located.layer}/{topic_slug(title, taken)}.md"
    batch.put(rel, text.replace(f"# {topic.title}", f"# {title}", 1))
    batch.put(located.rel, None)


def _purge_notes(store: Store, batch: Writing, gone: Traces) -> None:
    for each in notes.notes(store):
        cut = _without(each.note, gone)
        if cut is not each.note:
            batch.put(each.rel, render_note(cut))


def _without(note: Note, gone: Traces) -> Note:
    """Take out of a note what became the entries.

    A bullet is known by its text. Where none is, because the entry was edited since, all bullets of its
    records go; a bullet that says something else loses only a quote that is theirs, too.
    """
    own = {(ref.first, ref.last) for ref in gone.refs if (ref.host, ref.session) == (note.host, note.session)}
    said = {id(bullet) for bullet in note.bullets if _says(bullet, gone)}
    met = {(bullet.first, bullet.last) for bullet in note.bullets if id(bullet) in said}
    lost = said | {id(bullet) for bullet in note.bullets if (bullet.first, bullet.last) in own - met}
    quoted = {id(bullet) for bullet in note.bullets if bullet.quote and gone.within(bullet.quote)} - lost
    if not lost and not quoted:
        return note
    sections = []
    for section in note.sections:
        kept = (bullet for bullet in section.bullets if id(bullet) not in lost)
        bullets = tuple(
            replace(bullet, quote="", raw="") if id(bullet) in quoted else bullet for bullet in kept
        )
        sections.append(replace(section, bullets=bullets))
    return parse_note(render_note(replace(note, sections=tuple(sections))))


def _says(bullet: Bullet, gone: Traces) -> bool:
    text = bullet.text
    return gone.within(text) or (len(text) >= SHORTEST and any(text in line for line in gone.lines))


def _remaining(store: Store, gone: Traces) -> Iterator[str]:
    """Yield the files that still hold a purged line, by what they are: another entry, a note, the state."""
    for path in _own_files(store.root):
        rel = store.layout.rel(path)
        try:
            text = files.read_text(path)
        except errors.LaminaError:
            continue
        if gone.within(text):
            for number, line in enumerate(text.splitlines(), 1):
                if gone.within(line):
                    yield f"{rel}:{number}"


def _own_files(root: Path) -> Iterator[Path]:
    for folder, names, found in os.walk(root):
        if Path(folder) == root:
            names[:] = sorted(name for name in names if name not in (".git", "index", "logs"))
        yield from (Path(folder, name) for name in sorted(found))


def _leftovers(root: Path) -> list[Path]:
    return [path for path in _own_files(root) if path.name.startswith(files.TEMPORARY)]


def _files(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.is_file()]
    except OSError:
        return []


def _transcripts(store: Store, gone: Traces) -> Iterator[str]:
    for host, session in dict.fromkeys((ref.host, ref.session) for ref in gone.refs):
        mark = watermarks.load(store, host, session)
        yield from (read.path for read in mark.files) if mark else ()


# --- the history of git -----------------------------------------------------------------------------------


def _in_history(store: Store, gone: Traces) -> list[str]:
    """Name git's objects that hold a purged text and are no part of what is committed last."""
    if not (store.root / ".git").exists():
        return []
    listed = git.run(store.root, ["rev-list", "--objects", "--all", "--reflog"], timeout_s=120)
    now = git.run(store.root, ["ls-tree", "-r", "HEAD"], timeout_s=120)
    live = {line.split()[2] for line in now.out.splitlines() if line.count(" ") >= 2}
    named = (line.split(" ", 1) for line in listed.out.splitlines() if " " in line)
    candidates = [hash_ for hash_, path in named if path.endswith((".md", ".jsonl")) and hash_ not in live]
    wanted = [f"**Id:** {id_}\n" for id_ in gone.ids]
    return [
        hash_
        for start in range(0, len(candidates), _AT_ONCE)
        for hash_, text in _blobs(store.root, candidates[start : start + _AT_ONCE])
        if gone.within(text) or any(each in text.replace("\r\n", "\n") for each in wanted)
    ]


def _blobs(root: Path, hashes: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the texts of objects; each is preceded by a line `<hash> blob <size>`."""
    out = git.run(root, ["cat-file", "--batch"], stdin="\n".join(hashes) + "\n", timeout_s=120).out
    starts = []
    at = 0
    for hash_ in hashes:
        at = out.find(f"{hash_} blob ", at)
        if at < 0:
            return
        starts.append(at)
    for number, hash_ in enumerate(hashes):
        end = starts[number + 1] if number + 1 < len(hashes) else len(out)
        yield hash_, out[starts[number] : end].partition("\n")[2]


def _commands(store: Store, objects: Sequence[str]) -> list[str]:
    """Return what a person runs to take the objects out of every commit.

    History is never rewritten unasked.
    """
    from shlex import quote

    path = store.layout.state / _LIST
    known = (files.read_optional(path) or "").split()
    files.write_text(path, "\n".join(sorted({*known, *objects})) + "\n")
    root, listed = quote(str(store.root)), quote(str(path))
    swap = f"s/^[0-9]+ [0-9a-f]+ 0/0 {'0' * len(objects[0])}/"
    drop = f'git ls-files -s | grep -F -f "$LAMINA_PURGED" | sed -E "{swap}" | git update-index --index-info'
    remotes = git.run(store.root, ["remote"]).out.split()
    return [
        "the text is still in git's history; these commands take it out of every commit:",
        f"  cd {root} && lamina tick --root .",
        f"  export LAMINA_PURGED={listed} FILTER_BRANCH_SQUELCH_WARNING=1",
        f"  git filter-branch --force --index-filter '{drop}' -- --branches --tags",
        '  git for-each-ref --format="delete %(refname)" refs/original | git update-ref --stdin',
        *(f"  git push --force --all {quote(name)}" for name in remotes),
        "  git reflog expire --expire=now --all && git gc --quiet --prune=now",
        f"  rm {listed}",
        "then on every other clone: lamina sync --adopt-remote",
    ]


def _mark(layout: Layout) -> Path:
    return layout.state / _MARK


def _salt() -> bytes:
    return os.urandom(SALT_BYTES)
