"""Commits of the projects become history: on demand, and when it is due."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lamina import errors

if TYPE_CHECKING:
    from collections.abc import Callable

    from lamina.memory.opened import Opened


def history(opened: Opened, *, limit: int | None, dry_run: bool) -> dict[str, Any]:
    """Take in new commits now; the repository that one stands in becomes known by that."""
    from lamina.memory.writing import registering, writable
    from lamina.pipeline import history as stage

    site = opened.workspace.site
    if not dry_run and site is not None and site.common_dir is not None and opened.scope.key is not None:
        with writable(opened).writing(label="history", at=opened.clock()) as batch:
            registering(opened, opened.scope)(batch)
    if not opened.exists:
        return stage.Ingested().as_json()
    most = opened.settings["history_commits"] if limit is None else limit
    run = stage.foresee if dry_run else stage.ingest
    return run(opened.store, opened.clock(), limit=most).as_json()


def in_background(opened: Opened) -> Callable[[], bool]:
    """Return what takes in commits when that is due and tells whether there were any."""

    def take() -> bool:
        from lamina.pipeline import history as stage

        if not is_due(opened):
            return False
        most = opened.settings["history_commits"]
        try:
            return bool(stage.ingest(opened.store, opened.clock(), limit=most, wait_s=0).entries)
        except errors.Busy:
            return False  # another process is at it

    return take


def is_due(opened: Opened) -> bool:
    """Tell whether the tick would look for new commits now; not while the person has paused."""
    from lamina.pipeline import history as stage

    if opened.store.read_only or opened.paused():
        return False
    return stage.is_due(opened.store, opened.clock(), opened.settings["history_interval_s"])
