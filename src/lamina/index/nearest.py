"""Find the rows that lie nearest to a question, exactly or nearly so.

All vectors of a store point roughly the same way (they speak of the same work), so their mean is taken off
both sides first; without that, likeness says little. Up to some thousand rows every one is compared. Beyond,
the signs of the numbers are compared first, 64 at a time, and only the rows with the fewest different signs
exactly.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

import numpy as np

from lamina.index import tables
from lamina.index.conditions import Conditions
from lamina.index.places import Places
from lamina.index.vectors import directions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lamina.index.places import Flags
    from lamina.index.vectors import Chunk, Codes, Floats, Numbers, Vectors

EXACT = 4_096  # up to so many rows all are compared exactly
CLOSE = 1_000  # so many of more are, the closest by their signs
LIKEST = 100  # rows that are given back
_SAMPLE = 10_000  # rows whose mean is taken off: those with the lowest numbers, which are as good as drawn
_SETTLED = 20  # vectors until their mean is trusted by half
_FIXED = 1 << 20  # sums are kept in whole numbers, so that their order does not matter
_DRIFT = 0.05  # signs are made anew when the mean moved this far
_MASKS = 32
_FEW = 500  # rows that are put into every mask; for more the masks are made anew
_ALL = (1 << 63) - 1
_PAIR = np.dtype([("meaning", np.int64), ("row", np.int64)])

Filter = tuple[str, tuple[object, ...]]


class Nearest:
    """The vectors of one index in memory, brought up to date when it changed."""

    def __init__(self, db: sqlite3.Connection, vectors: Vectors) -> None:
        self._db = db
        self._vectors = vectors
        self._version: object = None
        self._seen, self._last, self._limit = -1, 0, _ALL
        self._waiting = np.empty(0, _PAIR)
        self._total = np.zeros(vectors.dimension, np.int64)
        self._count = 0
        self._places = Places(vectors, self._centre())
        self._masks: dict[Filter, Flags] = {}

    def likest(self, question: Floats, conditions: Conditions) -> Mapping[int, float]:
        """Return the rows most like a question that the filters let through: row -> cosine, above 0 only."""
        self._catch_up()
        centre = self._centre()
        length = float(np.linalg.norm(question - centre))
        if not len(self._places.rows) or length == 0 or not question.any():
            return {}
        allowed = self._allowed(conditions)
        if np.count_nonzero(allowed) > EXACT:
            at = self._places.closest(question, allowed, CLOSE)
        else:
            at = np.flatnonzero(allowed)
        rows = self._places.rows[at]
        likeness = _cosines(self._places.codes(at), (question - centre) / length, centre)
        best = np.lexsort((-rows, -likeness))[:LIKEST]
        return {int(rows[each]): float(likeness[each]) for each in best if likeness[each] > 0}

    # filters

    def _allowed(self, conditions: Conditions) -> Flags:
        """Return which places the filters let through; remembered, and kept in line with the places."""
        key = (conditions.on("d.row"), tuple(conditions.values))
        if key not in self._masks:
            if len(self._masks) >= _MASKS:
                self._masks.clear()
            self._masks[key] = self._fitting(key, self._places.rows)
        return self._masks[key]

    def _fitting(self, key: Filter, rows: Numbers) -> Flags:
        """Return which of some rows the conditions let through."""
        some = rows.tolist() if len(rows) <= _FEW else []
        within = f" AND d.row IN ({','.join('?' * len(some))})" if some else ""
        sql = f"SELECT d.row FROM doc d WHERE 1{key[0]}{within}"  # noqa: S608 - made of constants
        found = np.fromiter((row for (row,) in self._db.execute(sql, (*key[1], *some))), np.int64)
        return np.isin(rows, found)

    # keeping up

    def _catch_up(self) -> None:
        """Take in what any process changed in words or vectors."""
        (words,) = self._db.execute("PRAGMA data_version").fetchone()
        version = (words, self._db.total_changes, self._vectors.version)
        if version == self._version:
            return
        self._db.execute("BEGIN")  # rows and the list of changes as of one moment
        try:
            self._seen, lines = tables.changes(self._db, self._seen)
            if lines is None:
                self._load()
            else:
                self._follow(lines)
        except BaseException:
            self._seen = -1
            raise
        finally:
            self._db.execute("COMMIT")
        self._version = version

    def _load(self) -> None:
        """Read everything."""
        self._waiting = np.fromiter(self._db.execute("SELECT meaning, row FROM doc"), _PAIR)
        self._waiting.sort(order=["meaning", "row"])
        enough = len(self._waiting) >= _SAMPLE
        self._limit = int(self._waiting["meaning"][_SAMPLE - 1]) if enough else _ALL
        self._total[:], self._count, self._last = 0, 0, 0
        for chunk in self._vectors.until(self._limit):
            at, codes, _ = _matched(self._waiting["meaning"], chunk)
            self._weigh(self._waiting["meaning"][at], codes, 1)
        self._places = Places(self._vectors, self._centre())
        self._masks.clear()
        self._total[:], self._count = 0, 0
        self._arrive()

    def _follow(self, lines: Iterable[tuple[int, int | None]]) -> None:
        """Take away and put in the rows that changed."""
        new: dict[int, int] = {}
        for row, meaning in lines:
            if meaning is not None:
                new[row] = meaning
            elif new.pop(row, None) is None:
                self._remove(row)
        if new:
            pairs = np.array([(meaning, row) for row, meaning in new.items()], _PAIR)
            self._waiting = np.sort(np.concatenate([self._waiting, pairs]), order=["meaning", "row"])
            for chunk in self._vectors.find(sorted(set(new.values()))):
                self._put(chunk)
        self._arrive()
        moved = np.linalg.norm(self._centre() - self._places.centre)
        if len(self._places.rows) > EXACT and moved > _DRIFT:
            self._load()

    def _arrive(self) -> None:
        """Put in the rows whose vectors came since the last look."""
        for chunk in self._vectors.since(self._last):
            self._put(chunk)
            self._last = int(chunk.ids[-1])

    def _put(self, chunk: Chunk) -> None:
        """Put in the rows that wait for these vectors."""
        at, codes, ids = _matched(self._waiting["meaning"], chunk)
        if not len(at):
            return
        came = self._waiting[at]
        self._waiting = np.delete(self._waiting, at)
        rows, meanings = came["row"].copy(), came["meaning"].copy()
        self._weigh(meanings, codes, 1)
        self._places.add(rows, meanings, ids, codes)
        if len(rows) > _FEW:
            self._masks.clear()
        for key, mask in self._masks.items():
            self._masks[key] = np.concatenate([mask, self._fitting(key, rows)])

    def _remove(self, row: int) -> None:
        """Take a row away, whether it has a vector or waits for one."""
        places = self._places
        for at in np.flatnonzero(places.rows == row):
            self._weigh(places.meanings[[at]], places.codes(np.array([at])), -1)
            places.drop(int(at))
            for key, mask in self._masks.items():
                mask[at] = mask[-1]
                self._masks[key] = mask[:-1]
            return
        self._waiting = self._waiting[self._waiting["row"] != row]

    # the mean

    def _weigh(self, meanings: Numbers, codes: Codes, times: int) -> None:
        """Add vectors to the mean, or take them off it, as far as they are of the sample."""
        low = meanings <= self._limit
        fixed = np.rint(directions(codes[low]) * _FIXED).astype(np.int64)
        self._total += times * fixed.sum(axis=0)
        self._count += times * int(np.count_nonzero(low))

    def _centre(self) -> Floats:
        """Return the mean direction, drawn to zero while there are only a few vectors."""
        return (self._total / (_FIXED * (self._count + _SETTLED))).astype(np.float32)


def _matched(wanted: Numbers, chunk: Chunk) -> tuple[Numbers, Codes, Numbers]:
    """Return the places in `wanted` (ascending, doubles too) with a vector in a chunk, its code and id."""
    low = np.searchsorted(wanted, chunk.meanings)
    times = np.searchsorted(wanted, chunk.meanings, side="right") - low
    source = np.repeat(np.arange(len(times)), times)
    step = np.arange(len(source)) - np.repeat(np.cumsum(times) - times, times)
    return low[source] + step, chunk.codes[source], chunk.ids[source]


def _cosines(codes: Codes, direction: Floats, centre: Floats) -> Floats:
    """Return how far each code, less the centre, points in a direction; a code of zeros points nowhere.

    Products of one row after the other: those of the linear algebra library are no quicker here, and its
    threads wait for each other in a loop. On a machine with other work a millisecond then takes a hundred.
    """
    rows = codes.astype(np.float32)
    length = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    along, beside = (
        np.einsum("ij,j->i", rows, side) / np.where(length > 0, length, 1) for side in (direction, centre)
    )
    # |a - c|² is 1 - 2ac + c² for a row of length 1.
    left = np.sqrt(np.maximum(1 - 2 * beside + centre @ centre, 1e-9))
    return np.where(length > 0, (along - direction @ centre) / left, 0).astype(np.float32)
