"""How far each session was read: one small file a session, so that a pass costs only the new events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from lamina import errors
from lamina.formats.dates import parse_time, render_time
from lamina.formats.event import Position
from lamina.formats.note import note_name
from lamina.store import files
from lamina.store.store import Store
from lamina.store.write import Writing


@dataclass(frozen=True, slots=True)
class Read:
    """How far one transcript file of a session was read."""

    path: str
    size: int
    position: Position


@dataclass(frozen=True, slots=True)
class Watermark:
    """How far a session was captured. `last` is the highest sequence number, `state` the caller's word."""

    host: str
    session: str
    files: tuple[Read, ...] = ()
    last: int = -1
    captured: datetime | None = None
    state: str = ""

    @property
    def name(self) -> str:
        """The file name without `.json`, the same as the session's note has."""
        return note_name(self.host, self.session)


def load(store: Store, host: str, session: str) -> Watermark | None:
    """Load a session's watermark; None if there is none or it is damaged (it can be made again)."""
    return _load(store, note_name(host, session))


def watermarks(store: Store) -> Iterator[Watermark]:
    """Yield all watermarks that can be read."""
    try:
        names = sorted(path.name for path in (store.layout.state / "sessions").iterdir())
    except OSError:
        return
    for name in names:
        if name.endswith(".json") and (found := _load(store, name.removesuffix(".json"))):
            yield found


def save(batch: Writing, mark: Watermark) -> str:
    """Write a watermark with the batch; returns its path in the store."""
    data = asdict(mark) | {"captured": render_time(mark.captured) if mark.captured else ""}
    layout = batch.store.layout
    rel = layout.rel(layout.session(mark.name))
    batch.put(rel, json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True) + "\n")
    return rel


def _load(store: Store, name: str) -> Watermark | None:
    try:
        text = store.text(store.layout.rel(store.layout.session(name)))
        return None if text is None else _parse(files.parse_json(text))
    except (errors.LaminaError, ValueError, KeyError, TypeError):
        return None


def _parse(data: dict[str, Any]) -> Watermark:
    reads = tuple(
        Read(str(each["path"]), int(each["size"]), Position(**each["position"])) for each in data["files"]
    )
    captured = parse_time(data["captured"]) if data["captured"] else None
    return Watermark(data["host"], data["session"], reads, int(data["last"]), captured, data["state"])
