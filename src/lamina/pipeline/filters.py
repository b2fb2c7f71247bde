"""Which memories are meant: the filters that search, list, export and forget share."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, NamedTuple

from lamina.errors import UsageError
from lamina.formats.layers import layer_named
from lamina.formats.scope import GLOBAL, Scope, parse_scope

if TYPE_CHECKING:
    from collections.abc import Iterable

TRUSTS = ("approved", "candidate", "superseded", "forgotten")
IN_FORCE = frozenset({"approved", "candidate"})
DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


class Filters(NamedTuple):
    """A choice of entries; `scopes` None means every scope, `layer` None every layer."""

    scopes: tuple[Scope, ...] | None = None
    layer: str | None = None
    topic: str | None = None
    trust: frozenset[str] = IN_FORCE
    since: date | None = None
    until: date | None = None


def parse_filters(
    current: Scope,
    today: date,
    *,
    scope: str | None = None,
    layer: str | None = None,
    topic: str | None = None,
    trust: str | Iterable[str] | None = None,
    since: str | date | None = None,
    until: str | date | None = None,
) -> Filters:
    """Parse what a person or a program asked for; raises UsageError, UnknownLayer or UnknownScope."""
    return Filters(
        scopes=parse_scopes(scope, current),
        layer=layer_named(layer).name if layer else None,
        topic=topic or None,
        trust=parse_trust(trust),
        since=parse_when(since, today),
        until=parse_when(until, today),
    )


def parse_scopes(text: str | None, current: Scope) -> tuple[Scope, ...] | None:
    """Return the scopes that `text` names: by default the current workspace and global."""
    match text:
        case None | "":
            return (current,) if current.key is None else (current, Scope(None))
        case "all":
            return None
        case "workspace":
            return (current,)
        case "global":
            return (Scope(None),)
        case _:
            return (parse_scope(text),)


def scope_for_writing(text: str | None, current: Scope) -> Scope:
    """Return the one scope that a write goes to: by default the current workspace."""
    if text in (None, "", "workspace"):
        return current
    return Scope(None) if text == GLOBAL else parse_scope(str(text))


def parse_trust(value: str | Iterable[str] | None) -> frozenset[str]:
    """Parse a comma list of trusts; `all` means every one, nothing means those in force."""
    if value is None or value == "":
        return IN_FORCE
    names = [name.strip() for name in value.split(",")] if isinstance(value, str) else list(value)
    if names == ["all"]:
        return frozenset(TRUSTS)
    unknown = [name for name in names if name not in TRUSTS]
    if unknown:
        raise UsageError(f"{unknown[0]!r} is not a trust", f"one of: {', '.join(TRUSTS)}, or all")
    return frozenset(names)


def parse_when(value: str | date | None, today: date) -> date | None:
    """Parse a UTC day (`2026-11-30`) or a time ago (`7d`, `2w`, `3m`, `1y`, `today`, `yesterday`)."""
    if value is None or isinstance(value, date):
        return value
    text = value.strip().lower()
    if text in ("today", "yesterday"):
        return today - timedelta(days=text == "yesterday")
    try:
        if text[-1:] in DAYS:
            return today - timedelta(days=int(text[:-1]) * DAYS[text[-1]])
        return date.fromisoformat(text[:10])
    except (ValueError, OverflowError):
        raise UsageError(
            f"{value!r} is not a day", "write 2026-11-30, or 7d, 2w, 3m for that long ago"
        ) from None
