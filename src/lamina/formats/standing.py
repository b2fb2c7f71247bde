"""How the models did lately: text of `state/models.json` and back. What is damaged counts as not said.

A computer's clock may have jumped, so no wait counts for longer than one may be made.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from lamina.formats.dates import parse_time, render_time

FRESH = timedelta(minutes=15)
"""How long a winner is asked first, and how long a model is benched that returned nothing (the seed)."""
LONGEST_ASKED = timedelta(hours=1)
"""How long a model is benched at most because its endpoint asked us to wait."""
LONGEST_PAUSE = timedelta(hours=1)
"""How long background work waits at most when no model can be reached."""
_SLACK = timedelta(seconds=5)
"""Another process may have read its clock a moment later."""
_MAX_BENCHED = 100


@dataclass(frozen=True, slots=True)
class Bench:
    """A route that sinks to the end until a time. `asked`: its endpoint asked for it."""

    until: datetime
    asked: bool = False

    def holds(self, now: datetime) -> bool:
        """Tell whether it counts now."""
        longest = LONGEST_ASKED if self.asked else FRESH
        return now < self.until <= now + longest + _SLACK


@dataclass(frozen=True, slots=True)
class Standing:
    """The model that answered last, for whose wishes, who is benched, and how often none could be reached.

    `resume` is when background work tries again after `unreached` failures in a row.
    """

    winner: str = ""
    since: datetime | None = None
    wishes: str = ""
    benched: Mapping[str, Bench] = field(default_factory=dict)
    unreached: int = 0
    resume: datetime | None = None

    def is_benched(self, route: str, now: datetime) -> bool:
        """Tell whether a route sinks to the end now."""
        bench = self.benched.get(route)
        return bench is not None and bench.holds(now)

    def first(self, wishes: str, now: datetime) -> str:
        """Return the route that is asked first because it answered a moment ago, "" for none."""
        if not self.winner or self.since is None or self.wishes != wishes:
            return ""
        return self.winner if abs(now - self.since) < FRESH else ""

    def paused(self, now: datetime) -> datetime | None:
        """Return until when background work waits because no model could be reached, None if it need not."""
        if self.resume is None or not now < self.resume <= now + LONGEST_PAUSE + _SLACK:
            return None
        return self.resume


def parse(text: str) -> Standing:
    """Read a standing; anything that is not one is an empty one."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return Standing()
    if not isinstance(data, dict):
        return Standing()
    benched = data.get("benched")
    items = benched.items() if isinstance(benched, dict) else ()
    found = {route: bench for route, said in items if (bench := _bench(said)) is not None}
    unreached = data.get("unreached")
    return Standing(
        _text(data.get("winner")),
        _time(data.get("since")),
        _text(data.get("wishes")),
        found,
        unreached if type(unreached) is int and unreached > 0 else 0,
        _time(data.get("resume")),
    )


def render(standing: Standing) -> str:
    """Write a standing as JSON with sorted keys."""
    newest = sorted(standing.benched.items(), key=lambda item: item[1].until)[-_MAX_BENCHED:]
    data = {
        "winner": standing.winner,
        "since": _said(standing.since),
        "wishes": standing.wishes,
        "benched": {route: {"until": _said(each.until), "asked": each.asked} for route, each in newest},
        "unreached": standing.unreached,
        "resume": _said(standing.resume),
    }
    return json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _bench(said: Any) -> Bench | None:
    until = _time(said.get("until")) if isinstance(said, dict) else None
    return None if until is None else Bench(until, said.get("asked") is True)


def _text(said: Any) -> str:
    return said if isinstance(said, str) else ""


def _time(said: Any) -> datetime | None:
    return parse_time(said) if isinstance(said, str) else None


def _said(time: datetime | None) -> str | None:
    return None if time is None else render_time(time)
