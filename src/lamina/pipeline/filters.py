"""Which memories are meant: the filters that search, list, export and forget share."""

from __future__ import annotations

from datetime import date, timedelta

from lamina.errors import UnknownScope, UsageError
from lamina.formats.frozen import NamedTuple
from lamina.formats.layers import layer_named
from lamina.formats.scope import Scope, parse_scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypedDict

    from lamina.index.base import Query

    class Asked(TypedDict, total=False):
        """The filters as a person or a program says them.

        `scope`: `all`, `global`, `workspace` or `workspace:KEY` (default: here and global). `topic`: its
        title or file name. `trust`: a comma list, or `all` (default: what is in force). `since` and `until`:
        UTC days, or `7d` for that long ago.
        """

        scope: str | None
        layer: str | None
        topic: str | None
        trust: str | None
        since: str | date | None
        until: str | date | None


TRUSTS = ("approved", "candidate", "superseded", "forgotten")
IN_FORCE = frozenset({"approved", "candidate"})
DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


class Filters(NamedTuple):
    """A choice of entries; `scopes` None means every scope, `layer` None every layer.

    `branch` is the one that is checked out: what was learnt on another is left out; None leaves nothing out.
    """

    scopes: tuple[Scope, ...] | None = None
    layer: str | None = None
    topic: str | None = None
    trust: frozenset[str] = IN_FORCE
    since: date | None = None
    until: date | None = None
    branch: str | None = None


def parse_filters(  # noqa: PLR0913 - one for each word of the command
    current: Scope,
    today: date,
    *,
    scope: str | None = None,
    layer: str | None = None,
    topic: str | None = None,
    trust: str | Iterable[str] | None = None,
    since: str | date | None = None,
    until: str | date | None = None,
    branch: str | None = None,
) -> Filters:
    """Parse what a person or a program asked for; raises UsageError, UnknownLayer or UnknownScope."""
    return Filters(
        scopes=parse_scopes(scope, current),
        layer=layer_named(layer).name if layer else None,
        topic=topic or None,
        trust=parse_trust(trust),
        since=parse_when(since, today),
        until=parse_when(until, today),
        branch=branch,
    )


def question(text: str, here: Scope, today: date, *, limit: int, filters: Asked, branch: str = "") -> Query:
    """Make the query of a search; raises UsageError, UnknownLayer or UnknownScope."""
    from lamina.pipeline import recall

    layer, trust = filters.get("layer"), filters.get("trust")
    return recall.question(
        text,
        here=here,
        scope=filters.get("scope") or "",
        layers=(layer,) if layer else (),
        topic=filters.get("topic") or "",
        trust=_names(trust) if trust else (),
        since=parse_when(filters.get("since"), today),
        until=parse_when(filters.get("until"), today),
        branch=branch,
        limit=limit,
    )


def parse_scopes(text: str | None, current: Scope) -> tuple[Scope, ...] | None:
    """Return the scopes that `text` names: by default the current workspace and global."""
    match text:
        case None | "":
            return (current,) if current.key is None else (current, Scope(None))
        case "all":
            return None
        case "workspace":
            if current.key is None:
                raise UnknownScope("there is no workspace here", "name one: --scope workspace:KEY")
            return (current,)
        case "global":
            return (Scope(None),)
        case _:
            return (parse_scope(text),)


def scope_for_writing(text: str | None, current: Scope) -> Scope:
    """Return the one scope that a write goes to: by default the current workspace."""
    if text is None or text == "":
        return current
    if text == "workspace" and current.key is None:
        raise UnknownScope("there is no workspace here", "name one: --scope workspace:KEY")
    return current if text == "workspace" else parse_scope(text)


def parse_trust(value: str | Iterable[str] | None) -> frozenset[str]:
    """Parse a comma list of trusts; `all` means every one, nothing means those in force."""
    if value is None or value == "":
        return IN_FORCE
    names = _names(value) if isinstance(value, str) else list(value)
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
    if not text:
        return None
    if text in ("today", "yesterday"):
        return today - timedelta(days=text == "yesterday")
    try:
        if text[-1:] in DAYS:
            return today - timedelta(days=int(text[:-1]) * DAYS[text[-1]])
        return date.fromisoformat(text)
    except (ValueError, OverflowError):
        raise UsageError(
            f"{value!r} is not a day", "write 2026-11-30, or 7d, 2w, 3m for that long ago"
        ) from None


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
