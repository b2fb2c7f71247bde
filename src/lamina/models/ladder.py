"""Which model is asked first, and who comes next when it can't answer.

Pure: what happened before comes in as a standing, what happens now goes out as one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from lamina import errors
from lamina.formats.standing import FRESH, LONGEST_ASKED, LONGEST_PAUSE, Bench, Standing
from lamina.models.base import Reply

__all__ = ["MAX_RUNGS", "Bench", "Climb", "Routes", "Standing", "Tried", "after", "climb", "order", "sure"]

MAX_RUNGS = 4
"""How many models one question is put to at most (the seed)."""
_FIRST_PAUSE = timedelta(minutes=1)
_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"


@dataclass(frozen=True, slots=True)
class Routes:
    """What may be asked: the configured model, the session's own route, and the others that are here now.

    `wishes` stands for the person's preferences: a winner under other ones is no winner.
    """

    model: str = ""
    own: str = ""
    others: tuple[str, ...] = ()
    wishes: str = ""


@dataclass(frozen=True, slots=True)
class Tried:
    """What one model did with the question. `reply` is None if it failed; `asked` says that it was sent."""

    route: str
    reply: Reply | None = None
    reason: str = ""
    wait_s: float | None = None
    asked: bool = True

    @property
    def answers(self) -> bool:
        """Whether there is text in the reply."""
        return self.reply is not None and bool(self.reply.text.strip().strip(_INVISIBLE).strip())

    @property
    def told(self) -> str:
        """The route with what became of it."""
        return f"{self.route}: {self.reason or 'it answered with nothing'}"


@dataclass(frozen=True, slots=True)
class Climb:
    """Everybody who was tried, in order; the last one answered, if one did."""

    tried: tuple[Tried, ...] = field(default=())

    @property
    def winner(self) -> Tried | None:
        """Who answered, None if nobody did."""
        return self.tried[-1] if self.tried and self.tried[-1].answers else None

    @property
    def replied(self) -> bool:
        """Whether at least one did reply, with text or without."""
        return any(each.reply is not None for each in self.tried)


def order(routes: Routes, standing: Standing, now: datetime) -> list[str]:
    """Return whom to ask, first to last: the configured one, the session's own if permitted, the others.

    Who answered a moment ago comes first; who is benched comes last, but is never dropped for it. At most 4.
    """
    permitted = [*filter(None, (routes.model, *routes.others))]
    wanted = [*filter(None, (routes.model,)), *(each for each in permitted if each == routes.own), *permitted]
    first = standing.first(routes.wishes, now)
    if first in permitted:
        wanted.insert(0, first)
    ranked = sorted(dict.fromkeys(wanted), key=lambda route: standing.is_benched(route, now))
    return ranked[:MAX_RUNGS]


def sure(
    model: str, standing: Standing, wishes: str, now: datetime, *, may: Callable[[str], bool]
) -> list[str]:
    """Return whom every order begins with, whoever the others are: the permitted winner, the model."""
    first = standing.first(wishes, now)
    known = dict.fromkeys((*([first] if first and may(first) else ()), model))
    return [route for route in known if route and not standing.is_benched(route, now)]


def climb(rungs: Iterable[str], ask: Callable[[str], Tried]) -> Climb:
    """Ask one after the other until one answers with text."""
    tried: list[Tried] = []
    for route in rungs:
        tried.append(ask(route))
        if tried[-1].answers:
            break
    return Climb(tuple(tried))


def after(standing: Standing, done: Climb, wishes: str, now: datetime) -> Standing:
    """Return the standing when a climb is over: winner, benches, and the pause if none could be reached."""
    benched = {route: bench for route, bench in standing.benched.items() if bench.holds(now)}
    for each in done.tried:
        bench = _bench(each, now)
        if bench is not None:
            benched[each.route] = bench
    if done.winner is not None:
        benched.pop(done.winner.route, None)
        return Standing(done.winner.route, now, wishes, benched)
    if done.replied:
        return replace(standing, benched=benched, unreached=0, resume=None)
    return _unreached(standing, benched, now)


def failure(done: Climb, unavailable: Iterable[Tried] = ()) -> errors.NoModelAnswered:
    """Make the error that names every model with its reason."""
    all_ = [*done.tried, *unavailable]
    reasons = "; ".join(each.told for each in all_) or "none of those that are permitted is on this machine"
    return errors.NoModelAnswered(
        f"no model answered: {reasons}",
        "`lamina config models` shows what can be asked; the work is kept and tried again",
        replied=done.replied,
    )


def _bench(tried: Tried, now: datetime) -> Bench | None:
    """Bench a model that returned nothing for 15 minutes, a busy one for what it asks, an hour at most."""
    if tried.reply is not None:
        return None if tried.answers else Bench(now + FRESH)
    if tried.wait_s is None or not tried.wait_s > 0:
        return None
    return Bench(now + min(timedelta(seconds=min(tried.wait_s, 86_400.0)), LONGEST_ASKED), asked=True)


def _unreached(standing: Standing, benched: Mapping[str, Bench], now: datetime) -> Standing:
    """Double the pause of background work, once for all processes that met the same failure."""
    if standing.paused(now):
        return replace(standing, benched=benched)
    count = min(standing.unreached + 1, 16)
    resume = now + min(_FIRST_PAUSE * 2 ** (count - 1), LONGEST_PAUSE)
    return replace(standing, benched=benched, unreached=count, resume=resume)
