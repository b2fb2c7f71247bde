"""Review across the parts: the settings of each project, and what failed as values."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lamina.memory.opened import root_commits
from lamina.pipeline import review, waiting
from lamina.store.identity import resolve
from lamina.store.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lamina.formats.note import Note
    from lamina.formats.scope import Scope
    from lamina.memory.opened import Opened
    from lamina.pipeline.filters import Asked
    from lamina.pipeline.review import Reviewed

Json = dict[str, Any]


def review_of(opened: Opened) -> Callable[[Note], str]:
    """Return what says the setting `review` for a note: its project's, where that is the stricter one."""
    known: dict[str, str] = {}

    def say(note: Note) -> str:
        if note.cwd not in known:
            known[note.cwd] = _setting(opened, note.cwd)
        return known[note.cwd]

    return say


def review_in(opened: Opened) -> Callable[[Scope], str]:
    """Return what says the setting `review` for a scope: its worktree's, where that is the stricter one."""
    from lamina.pipeline.proof import repository_of

    known: dict[Scope, str] = {}

    def say(scope: Scope) -> str:
        if scope not in known:
            known[scope] = _setting(opened, str(repository_of(opened.store, scope) or ""))
        return known[scope]

    return say


def _setting(opened: Opened, cwd: str) -> str:
    if not cwd or not os.path.isdir(cwd):  # noqa: PTH112 - answers False where pathlib raises
        return str(opened.own["review"])
    registry = Registry.load(opened.root)
    found = resolve(cwd, registry=registry, env={}, home=opened.home, root_commits=root_commits)
    return str(opened.own.with_project(found.project)["review"])


def listing(opened: Opened, *, limit: int | None, filters: Asked) -> Json:
    """Return what waits: candidates, then the notes that no model could handle, at most `limit` of all."""
    from lamina.pipeline.filters import parse_filters

    chosen = parse_filters(opened.scope, opened.today, **filters)
    if not opened.exists:
        return {"candidates": [], "notes": []}
    opened.store.problems.clear()
    found = waiting.candidates(opened.store, chosen)
    narrow = any(filters.get(name) for name in ("layer", "topic", "since", "until"))
    pending = [] if narrow else waiting.doubtful_notes(opened.store, chosen.scopes)
    left = None if limit is None else max(0, limit - len(found))
    return {
        "candidates": [waiting.row(each, opened.today) for each in found[:limit]],
        "notes": [waiting.note_row(each, opened.today) for each in pending[:left]],
    }


def approve(opened: Opened, ids: Sequence[str], *, keep_both: bool, dry_run: bool) -> Json:
    """Approve candidates, file notes."""
    store, now = opened.reading(next(iter(ids), "")), opened.clock()
    say = review_of(opened)
    return told(review.approve(store, ids, now, keep_both=keep_both, review=say, dry_run=dry_run))


def edit(  # noqa: PLR0913 - one for each word of the command
    opened: Opened,
    id: str,
    *,
    text: str | None,
    heading: str | None,
    keep_both: bool,
    seen: str | None,
    dry_run: bool,
) -> Json:
    """Change a candidate and approve it."""
    store, now = opened.reading(id), opened.clock()
    done = review.edit(
        store, id, now, text=text, heading=heading, keep_both=keep_both, seen=seen, dry_run=dry_run
    )
    return told(done)


def reject(opened: Opened, ids: Sequence[str], *, reason: str, dry_run: bool) -> Json:
    """Reject candidates and notes for a reason."""
    store, now = opened.reading(next(iter(ids), "")), opened.clock()
    return told(review.reject(store, ids, now, reason=reason, dry_run=dry_run))


def told(done: Reviewed) -> Json:
    """Return what was done as rows; raises what failed if that is all there was."""
    if len(done.failed) == 1 and not done.done:
        raise done.failed[0][1]
    failed = [
        {"id": name, "kind": problem.kind, "message": problem.message, "hint": problem.hint}
        for name, problem in done.failed
    ]
    return {"entries": done.done, "failed": failed}
