"""Whether the person has paused capture on this machine: `state/paused.json`.

What was said during a pause stays out of memory when the session is read later, so the pauses that are over
are kept in `state/pauses.json`.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lamina import errors
from lamina.formats.dates import parse_time, render_time
from lamina.store import files
from lamina.store.registry import edit, parse_object

if TYPE_CHECKING:
    from collections.abc import Callable

    from lamina.store.batch import Batch

PAUSED = "state/paused.json"
PAST = "state/pauses.json"
KEPT = 200
"""Pauses that are over and still known: the newest."""


class Pause(NamedTuple):
    """A pause; `until` None lasts until `resume`."""

    until: datetime | None = None


def paused(root: Path, *, now: datetime) -> Pause | None:
    """Return the pause in force, or None. A damaged record counts as a pause: it is the safer reading."""
    try:
        text = files.read_optional(root / PAUSED)
        said = parse_object(text, PAUSED) if text else {}
    except errors.LaminaError:
        return Pause()
    if not said.get("paused"):
        return None
    told = said.get("until")
    until = parse_time(told) if isinstance(told, str) else None
    return None if until is not None and until <= now else Pause(until)


class Silence(NamedTuple):
    """A time in which nothing is remembered; `until` None goes on."""

    since: datetime
    until: datetime | None = None

    def holds(self, time: datetime) -> bool:
        """Tell whether something happened in it."""
        return self.since <= time and (self.until is None or time < self.until)


def silences(root: Path) -> tuple[Silence, ...]:
    """Return the pauses, over and in force; what of them can't be read is none."""
    found = [_silence(each) for each in _list(_said(root, PAST).get("pauses"))]
    found.append(_now(root, lambda: files.read_optional(root / PAUSED)))
    return tuple(each for each in found if each is not None)


def pause(batch: Batch, until: datetime | None = None) -> None:
    """Pause capture until a time, or until `resume`."""
    _close(batch)
    batch.edit(PAUSED, lambda _: None)
    edit(batch, PAUSED, lambda said: _set(said, batch.at, until))


def resume(batch: Batch) -> None:
    """End the pause."""
    _close(batch)
    batch.edit(PAUSED, lambda _: None)


def _close(batch: Batch) -> None:
    """Move the pause that was in force, or ended by itself, to those that are over."""
    last = _now(batch.store.root, lambda: batch.text(PAUSED))
    if last is None:
        return
    until = min(last.until or batch.at, batch.at)
    over = {"since": render_time(last.since), "until": render_time(_up(until))}
    edit(batch, PAST, lambda past: past.update(pauses=[*_list(past.get("pauses")), over][-KEPT:]))


def _now(root: Path, read: Callable[[], str | None]) -> Silence | None:
    """Return the pause that the record tells of; one that can't be read began when the record became so."""
    try:
        text = read()
        said = parse_object(text, PAUSED) if text else {}
    except errors.LaminaError:
        said = {"paused": True}
    found = _silence(said)
    if found is not None or not said.get("paused"):
        return found
    try:
        return Silence(datetime.fromtimestamp(int((root / PAUSED).stat().st_mtime), UTC))
    except (OSError, ValueError, OverflowError):
        return None


def _up(time: datetime) -> datetime:
    """Return the next whole second, so that what is written has no fraction and ends no earlier."""
    return time if not time.microsecond else time.replace(microsecond=0) + timedelta(seconds=1)


def _said(root: Path, rel: str) -> dict[str, Any]:
    try:
        text = files.read_optional(root / rel)
        return parse_object(text, rel) if text else {}
    except errors.LaminaError:
        return {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _silence(said: object) -> Silence | None:
    if not isinstance(said, dict) or not isinstance(said.get("since"), str):
        return None
    since, until = parse_time(said["since"]), said.get("until")
    return Silence(since, parse_time(until) if isinstance(until, str) else None) if since else None


def _set(said: dict[str, Any], at: datetime, until: datetime | None) -> None:
    said |= {"paused": True, "since": render_time(at), "until": render_time(_up(until)) if until else None}
