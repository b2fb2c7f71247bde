"""One reading of what is new in a session: windows of material become sections of its note.

Without a model every window gives its bullets by itself. With one, the newest windows that fit its limits
are joined and summarised in one call; what is older than that is kept by the deterministic bullets, so that a
long session loses nothing.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from lamina import errors
from lamina.formats.event import Author, Event, Kind, Session
from lamina.formats.note import Section
from lamina.pipeline.bullets import bullets
from lamina.pipeline.ground import Shown, inventions
from lamina.pipeline.relevance import Limits, Material, collect, fit, recent, shown
from lamina.pipeline.tracks import Reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lamina.pipeline.summarise import Summary
    from lamina.store.pause import Silence


class Summarise(Protocol):
    """Makes a summary with a model; raises NoModelAnswered and CapReached."""

    def __call__(self, session: Session, material: Material) -> Summary:
        """Return what the model made of the material."""


_MARKED = re.compile(r"(?m)^\W*LAMINA_CHILD(?:\s?[=:]\s?\w+)?\W*$")
_PROMPTS = 40  # events in which the first prompt is looked for
_TURNS = 8


@dataclass(slots=True)
class Pass:
    """What one reading of the new events came to.

    `held` are the windows that nothing was made of yet. `waits` says why a model was to be asked and could
    not be; `unusable` that it was asked and its reply said nothing.
    """

    sections: list[Section] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    tool_calls: int = 0
    signal: int = 0
    invented: int = 0
    trivial: bool = True
    held: deque[Material] = field(default_factory=deque)
    asked: bool = False
    waits: str = ""
    unusable: bool = False


class Bounds(NamedTuple):
    """What a reading is bound by; `now` dates what has no time of its own.

    `wait_s` is how long to wait for another process that asks about the session.
    """

    limits: Limits
    root: Path
    now: datetime
    summarise: Summarise | None = None
    wait_s: float = 0.0
    silences: tuple[Silence, ...] = ()
    """Times whose words stay out of memory."""


def read(reader: Reader, session: Session, done: Pass, bounds: Bounds) -> str:
    """Read the new events window by window; returns the pass's status, but for thin.

    `own`: the session was started by Lamina itself. `empty`, `known`, `trivial` or `captured`.
    """
    events = reader.events()
    if reader.mark is None:
        head: list[Event] = []
        for event in events:
            head.append(event)
            if event.kind is Kind.USER or len(head) >= _PROMPTS:
                break
        if any(_is_prompt(event) and _MARKED.search(event.text[:20_000]) for event in head):
            return "own"
        events = chain(head, events)
    hidden = (str(bounds.root), str(bounds.root.resolve()))
    told = _told(events, bounds.silences)
    for window in collect(session, told, _small(bounds.limits), hidden=hidden):
        _hold(done, window, session, bounds)
    if not reader.count:
        return "known" if reader.mark or reader.after >= 0 else "empty"
    return "trivial" if done.trivial else "captured"


def _told(events: Iterable[Event], silences: Sequence[Silence]) -> Iterator[Event]:
    """Yield what was not said in a pause; an event without a time is as old as the one before it."""
    time: datetime | None = None
    for event in events:
        time = event.time or time
        if time is None or not any(each.holds(time) for each in silences):
            yield event


def conclude(done: Pass, session: Session, bounds: Bounds, *, by_hand: bool = False) -> str:
    """Make sections of the windows that are held; returns `captured`, `nothing` or `waiting`.

    `by_hand` asks no model. While waiting, nothing of the pass may be written.
    """
    if bounds.summarise is None or by_hand:
        while done.held:
            _take(done, done.held.popleft(), session, bounds)
        return "captured"
    material = recent(done.held, bounds.limits)
    done.asked = True
    try:
        summary = bounds.summarise(session, material)
    except (errors.NoModelAnswered, errors.CapReached) as problem:
        done.waits = problem.message
        return "waiting"
    done.invented += summary.invented
    if not summary.usable:
        done.unusable = True
        done.waits = "the model's reply could not be used"
        return "waiting"
    done.held.clear()
    if summary.bullets:
        at = material.ended or session.started or bounds.now
        done.sections.append(Section(at, summary.bullets, material.first, material.last))
    return "captured" if done.sections else "nothing"


def _small(limits: Limits) -> Limits:
    """Narrow the windows to what twelve bullets can hold: an exchange gives one or two."""
    return replace(limits, user_turns=min(limits.user_turns, _TURNS), gists=min(limits.gists, 3 * _TURNS))


def _is_prompt(event: Event) -> bool:
    return event.kind is Kind.USER or event.author is Author.HOST


def _hold(done: Pass, window: Material, session: Session, bounds: Bounds) -> None:
    """Count a window; what is too old to be shown to a model, or needs none, gives its bullets at once."""
    done.tool_calls += window.tool_calls
    done.paths += window.paths
    done.signal += window.signal_chars
    done.trivial = done.trivial and window.trivial
    if not window.trivial:
        done.held.append(window)
    while done.held and (
        bounds.summarise is None or (len(done.held) > 1 and not fit(done.held, bounds.limits))
    ):
        _take(done, done.held.popleft(), session, bounds)


def _take(done: Pass, window: Material, session: Session, bounds: Bounds) -> None:
    """Make a section of one window without a model."""
    at = window.ended or session.started or bounds.now
    grounds = Shown(shown(window))
    kept = []
    for bullet in bullets(window, at.date(), bounds.limits):
        if inventions(bullet.text, grounds):
            done.invented += 1
        else:
            kept.append(bullet)
    if kept:
        done.sections.append(Section(at, tuple(kept), window.first, window.last))
