"""Figures of quality, computed from what a tool showed: which turns, in which order, in how much text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from statistics import fmean, quantiles
from typing import NamedTuple

RESULTS = 10
FIRST = 5


class Shown(NamedTuple):
    """The answer to one question: turns of each result, best first, and the characters of all results."""

    gold: Collection[str]
    results: Sequence[Sequence[str]]
    characters: int


class Quality(NamedTuple):
    """Means over questions; shares are from 0 to 1, turns and characters per question."""

    questions: int
    recall: float
    recall_turns: float
    hit: float
    mrr: float
    turns: float
    characters: float


def quality(shown: Iterable[Shown]) -> Quality:
    """Return the means; without questions all are 0."""
    each = list(shown)
    if not each:
        return Quality(0, 0, 0, 0, 0, 0, 0)
    turns = [list(dict.fromkeys(chain.from_iterable(one.results[:RESULTS]))) for one in each]
    return Quality(
        len(each),
        fmean(share(one.gold, seen) for one, seen in zip(each, turns, strict=True)),
        fmean(share(one.gold, seen[:RESULTS]) for one, seen in zip(each, turns, strict=True)),
        fmean(share(one.gold, chain.from_iterable(one.results[:FIRST])) > 0 for one in each),
        fmean(reciprocal_rank(one) for one in each),
        fmean(len(seen) for seen in turns),
        fmean(one.characters for one in each),
    )


def share(gold: Collection[str], seen: Iterable[str]) -> float:
    """Return the share of the gold turns that were seen."""
    wanted = set(gold)
    return len(wanted.intersection(seen)) / len(wanted)


def reciprocal_rank(shown: Shown) -> float:
    """Return 1 / the place of the first result that holds a gold turn, 0 if none does."""
    wanted = set(shown.gold)
    places = (at for at, turns in enumerate(shown.results[:RESULTS], 1) if wanted.intersection(turns))
    return 1 / next(places, float("inf"))


def middle_and_high(values: Sequence[float]) -> tuple[float, float]:
    """Return median and 95th percentile."""
    if len(values) < 2:
        return (values[0], values[0]) if values else (0.0, 0.0)
    cuts = quantiles(values, n=20, method="inclusive")
    return cuts[9], cuts[18]
