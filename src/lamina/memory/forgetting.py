"""Forgetting across the parts: files, index, commit, and what a killed purge left to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lamina import errors
from lamina.pipeline import forget as forgets
from lamina.pipeline import purge as purges
from lamina.pipeline.commit import commit

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from lamina.memory.opened import Opened
    from lamina.store.store import Located, Store

Json = dict[str, Any]


def forget(  # noqa: PLR0913 - one for each word of the command
    opened: Opened,
    ids: Sequence[str],
    *,
    undo: bool,
    purge: bool,
    reason: str,
    session: str | None,
    workspace: str | None,
    since: date | None,
    dry_run: bool,
) -> Json:
    """Forget, purge or release what is meant; `left` tells where a purged text still stands."""
    if undo and purge:
        raise errors.UsageError("what is purged is gone", "give --undo or --purge")
    if not opened.exists:
        if ids:
            opened.reading(ids[0])
        return {"entries": [], "left": []}
    store, now = opened.store, opened.clock()
    if undo and ids:
        return {"entries": _release(opened, store, ids, dry_run=dry_run), "left": []}
    chosen = forgets.choose(store, ids, session=session, workspace=workspace, since=since, forgotten=undo)
    if undo:
        return {"entries": forgets.release(store, chosen, now, dry_run=dry_run), "left": []}
    if purge:
        return _purge(opened, store, chosen, dry_run=dry_run)
    return {"entries": forgets.bury(store, chosen, now, reason=reason, dry_run=dry_run), "left": []}


def finish(opened: Opened) -> list[str]:
    """Do what a killed purge left to do; names what was done."""
    if not purges.is_unfinished(opened.store.layout):
        return []
    with opened.store.writing(label="purge", at=opened.clock()):
        pass  # finishes the batch itself, if it was killed in the middle
    _clean(opened, opened.store)
    return ["purge"]


def _release(opened: Opened, store: Store, ids: Sequence[str], *, dry_run: bool) -> list[dict[str, str]]:
    """Release entries, and the content of those that are gone from disk."""
    here = [id_ for id_ in dict.fromkeys(ids) if store.find(id_) is not None]
    gone = [id_ for id_ in dict.fromkeys(ids) if id_ not in here]
    told = []
    for id_ in gone:
        told += forgets.release_content(store, id_, opened.clock(), dry_run=dry_run)
    chosen = forgets.choose(store, here) if here else []
    return forgets.release(store, chosen, opened.clock(), dry_run=dry_run) + told


def _purge(opened: Opened, store: Store, chosen: Sequence[Located], *, dry_run: bool) -> Json:
    gone = purges.traces(chosen)
    told = purges.purge(store, chosen, opened.clock(), dry_run=dry_run)
    if dry_run:
        return {"entries": told, "left": []}
    left = _clean(opened, store)
    return {"entries": told, "left": [*left, *purges.left(store, gone)]}


def _clean(opened: Opened, store: Store) -> list[str]:
    """Clean the local files, commit, and build the index anew; returns what did not work."""
    from lamina.index.source import index_home

    purges.clean(store)
    commit(store, opened.clock(), older_than_s=0)
    opened.embedded.rebuild(opened.source)
    opened.embedded.forget_vectors()
    if opened.embedded.in_memory:
        return [f"the search index could not be built anew; delete {index_home(opened.root, opened.env)}"]
    purges.finished(store.layout)
    return []
