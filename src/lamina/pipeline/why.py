"""Why an entry is there: its evidence, the note, the session's lines, the commit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lamina.formats.note import note_name, parse_note
from lamina.formats.source import DigestRef, GitRef, RecordRef, Ref, SessionRef
from lamina.store.files import read_optional
from lamina.pipeline.capture import locate
from lamina.store import watermarks

if TYPE_CHECKING:
    from lamina.store.store import Located, Store

Link = dict[str, Any]


def why(store: Store, located: Located) -> list[Link]:
    """Return the chain from an entry to where it came from, nearest link first.

    `state` says whether the thing a link names can be looked at: `here` on this machine, `elsewhere`
    (another machine's note or transcript, a commit), or `gone`. Nothing in it is guessed: the quote
    kept with the entry stays true when the transcript is gone.
    """
    entry = located.entry
    chain: list[Link] = [
        {
            "kind": "entry",
            "ref": entry.id or located.rel,
            "state": "here",
            "file": located.rel,
            "lines": str(entry.line),
        }
    ]
    if entry.evidence is not None:
        quote = f"“{entry.evidence.quote}” ({entry.evidence.who})"
        chain.append({"kind": "evidence", "ref": entry.evidence.who, "state": "here", "quote": quote})
    for ref in entry.sources:
        chain += links(store, ref)
    return chain


def links(store: Store, ref: Ref) -> list[Link]:
    """Return the links that one reference of the Source field stands for."""
    match ref:
        case SessionRef():
            return [*note_link(store, ref), session_link(store, ref)]
        case GitRef(hash):
            return [{"kind": "commit", "ref": hash, "state": "elsewhere"}]
        case RecordRef():
            return [{"kind": "record", "ref": str(ref), "state": "elsewhere"}]
        case DigestRef():
            return [{"kind": "digest", "ref": str(ref), "state": "elsewhere"}]
        case _:
            return [{"kind": "evidence", "ref": str(ref), "state": "here", "quote": f"said directly ({ref})"}]


def note_link(store: Store, ref: SessionRef) -> list[Link]:
    """Return the link to the session's note, or nothing for a session that this store never took notes of."""
    name = note_name(ref.host, ref.session)
    path = store.layout.note(name)
    text = read_optional(path)
    if text is None:
        known = watermarks.load(store, ref.host, ref.session) is not None
        return [{"kind": "note", "ref": name, "state": "gone" if known else "elsewhere"}]
    link: Link = {"kind": "note", "ref": name, "state": "here", "file": store.layout.rel(path)}
    bullets = [each for each in parse_note(text).bullets if ref.first is not None and each.first == ref.first]
    if bullets:
        link["quote"] = "\n".join(f"{each.label}: {each.text}" for each in bullets[:3])
    return [link]


def session_link(store: Store, ref: SessionRef) -> Link:
    """Return the link to the transcript's lines, as far as this machine knows where they stand."""
    link: Link = {"kind": "session", "ref": str(ref), "state": "elsewhere"}
    mark = watermarks.load(store, ref.host, ref.session)
    if mark is None:
        return link
    link["state"] = "gone"
    first = locate(mark, ref.first or 0)
    if first is None:
        return link
    last = locate(mark, ref.last if ref.last is not None else ref.first or 0)
    link["file"] = first[0]
    if ref.first is not None:
        link["lines"] = (
            f"{first[1]}-{last[1]}" if last and last[0] == first[0] and last[1] != first[1] else str(first[1])
        )
    if Path(first[0]).is_file():
        link["state"] = "here"
    return link
