"""Sessions to notes to entries with a model: what one memory gives the pipeline for it, and what it costs."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from lamina import errors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from lamina.formats.event import Session
    from lamina.formats.scope import Scope
    from lamina.memory.opened import Opened
    from lamina.pipeline.asking import Climber
    from lamina.pipeline.consolidate import Consolidated
    from lamina.pipeline.consolidation.sheet import Bounds, Nearest
    from lamina.pipeline.passes import Summarise
    from lamina.pipeline.relevance import Material
    from lamina.pipeline.summarise import Summary

    Json = dict[str, Any]

FEW = 20
"""Sessions that an import gives to a model without being told to (SPEC section 4)."""
USELESS = 3
"""Sessions in a row whose summaries were useless before a model is given up: it is the wrong one."""
NONE = "none"
"""The route that stands for no model."""

_NEAR = 4  # entries shown for each bullet at most
_ASKED = 1_000  # characters of a bullet that are looked up
_BYTES_A_TOKEN = 4
_SYSTEM_TOKENS, _REPLY_TOKENS, _SHEET_TOKENS = 800, 400, 2_000


def asker_for(opened: Opened, route: str | None) -> Climber | None:
    """Return who asks the models for one command: `none`, one route that was named, else the settings' own.

    `auto` means those that the settings permit; raises NoModelAnswered if they permit none.
    """
    from lamina.memory import models

    if route == NONE:
        return None
    if route and route != "auto":
        return models.asker_of(opened, route)
    if route == "auto" and opened.asker is None:
        raise errors.NoModelAnswered(
            "no model is permitted", "name one: `lamina config set model ollama/qwen3`"
        )
    return opened.asker


def summariser(opened: Opened, asker: Climber) -> Summarise:
    """Return what summarises a session.

    Where no model could be reached, or a cap is reached, it asks no more: the next session would wait as long
    for nothing.
    """
    from lamina.pipeline.summarise import summarise
    from lamina.store import exchange
    from lamina.store.layout import Layout

    limits, layout = opened.limits(), Layout(opened.root)
    ended: list[errors.LaminaError] = []
    useless: list[str] = []

    def ask(session: Session, material: Material) -> Summary:
        if ended:
            raise ended[0]
        try:
            summary = summarise(asker, session, material, limits)
        except (errors.NoModelAnswered, errors.CapReached) as problem:
            ended.append(problem)
            raise
        exchange.keep(
            layout, "summarise", prompt=summary.prompt, reply=summary.reply, at=opened.clock(),
            failed=not summary.usable,
        )  # fmt: skip
        useless[:] = [] if summary.usable else [*useless, session.id]
        if len(set(useless)) >= USELESS:
            where = layout.logs / "summarise-last.txt"
            ended.append(
                errors.NoModelAnswered(
                    f"its replies about {USELESS} sessions in a row could not be used (see {where})",
                    "try another model",
                )
            )
        return summary

    return ask


def neighbours(opened: Opened) -> Callable[[], Nearest]:
    """Return what finds the entries nearest to a bullet, by words, in the index as it is now."""
    from lamina.index.base import Query

    def near(text: str, scope: Scope) -> Sequence[str]:
        scopes = tuple(dict.fromkeys((scope.name, "global")))
        answer = opened.index.search(Query(text[:_ASKED], limit=_NEAR, scopes=scopes, branches=None))
        return [match.document.id for match in answer.matches if match.document.id]

    def fresh() -> Nearest:
        opened.refresh()
        return near

    return fresh


def bounds(opened: Opened) -> Bounds:
    """Return how much one question shows."""
    from lamina.pipeline.consolidation.sheet import Bounds

    say = opened.settings
    return Bounds(
        say["consolidate_batch"],
        say["consolidate_bytes"],
        say["consolidate_note_bytes"],
        say["consolidate_attempts"],
    )


def consolidate(
    opened: Opened,
    asker: Climber | None,
    *,
    limit: int | None,
    dry_run: bool = False,
    wait_s: float | None = None,
) -> Consolidated:
    """Turn waiting notes into entries: with a model if there is one, else by their labels.

    Raises Busy if another process does the same for longer than a call may take.
    """
    from lamina.memory.reviewing import review_of
    from lamina.pipeline import consolidate as by_label
    from lamina.pipeline.consolidation.run import consolidate_with

    review = review_of(opened)
    if asker is None:
        return by_label.consolidate(
            opened.store, now=opened.clock(), limit=limit, dry_run=dry_run, review=review
        )
    if dry_run:
        return _planned(opened, limit)
    return consolidate_with(
        opened.store,
        asker,
        now=opened.clock(),
        neighbours=neighbours(opened),
        bounds=bounds(opened),
        limit=limit,
        review=review,
        wait_s=asker.longest_s if wait_s is None else wait_s,
    )


def in_background(opened: Opened) -> Callable[[], Consolidated | None]:
    """Return what the tick consolidates with: nothing while the models rest or another process does it."""

    def finish() -> Consolidated | None:
        from lamina.memory import models

        asker = opened.asker
        if asker is None:
            return consolidate(opened, None, limit=None)
        failed = opened.store.layout.state / "consolidate-failed"
        if models.waiting(opened) or _is_fresh(failed, opened):
            return None
        try:
            done = consolidate(opened, asker, limit=None, wait_s=0)
        except errors.Busy:
            return None
        _remember(failed, opened, failed=bool(done.write_failed))
        return done

    return finish


def _is_fresh(mark: Path, opened: Opened) -> bool:
    """Say whether a reply could not be written lately: the next one would be paid for nothing, too."""
    from lamina.formats.dates import parse_time
    from lamina.store import files

    try:
        at = parse_time(files.read_text(mark).strip())
    except errors.LaminaError:
        return False
    wait = opened.settings["consolidate_interval_s"]
    return at is not None and 0 <= (opened.clock() - at).total_seconds() < wait


def _remember(mark: Path, opened: Opened, *, failed: bool) -> None:
    from lamina.formats.dates import render_time
    from lamina.store import files

    if failed:
        files.overwrite(mark, render_time(opened.clock()))
    elif files.is_there(mark):
        files.discard(mark)


def _planned(opened: Opened, limit: int | None) -> Consolidated:
    """Say how many notes would be asked about, in how many calls: nothing is sent or written."""
    from lamina.models.base import estimate_tokens
    from lamina.pipeline.consolidate import Consolidated
    from lamina.pipeline.consolidation.sheet import parts_of
    from lamina.store import notes

    batches = parts_of(opened.store, notes.pending(opened.store)[:limit], bounds(opened))
    tokens = sum(
        _SYSTEM_TOKENS + _REPLY_TOKENS + sum(estimate_tokens(part.text) for part in batch)
        for batch in batches
    )
    return Consolidated(notes=sum(map(len, batches)), calls=len(batches), tokens=tokens)


def estimate(opened: Opened, asker: Climber, sessions: int, sampled: Sequence[int]) -> Json:
    """Estimate what an import of so many sessions costs: calls, tokens, dollars.

    `sampled` are the bytes that prompts of some of them would have, 0 for those that need no call. `cost` is
    None where the price of the model that is asked first is not known.
    """
    asked = [size for size in sampled if size]
    share = len(asked) / len(sampled) if sampled else 0.0
    summaries = round(share * sessions)
    each = sum(asked) / len(asked) / _BYTES_A_TOKEN if asked else 0.0
    batches = math.ceil(sessions / max(1, opened.settings["consolidate_batch"]))
    calls = summaries + batches
    tokens_in = round(summaries * each + batches * (_SYSTEM_TOKENS + _SHEET_TOKENS))
    route, cost = asker.estimate(tokens_in, calls * _REPLY_TOKENS)
    return {
        "model": route,
        "sessions": sessions,
        "calls": calls,
        "tokens_in": tokens_in,
        "tokens_out": calls * _REPLY_TOKENS,
        "cost": cost,
    }


def told(done: Consolidated) -> Json:
    """Return what a consolidation did, as programs read it."""
    value = asdict(done)
    return value | {"parseFailed": value.pop("parse_failed"), "writeFailed": value.pop("write_failed")}
