"""How the pipeline asks a model: redacted, counted, within the day's caps, up the ladder."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

from lamina import errors
from lamina.formats.dates import as_utc
from lamina.models import ladder
from lamina.models.base import MAX_WAYS, TIMEOUT_S, Again, Model, Prompt, Reply, estimate_tokens
from lamina.models.ladder import Routes, Tried
from lamina.models.prices import Price
from lamina.pipeline.redact import redact
from lamina.store import log, meter, standing
from lamina.store.layout import Layout
from lamina.store.meter import Caps, Use

PURPOSES = ("summarise", "consolidate", "refresh", "digest", "refine", "rerank", "judge")
"""What calls are counted by."""

_MAX_REASON = 200
_BETWEEN_S = 30
_MAX_TOKENS = 10_000_000


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply with text in it, and the route that gave it."""

    reply: Reply
    route: str


class Asker(Protocol):
    """Whoever can put a question to a model. The pipeline knows no more of models than this."""

    def ask(self, purpose: str, prompt: Prompt, *, own: str = "") -> Answer:
        """Ask for one purpose; `own` is the route of the session at hand, "" for none.

        Raises NoModelAnswered, and CapReached before anything is sent.
        """


@dataclass(frozen=True, slots=True)
class Permitted:
    """The models that the person named.

    `others` finds the other permitted ones when they are needed first, `build` makes a model of a route or
    raises why it can't be had here, `wishes` stands for the preferences, `price` is None where unknown. `may`
    tells whether `others` could give a route, without looking for any.
    """

    model: str
    others: Callable[[], Iterable[str]]
    build: Callable[[str], Model]
    wishes: str
    price: Callable[[str], Price | None]
    may: Callable[[str], bool] = lambda _: False


class Climber:
    """Asks the permitted models of one store, one after the other.

    `clock` gives the time, `within_s` is how long one model may take.
    """

    def __init__(
        self,
        layout: Layout,
        permitted: Permitted,
        *,
        caps: Caps,
        clock: Callable[[], datetime],
        within_s: float = TIMEOUT_S,
    ) -> None:
        self._layout = layout
        self._permitted = permitted
        self._caps = caps
        self._clock = clock
        self._within_s = within_s
        self._models: dict[str, Model] = {}

    @property
    def longest_s(self) -> float:
        """Seconds that one question may take: every rung its whole time, and some for what lies between."""
        return ladder.MAX_RUNGS * self._within_s + _BETWEEN_S

    def ask(self, purpose: str, prompt: Prompt, *, own: str = "") -> Answer:
        """Ask for one purpose, up the ladder.

        Raises NoModelAnswered, and CapReached before anything is sent. The prompt is redacted here once more,
        whatever the caller did.
        """
        if purpose not in PURPOSES:
            raise errors.UsageError(f"{purpose!r} is no purpose", "one of: " + ", ".join(PURPOSES))
        clean = cleaned(prompt)
        tokens = estimate_tokens(clean.system) + estimate_tokens(clean.text)
        self._stay_within(tokens)
        missing: dict[str, Tried] = {}
        sent: list[str] = []

        def one(route: str) -> Tried:
            try:
                call = self._count(purpose, route, tokens)
            except errors.CapReached as problem:
                if not sent:
                    raise
                return Tried(route, reason=f"not asked: {problem.message}", asked=False)
            sent.append(route)
            return self._put(clean, call)

        done = ladder.climb(self._rungs(own, missing), one)
        self._remember(done)
        if done.winner is None or done.winner.reply is None:
            raise ladder.failure(done, missing.values())
        return Answer(done.winner.reply, done.winner.route)

    def estimate(self, tokens_in: int, tokens_out: int) -> tuple[str, float | None]:
        """Give the model that is named first, and what so many tokens cost there, None if not known."""
        route = self._permitted.model or next(iter(self._permitted.others()), "")
        price = self._permitted.price(route) if route else None
        reply = Reply("", tokens_in=tokens_in, tokens_out=tokens_out)
        return route, price.of(reply) if price else None

    def waiting(self) -> str:
        """Say why background work should not ask a model now, "" if it may.

        Whoever waits for an answer asks all the same: only the caps hold for both.
        """
        now = self._clock()
        try:
            self._stay_within(0)
        except errors.CapReached as problem:
            return problem.message
        return resting(self._layout, now)

    def _rungs(self, own: str, missing: dict[str, Tried]) -> Iterator[str]:
        """Give the ladder of the models that can be had here; `missing` gets the others and why.

        The others are found when their turn comes: that may take a second.
        """
        permitted, before, now = self._permitted, standing.load(self._layout), self._clock()
        asked: list[str] = []
        for route in ladder.sure(permitted.model, before, permitted.wishes, now, may=permitted.may):
            if self._has(route, missing):
                asked.append(route)
                yield route
        named = dict.fromkeys((*filter(None, (permitted.model,)), *permitted.others()))
        here = [route for route in named if self._has(route, missing)]
        routes = Routes(
            permitted.model if permitted.model in here else "", own, tuple(here), permitted.wishes
        )
        rest = [route for route in ladder.order(routes, before, now) if route not in asked]
        yield from rest[: ladder.MAX_RUNGS - len(asked)]

    def _has(self, route: str, missing: dict[str, Tried]) -> bool:
        if route in missing:
            return False
        if route not in self._models:
            try:
                self._models[route] = self._permitted.build(route)
            except (errors.ModelFailed, errors.BadSetting) as problem:
                missing[route] = Tried(route, reason=told(problem), asked=False)
                return False
        return True

    def _count(self, purpose: str, route: str, tokens: int) -> meter.Call:
        """Count a call before it is sent; raises CapReached where there is no room, or no counting."""
        now = self._clock()
        try:
            call = meter.reserve(self._layout, purpose, route, at=now, tokens=tokens, caps=self._caps)
        except errors.LaminaError as problem:
            raise self._uncounted(problem) from problem
        if call is None:
            self._stay_within(tokens)
            raise errors.CapReached("the day's cap was reached a moment ago", "try again")
        return call

    def _put(self, prompt: Prompt, call: meter.Call) -> Tried:
        """Ask one model, and in another way where its endpoint did not take the first one.

        Each request is a call that is counted before it is sent. A way that led to an answer is kept.
        """
        until = time.monotonic() + self._within_s
        model, left = self._models[call.route], self._within_s
        for way in range(1, MAX_WAYS + 1):
            tried, again = self._one(model, prompt, call, left)
            if tried.answers:
                self._models[call.route] = model
            left = until - time.monotonic()
            if again is None or left <= 0 or way == MAX_WAYS:
                break
            try:
                call = self._count(call.purpose, call.route, call.tokens)
            except errors.CapReached as problem:
                why = tried.reason or "it answered with nothing"
                return replace(tried, reason=f"{why}; not asked again: {problem.message}")
            model = again.model
        return tried

    def _one(
        self, model: Model, prompt: Prompt, call: meter.Call, left_s: float
    ) -> tuple[Tried, Again | None]:
        """Send one request and settle what its call used."""
        start, again = time.monotonic(), None
        try:
            reply = model.ask(prompt, within_s=left_s)
            again = reply.again if not reply.text else None
            if again and again.refused:
                tried = Tried(call.route, reason=short(again.refused))
            else:
                tried = Tried(call.route, replace(counted(reply, call.tokens), again=None))
        except errors.LaminaError as problem:
            tried = Tried(call.route, reason=told(problem), wait_s=getattr(problem, "retry_after_s", None))
        use = self._use(tried)
        settled = meter.settle(self._layout, call, use)
        self._log(call.purpose, tried, use, seconds=time.monotonic() - start, settled=settled)
        return tried, again

    def _use(self, tried: Tried) -> Use:
        """Give what a call used; no tokens for a model that failed: nearly always none reached it."""
        reply = tried.reply
        if reply is None:
            return Use(failed=1)
        price = self._permitted.price(tried.route)
        return Use(
            empty=0 if tried.answers else 1,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            cost=price.of(reply) if price else 0.0,
            unpriced=0 if price else 1,
        )

    def _log(self, purpose: str, tried: Tried, use: Use, *, seconds: float, settled: bool) -> None:
        reply = tried.reply
        outcome = "failed" if reply is None else "answered" if tried.answers else "empty"
        more = {"reason": tried.reason} if tried.reason else {}
        if reply is not None and reply.cut:
            more["cut"] = "the reply ended too early"
        if not settled:
            more["meter"] = "could not be written; the estimate stands"
        log.log(
            self._layout,
            "model",
            at=self._clock(),
            purpose=purpose,
            route=tried.route,
            outcome=outcome,
            tokens_in=use.tokens_in,
            tokens_out=use.tokens_out,
            cost=None if use.unpriced else round(use.cost, 6),
            seconds=round(seconds, 2),
            **more,
        )

    def _remember(self, done: ladder.Climb) -> None:
        """Write down who answered and who is benched; a climb that a cap ended says nothing of the models."""
        sent = ladder.Climb(tuple(each for each in done.tried if each.asked))
        if done.tried and not sent.tried:
            return
        now, wishes = self._clock(), self._permitted.wishes
        standing.change(self._layout, lambda before: ladder.after(before, sent, wishes, now))

    def _stay_within(self, tokens: int) -> None:
        """Raise CapReached if the day has no room for so many tokens more."""
        now = self._clock()
        try:
            day = meter.load(self._layout, as_utc(now).date())
        except errors.LaminaError as problem:
            raise self._uncounted(problem) from problem
        if not meter.fits(day, self._caps, tokens):
            raise reached(meter.total(day), self._caps, tokens, now)

    def _uncounted(self, problem: errors.LaminaError) -> errors.CapReached:
        """Log that calls can't be counted, and make the error: without a count no cap would hold."""
        log.log(self._layout, "model_not_counted", at=self._clock(), reason=problem.message)
        return errors.CapReached(
            f"no model is asked, because calls can't be counted: {problem.message}", problem.hint
        )


def cleaned(prompt: Prompt) -> Prompt:
    """Return a prompt without secrets, private parts and halves of characters."""
    system, text = (
        redact(part.encode("utf-8", "replace").decode("utf-8")).text for part in (prompt.system, prompt.text)
    )
    return replace(prompt, system=system, text=text)


def counted(reply: Reply, tokens: int) -> Reply:
    """Return a reply with its tokens, estimated where the endpoint did not count or can't have counted so."""
    into = reply.tokens_in if reply.counted and reply.tokens_in > 0 else tokens
    said = reply.counted and reply.tokens_out >= 0
    out = reply.tokens_out if said else estimate_tokens(reply.text)
    return replace(reply, tokens_in=min(into, _MAX_TOKENS), tokens_out=min(out, _MAX_TOKENS))


def told(problem: errors.LaminaError) -> str:
    """Return a failure as one short line that may be logged and shown."""
    return short(problem.message)


def short(text: str) -> str:
    """Return a text as one short line without secrets."""
    line = " ".join(redact(text).text.split())
    return line if len(line) <= _MAX_REASON else f"{line[:_MAX_REASON]}…"


def resting(layout: Layout, now: datetime) -> str:
    """Say until when background work asks no model because none could be reached, "" if it may."""
    until = standing.load(layout).paused(now)
    return f"no model could be reached; tried again from {_time(until)} on" if until else ""


def reached(used: Use, caps: Caps, tokens: int, now: datetime) -> errors.CapReached:
    """Make the error that says which cap is reached, what was used, and when the day ends."""
    if used.calls >= caps.calls:
        key, cap, what = "model_daily_calls", caps.calls, f"{used.calls} of {caps.calls} calls are used"
    else:
        key, cap = "model_daily_tokens", caps.tokens
        what = f"{used.tokens} of {cap} tokens are used and this call needs about {tokens} more"
    day = datetime.combine(as_utc(now).date(), datetime.min.time(), UTC)
    return errors.CapReached(
        f"the day's cap {key} is reached: {what}; the work waits until {_time(day + timedelta(days=1))}",
        f"`lamina config set {key} {max(2 * cap, used.tokens + tokens if key.endswith('tokens') else 1)}` "
        "allows more",
    )


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
