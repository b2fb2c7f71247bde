"""Searching by words and vectors, and making the vectors that are missing."""

from __future__ import annotations

from lamina import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from lamina.index.base import Query
    from lamina.index.embedded import Embedded
    from lamina.index.engine import Index
    from lamina.memory.opened import Opened
    from lamina.pipeline.recall import Found

    Json = dict[str, Any]

SEARCH_S = 2.0
"""How long a search makes vectors before it answers with those that are there."""

TICK_S = 20.0
ALL = "`lamina index rebuild --vectors` makes them all"
NONE = 'the setting embedder is "none": `lamina config set embedder builtin` lets vectors be used'


def search(opened: Opened, asked: Query, *, within_s: float) -> Found:
    """Search by words and vectors; where there is no embedder, by words with a note that says why.

    What has no vector yet gets one first, for `within_s` seconds at most.
    """
    from lamina.pipeline import recall

    try:
        notes = prepare(opened, within_s=within_s)
        index: Index = opened.hybrid
        asked = asked._replace(vectors=True)
    except (errors.EmbedderUnavailable, errors.UnwritableStore, errors.Busy) as problem:
        notes = [f"searched by words only: {told(problem)}"]
        opened.refresh()
        index = opened.index
    found = recall.search(index, asked, today=opened.today, here=opened.scope)
    return found._replace(notes=(*found.notes, *notes))


def prepare(opened: Opened, *, within_s: float) -> list[str]:
    """Bring words and vectors up to date, for a bounded time; says how many vectors are missing then.

    Raises EmbedderUnavailable, UnwritableStore, and Busy when the index is taken away meanwhile.
    """
    index = needed(opened)
    index.refresh(opened.source)
    if within_s <= 0:
        return []
    _, left = index.embed(within_s=within_s, waiting=True)
    return _left(opened, index) if left else []


def embed(
    opened: Opened,
    *,
    within_s: float | None = None,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> tuple[int, int]:
    """Embed what has no vector yet; returns how many were embedded and how many are left.

    Raises EmbedderUnavailable.
    """
    index = needed(opened)
    index.refresh(opened.source)
    return index.embed(within_s=within_s, told=progress)


def catch_up(opened: Opened) -> bool:
    """Embed what is missing, for a bounded time, if vectors are used in this store at all."""
    from lamina.index import held
    from lamina.index.source import index_home
    from lamina.store import log

    if not held.used(index_home(opened.root, opened.env)):
        return False
    try:
        done, _ = embed(opened, within_s=TICK_S)
    except errors.LaminaError as problem:
        log.log(opened.store.layout, "vectors_failed", at=opened.clock(), reason=problem.message)
        return False
    return done > 0


def is_due(opened: Opened) -> bool:
    """Tell whether `catch_up` has something to embed, as far as the index knows."""
    facts = state(opened, refresh=False)
    return bool(facts["vectors"] and facts["missing"])


def state(opened: Opened, *, refresh: bool = True) -> Json:
    """Return how many memories have a vector of the embedder in use and how many have none.

    `problem` says why there is no embedder ("" if there is one).
    """
    try:
        embedder = opened.embedder
        name, problem = (None, NONE) if embedder is None else (embedder.name, "")
    except errors.EmbedderUnavailable as fault:
        name, problem = None, told(fault)
    have, missing = 0, 0
    if opened.exists:
        if refresh:
            opened.refresh()
        have, missing = opened.embedded.coverage(name or "")
    return {"embedder": name, "vectors": have, "missing": missing, "problem": problem}


def trouble(opened: Opened) -> list[str]:
    """Return why the embedder of the settings can't be used; nothing if it can, or if none is wanted."""
    try:
        _ = opened.embedder
    except errors.EmbedderUnavailable as fault:
        return [told(fault)]
    return []


def needed(opened: Opened) -> Embedded:
    """Return the index with its vectors; raises EmbedderUnavailable where the settings want none."""
    if opened.embedder is None:
        raise errors.EmbedderUnavailable(NONE.partition(": ")[0], NONE.partition(": ")[2])
    return opened.hybrid


def told(problem: errors.LaminaError) -> str:
    """Return a problem with its next step as one line."""
    return f"{problem.message}: {problem.hint}" if problem.hint else problem.message


def _left(opened: Opened, index: Embedded) -> list[str]:
    assert opened.embedder is not None
    have, missing = index.coverage(opened.embedder.name)
    return [f"{missing} of {have + missing} memories have no vector yet: {ALL}"] if missing else []
