"""Commits of the projects become history: on demand, and when it is due."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lamina import errors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

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
    return run(opened.store, opened.clock(), limit=most, off=_off(opened)).as_json()


def in_background(opened: Opened) -> Callable[[], bool]:
    """Return what takes in commits when that is due and tells whether there were any."""

    def take() -> bool:
        from lamina.pipeline import history as stage

        if not is_due(opened):
            return False
        most = opened.settings["history_commits"]
        try:
            done = stage.ingest(opened.store, opened.clock(), limit=most, wait_s=0, off=_off(opened))
            return bool(done.entries)
        except errors.Busy:
            return False  # another process is at it

    return take


def is_due(opened: Opened) -> bool:
    """Tell whether the tick would look for new commits now; not while capture is paused or off here."""
    from lamina.pipeline import history as stage
    from lamina.settings.capture import capture_off

    if opened.store.read_only or capture_off(opened.own, None, env=opened.env, now=opened.clock()):
        return False
    return stage.is_due(opened.store, opened.clock(), opened.settings["history_interval_s"])


def _off(opened: Opened) -> Callable[[Path], str | None]:
    """Return what says why the commits of a folder may not be taken in: its settings, or the machine's."""
    from lamina.settings.capture import capture_off
    from lamina.store.project import Trust
    from lamina.store.registry import Registry
    from lamina.store.site import site_of

    registry, trust = Registry.load(opened.root), Trust.load(opened.root)

    def off(folder: Path) -> str | None:
        site = site_of(folder, registry=registry, home=opened.home)
        project = site.project.judged(trust, site.repository) if site and site.project else None
        settings = opened.own.with_project(project)
        return capture_off(settings, folder, env=opened.env, now=opened.clock())

    return off
