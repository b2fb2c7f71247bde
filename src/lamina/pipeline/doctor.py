"""Check everything that can be wrong with a store and say what to do; repair what is derived."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lamina import errors
from lamina.formats.dates import parse_time
from lamina.formats.freshness import freshness
from lamina.pipeline import commit, purge, system_doc
from lamina.store import git, log, notes
from lamina.store.tombstones import Graves

if TYPE_CHECKING:
    from datetime import datetime

    from lamina.store.store import Store

MINIMUM_FREE = 50_000_000
MANY = 5
DAYS = 3
FAILURES = frozenset({"hook_failed", "worker_failed", "capture_failed", "job_failed"})


class Finding(NamedTuple):
    """One thing that was checked: `level` is `ok`, `warning` or `error`."""

    level: str
    message: str
    hint: str = ""


class Derived(NamedTuple):
    """What looks after the index: `check` tells differences to the files, `rebuild` makes it anew."""

    check: Callable[[], list[str]]
    rebuild: Callable[[], int]


def examine(store: Store, now: datetime, index: Derived, *, fix: bool = False) -> list[Finding]:
    """Run every check.

    With `fix`, derived data (the index, SYSTEM.md) is made anew; memory is never touched.
    """
    return [
        *machine(store.root),
        *permissions(store.root),
        *files_of(store),
        *entries_of(store, now),
        *waiting(store),
        *lately(store, now),
        *index_of(index, fix=fix),
        *system_document(store, now, fix=fix),
        *history(store),
    ]


def nothing(root: Path) -> Finding:
    """Say that there is no store yet."""
    return Finding("ok", f"there is no store at {root} yet", "`lamina import` makes one")


def told(warnings: Iterable[str]) -> Iterator[Finding]:
    """Turn what could not be used of settings and project files into findings."""
    for warning in warnings:
        yield Finding("warning", warning, "correct it there")


def machine(root: Path) -> Iterator[Finding]:
    """Check what Lamina runs on."""
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("ok", f"Python {version}, store at {root}")
    free = os.statvfs(root).f_bavail * os.statvfs(root).f_frsize if hasattr(os, "statvfs") else MINIMUM_FREE
    if free < MINIMUM_FREE:
        yield Finding(
            "error", f"only {free // 1_000_000} MB are free on the store's disk", "make room before writing"
        )
    if not os.access(root, os.W_OK):
        yield Finding("error", f"{root} can't be written to", "check its owner and permissions")


def permissions(root: Path) -> Iterator[Finding]:
    """Check that nobody else on this machine can read the store."""
    if os.name != "posix":
        return
    mode = stat.S_IMODE(root.stat().st_mode)
    if mode & 0o077:
        yield Finding("warning", f"{root} can be read by others (mode {mode:03o})", f"chmod 700 {root}")


def files_of(store: Store) -> Iterator[Finding]:
    """Read every entry and tell which files can't be read; and links that don't belong."""
    store.problems.clear()
    count = sum(1 for _ in store.entries())
    yield Finding("ok", f"{count} memories can be read")
    for problem in store.problems:
        yield Finding("error", str(problem), "repair or move that file; nothing else is affected")
    told = {problem.path for problem in store.problems}
    for path in links(store.root):
        if str(path) not in told:
            yield Finding(
                "error", f"{path} is a symbolic link and is ignored", "put a real file in its place"
            )


def links(root: Path) -> Iterator[Path]:
    """Yield the symbolic links inside a store."""
    for folder, names, files in os.walk(root):
        if Path(folder) == root:
            names[:] = [name for name in names if name not in (".git", "index", "state", "logs")]
        yield from (path for name in [*names, *files] if (path := Path(folder, name)).is_symlink())


def entries_of(store: Store, now: datetime) -> Iterator[Finding]:
    """Check ids and tombstones, and tell what has gone stale."""
    for problem in store.doubles()[:MANY]:
        yield Finding(
            "error", str(problem), "remove the second one's Id line: the next write gives a new one"
        )
    without = stale = 0
    for located in store.entries():
        entry = located.entry
        without += not entry.id
        fresh = freshness(
            entry.date, entry.verified, entry.valid_until, entry.volatility, entry.body, now.date()
        )
        stale += entry.trust == "approved" and fresh.grade in ("stale", "expired")
    if without:
        yield Finding(
            "warning",
            f"{without} entries written by hand have no id yet",
            "the next write to their file gives it",
        )
    if stale:
        yield Finding(
            "warning",
            f"{stale} memories are stale or expired",
            "`lamina edit ID --verified today` confirms one",
        )
    for scope in store.scopes():
        for problem in Graves.load(store, scope).problems:
            yield Finding(
                "warning", str(problem), "that line is kept and forbids nothing; correct or remove it"
            )


def waiting(store: Store) -> Iterator[Finding]:
    """Check the notes."""
    store.problems.clear()
    taken = list(notes.notes(store))
    for problem in store.problems:
        yield Finding("error", str(problem), "remove that note; the session can be captured again")
    doubtful = [each for each in taken if each.note.needs_review]
    pending = [each for each in taken if each.note.consolidated is None and not each.note.needs_review]
    yield Finding("ok", f"{len(taken)} notes, {len(pending)} waiting")
    if doubtful:
        yield Finding(
            "warning",
            f"{len(doubtful)} notes need review",
            f"read {store.layout.notes}/{doubtful[0].name}.md",
        )


def lately(store: Store, now: datetime) -> Iterator[Finding]:
    """Tell what hooks and the worker could not do in the last days, once for each kind of failure."""
    failures: dict[str, int] = {}
    for line in log.logged(store.layout):
        time = parse_time(str(line.get("time", "")))
        if line.get("event") in FAILURES and time is not None and (now - time).days < DAYS:
            what = " ".join(str(line[name]) for name in ("event", "job", "host", "hook") if name in line)
            reason = str(line.get("reason") or line.get("problem") or "")
            told = f"{what.replace('_', ' ')}: {reason}"
            failures[told] = failures.get(told, 0) + 1
    for message, count in list(failures.items())[-MANY:]:
        times = "once" if count == 1 else f"{count} times"
        yield Finding(
            "warning", f"{message} ({times} in {DAYS} days)", f"more in {store.layout.logs}/memory.log"
        )


def index_of(index: Derived, *, fix: bool) -> Iterator[Finding]:
    """Check the index against the files."""
    try:
        differences = index.check()
    except errors.LaminaError as problem:
        differences = [problem.message]
    if not differences:
        yield Finding("ok", "the index agrees with the files")
    elif fix:
        try:
            count = index.rebuild()
        except errors.UnwritableStore as problem:
            yield Finding("error", problem.message, problem.hint)
            return
        yield Finding(
            "ok", f"the index differed from the files ({differences[0]}); built anew: {count} memories"
        )
    else:
        yield Finding(
            "warning",
            f"the index differs from the files: {differences[0]}",
            "`lamina doctor --fix` or `lamina index rebuild` makes it anew",
        )


def system_document(store: Store, now: datetime, *, fix: bool) -> Iterator[Finding]:
    """Check whether SYSTEM.md says what the store holds."""
    if store.read_only or not system_doc.is_stale(store):
        return
    if fix:
        system_doc.refresh(store, now)
        yield Finding("ok", "SYSTEM.md was out of date, written anew")
    else:
        yield Finding("warning", "SYSTEM.md is out of date", "`lamina tick` writes it anew")


def history(store: Store) -> Iterator[Finding]:
    """Check the store's git repository, and that no purge stopped half-way."""
    if purge.is_unfinished(store.layout):
        yield Finding("warning", "a purge was stopped before it was done", "`lamina tick` finishes it")
    if not (store.root / ".git").exists():
        yield Finding(
            "warning",
            "the store has no git repository, so no history",
            "install git; the next write makes it",
        )
        return
    obstacle = git.obstacle(store.root) or commit.failure(store.layout)
    if obstacle:
        yield Finding(
            "error", f"nothing can be committed: {obstacle}", "settle it with git; nothing is lost meanwhile"
        )
    elif git.is_dirty(store.layout):
        yield Finding("ok", "the last writes wait to be committed")
    else:
        yield Finding("ok", f"committed, last at {git.last_commit(store.root) or 'never'}")
