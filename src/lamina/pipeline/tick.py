"""The tick: one function that runs what is due, however often it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lamina import errors
from lamina.pipeline import branches, system_doc
from lamina.pipeline.commit import commit
from lamina.pipeline.consolidate import Consolidated, consolidate
from lamina.pipeline.status import Cadence, due
from lamina.pipeline.tracks import is_here
from lamina.store import log, notes, watermarks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from lamina.store.notes import NoteFile
    from lamina.store.store import Store

KEPT_NOTES = 50


def tick(  # noqa: PLR0913 - one for each job that the caller knows more of
    store: Store,
    now: datetime,
    cadence: Cadence,
    *,
    keep: int = KEPT_NOTES,
    finish: Callable[[], Consolidated | None] | None = None,
    check: Callable[[], bool] | None = None,
    take: Callable[[], bool] | None = None,
) -> list[str]:
    """Run what is due and return its names, in the order in which it ran.

    A job that fails stops no other; the first failure is raised when all had their turn. `finish`
    consolidates as the settings say, None if that must wait; without it notes are filed by label. `check`
    refreshes stale entries if that is due, and tells whether it was; `take` the same for new commits.
    """
    if store.read_only:
        return []

    def consolidated() -> bool:
        if "consolidate" not in due(store, now, cadence):
            return False
        return (finish() if finish else consolidate(store, now=now)) is not None

    return _run(
        store,
        now,
        {
            "consolidate": consolidated,
            "refresh": check or (lambda: False),
            "history": take or (lambda: False),
            "branches": lambda: bool(branches.unstage(store, now)),
            "prune": lambda: bool(prune(store, now, keep=keep)),
            "system-doc": lambda: system_doc.refresh(store, now),
            "commit": lambda: commit(store, now, older_than_s=0) is not None,
        },
    )


def _run(store: Store, now: datetime, jobs: Mapping[str, Callable[[], bool]]) -> list[str]:
    """Run jobs in their order; one that fails is logged, stops no other, and is raised at the end."""
    ran: list[str] = []
    failed: errors.LaminaError | None = None
    for name, job in jobs.items():
        try:
            if job():
                ran.append(name)
        except errors.LaminaError as problem:
            log.log(store.layout, "job_failed", at=now, job=name, reason=problem.message)
            failed = failed or problem
    if failed is not None:
        raise failed
    return ran


def prune(store: Store, now: datetime, *, keep: int) -> int:
    """Remove consolidated notes beyond the newest `keep`; returns how many went.

    Pending notes never go. A note whose transcript is gone is the last trace of its session, so it goes last.
    """
    done = [each for each in notes.notes(store) if each.note.consolidated is not None]
    if len(done) <= keep:
        return 0
    gone = transcripts_gone(store)

    def age(each: NoteFile) -> tuple[bool, str, str]:
        return (gone.get(each.name, True), str(each.note.captured or ""), each.name)

    surplus = sorted(done, key=age)[: len(done) - keep]
    with store.writing(label="prune", at=now) as batch:
        for each in surplus:
            notes.remove(batch, each.name)
    return len(surplus)


def transcripts_gone(store: Store) -> Mapping[str, bool]:
    """Map each session's note to whether none of its transcripts is on this machine any more."""
    return {
        mark.name: not any(is_here(mark.host, read.path) for read in mark.files)
        for mark in watermarks.watermarks(store)
    }
