"""Reading what is stored: choose entries, describe them, group them by the session they came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lamina.errors import NoEntry
from lamina.formats.freshness import freshness
from lamina.formats.slug import topic_slug
from lamina.formats.source import SessionRef
from lamina.store.layout import place_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import date

    from lamina.pipeline.filters import Filters
    from lamina.store.store import Located, Store

SPOKEN = "said directly"
LONGEST_NUMBER = 10


def choose(store: Store, filters: Filters) -> Iterator[Located]:
    """Yield the entries that the filters let through, in the order of the files."""
    scopes = store.scopes() if filters.scopes is None else filters.scopes
    for scope in scopes:
        for located in store.entries(scope, filters.layer):
            if passes(located, filters):
                yield located


def passes(located: Located, filters: Filters) -> bool:
    """Tell whether an entry is meant; the scope and the layer are the caller's to choose."""
    entry = located.entry
    if entry.trust not in filters.trust:
        return False
    if filters.branch is not None and entry.branch not in ("", filters.branch):
        return False
    if filters.topic and not _is_topic(located, filters.topic):
        return False
    day = entry.date
    if filters.since and (day is None or day < filters.since):
        return False
    return not (filters.until and (day is None or day > filters.until))


def _is_topic(located: Located, name: str) -> bool:
    return name.casefold() in (located.topic.casefold(), located.slug.casefold()) or (
        topic_slug(name) == located.slug
    )


def newest_first(entries: Iterable[Located]) -> list[Located]:
    """Sort by date, newest first; entries of one day stay in the order of their ids."""
    return sorted(
        entries,
        key=lambda each: (-(each.entry.date.toordinal() if each.entry.date else 0), each.entry.id or ""),
    )


def item(located: Located, today: date) -> dict[str, Any]:
    """Describe an entry: where it stands, its fields, how far to trust it now."""
    entry = located.entry
    fresh = freshness(entry.date, entry.verified, entry.valid_until, entry.volatility, entry.body, today)
    return {
        "id": entry.id or "",
        "scope": located.scope.name,
        "layer": located.layer,
        "topic": located.topic,
        "heading": entry.heading,
        "file": located.rel,
        "line": entry.line,
        "date": str(entry.date) if entry.date else None,
        "importance": entry.importance,
        "trust": entry.trust,
        "freshness": fresh.grade,
        "age_days": fresh.age_days,
        "source": entry.source,
    }


def whole(located: Located, today: date) -> dict[str, Any]:
    """Describe an entry with everything it holds, its text as it stands in the file included."""
    entry = located.entry
    fields = {field.label: field.value for field in entry.fields}
    described = item(located, today) | {"fields": fields, "body": entry.body, "text": entry.raw}
    if located.layer == "decisions":
        from lamina.formats.decision import parse_decision

        described["decision"] = parse_decision(entry.heading, entry.body)._asdict()
    return described


def found(store: Store, text: str) -> Located:
    """Return the entry that is meant: by its id, an earlier id, or `file:line`; raises NoEntry.

    The place is how an entry can be named that a person wrote and that has no id yet. Any line of the
    entry will do.
    """
    name = text.strip()
    located = store.find(name) or _at(store, name)
    if located is None:
        raise NoEntry(f"no entry has the id {name!r}", "`lamina list` and `lamina search` show ids")
    return located


def _at(store: Store, name: str) -> Located | None:
    rel, _, line = name.rpartition(":")
    place = place_of(rel)
    if place is None or not (line.isascii() and line.isdigit() and len(line) < LONGEST_NUMBER):
        return None
    for ref in store.topics(place.scope, place.layer):
        if ref.rel == rel:
            before = [each for each in store.entries_in(ref) if each.entry.line <= int(line)]
            return before[-1] if before else None
    return None


def learnt(entries: Iterable[Located], limit: int) -> list[dict[str, Any]]:
    """Group entries by the session they came from, newest session first."""
    groups: dict[tuple[str, str], list[Located]] = {}
    for located in newest_first(entries):
        groups.setdefault((str(located.entry.date or ""), _origin(located)), []).append(located)
    return [
        {
            "date": day,
            "source": origin,
            "entries": [
                {
                    "id": each.entry.id or "",
                    "heading": each.entry.heading,
                    "layer": each.layer,
                    "scope": each.scope.name,
                }
                for each in members
            ],
        }
        for (day, origin), members in list(groups.items())[:limit]
    ]


def _origin(located: Located) -> str:
    for ref in located.entry.sources:
        if isinstance(ref, SessionRef):
            return f"session:{ref.host}/{ref.session}"
    sources = located.entry.sources
    return str(sources[0]) if sources else SPOKEN
