"""Drafts become items, items a section, and the section stands at the end of the digest."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import NamedTuple

from lamina.formats.dates import render_time
from lamina.formats.digest import (
    Item,
    appended,
    made,
    render_new,
    render_section,
    setting_header,
    state_marker,
    sync_marker,
)
from lamina.formats.origin import key_of, numbered
from lamina.pipeline.digest.drafts import Draft, Selection, known_hashes
from lamina.pipeline.digest.view import View

_SLUG = 48
_WORDS = 6
_IDLE = frozenset("a an the of to in on for and or is are was be we it that this with".split())


class Composed(NamedTuple):
    """A section to be written: its id, its items, the sessions that it covers, and the days they are of."""

    id: str
    items: tuple[Item, ...]
    sources: tuple[str, ...]
    first: date
    last: date
    stamp: str
    known: int = 0
    """How many chosen pieces the digest says already, word for word."""


def compose(view: View, selection: Selection, now: datetime) -> Composed | None:
    """Make the section of what was chosen; only sessions that are still new count. None without any.

    `now` is aware; the heading tells its local time, the id its UTC.
    """
    named = {key_of(ref) for ref in selection.sources}
    sessions = [session for session in view.new if key_of(session.source) in named]
    if not sessions:
        return None
    still = {key_of(session.source) for session in sessions}
    drafts = [draft for draft in selection.drafts if still & {key_of(ref) for ref in draft.sources}]
    items, known = _items(view, drafts)
    days = [session.day for session in sessions]
    stamp = now.astimezone().strftime("%Y-%m-%d %H:%M")
    taken = {section.id for section in view.digest.sections} if view.digest else set()
    return Composed(
        numbered(render_time(now), taken.__contains__),
        tuple(items),
        tuple(session.source for session in sessions),
        min(days),
        max(days),
        stamp,
        known,
    )


def written(view: View, section: Composed, now: datetime, status: str, pending: Sequence[str]) -> str:
    """Return the digest with the section at its end and a header that tells of this run."""
    text = render_section(section.id, section.stamp, section.sources, section.items)
    processed = max(filter(None, (view.processed, section.last)))
    digest = view.digest
    if digest is None or digest.blank:
        state, sync = state_marker(now, processed), sync_marker(None, status, pending)
        return appended(render_new(view.folder.root.name, state, sync), text)
    state = state_marker(now, processed)
    if digest.state is not None:
        state = digest.state.setting("last-run", state.get("last-run"))
        state = state.setting("processed-through", processed.isoformat())
    return appended(setting_header(digest, state=state, sync=sync_marker(digest.sync, status, pending)), text)


def _items(view: View, drafts: Sequence[Draft]) -> tuple[list[Item], int]:
    """Make the items: what the digest says already is left out, what is said twice becomes one."""
    known = known_hashes(view.digest)
    current = view.digest.current if view.digest else {}
    taken = {item.id for item in view.digest.items} if view.digest else set()
    found: dict[str, Item] = {}
    repeated = 0
    last = {draft.id: draft for draft in drafts if draft.id}
    for draft in drafts:
        if draft.id and last[draft.id] is not draft:
            continue  # what a later session says of the same item is what holds
        item = made(draft.id, draft.kind, draft.bullet, draft.sources)
        if item.hash in known:
            repeated += 1
            continue
        twin = found.get(item.hash)
        if twin is not None:
            sources = tuple(dict.fromkeys((*twin.sources, *item.sources)))
            found[item.hash] = replace(twin, sources=sources)
            continue
        name = draft.id if draft.id in current or (draft.id and draft.id not in taken) else ""
        name = name or _name(item, taken)
        taken.add(name)
        found[item.hash] = replace(item, id=name)
    return list(found.values()), repeated


def _name(item: Item, taken: Collection[str]) -> str:
    """Make an id that nothing in the digest has: the kind and the first telling words, in plain letters."""
    plain = unicodedata.normalize("NFKD", item.text).encode("ascii", "ignore").decode().lower()
    words = [word for word in re.findall(r"[a-z0-9]+", plain) if word not in _IDLE and word != item.kind]
    slug = "-".join(words[:_WORDS])[:_SLUG].strip("-") or item.hash[:8]
    return numbered(f"{item.kind}-{slug}", taken.__contains__)
