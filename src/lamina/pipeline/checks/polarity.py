"""Tells when a text turns round what was said: "use Redis" of a session that said not to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lamina.formats.structure import one_line
from lamina.pipeline.checks.clauses import Clause, clause
from lamina.pipeline.statements import sentences

_TOLD = 0.75  # of a sentence's content: what one that it turns round must share
_SIDE = 0.5  # what one on its side must share
_LEAST = 2  # words of content: less says too little to be turned round


def turned(text: str, said: Sequence[str]) -> bool:
    """Say whether a text denies what was said, or says what was denied.

    Only a sentence whose content stands in one that was said, with the denial flipped, and in none that says
    it as the text does. Precision first: what is missed is still only what somebody spoke about.
    """
    told = [each for part in said for each in _clauses(part)]
    return any(_is_turned(each, told) for each in _clauses(text))


def _is_turned(mine: Clause, told: Sequence[Clause]) -> bool:
    if len(mine.content) < _LEAST:
        return False
    against = on_side = False
    for theirs in told:
        share = len(mine.content & theirs.content) / len(mine.content)
        if theirs.denies == mine.denies:
            on_side = on_side or share >= _SIDE
        else:
            against = against or share >= _TOLD
    return against and not on_side


def _clauses(text: str) -> Iterator[Clause]:
    for line in text.split("\n"):
        for part in sentences(one_line(line)):
            found = clause(part)
            if found.content:
                yield found
