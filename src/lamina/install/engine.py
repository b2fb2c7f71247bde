"""Install into a host and take it back: plan, record, write; each step can be killed and run again."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from lamina import errors
from lamina.hosts.base import HOSTS, ONLY_LIVE, Live, live_named
from lamina.hosts.setup import Edit, OwnFile, Say, Where
from lamina.install import disk, record
from lamina.install.plan import Change, changes
from lamina.install.record import Kept, Record
from lamina.live import program
from lamina.store import installed as list_of
from lamina.store.layout import Layout
from lamina.store.locks import lock

T = TypeVar("T")
_TRIES = 4
_WAIT_S = 30.0


@dataclass(frozen=True)
class Site:
    """The store that is installed, and the person it is installed for."""

    root: Path
    home: Path
    env: Mapping[str, str]
    recall: bool = False

    def where(self, host: str, *, project: Path | None = None, mode: str = "") -> Where:
        """Return what a host's setup depends on."""
        hook, lamina = program.hook(self.root), program.lamina(self.root)
        return Where(self.home, self.env, hook, lamina, self.assets(host), project, self.recall, mode)

    def assets(self, host: str) -> Path:
        """Return the folder in the store that a host reads in place."""
        return self.root / "state" / "hosts" / host


@dataclass(frozen=True)
class Done:
    """What was done to one place, or would be."""

    host: str
    mode: str
    project: Path | None
    assets: Path
    """The folder in the store that the host reads in place."""
    changes: Sequence[Change] = ()
    say: Sequence[str] = field(default_factory=tuple)

    @property
    def changed(self) -> list[Change]:
        """The files that change."""
        return [change for change in self.changes if change.action != "none"]


def hosts() -> list[str]:
    """Return the names of the hosts that Lamina can be installed into."""
    return [name for name in (*HOSTS, *ONLY_LIVE) if live_named(name) is not None]


def present(site: Site) -> list[str]:
    """Return the hosts that are there for this user."""
    return [name for name in hosts() if live(name).present(site.home, site.env)]


def known(site: Site) -> Mapping[str, list_of.Installed]:
    """Return the hosts that Lamina is installed into, and how."""
    return list_of.installed(site.root)


def top_of(folder: Path) -> Path:
    """Return the top of the repository that a folder lies in, else the folder."""
    from lamina.store.repository import find

    found = find(folder)
    return found.top if found and found.top else folder


def live(name: str) -> Live:
    """Return the host of this name. Raises UsageError for none."""
    host = live_named(name)
    if host is None:
        raise errors.UsageError(f"{name!r} is no host", f"one of: {', '.join(hosts())}, or all")
    return host


def modes(host: Live) -> tuple[str, ...]:
    """Return a host's ways to install, the default first."""
    return tuple(getattr(host, "modes", ("",)))


def install(
    site: Site,
    name: str,
    *,
    at: datetime,
    project: Path | None = None,
    mode: str = "",
    dry_run: bool = False,
) -> Done:
    """Install into a host, for the user or a project. Twice is once.

    Raises UsageError, BadInput, UnreadableFile, UnsafePath, UnwritableStore, Busy; then nothing was changed.
    """
    host = live(name)
    mode = _mode(site, host, mode, project)

    def attempt() -> Done:
        before = record.record_of(site.root, name, project)
        wanted = host.setup(site.where(name, project=project, mode=mode))
        others = other_ways(site, host, mode, project)
        plan = _apart(site, name, project, changes(wanted, others=others, before=before))
        said = [edit.text for edit in wanted if isinstance(edit, Say)]
        done = Done(name, mode, project, site.assets(name), plan, said)
        if not dry_run:
            _apply(site, done, before, at)
        return done

    return attempt() if dry_run else _guarded(site, attempt)


def uninstall(
    site: Site, name: str, *, project: Path | None = None, everywhere: bool = True, dry_run: bool = False
) -> list[Done]:
    """Take Lamina out of a host: of every place, or with `everywhere` False of the user's or one project.

    Raises what `install` raises; the places before the faulty one are done then.
    """
    host = live(name)

    def attempt() -> list[Done]:
        known = {each.project: each for each in record.records(site.root, name)}
        # What came last goes first, so that each place finds its files as it left them.
        places = [*reversed(dict.fromkeys([None, *known]))] if everywhere else [project]
        return [_remove(site, host, known.get(place), place, dry_run=dry_run) for place in places]

    if dry_run or not site.root.exists():  # without a store nobody else is at work, and none is made
        return attempt()
    return _guarded(site, attempt)


def _remove(site: Site, host: Live, before: Record | None, project: Path | None, *, dry_run: bool) -> Done:
    plan = changes([], others=other_ways(site, host, None, project), before=before)
    plan = _apart(site, host.name, project, plan)
    done = Done(host.name, before.mode if before else "", project, site.assets(host.name), plan)
    if not dry_run:
        _write(done)
        _clear(done)
        _forget(site, host.name, project)
    return done


def _apart(site: Site, host: str, project: Path | None, plan: list[Change]) -> list[Change]:
    """Leave out the files that would go but that another place of this host needs: a plugin in the store."""
    needed = {
        file
        for each in record.records(site.root, host)
        if each.project != project
        for file, kept in each.files.items()
        if kept.edits and isinstance(kept.edits[-1], OwnFile)
    }
    return [change for change in plan if change.kept.edits or change.file not in needed]


def _apply(site: Site, done: Done, before: Record | None, at: datetime) -> None:
    program.write(site.root)
    kept = {change.file: change.kept for change in done.changes if change.kept.edits}
    leaving = {change.file: change.kept for change in done.changes if _is_known(before, change)}
    saved = Record(done.host, done.mode, done.project, {**leaving, **kept})
    if before != saved:
        record.save(site.root, saved)
    try:
        _write(done)
    except errors.LaminaError:
        _back(site, done, saved, before)
        raise
    if leaving.keys() - kept.keys():
        _clear(replace(done, changes=[each for each in done.changes if each.file not in kept]))
        record.save(site.root, saved._replace(files=kept))
    with_it = dict(list_of.installed(site.root))
    place = list_of.with_place(with_it.get(done.host), done.project, at=at, mode=done.mode)
    if with_it.get(done.host) != place:
        list_of.save(site.root, {**with_it, done.host: place})


def _is_known(before: Record | None, change: Change) -> bool:
    return bool(before and change.file in before.files) or (not change.kept.edits and change.action != "none")


def _back(site: Site, done: Done, saved: Record, before: Record | None) -> None:
    """Take back a half-done install: its record goes, or becomes the one before."""
    with contextlib.suppress(errors.LaminaError):
        if before is not None:
            for change in reversed(done.changed):
                _restore(change, private=done.project is None)
            record.save(site.root, before)
            return
        undone = replace(done, changes=changes([], before=saved))
        _write(undone)
        _clear(undone)
        _forget(site, saved.host, saved.project)


def _restore(change: Change, *, private: bool) -> None:
    """Put back what stood in a file, if the new text is in it."""
    now = disk.look(change.file)
    if now.data != change.new:
        return
    if change.held.data is None:
        disk.remove(now)
    else:
        disk.replace(now, change.held.data, mode=change.held.mode, private=private)


def _write(done: Done) -> None:
    for change in done.changed:
        private = done.project is None
        if change.new is None:
            disk.remove(change.held)
            continue
        fresh = disk.new_mode(private=private, executable=change.executable)
        mode = fresh if change.held.data is None else change.held.mode
        disk.replace(change.held, change.new, mode=mode, private=private)


def _clear(done: Done) -> None:
    """Remove the folders that were made and are empty, and what a killed run left."""
    kept: list[Kept] = [change.kept for change in done.changes]
    disk.drop_leftovers([change.held.target.parent for change in done.changes])
    disk.drop_folders([folder for each in kept for folder in each.folders])


def _forget(site: Site, host: str, project: Path | None) -> None:
    record.drop(site.root, host, project)
    known = dict(list_of.installed(site.root))
    if host in known:
        left = list_of.without_place(known.pop(host), project)
        list_of.save(site.root, {**known, host: left} if left else known)
    if not list_of.installed(site.root) and not record.any_left(site.root):
        program.remove(site.root)


def _mode(site: Site, host: Live, mode: str, project: Path | None) -> str:
    ways = modes(host)
    if mode and mode not in ways:
        ways_told = ", ".join(filter(None, ways)) or "there is only one way"
        raise errors.UsageError(f"{host.name} can't be installed as {mode!r}", ways_told)
    before = record.record_of(site.root, host.name, project)
    if not mode and before is not None and before.mode in ways:
        return before.mode
    default: Callable[[Path | None], str] | None = getattr(host, "default_mode", None)
    return mode or (default(project) if default else ways[0])


def other_ways(site: Site, host: Live, mode: str | None, project: Path | None) -> list[Edit]:
    """Return the edits of the ways that are not wanted; without a mode, of all."""
    ways = [way for way in modes(host) if way != mode]
    found = (host.setup(site.where(host.name, project=project, mode=way)) for way in ways)
    traces: Callable[[Where], list[Edit]] | None = getattr(host, "traces", None)
    left = (
        traces(site.where(host.name, project=project)) if traces and mode is None and project is None else []
    )
    return [*(edit for edits in found for edit in edits if not isinstance(edit, Say)), *left]


def _guarded(site: Site, attempt: Callable[[], T]) -> T:
    """Run under the lock; again if another program wrote to one of the files in that moment."""
    with _locked(site.root):
        for _ in range(_TRIES - 1):
            try:
                return attempt()
            except errors.ChangedMeanwhile:
                continue
        return attempt()


@contextlib.contextmanager
def _locked(root: Path) -> Iterator[None]:
    with lock(Layout(root).lock("install"), timeout_s=_WAIT_S):
        yield
