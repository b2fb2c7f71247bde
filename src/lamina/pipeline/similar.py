"""Which entries say nearly the same as something that is about to be written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lamina.index.base import Query
from lamina.index.words import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lamina.formats.entry import Draft
    from lamina.index.engine import Index

SHARED = 0.6
"""How much of the words of both a similar entry shares; below it, two facts are only on one subject."""
ASKED = 1_000


def similar(index: Index, draft: Draft, *, limit: int) -> Sequence[str]:
    """Return the ids of entries in the draft's scope that share most of its words, best first."""
    text = f"{draft.heading} {draft.body}"[:ASKED]
    wanted = needles(text)
    if not wanted:
        return ()
    answer = index.search(Query(text, limit=3 * limit, scopes=(draft.scope.name,)))
    found = []
    for match in answer.matches:
        there = needles(f"{match.document.heading} {match.document.text}")
        if match.document.id and 2 * len(wanted & there) >= SHARED * (len(wanted) + len(there)):
            found.append(match.document.id)
    return found[:limit]


def needles(text: str) -> frozenset[str]:
    """Return the words of a text that carry meaning."""
    return frozenset(needle for term in parse(text) if not term.weak for needle in term.needles)
