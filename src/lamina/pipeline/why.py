"""Why an entry is there: its evidence, the note, the session's lines, the commit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lamina.formats.note import note_name, parse_note
from lamina.formats.source import DigestRef, GitRef, RecordRef, Ref, SessionRef
from lamina.pipeline.tracks import is_here, locate
from lamina.store import git, watermarks
from lamina.store.registry import Registry

if TYPE_CHECKING:
    from lamina.formats.bullet import Bullet
    from lamina.formats.note import Note
    from lamina.store.store import Located, Store

Link = dict[str, Any]
BULLETS = 3
_HASH = frozenset("0123456789abcdef")


def why(store: Store, located: Located) -> list[Link]:
    """Return the chain from an entry to where it came from, nearest link first.

    A link has `kind`, `ref` and `state`: whether the thing can be looked at `here`, only `elsewhere`
    (another machine's note, transcript or repository), or is `gone`; where known, `file` (relative to the
    store, or absolute) with `lines`, and a `quote`. Nothing in it is guessed: the quote kept with the entry
    stays true when the transcript is gone.
    """
    entry = located.entry
    last = entry.line + len(entry.raw.rstrip().splitlines()) - 1
    chain: list[Link] = [
        {
            "kind": "entry",
            "ref": entry.id or f"{located.rel}:{entry.line}",
            "state": "here",
            "file": located.rel,
            "lines": _span(entry.line, last),
        }
    ]
    if entry.evidence is not None:
        chain.append(
            {"kind": "evidence", "ref": entry.evidence.who, "state": "here", "quote": entry.evidence.quote}
        )
    for ref in entry.sources:
        chain += links(store, ref, located)
    return chain


def links(store: Store, ref: Ref, located: Located) -> list[Link]:
    """Return the links that one reference of the Source field stands for."""
    match ref:
        case SessionRef():
            return [_note(store, ref, located), _session(store, ref)]
        case GitRef(hash):
            return [{"kind": "commit", "ref": hash, "state": _commit_state(folders(store, located), hash)}]
        case RecordRef(file):
            return [_project_file("record", str(ref), file, folders(store, located))]
        case DigestRef(file):
            return [_project_file("digest", str(ref), file, folders(store, located))]
        case _:
            # A person or an agent said so directly: there is nothing behind it.
            return [{"kind": "evidence", "ref": str(ref), "state": "here"}]


def folders(store: Store, located: Located) -> list[Path]:
    """Return the folders of an entry's workspace on this machine."""
    paths = Registry.load(store.root).paths.items()
    return [
        Path(path)
        for path, spot in paths
        if spot.key == located.scope.key and spot.kind in ("worktree", "folder")
    ]


def _note(store: Store, ref: SessionRef, located: Located) -> Link:
    """Return the link to the session's note: gone when this machine captured the session and pruned it."""
    name = note_name(ref.host, ref.session)
    path = store.layout.note(name)
    rel = store.layout.rel(path)
    text = store.text(rel)
    if text is None:
        known = watermarks.load(store, ref.host, ref.session) is not None
        return {"kind": "note", "ref": name, "state": "gone" if known else "elsewhere"}
    link: Link = {"kind": "note", "ref": name, "state": "here", "file": rel}
    bullets = _bullets(parse_note(text), ref, located)
    if bullets:
        link["quote"] = "\n".join(f"{each.label}: {each.text}" for each in bullets)
    return link


def _bullets(note: Note, ref: SessionRef, located: Located) -> list[Bullet]:
    """Choose the bullets of these records, the ones that say the entry's heading if there are any."""
    found = [each for each in note.bullets if ref.first is not None and each.first == ref.first]
    own = [each for each in found if located.entry.heading.rstrip("…") in each.text]
    return (own or found)[:BULLETS]


def _session(store: Store, ref: SessionRef) -> Link:
    """Return the link to the transcript's lines, as far as this machine knows where they stand."""
    link: Link = {"kind": "session", "ref": str(ref), "state": "elsewhere"}
    mark = watermarks.load(store, ref.host, ref.session)
    if mark is None:
        return link
    first = locate(mark, ref.first or 0)
    if first is None:
        here = [read.path for read in mark.files if is_here(mark.host, read.path)]
        return link | ({"state": "here", "file": here[0]} if here else {"state": "gone"})
    link["file"] = first[0]
    link["state"] = "here" if is_here(mark.host, first[0]) else "gone"
    if ref.first is not None:
        last = locate(mark, ref.first if ref.last is None else ref.last)
        link["lines"] = _span(first[1], last[1] if last and last[0] == first[0] else first[1])
    return link


def _commit_state(places: Sequence[Path], hash_: str) -> str:
    if not hash_ or not _HASH.issuperset(hash_):
        return "elsewhere"
    here = any(
        git.run(place, ["cat-file", "-e", f"{hash_}^{{commit}}"]).ok for place in places if place.is_dir()
    )
    return "here" if here else "elsewhere"


def _project_file(kind: str, ref: str, file: str, places: Sequence[Path]) -> Link:
    """Return the link to a file of the project: gone when the project is here without it."""
    parts = Path(file).parts
    if Path(file).is_absolute() or ".." in parts:
        return {"kind": kind, "ref": ref, "state": "elsewhere"}
    here = [place / file for place in places if (place / file).is_file()]
    if here:
        return {"kind": kind, "ref": ref, "state": "here", "file": str(here[0])}
    return {"kind": kind, "ref": ref, "state": "gone" if any(p.is_dir() for p in places) else "elsewhere"}


def _span(first: int, last: int) -> str:
    return str(first) if last <= first else f"{first}-{last}"
