"""Put the signals about a row together: one score, and what each signal gave to it.

Each signal lies between 0 and 1 and means the same in every query, so that a weight says what it is worth:

- words: the row's BM25, as a share of the best row's
- cover: the share of what was asked that stands in the row, each word by how rare it is
- around: the same for the row with the ones before and after it in its session
- before, after: the BM25 of the neighbours; answers stand beside questions
- near: that of the rows two steps away
- vectors: how alike query and row are in meaning, as a share of the best row's likeness
- asks: the row ends with a question; who asks seldom tells

The weights were learnt by a listwise regression on one half of the questions of three sets (dialogues by
turn, long chats by message, the project's own set) and rounded; `docs/reference/retrieval.md` tells what
they give on the other half.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from lamina.formats.frozen import NamedTuple


class Weights(NamedTuple):
    """What each signal is worth."""

    words: float
    cover: float
    around: float
    before: float
    after: float
    near: float
    asks: float
    vectors: float = 0.0
    beside: float = 0.0


WORDS = Weights(words=3.2, cover=1.4, around=2.8, before=1.5, after=1.0, near=0.9, asks=-0.5)
BOTH = Weights(
    words=1.3, cover=1.8, around=3.2, before=1.3, after=0.0, near=3.0, asks=-1.7, vectors=2.3, beside=1.7
)


class Line(NamedTuple):
    """The rows of some sessions in order, each with its session."""

    rows: Sequence[int]
    sessions: Sequence[str]


class Signals(NamedTuple):
    """What is known about the rows: scores from words, masks of found expressions, likeness in meaning."""

    words: Mapping[int, float]
    masks: Mapping[int, int]
    vectors: Mapping[int, float]
    asks: frozenset[int]
    line: Line


class Scored(NamedTuple):
    """A row with its score and the parts that add up to it."""

    row: int
    score: float
    parts: Mapping[str, float]


def fuse(signals: Signals, share: Callable[[int], float], *, widen: bool) -> list[Scored]:
    """Return the rows, best first; `share` tells how much of the query a mask covers.

    With `widen`, neighbours of what was found come in as well, though no word of the query is in them.
    """
    weights = BOTH if signals.vectors else WORDS
    best = max(signals.words.values(), default=0.0) or 1.0
    words = {row: score / best for row, score in signals.words.items()}
    likest = max(signals.vectors.values(), default=0.0) or 1.0
    vectors = {row: value / likest for row, value in signals.vectors.items() if value > 0}
    around = _around(signals.line, words, signals.masks, vectors)
    rows = set(words) | set(vectors)
    if widen:
        rows |= {row for row, beside in around.items() if beside.any}
    scored = [
        _score(row, weights, words, vectors, around.get(row, _ALONE), signals, share) for row in rows
    ]
    scored.sort(key=lambda each: (-each.score, -each.row))
    return scored


class _Beside(NamedTuple):
    """What a row's neighbours have."""

    before: float = 0.0
    after: float = 0.0
    near: float = 0.0
    mask: int = 0
    vectors: float = 0.0

    @property
    def any(self) -> bool:
        return bool(self.mask or self.vectors)


_ALONE = _Beside()


def _around(
    line: Line, words: Mapping[int, float], masks: Mapping[int, int], vectors: Mapping[int, float]
) -> dict[int, _Beside]:
    """Look at each row's neighbours within its session, up to two steps away."""
    rows, sessions, count = line.rows, line.sessions, len(line.rows)
    score = [words.get(row, 0.0) for row in rows]
    found: dict[int, _Beside] = {}

    def same(at: int, other: int) -> bool:
        return 0 <= other < count and sessions[at] == sessions[other]

    for at, row in enumerate(rows):
        next_to = [other for other in (at - 1, at + 1) if same(at, other)]
        mask = 0
        for other in next_to:
            mask |= masks.get(rows[other], 0)
        found[row] = _Beside(
            score[at - 1] if same(at, at - 1) else 0.0,
            score[at + 1] if same(at, at + 1) else 0.0,
            sum(score[other] for other in (at - 2, at + 2) if same(at, other)) / 2,
            mask,
            max((vectors.get(rows[other], 0.0) for other in next_to), default=0.0),
        )
    return found


def _score(  # noqa: PLR0913 - the signals, each once
    row: int,
    weights: Weights,
    words: Mapping[int, float],
    vectors: Mapping[int, float],
    beside: _Beside,
    signals: Signals,
    share: Callable[[int], float],
) -> Scored:
    mask = signals.masks.get(row, 0)
    context = (
        weights.around * share(mask | beside.mask)
        + weights.before * beside.before
        + weights.after * beside.after
        + weights.near * beside.near
        + weights.beside * beside.vectors
    )
    parts = {
        "words": weights.words * words.get(row, 0.0),
        "cover": weights.cover * share(mask),
        "context": context,
        "vectors": weights.vectors * vectors.get(row, 0.0),
        "asks": weights.asks if row in signals.asks else 0.0,
    }
    given = {name: value for name, value in parts.items() if value}
    return Scored(row, max(0.0, sum(given.values())), given)


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
