"""Looks at the parts of a text one by one: a true sentence carries no other one along."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lamina.formats.structure import one_line
from lamina.pipeline.checks.support import Passage, Support, support
from lamina.pipeline.exchanges import terms
from lamina.pipeline.statements import sentences

_CUT = re.compile(r"[;；]\s*|\s+[–—]\s+")
_LEAST_TERMS = 3
"""Words that tell which a part must have to be judged alone: what is shorter belongs to its neighbour."""
_MOST = 40


def least_share(text: str, whole: Support | None, passages: Sequence[Passage]) -> float:
    """Return the share of support that the least supported part of a text has, 0 if one has none.

    `whole` is the support of all of it, which a text of one part need not look for again.
    """
    told = parts(text)[:_MOST]
    if len(told) == 1:
        return whole.share if whole else 0.0
    found = [support(part, passages) for part in told]
    return min((each.share if each else 0.0 for each in found), default=0.0)


def parts(text: str) -> list[str]:
    """Cut a text where one statement ends and another begins."""
    pieces = [piece for part in sentences(one_line(text)) for piece in _CUT.split(part)]
    joined: list[str] = []
    for piece in pieces:
        if joined and len(terms(piece)) < _LEAST_TERMS:
            joined[-1] = f"{joined[-1]} {piece}"
        else:
            joined.append(piece)
    if len(joined) > 1 and len(terms(joined[0])) < _LEAST_TERMS:
        joined[:2] = [f"{joined[0]} {joined[1]}"]
    return joined or [text]
