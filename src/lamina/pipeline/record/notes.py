"""A captured note becomes the body of a record: its bullets by their labels, each with its place."""

from __future__ import annotations

from collections.abc import Iterable

from lamina.formats.lines import fold
from lamina.formats.marker import markers
from lamina.formats.note import Note
from lamina.formats.source import SessionRef, parse_sources
from lamina.pipeline.record.body import Body

_DECISION = frozenset({"decision"})
_OPEN = frozenset({"open"})
_LEARNT = frozenset({"correction", "fix", "learning", "preference", "constraint", "rule", "lesson"})


def body_of_note(note: Note, *, after: int = -1) -> Body:
    """Return what a record of a note's session says; the evidence of each bullet is its place there.

    Of a session that went on since it was recorded, only what was said behind the record number `after`.
    """
    said: dict[str, list[tuple[str, str]]] = {"done": [], "decisions": [], "learnings": [], "open": []}
    for bullet in note.bullets:
        text = fold(bullet.text)
        if text and bullet.last > after:
            place = SessionRef(note.host, note.session, bullet.first, bullet.last)
            said[_part(bullet.label)].append((text, str(place)))
    parts = {name: tuple(dict.fromkeys(listed)) for name, listed in said.items()}
    return Body(
        done=parts["done"], decisions=parts["decisions"], learnings=parts["learnings"], open=parts["open"]
    )


def recorded_until(texts: Iterable[bytes], note: Note) -> int:
    """Return up to which record number of a note's session the daily files have it, -1 for none of it."""
    last = -1
    mark = f"{note.host}/".encode()
    for data in texts:
        if mark not in data:
            continue
        for placed in markers(data.decode("utf-8", "replace")):
            for ref in parse_sources(placed.marker.get("source")) if placed.marker else ():
                if isinstance(ref, SessionRef) and (ref.host, ref.session) == (note.host, note.session):
                    last = max(last, ref.last if ref.last is not None else note.last)
    return last


def _part(label: str) -> str:
    name = label.strip().lower()
    if name in _DECISION:
        return "decisions"
    if name in _OPEN:
        return "open"
    return "learnings" if name in _LEARNT else "done"
