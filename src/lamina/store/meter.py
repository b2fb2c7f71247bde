"""What the models were used for: one file a UTC day in `state/usage/`, by purpose and route.

A call is counted before it is sent, under one lock, so that ten processes together keep to a cap and a call
whose process was killed still counts. What can't be counted is not sent: `reserve` raises instead. Settling
afterwards never raises; the estimate stands then.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from lamina import errors
from lamina.formats.dates import as_utc, parse_day
from lamina.store import files, locks
from lamina.store.layout import Layout

KEPT_DAYS = 60
_WAIT_S = 10.0
_MOST = 10**15


@dataclass(frozen=True, slots=True)
class Use:
    """Counts of calls. `cost` is in US dollars and leaves out the `unpriced` calls."""

    calls: int = 0
    failed: int = 0
    empty: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    unpriced: int = 0

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return self.tokens_in + self.tokens_out

    def __add__(self, other: Use) -> Use:
        pairs = {each.name: getattr(self, each.name) + getattr(other, each.name) for each in fields(Use)}
        return Use(**pairs | {"cost": round(pairs["cost"], 9)})


Day = Mapping[tuple[str, str], Use]
"""Use by purpose and route."""


@dataclass(frozen=True, slots=True)
class Caps:
    """What one UTC day may hold."""

    calls: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Call:
    """A call that was counted, to be settled when it is over, with the tokens it was taken to send."""

    purpose: str
    route: str
    day: date
    tokens: int


def reserve(
    layout: Layout, purpose: str, route: str, *, at: datetime, tokens: int, caps: Caps
) -> Call | None:
    """Count a call that is about to be sent with about so many tokens; None if a cap does not allow it.

    Raises UnwritableStore, UnreadableFile, UnsafePath or Busy where it can't be counted.
    """
    day, tokens = as_utc(at).date(), max(0, tokens)
    with locks.lock(layout.lock("usage"), timeout_s=_WAIT_S):
        before = _load(layout, day)
        if not fits(before, caps, tokens):
            return None
        _write(layout, day, _plus(before, purpose, route, Use(calls=1, tokens_in=tokens)))
        if not before:
            _prune(layout, day)
    return Call(purpose, route, day, tokens)


def fits(day: Day, caps: Caps, tokens: int) -> bool:
    """Tell whether one more call of so many tokens stays within the day's caps."""
    used = total(day)
    return used.calls < caps.calls and used.tokens + tokens <= caps.tokens


def settle(layout: Layout, call: Call, use: Use) -> bool:
    """Put what a call really used in the place of its estimate; tells whether the disk took it."""
    try:
        with locks.lock(layout.lock("usage"), timeout_s=_WAIT_S):
            before = _load(layout, call.day)
            more = use + Use(tokens_in=-call.tokens)
            _write(layout, call.day, _plus(before, call.purpose, call.route, more))
    except (OSError, errors.LaminaError):
        return False
    return True


def load(layout: Layout, day: date) -> Day:
    """Return what one day used; raises UnreadableFile or UnsafePath where that can't be told."""
    return _load(layout, day)


def kept(layout: Layout) -> Iterator[tuple[date, Day]]:
    """Yield the days that are kept, oldest first; one that can't be read is left out."""
    for day in _days(layout):
        try:
            yield day, _load(layout, day)
        except errors.LaminaError:
            continue


def total(day: Day) -> Use:
    """Return the sum of a day."""
    used = Use()
    for each in day.values():
        used += each
    return used


def path_of(layout: Layout, day: date) -> Path:
    """Return where a day's use stands."""
    return layout.state / "usage" / f"{day.isoformat()}.json"


def _plus(day: Day, purpose: str, route: str, use: Use) -> Day:
    summed = day.get((purpose, route), Use()) + use
    return {**day, (purpose, route): _not_below_zero(summed)}


def _not_below_zero(use: Use) -> Use:
    return Use(**{name: min(max(value, 0), _MOST) for name, value in asdict(use).items()})


def _load(layout: Layout, day: date) -> Day:
    path = path_of(layout, day)
    text = files.read_optional(path)
    if text is None:
        return {}
    try:
        return _parse(files.parse_json(text))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise errors.UnreadableFile(
            f"{path}: does not hold a day's use of models", "remove it; that day then counts from nothing"
        ) from None


def _parse(data: Any) -> Day:
    found: dict[tuple[str, str], Use] = {}
    for purpose, routes in data["use"].items():
        for route, said in routes.items():
            use = Use(**said)
            if not all(_is_count(getattr(use, each.name), each.name) for each in fields(Use)):
                raise ValueError(route)
            found[purpose, route] = use
    return found


def _is_count(value: Any, name: str) -> bool:
    if name == "cost":
        return type(value) in (int, float) and 0 <= value <= _MOST
    return type(value) is int and 0 <= value <= _MOST


def _write(layout: Layout, day: date, use: Day) -> None:
    data: dict[str, dict[str, Any]] = {}
    for (purpose, route), each in sorted(use.items()):
        data.setdefault(purpose, {})[route] = asdict(each)
    text = json.dumps({"use": data}, ensure_ascii=True, indent=1) + "\n"
    files.write_text(path_of(layout, day), text)


def _days(layout: Layout) -> list[date]:
    try:
        names = [path.name for path in (layout.state / "usage").iterdir()]
    except OSError:
        return []
    days = (parse_day(name.removesuffix(".json")) for name in names if name.endswith(".json"))
    return sorted(day for day in days if day is not None)


def _prune(layout: Layout, today: date) -> None:
    for day in _days(layout):
        if day < today - timedelta(days=KEPT_DAYS):
            files.discard(path_of(layout, day))
