"""Check everything that can be wrong with a store and say what to do; repair what is derived."""

from __future__ import annotations

import os
import stat
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lamina import errors
from lamina.formats.freshness import freshness
from lamina.pipeline import system_doc
from lamina.store import git, notes

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from lamina.store.store import Store

MINIMUM_FREE = 50_000_000
MANY = 5


class Finding(NamedTuple):
    """One thing that was checked: `level` is `ok`, `warning` or `error`."""

    level: str
    message: str
    hint: str = ""


def examine(
    store: Store, now: datetime, check_index: Callable[[], list[str]], *, fix: bool = False
) -> list[Finding]:
    """Run every check. With `fix`, derived data (ledger, index, SYSTEM.md) is made anew; memory is never touched."""
    findings = [
        *machine(store.root),
        *permissions(store.root),
        *files_of(store),
        *entries_of(store, now),
        *waiting(store),
        *derived(store, now, check_index, fix=fix),
        *history(store),
    ]
    return findings or [Finding("ok", "nothing to check")]


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
    for folder, names, files in os.walk(store.root):
        if Path(folder) == store.root:
            names[:] = [name for name in names if name not in (".git", "index", "state", "logs")]
        for name in [*names, *files]:
            path = Path(folder, name)
            if path.is_symlink():
                yield Finding(
                    "error", f"{path} is a symbolic link and is ignored", "put a real file in its place"
                )


def entries_of(store: Store, now: datetime) -> Iterator[Finding]:
    """Check ids, and tell what has gone stale."""
    ids: Counter[str] = Counter()
    without = stale = 0
    for located in store.entries():
        entry = located.entry
        if entry.id:
            ids[entry.id] += 1
        else:
            without += 1
        fresh = freshness(
            entry.date, entry.verified, entry.valid_until, entry.volatility, entry.body, now.date()
        )
        stale += entry.trust == "approved" and fresh.grade in ("stale", "expired")
    doubled = [id_ for id_, count in ids.items() if count > 1]
    for id_ in doubled[:MANY]:
        yield Finding(
            "error", f"the id {id_} stands at {ids[id_]} entries", "give all but one a new id, or remove them"
        )
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


def derived(
    store: Store, now: datetime, check_index: Callable[[], list[str]], *, fix: bool
) -> Iterator[Finding]:
    """Check the index and SYSTEM.md against the files."""
    try:
        differences = check_index()
    except errors.LaminaError as problem:
        differences = [problem.message]
    if differences:
        hint = "" if fix else "`lamina doctor --fix` or `lamina index rebuild` makes it anew"
        level = "ok" if fix else "warning"
        yield Finding(
            level, f"the index differs from the files: {differences[0]}" + (", rebuilt" if fix else ""), hint
        )
    else:
        yield Finding("ok", "the index agrees with the files")
    if system_doc.is_stale(store):
        if fix and not store.read_only:
            system_doc.refresh(store, now)
            yield Finding("ok", "SYSTEM.md was out of date, written anew")
        else:
            yield Finding("warning", "SYSTEM.md is out of date", "`lamina tick` writes it anew")


def history(store: Store) -> Iterator[Finding]:
    """Check the store's git repository."""
    if not (store.root / ".git").exists():
        yield Finding(
            "warning",
            "the store has no git repository, so no history",
            "install git; the next write makes it",
        )
        return
    obstacle = git.obstacle(store.root)
    if obstacle:
        yield Finding(
            "error", f"nothing can be committed: {obstacle}", "settle it with git, nothing is lost meanwhile"
        )
    elif git.is_dirty(store.layout):
        yield Finding("ok", "the last writes wait to be committed")
    else:
        yield Finding("ok", f"committed, last at {git.last_commit(store.root) or 'never'}")
