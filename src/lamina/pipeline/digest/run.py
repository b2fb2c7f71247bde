"""One run of the digest: look, choose, write, ask the core, verify, report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from lamina.formats.dates import render_time
from lamina.formats.digest import Digest, setting_header, sync_marker
from lamina.formats.digestreader import parse_digest
from lamina.pipeline.digest import sync as syncing
from lamina.pipeline.digest import verify
from lamina.pipeline.digest.drafts import Selection
from lamina.pipeline.digest.section import Composed, compose, written
from lamina.pipeline.digest.sync import Sync
from lamina.pipeline.digest.view import View, look, require_state
from lamina.pipeline.semantic import Core
from lamina.pipeline.verified import require
from lamina.store import memoryfolder
from lamina.store.memoryfolder import MemoryFolder

Choose = Callable[[View], Selection]
Cores = Callable[[], tuple[Core | None, str]]
"""Gives the semantic core, or None and why there is none."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a run did. `section` is None where nothing was appended; `wrote` whether a byte changed."""

    digest: str
    section: Composed | None = None
    sync: Sync = field(default_factory=lambda: Sync(""))
    late: tuple[str, ...] = ()
    limitations: tuple[str, ...] = ()
    wrote: bool = False
    nothing: str = ""
    """Why there was nothing to digest, "" if there was something."""

    def as_json(self) -> dict[str, Any]:
        """Return it as programs read it: numbers of sources, decisions and open actions, days from and to."""
        section = self.section
        items = section.items if section else ()
        return {
            "digest": self.digest,
            "section": section.id if section else None,
            "sources": len(section.sources) if section else 0,
            "from": section.first.isoformat() if section else None,
            "to": section.last.isoformat() if section else None,
            "decisions": sum(item.kind == "decision" for item in items),
            "open": sum(item.kind == "open" for item in items),
            "sync": self.sync.as_json(),
            "limitations": list(self.limitations),
            "items": [{"id": item.id, "kind": item.kind, "text": item.text} for item in items],
            "sessions": list(section.sources) if section else [],
            "late": list(self.late),
            "known": section.known if section else 0,
            "written": self.wrote,
            "nothing": self.nothing,
        }


def run(
    folder: MemoryFolder, choose: Choose, cores: Cores, *, now: datetime, dry_run: bool = False
) -> Report:
    """Digest what is new in a memory folder, or ask the core again about what waits.

    What is chosen is chosen before the folder is held, since a model may think for minutes; of that only what
    is still new is written. Nothing new and nothing to retry: no byte changes. Raises Undecided where the
    digest leaves open what it says, BadInput for a bad choice, VerificationFailed with the old file restored.
    """
    view = look(folder)
    if not view.sessions:
        return _nothing(view)
    require_state(view)
    selection = choose(view)
    if dry_run:
        return _planned(view, selection, now)
    with memoryfolder.locked(folder):
        again = look(folder, view)
        require_state(again)
        return _written(again, selection, cores, now)


def _written(view: View, selection: Selection, cores: Cores, now: datetime) -> Report:
    section = compose(view, selection, now)
    core, reason = cores()
    if section is None:
        return _retried(view, core, reason, now, selection)
    before = view.digest
    waiting = (*(before.pending if before else ()), *(item.hash for item in section.items))
    first = written(view, section, now, syncing.UNAVAILABLE if core is None else syncing.PENDING, waiting)
    memoryfolder.replace(view.folder.digest, first, old=view.old)
    digest = parse_digest(first)
    done = syncing.settle(core, reason, digest, section.items, before)
    text = _with_sync(view.folder, digest, done)
    checks = verify.appended_checks(view, section, done, text, render_time(now))
    require(checks, view.folder.digest, ours=text, old=view.old)
    limitations = (*view.problems, *_notes(view), *selection.limitations, *done.limitations)
    return Report(str(view.folder.digest), section, done, view.late, limitations, wrote=True)


def _retried(view: View, core: Core | None, reason: str, now: datetime, selection: Selection) -> Report:
    """Ask the core again about what waits; without a core, or with nothing waiting, no byte changes."""
    digest = view.digest
    limitations = (*view.problems, *_notes(view), *selection.limitations)
    name = str(view.folder.digest)
    if digest is None or digest.state is None or not syncing.is_retried(digest, core):
        status = digest.status if digest else ""
        stands = Sync(status, digest.pending if digest else ())
        if digest is not None and digest.pending and core is None:
            limitations += (f"{len(digest.pending)} hashes wait for a semantic core: {reason}",)
        why = "no session is new" if not view.new else "no session was named"
        return Report(name, None, stands, (), limitations, nothing=why)
    done = syncing.settle(core, reason, digest, (), digest)
    marked = digest.state.setting("last-run", render_time(now))
    text = setting_header(digest, state=marked, sync=sync_marker(digest.sync, done.status, done.pending))
    memoryfolder.replace(view.folder.digest, text, old=view.old)
    checks = verify.retried_checks(view, done, text, render_time(now))
    require(checks, view.folder.digest, ours=text, old=view.old)
    limitations += done.limitations
    return Report(name, None, done, (), limitations, wrote=True, nothing="no session is new")


def _with_sync(folder: MemoryFolder, digest: Digest, done: Sync) -> str:
    """Write how the core stands into the header of the digest, if that is not what it says already."""
    if (digest.status, digest.pending) == (done.status, done.pending):
        return digest.text
    after = setting_header(digest, sync=sync_marker(digest.sync, done.status, done.pending))
    memoryfolder.replace(folder.digest, after, old=digest.text)
    return after


def _planned(view: View, selection: Selection, now: datetime) -> Report:
    limitations = (*view.problems, *_notes(view), *selection.limitations)
    section = compose(view, selection, now)
    status = Sync(view.digest.status, view.digest.pending) if view.digest else Sync("")
    nothing = "" if section else "no session is new"
    return Report(str(view.folder.digest), section, status, view.late, limitations, nothing=nothing)


def _nothing(view: View) -> Report:
    where = view.folder.path
    why = f"there is no *-memory.md in {where}" if where.is_dir() else f"there is no folder {where}"
    return Report(str(view.folder.digest), limitations=tuple(view.problems), nothing=why)


def _notes(view: View) -> tuple[str, ...]:
    """Return what is odd in the digest and stops nothing, and which sessions came late."""
    name = view.folder.digest.name
    odd = view.digest.problems if view.digest else ()
    late = (f"{each} is older than what was digested before" for each in view.late)
    return (*(f"{name}:{each.line}: {each.message}" for each in odd), *late)
