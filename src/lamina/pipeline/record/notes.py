"""A captured note becomes the body of a record: its bullets by their labels, each with its place."""

from __future__ import annotations

from lamina.formats.lines import fold
from lamina.formats.note import Note
from lamina.formats.source import SessionRef
from lamina.pipeline.record.body import Body

_DECISION = frozenset({"decision"})
_OPEN = frozenset({"open"})
_LEARNT = frozenset({"correction", "fix", "learning", "preference", "constraint", "rule", "lesson"})


def body_of_note(note: Note) -> Body:
    """Return what a record of a note's session says; the evidence of each bullet is its place there."""
    said: dict[str, list[tuple[str, str]]] = {"done": [], "decisions": [], "learnings": [], "open": []}
    for bullet in note.bullets:
        text = fold(bullet.text)
        if text:
            place = SessionRef(note.host, note.session, bullet.first, bullet.last)
            said[_part(bullet.label)].append((text, str(place)))
    parts = {name: tuple(dict.fromkeys(listed)) for name, listed in said.items()}
    return Body(
        done=parts["done"], decisions=parts["decisions"], learnings=parts["learnings"], open=parts["open"]
    )


def _part(label: str) -> str:
    name = label.strip().lower()
    if name in _DECISION:
        return "decisions"
    if name in _OPEN:
        return "open"
    return "learnings" if name in _LEARNT else "done"
