"""The spool: one line for each event of a session, written by hooks, taken by the one worker.

What was taken and could not be done yet waits in `state/waiting.json`, one record a session.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from lamina import errors
from lamina.live import disk
from lamina.live.payload import number
from lamina.store import files

SPOOL = "spool.jsonl"
TAKEN = "spool-taken.jsonl"
WAITING = "waiting.json"
MOST = 1_000
"""Sessions that wait at most; the oldest go first, and are found again in the hosts' own folders."""
_MOST_BYTES = 64 * 1024 * 1024
_END_OF_TIME = 1e11  # seconds since 1970
_CHANGES = ("turn", "end", "compact")
_TEXTS = ("host", "session", "cwd", "transcript")


@dataclass(frozen=True, slots=True)
class Waiting:
    """A session that changed: `time` of its last event, `captured` of its last capture (s since 1970).

    `tries` counts captures that failed, `pressing` says that it may not wait for the interval.
    """

    host: str
    session: str = ""
    cwd: str = ""
    transcript: str = ""
    time: float = 0.0
    captured: float = 0.0
    tries: int = 0
    ended: bool = False
    pressing: bool = False
    changed: bool = False

    @property
    def key(self) -> str:
        """What tells sessions apart: the id, else the transcript."""
        return f"{self.host}/{self.session or self.transcript}"


def is_empty(state: Path) -> bool:
    """Tell whether no hook has written anything since the last `take`."""
    return not (state / SPOOL).exists() and not (state / TAKEN).exists()


def take(state: Path) -> dict[str, Waiting]:
    """Take what hooks have written, together with what was waiting; only the holder of the worker's lock may.

    Killed at any moment, nothing is lost: the next call reads what this one had put aside.
    """
    waiting = load(state)
    while not is_empty(state):
        _set_aside(state)
        waiting = _with(waiting, _lines(state / TAKEN))
        save(state, waiting)
        files.discard(state / TAKEN)
    return waiting


def load(state: Path) -> dict[str, Waiting]:
    """Return the sessions that wait; a damaged file says nothing."""
    try:
        said = files.parse_json(files.read_text(state / WAITING))
    except (errors.LaminaError, ValueError):
        return {}
    records = said.values() if isinstance(said, dict) else ()
    found = (_waiting(value) for value in records if isinstance(value, dict))
    return {each.key: each for each in found if each.host and (each.session or each.transcript)}


def _waiting(said: dict[str, Any]) -> Waiting:
    """Read a record; what of it is no value of its kind counts as not said."""
    text = {name: value for name in _TEXTS if isinstance(value := said.get(name), str)}
    tries = said.get("tries")
    return Waiting(
        text.get("host", ""),
        text.get("session", ""),
        text.get("cwd", ""),
        text.get("transcript", ""),
        time=_time(said.get("time")),
        captured=_time(said.get("captured")),
        tries=tries if type(tries) is int else 0,
        ended=said.get("ended") is True,
        pressing=said.get("pressing") is True,
        changed=said.get("changed") is True,
    )


def _time(value: object) -> float:
    found = number(value) if isinstance(value, int | float | str) else 0.0
    return found if 0 <= found < _END_OF_TIME else 0.0


def save(state: Path, waiting: dict[str, Waiting]) -> None:
    """Write down the sessions that wait."""
    newest = sorted(waiting.values(), key=lambda each: -each.time)[:MOST]
    data = {each.key: asdict(each) for each in reversed(newest)}
    files.write_text(state / WAITING, json.dumps(data, ensure_ascii=False, indent=0) + "\n", durable=False)


def _set_aside(state: Path) -> None:
    """Put the spool aside, unless an earlier one still stands there; no hook is in the middle of a line."""
    spool = state / SPOOL
    if (state / TAKEN).exists():
        return
    try:
        handle = os.open(spool, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        return
    try:
        disk.lock(handle, shared=False)
        spool.replace(state / TAKEN)
    finally:
        os.close(handle)


def _lines(path: Path) -> list[dict[str, Any]]:
    """Read the lines that are whole; what else stands there was never written by a hook."""
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES)
    except OSError:
        return []
    found = []
    for line in data.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict) and all(isinstance(each, str) for each in value.values()):
            found.append(value)
    return found


def _with(waiting: dict[str, Waiting], lines: Iterable[dict[str, Any]]) -> dict[str, Waiting]:
    """Add what the lines say to what was waiting."""
    found = dict(waiting)
    for line in lines:
        new = Waiting(
            line.get("host", ""), line.get("session", ""), line.get("cwd", ""), line.get("transcript", "")
        )
        if not (new.session or new.transcript):
            continue
        old = found.get(new.key, new)
        event = line.get("event", "")
        found[new.key] = replace(
            old,
            cwd=new.cwd or old.cwd,
            transcript=new.transcript or old.transcript,
            time=max(old.time, _time(line.get("time", ""))),
            tries=0 if event in _CHANGES else old.tries,
            ended=event == "end" or (old.ended and event != "start"),
            pressing=old.pressing or event in ("end", "compact"),
            changed=old.changed or event in _CHANGES,
        )
    return found
