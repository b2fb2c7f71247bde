"""Durable knowledge that was chosen for the digest, before it is an item: from labels, or given as JSON."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from lamina import errors
from lamina.formats.digest import KINDS, LEGACY, Digest
from lamina.formats.hashing import knowledge_text
from lamina.formats.lines import fold
from lamina.formats.origin import Key, key_of, origins_of
from lamina.pipeline.digest.grounds import Grounds
from lamina.pipeline.digest.view import Session, View
from lamina.pipeline.redact import redact

LONGEST = 2_000
"""Characters of one item's text."""

_DONE = re.compile(r"(?:done|resolved|closed)\s*[:：]\s*", re.IGNORECASE)
_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")
_SHOWN_FAULTS = 20


class Draft(NamedTuple):
    """One piece of knowledge: a bullet's text with its evidence tail, where it is from, and an id to keep."""

    kind: str
    bullet: str
    sources: tuple[str, ...]
    id: str = ""


class Selection(NamedTuple):
    """What was chosen of which sessions; sessions that are not named stay new."""

    drafts: tuple[Draft, ...]
    sources: tuple[str, ...]
    limitations: tuple[str, ...] = ()


def labelled(sessions: Sequence[Session]) -> Selection:
    """Take the labelled bullets as they stand; an open action that a later session closes is left out."""
    found = [
        Draft(bullet.kind, redact(bullet.text).text, (session.source,))
        for session in sessions
        for bullet in session.bullets
        if bullet.kind and knowledge_text(bullet.text)
    ]
    kept = without_closed(found, {session.source: n for n, session in enumerate(sessions)})
    return Selection(tuple(kept), tuple(session.source for session in sessions))


def without_closed(drafts: Sequence[Draft], order: Mapping[str, int]) -> list[Draft]:
    """Leave out the open actions that a later source says in the same words to be done."""
    closed: dict[str, int] = {}
    for draft in drafts:
        if draft.kind == "state":
            said = settled(draft.bullet)
            closed[said] = max(closed.get(said, -1), *(order.get(each, -1) for each in draft.sources))
    return [
        draft
        for draft in drafts
        if draft.kind != "open"
        or closed.get(settled(draft.bullet), -1) <= max(order.get(each, -1) for each in draft.sources)
    ]


def settled(bullet: str) -> str:
    """Return the words of an action, the same whether it is open or done (`Done: …`).

    Signs count: `C++` is not `C#`. Only the case and a full stop at the end make no difference.
    """
    text = unicodedata.normalize("NFKC", knowledge_text(bullet)).casefold()
    return _DONE.sub("", text, count=1).rstrip(".。! ")


def given(view: View, value: object) -> Selection:
    """Take what an agent chose: `{"items": [{"kind", "text", "source", "id"?}], "nothing": [sources]}`.

    Raises BadInput that lists everything that is wrong with it: unknown sources, sessions that are in the
    digest already, texts that their sources don't hold.
    """
    if not isinstance(value, dict):
        raise errors.BadInput("the items are no JSON object", "`lamina digest --plan` shows the sessions")
    check = _Check(view)
    listed, nothing = value.get("items", []), value.get("nothing", [])
    if not isinstance(listed, list) or not isinstance(nothing, list):
        raise errors.BadInput('"items" and "nothing" are lists', "`lamina digest --help` shows the form")
    drafts = [draft for n, each in enumerate(listed) if (draft := check.item(n, each)) is not None]
    empty = check.nothing(nothing)
    check.apart(drafts, empty)
    if check.faults:
        more = len(check.faults) - _SHOWN_FAULTS
        told = [*check.faults[:_SHOWN_FAULTS], *([f"and {more} more"] if more > 0 else [])]
        raise errors.BadInput(
            "nothing was written: " + "; ".join(told), "correct these and apply the file again"
        )
    keys = {key_of(ref) for draft in drafts for ref in draft.sources} | {key_of(ref) for ref in empty}
    named = tuple(session.source for session in view.new if key_of(session.source) in keys)
    left = len(view.new) - len(named)
    limits = (f"{left} sessions were not named and stay new",) if left else ()
    return Selection(tuple(drafts), named, limits)


class _Faulty(Exception):
    """What is wrong with one item."""


class _Check:
    """Looks at what was given, item by item, and collects what is wrong."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._new = {key_of(session.source) for session in view.new}
        self._grounds = Grounds()
        self._known = known_hashes(view.digest)
        self._ids: dict[str, int] = {}
        self.faults: list[str] = []

    def item(self, number: int, value: object) -> Draft | None:
        """Return one item as a draft, None for one that is in the digest already or is faulty."""
        try:
            return self._item(number, value)
        except _Faulty as fault:
            self.faults.append(f"item {number} {fault}")
            return None

    def nothing(self, refs: Sequence[object]) -> list[str]:
        """Return the sources that hold nothing durable."""
        found = []
        for ref in refs:
            if not isinstance(ref, str) or key_of(ref) not in self._view.by_key:
                self.faults.append(f"nothing: no session is {_short(ref)}")
            else:
                found.append(ref)
        return found

    def apart(self, drafts: Sequence[Draft], empty: Sequence[str]) -> None:
        """Note the sessions that hold something and nothing at once."""
        said = covered(ref for draft in drafts for ref in draft.sources)
        self.faults += (
            f"{_short(ref)} stands in both items and nothing" for ref in empty if key_of(ref) in said
        )

    def _item(self, number: int, value: object) -> Draft | None:
        if not isinstance(value, dict):
            raise _Faulty("is no object")
        kind, bullet = value.get("kind"), _bullet(value.get("text"))
        if kind not in KINDS:
            raise _Faulty(f"has no kind: one of {', '.join(KINDS)}")
        sessions = self._sources(value.get("source"))
        name = self._named(number, value.get("id"))
        if not any(key_of(session.source) in self._new for session in sessions):
            if hash_of(bullet) not in self._known:
                raise _Faulty(f"comes from a session that is in the digest already: {sessions[0].source}")
            return None
        wrong = self._grounds.faults(bullet, [session.shown for session in sessions])
        if wrong:
            raise _Faulty(f"does not hold: {wrong}")
        return Draft(kind, bullet, tuple(session.source for session in sessions), name)

    def _sources(self, value: object) -> list[Session]:
        refs = origins_of(value) if isinstance(value, str) else value
        if not isinstance(refs, list | tuple) or not refs or not all(isinstance(ref, str) for ref in refs):
            raise _Faulty("has no source")
        found = []
        for ref in refs:
            session = self._view.by_key.get(key_of(ref))
            if session is None:
                raise _Faulty(f"has a source that is no session: {_short(ref)}")
            found.append(session)
        return found

    def _named(self, number: int, value: object) -> str:
        if value is None or value == "":
            return ""
        if not isinstance(value, str):
            raise _Faulty("has an id that is no text")
        known = self._view.digest is not None and value in self._view.digest.current
        if not known and (not _ID.fullmatch(value) or value.startswith(LEGACY)):
            raise _Faulty(f"has an id that no item has and no new one may have: {_short(value)}")
        if value in self._ids:
            raise _Faulty(f"has the id of item {self._ids[value]}: {_short(value)}")
        self._ids[value] = number
        return value


def _bullet(value: object) -> str:
    if not isinstance(value, str) or not knowledge_text(fold(value)):
        raise _Faulty("has no text")
    if len(value) > LONGEST:
        raise _Faulty(f"has {len(value)} characters; at most {LONGEST}")
    return redact(fold(value)).text


def known_hashes(digest: Digest | None) -> frozenset[str]:
    """Return the hashes of the items that are current: as they are marked, and as they read now."""
    current = digest.current.values() if digest else ()
    return frozenset(found for item in current for found in (item.hash, item.content) if found)


def hash_of(bullet: str) -> str:
    """Return the hash that a bullet will have in the digest."""
    from lamina.formats.digest import made

    return made("", KINDS[0], bullet, ()).hash


def covered(sources: Iterable[str]) -> frozenset[Key]:
    """Return what references mean."""
    return frozenset(key_of(ref) for ref in sources)


def plan(view: View) -> dict[str, Any]:
    """Return what `lamina digest --plan` prints: the sessions that are new, the items that are current."""
    current = view.digest.current.values() if view.digest else ()
    return {
        "digest": str(view.folder.digest),
        "sessions": [
            {"source": session.source, "date": session.day.isoformat(), "text": session.shown}
            for session in view.new
        ],
        "items": [
            {
                "id": i.id,
                "kind": i.kind,
                "text": i.text,
                "hash": i.hash or i.content,
                "sources": list(i.sources),
            }
            for i in current
        ],
        "limitations": view.problems,
    }


def _short(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return repr(text if len(text) <= 100 else f"{text[:100]}…")
