"""What every write does around itself.

It makes the store on first use and the workspace known, and renews the index and the commit.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lamina import errors
from lamina.memory.opened import root_commits
from lamina.store.identity import Workspace
from lamina.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lamina.formats.entry import Draft
    from lamina.formats.scope import Scope
    from lamina.memory.opened import Opened
    from lamina.pipeline.remember import Outcome
    from lamina.store.write import Writing

SIMILAR = 3
"""How many entries that say nearly the same a write names."""


def writable(opened: Opened, *, dry_run: bool = False) -> Store:
    """Return the store to write to, made on first use.

    A dry run without a store works on one that is thrown away at the end of the process.
    """
    if opened.exists:
        return opened.store
    if dry_run:
        import atexit
        import shutil
        import tempfile

        scratch = tempfile.mkdtemp(prefix="lamina-dry-run-")
        atexit.register(shutil.rmtree, scratch, ignore_errors=True)
        return Store.open(Path(scratch) / "store", create=True, now=opened.clock())
    opened.__dict__["store"] = Store.open(opened.root, create=True, now=opened.clock())
    return opened.store


def target(opened: Opened, scope: str | None) -> Scope:
    """Return the scope that a write goes to."""
    from lamina.pipeline.filters import scope_for_writing

    return scope_for_writing(scope, opened.workspace.scope)


def registering(opened: Opened, scope: Scope) -> Callable[[Writing], Scope]:
    """Return what makes a scope's workspace known in the batch that writes to it, and gives its final scope.

    Two processes that meet two projects of one name at once agree on the keys under the batch's lock.
    """
    from lamina.store import workspaces

    def register(batch: Writing) -> Scope:
        workspace = opened.workspace
        if scope != workspace.scope:
            workspace = Workspace(
                scope.key, title=scope.key or "", identity=f"key:{scope.key}", how="argument"
            )
        return workspaces.register(batch, workspace, root_commits=root_commits).scope

    return register


def store_draft(opened: Opened, draft: Draft, *, label: str, dry_run: bool) -> Outcome:
    """Write a draft and take it into the index."""
    from dataclasses import replace

    from lamina.pipeline import remember
    from lamina.pipeline.branches import staging

    if draft.scope == opened.scope and draft.scope.key is not None:
        draft = replace(draft, branch=staging(opened.workspace, opened.branch) or None)
    outcome = remember.store_draft(
        writable(opened, dry_run=dry_run),
        draft,
        opened.clock(),
        label=label,
        dry_run=dry_run,
        register=registering(opened, draft.scope),
        similar=lambda draft: similar(opened, draft, dry_run=dry_run),
    )
    settle(opened, dry_run=dry_run)
    return outcome


def similar(opened: Opened, draft: Draft, *, dry_run: bool) -> Sequence[str]:
    """Return the ids of entries in the draft's scope that say nearly the same.

    A dry run asks the index as it is.
    """
    from lamina.pipeline.similar import similar as near

    if not opened.exists:
        return ()
    try:
        if not dry_run:
            opened.refresh()
        return near(opened.index, draft, limit=SIMILAR)
    except (errors.LaminaError, OSError):
        return ()  # a hint only: no index must not stop a write


def settle(opened: Opened, *, dry_run: bool = False, whole: bool = False) -> None:
    """Take the last write into the index; commit what was written a while ago.

    Never fails a write that is done. `whole` ends a long piece of work: SYSTEM.md is written anew
    and everything committed at once.
    """
    if dry_run or not opened.exists:
        return
    from lamina.pipeline.commit import commit
    from lamina.store import log

    now = opened.clock()
    try:
        opened.refresh()
    except (errors.LaminaError, OSError) as problem:
        log.log(opened.store.layout, "index_failed", at=now, reason=str(problem))
    if whole:
        from lamina.pipeline import system_doc

        try:
            system_doc.refresh(opened.store, now)
        except errors.LaminaError as problem:
            log.log(opened.store.layout, "system_doc_failed", at=now, reason=problem.message)
    commit(opened.store, now, older_than_s=0 if whole else opened.settings["commit_debounce_s"])
