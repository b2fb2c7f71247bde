"""Refreshing stale entries and reordering what a search found, with the models that the person named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lamina import errors

if TYPE_CHECKING:
    from collections.abc import Callable

    from lamina.memory.opened import Opened
    from lamina.pipeline.recall import Found
    from lamina.pipeline.refresh import Refreshed
    from lamina.pipeline.stale import Stale

    Json = dict[str, Any]

NO_MODEL = "no model is set"
NEXT = "`lamina config set model ollama/qwen3` names one"


def refresh(opened: Opened, *, limit: int | None, dry_run: bool) -> Json:
    """Check stale entries now, however lately they were asked about.

    Raises NoModelAnswered where the person named no model; a dry run needs none.
    """
    from lamina.memory.reviewing import review_in
    from lamina.pipeline import refresh as stage

    asker = None if dry_run else opened.asker
    if asker is None and not dry_run:
        raise errors.NoModelAnswered(
            f"{NO_MODEL}, so nothing can be refreshed",
            f"{NEXT}; `lamina refresh --dry-run` shows what is stale and what the repository says of it",
        )
    if not opened.exists:
        return as_json(stage.Refreshed())
    done = stage.refresh(
        opened.store,
        asker=asker,
        now=opened.clock(),
        pace=stage.Pace(0, limit or stage.LIMIT, opened.settings["consolidate_bytes"]),
        review=review_in(opened),
        dry_run=dry_run,
    )
    return as_json(done)


def in_background(opened: Opened) -> Callable[[], bool] | None:
    """Return what refreshes stale entries when that is due and tells whether it was; None without a model."""
    asker = opened.asker
    if asker is None:
        return None

    def check() -> bool:
        from lamina.memory.reviewing import review_in
        from lamina.pipeline import refresh as stage

        say = opened.settings
        pace = stage.Pace(every_s=say["refresh_interval_s"], bytes=say["consolidate_bytes"])
        if not is_due(opened):
            return False
        try:
            stage.refresh(opened.store, asker=asker, now=opened.clock(), pace=pace, review=review_in(opened))
        except errors.Busy:
            return False  # another process is at it
        return True

    return check


def is_due(opened: Opened) -> bool:
    """Tell whether the tick would check stale entries now: with a model that rests it would not."""
    from lamina.memory import models
    from lamina.pipeline import refresh as stage

    if opened.asker is None or not stage.is_due(
        opened.store, opened.clock(), opened.settings["refresh_interval_s"]
    ):
        return False
    return not models.waiting(opened)


def rerank(opened: Opened, found: Found) -> Found:
    """Let a model reorder what a search found; without one, a note says so."""
    from lamina.pipeline.rerank import reranked

    asker = opened.asker
    if asker is None:
        return found._replace(notes=(*found.notes, f"not reordered by a model: {NO_MODEL}; {NEXT}"))
    return reranked(found, asker)


def as_json(done: Refreshed) -> Json:
    """Return what a pass did; `waits` says why a model could not be asked."""
    problem = done.problem
    return {
        "stale": done.stale,
        "entries": [_told(each) for each in done.looked_at],
        "kept": done.kept,
        "updated": done.updated,
        "superseded": done.superseded,
        "candidates": done.candidates,
        "unproven": done.unproven,
        "left": done.left,
        "rejected": done.rejected,
        "calls": done.calls,
        "parseFailed": done.parse_failed,
        "waits": "" if problem is None else problem.message,
        "hint": "" if problem is None else problem.hint,
        "exit_code": 0 if problem is None else problem.exit_code,
    }


def _told(each: Stale) -> Json:
    entry = each.located.entry
    return {
        "id": each.id,
        "heading": entry.heading,
        "file": each.located.rel,
        "line": entry.line,
        "freshness": each.grade.grade,
        "age_days": each.grade.age_days,
        "evidence": list(each.proof),
    }
