"""Put the signals about a row together: one score, and what each signal gave to it.

Each signal lies between 0 and 1 and means the same in every query, so that a weight says what it is worth:

- words: the row's BM25, as a share of the best row's
- cover: the share of what was asked that stands in the row, each word by how rare it is
- around: what of the rest stands in the rows before and after it in its session
- before: the BM25 of the row before; answers stand behind questions
- near: that of the rows two steps away
- vectors: how alike query and row are in meaning, as a share of the best row's likeness
- beside: that of the rows before and after it
- asks: the row is a question, and short; who asks seldom tells

A long text says many things, so what speaks for it speaks less for any one of them: the signals of a row
longer than 600 characters, and those of its neighbours, count as much less as it is longer.

The weights were learnt by a listwise regression on one half of the questions of three sets (dialogues by
turn, long chats by message, the project's own set), and checked on the other half;
`docs/reference/retrieval.md` has the figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from lamina.formats.frozen import NamedTuple

CONCISE = 600  # characters up to which a text speaks for itself
_QUESTION = 200  # characters from which a question tells something by itself


class Weights(NamedTuple):
    """What each signal is worth."""

    words: float
    cover: float
    cover_long: float
    around: float
    before: float
    near: float
    asks: float
    vectors: float = 0.0
    vectors_long: float = 0.0
    beside: float = 0.0


WORDS = Weights(words=3.2, cover=4.6, cover_long=1.2, around=4.8, before=1.7, near=1.2, asks=-2.7)
BOTH = Weights(
    words=1.5, cover=3.2, cover_long=1.1, around=3.7, before=1.5, near=1.4, asks=-3.5,
    vectors=1.6, vectors_long=1.6, beside=1.0,
)  # fmt: skip


class Line(NamedTuple):
    """The rows of some sessions in order, each with its session."""

    rows: Sequence[int]
    sessions: Sequence[str]


class Signals(NamedTuple):
    """What is known about the rows: scores from words, masks of found expressions, likeness in meaning.

    `lengths` are in characters, below zero for a text that ends with a question.
    """

    words: Mapping[int, float]
    masks: Mapping[int, int]
    vectors: Mapping[int, float]
    lengths: Mapping[int, int]
    line: Line


class Scored(NamedTuple):
    """A row with its score and the parts that add up to it."""

    row: int
    score: float
    parts: Mapping[str, float]


def fuse(signals: Signals, share: Callable[[int], float], *, widen: bool, limit: int) -> list[Scored]:
    """Return the best rows, best first; `share` tells how much of the query a mask covers.

    With `widen`, neighbours of what was found come in as well, though no word of the query is in them.
    Without, the query is a few words that somebody looks for, and they count whole in a text of any length.
    """
    weights = BOTH if signals.vectors else WORDS
    best = max(signals.words.values(), default=0.0) or 1.0
    likest = max(signals.vectors.values(), default=0.0) or 1.0
    signals = signals._replace(
        words={row: score / best for row, score in signals.words.items()},
        vectors={row: value / likest for row, value in signals.vectors.items() if value > 0},
    )
    around = _around(signals)
    rows = set(signals.words) | set(signals.vectors)
    if widen:
        rows |= {row for row, beside in around.items() if beside.mask or beside.vectors}
    long = 1.0 if widen else 0.0  # how much less the words of a long text count
    ranked = [(_score(row, weights, signals, around.get(row, _ALONE), share, long), row) for row in rows]
    ranked.sort(key=lambda each: (-sum(each[0]), -each[1]))
    return [_scored(row, parts) for parts, row in ranked[:limit]]


class _Beside(NamedTuple):
    """What a row's neighbours have; `weight` is 1 unless one of them is long."""

    before: float = 0.0
    near: float = 0.0
    mask: int = 0
    vectors: float = 0.0
    weight: float = 1.0


_ALONE = _Beside()


def _around(signals: Signals) -> dict[int, _Beside]:
    """Look at each row's neighbours within its session, up to two steps away."""
    rows, sessions = signals.line
    count = len(rows)
    words = [signals.words.get(row, 0.0) for row in rows]
    masks = [signals.masks.get(row, 0) for row in rows]
    alike = [signals.vectors.get(row, 0.0) for row in rows]
    concise = [_concise(signals.lengths.get(row, 0)) for row in rows]
    found: dict[int, _Beside] = {}
    for at, row in enumerate(rows):
        session = sessions[at]
        near = [
            other
            for other in (at - 2, at - 1, at + 1, at + 2)
            if 0 <= other < count and sessions[other] == session
        ]
        mask, likest, weight, two = 0, 0.0, 1.0, 0.0
        for other in near:
            if other in (at - 1, at + 1):
                mask |= masks[other]
                likest = max(likest, alike[other])
                weight = min(weight, concise[other])
            else:
                two += words[other] / 2
        before = words[at - 1] * concise[at - 1] if at - 1 in near else 0.0
        if mask or likest or two or before:
            found[row] = _Beside(before, two, mask, likest, weight)
    return found


_PARTS = ("words", "cover", "context", "vectors", "asks")


def _score(
    row: int,
    weights: Weights,
    signals: Signals,
    beside: _Beside,
    share: Callable[[int], float],
    long: float,
) -> tuple[float, ...]:
    """Return what each of the parts gives to a row."""
    mask, length = signals.masks.get(row, 0), signals.lengths.get(row, 0)
    concise, covered = _concise(length), share(mask)
    whole = 1 - long * (1 - concise)
    context = 0.0
    if beside is not _ALONE:
        context = weights.before * beside.before + beside.weight * (
            weights.around * (share(mask | beside.mask) - covered)
            + weights.near * beside.near
            + weights.beside * beside.vectors
        )
    return (
        weights.words * whole * signals.words.get(row, 0.0),
        (weights.cover * whole + weights.cover_long) * covered,
        context,
        (weights.vectors * concise + weights.vectors_long) * signals.vectors.get(row, 0.0),
        weights.asks * max(0.0, 1 + length / _QUESTION) if length < 0 else 0.0,
    )


def _scored(row: int, parts: tuple[float, ...]) -> Scored:
    given = {name: value for name, value in zip(_PARTS, parts, strict=True) if value}
    return Scored(row, max(0.0, sum(parts)), given)


def _concise(length: int) -> float:
    """Return 1 for a short text, less for a longer one."""
    return min(1.0, CONCISE / max(1, abs(length)))


def coverage(expressions: Iterable[tuple[int, float, float]]) -> Callable[[int], float]:
    """Return what tells the share of a query that a mask covers.

    Each expression has the number of its term, how much of the term it is (1: all) and the term's worth; bit
    n of a mask says that expression n stands in the row.
    """
    forms = list(expressions)
    worth = {term: value for term, _, value in forms}
    whole = sum(worth.values()) or 1.0
    known: dict[int, float] = {0: 0.0}

    def share(mask: int) -> float:
        if mask not in known:
            got: dict[int, float] = {}
            for bit, (term, part, _) in enumerate(forms):
                if mask >> bit & 1:
                    got[term] = min(1.0, got.get(term, 0.0) + part)
            known[mask] = sum(worth[term] * part for term, part in got.items()) / whole
        return known[mask]

    return share
