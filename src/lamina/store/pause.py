"""Whether the person has paused capture on this machine: `state/paused.json`."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lamina import errors
from lamina.formats.dates import parse_time, render_time
from lamina.store import files
from lamina.store.registry import edit, parse_object

if TYPE_CHECKING:
    from lamina.store.batch import Batch

PAUSED = "state/paused.json"


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


def pause(batch: Batch, until: datetime | None = None) -> None:
    """Pause capture until a time, or until `resume`."""
    batch.edit(PAUSED, lambda _: None)
    edit(batch, PAUSED, lambda said: _set(said, batch.at, until))


def resume(batch: Batch) -> None:
    """End the pause."""
    batch.edit(PAUSED, lambda _: None)


def _set(said: dict[str, Any], at: datetime, until: datetime | None) -> None:
    said |= {"paused": True, "since": render_time(at), "until": render_time(until) if until else None}
