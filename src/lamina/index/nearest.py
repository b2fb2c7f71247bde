"""Find the rows that lie nearest to a question, exactly or nearly so.

All vectors of a store point roughly the same way (they speak of the same work), so their mean is taken off
both sides first; without that, likeness says little. Up to some thousand rows every one is compared. Beyond,
the signs of the numbers are compared first, 64 at a time, and only the rows with the fewest different signs
exactly: some 2 ms for 100,000 rows.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from lamina.index.conditions import Conditions
from lamina.index.vectors import Vectors, directions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lamina.index.vectors import Codes

EXACT = 4_096  # up to so many rows all are compared exactly
CLOSE = 1_000  # so many of more are, the closest by their signs
LIKEST = 100  # rows that are given back
_SETTLED = 20  # vectors until their mean is trusted by half
_HELD = 256 << 20  # bytes of codes that are kept in memory
_MASKS = 64

Rows = NDArray[np.int64]


class Nearest:
    """The vectors of one index in memory, brought up to date when it changed."""

    def __init__(self, db: sqlite3.Connection, vectors: Vectors) -> None:
        self._db = db
        self._vectors = vectors
        self._version: object = None
        self._rows: Rows = np.empty(0, np.int64)
        self._meanings: Rows = np.empty(0, np.int64)
        self._codes: Codes | None = None
        self._signs: NDArray[np.uint64] = np.empty((0, 0), np.uint64)
        self._centre = np.zeros(vectors.dimension, np.float32)
        self._masks: dict[tuple[str, tuple[object, ...]], NDArray[np.bool_]] = {}

    def likest(self, question: NDArray[np.float32], conditions: Conditions) -> Mapping[int, float]:
        """Return the rows most like a question that the filters let through: row -> cosine, above 0 only."""
        self._catch_up()
        q = question - self._centre
        length = float(np.linalg.norm(q))
        if not len(self._rows) or length == 0 or not question.any():
            return {}
        places = self._allowed(conditions)
        if len(places) > EXACT:
            places = places[self._closest(q, places)]
        likeness = self._directions(places) @ (q / length)
        best = np.argsort(-likeness, kind="stable")[:LIKEST]
        return {int(self._rows[places[at]]): float(likeness[at]) for at in best if likeness[at] > 0}

    def _closest(self, q: NDArray[np.float32], places: Rows) -> Rows:
        """Return which places have the fewest signs that differ from the question's."""
        signs = self._signs if len(places) == len(self._rows) else self._signs[places]
        differing = np.bitwise_count(signs ^ _packed(q[None, :])).sum(axis=1, dtype=np.uint16)
        return np.argpartition(differing, CLOSE)[:CLOSE]

    def _directions(self, places: Rows) -> NDArray[np.float32]:
        """Return the centred vectors of some places with length 1."""
        if self._codes is not None:
            rows = directions(self._codes[places])
        else:
            found = self._vectors.get([int(self._meanings[place]) for place in places])
            rows = directions(self._decoded([found.get(int(self._meanings[place]), b"") for place in places]))
        rows -= self._centre
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / np.where(length > 0, length, 1)

    def _decoded(self, codes: list[bytes]) -> Codes:
        blank = bytes(self._vectors.dimension)
        whole = b"".join(code if len(code) == len(blank) else blank for code in codes)
        return np.frombuffer(whole, np.int8).reshape(-1, self._vectors.dimension)

    def _allowed(self, conditions: Conditions) -> Rows:
        """Return the places of the rows that the filters let through; remembered until the index changes."""
        key = (conditions.on("d.row"), tuple(conditions.values))
        if key not in self._masks:
            if len(self._masks) >= _MASKS:
                self._masks.clear()
            sql = f"SELECT d.row FROM doc d WHERE 1{key[0]}"  # noqa: S608 - conditions are made of constants
            allowed = np.fromiter((row for (row,) in self._db.execute(sql, key[1])), np.int64)
            self._masks[key] = np.isin(self._rows, allowed)
        return np.flatnonzero(self._masks[key])

    def _catch_up(self) -> None:
        """Take in what any process changed in words or vectors."""
        (words,) = self._db.execute("PRAGMA data_version").fetchone()
        version = (words, self._db.total_changes, self._vectors.version)
        if version == self._version:
            return
        self._version = version
        self._masks.clear()
        found = np.array(self._db.execute("SELECT meaning, row FROM doc").fetchall(), np.int64).reshape(-1, 2)
        found = found[np.lexsort((found[:, 1], found[:, 0]))]
        self._fill(found)

    def _fill(self, found: Rows) -> None:
        """Read the vectors of all rows; found is sorted by meaning, so are the vectors."""
        wanted, dimension = found[:, 0], self._vectors.dimension
        rows, meanings, codes = [], [], []
        for numbers, packed in self._vectors.all():
            part = np.frombuffer(packed, np.int8).reshape(-1, dimension)
            chunk = np.array(numbers, np.int64)
            low = np.searchsorted(wanted, chunk[0])
            high = np.searchsorted(wanted, chunk[-1], side="right")
            at = np.searchsorted(chunk, wanted[low:high])
            at = np.minimum(at, len(chunk) - 1)
            hit = chunk[at] == wanted[low:high]
            rows.append(found[low:high, 1][hit])
            meanings.append(wanted[low:high][hit])
            codes.append(part[at[hit]])
        self._rows = np.concatenate(rows) if rows else np.empty(0, np.int64)
        self._meanings = np.concatenate(meanings) if meanings else np.empty(0, np.int64)
        self._centre = _centre(codes, dimension)
        self._signs = np.concatenate([_packed(directions(part) - self._centre) for part in codes] or [_none(dimension)])
        held = sum(part.nbytes for part in codes) <= _HELD
        self._codes = np.concatenate(codes) if held and codes else None


def _centre(codes: list[Codes], dimension: int) -> NDArray[np.float32]:
    """Return the mean direction, drawn to zero while there are only a few vectors."""
    total, count = np.zeros(dimension), 0
    for part in codes:
        total += directions(part).sum(axis=0, dtype=np.float64)
        count += len(part)
    return (total / (count + _SETTLED)).astype(np.float32)


def _packed(rows: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Return the signs of each row, 64 to a number."""
    bits = np.packbits(rows > 0, axis=1)
    spare = -bits.shape[1] % 8
    return np.pad(bits, ((0, 0), (0, spare))).view(np.uint64)


def _none(dimension: int) -> NDArray[np.uint64]:
    return np.empty((0, -(-dimension // 64)), np.uint64)
