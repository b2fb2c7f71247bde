"""Rows with their vectors in memory: the signs of all, and the vectors as long as they take little room."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lamina.index.vectors import directions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lamina.index.vectors import Codes, Floats, Numbers, Vectors

_HELD = 256 << 20  # bytes of codes that are kept in memory; beyond, they are read when they are needed
_STEP = 1 << 16  # rows whose signs are compared at once, so that they stay in the processor's cache
_DRAWN = 4_096  # rows that tell about where the closest ones end
_SPARE = 1_024
_FAR = 0xFFFF

Flags = NDArray[np.bool_]


class Places:
    """Each place is a row with the number of what it says and its vector's; places move when one goes."""

    def __init__(self, vectors: Vectors, centre: Floats, held: int = _HELD) -> None:
        self._vectors = vectors
        self._most = held
        self.centre = centre
        self.rows: Numbers = np.empty(0, np.int64)
        self.meanings: Numbers = np.empty(0, np.int64)
        self._ids: Numbers = np.empty(0, np.int64)
        self._signs = np.empty((-(-vectors.dimension // 64), 0), np.uint64)
        self._codes: Codes | None = np.empty((0, vectors.dimension), np.int8)

    def add(self, rows: Numbers, meanings: Numbers, ids: Numbers, codes: Codes) -> None:
        """Add places at the end."""
        count, after = len(self.rows), len(self.rows) + len(rows)
        self.rows = np.concatenate([self.rows, rows])
        self.meanings = np.concatenate([self.meanings, meanings])
        self._ids = np.concatenate([self._ids, ids])
        self._signs = _with_room(self._signs, after, 1)
        self._signs[:, count:after] = _packed(directions(codes) - self.centre).T
        if self._codes is not None and after * self._vectors.dimension > self._most:
            self._codes = None
        if self._codes is not None:
            self._codes = _with_room(self._codes, after, 0)
            self._codes[count:after] = codes

    def drop(self, at: int) -> None:
        """Remove a place; the last one takes its number."""
        last = len(self.rows) - 1
        for column in (self.rows, self.meanings, self._ids):
            column[at] = column[last]
        self._signs[:, at] = self._signs[:, last]
        if self._codes is not None:
            self._codes[at] = self._codes[last]
        self.rows, self.meanings, self._ids = self.rows[:last], self.meanings[:last], self._ids[:last]

    def codes(self, at: Numbers) -> Codes:
        """Return the stored vectors of some places; zeros for one that is gone from the disk."""
        if self._codes is not None:
            return self._codes[at]
        ids = self._ids[at].tolist()
        found = self._vectors.codes(ids)
        blank = bytes(self._vectors.dimension)
        whole = b"".join(found.get(each, blank) for each in ids)
        return np.frombuffer(whole, np.int8).reshape(-1, len(blank))

    def closest(self, question: Floats, allowed: Flags, most: int) -> Numbers:
        """Return the allowed places whose signs differ least from a question's; of equals, the newest."""
        wanted = _packed((question - self.centre)[None, :])[0]
        differing = np.empty(len(self.rows), np.uint16)
        for start in range(0, len(differing), _STEP):
            part = differing[start : start + _STEP]
            part[:] = 0
            for word, signs in zip(wanted, self._signs, strict=True):
                part += np.bitwise_count(signs[start : start + len(part)] ^ word)
        differing[~allowed] = _FAR
        at = self._near(differing, most)
        return at[np.lexsort((-self.rows[at], differing[at]))[:most]]

    def _near(self, differing: NDArray[np.uint16], most: int) -> Numbers:
        """Return not many more than `most` places, among them those that differ least."""
        drawn = np.sort(differing[:: max(1, len(differing) // _DRAWN)])
        end = min(len(drawn) - 1, 1 + 2 * most * len(drawn) // len(differing))
        at = np.flatnonzero(differing <= drawn[end])
        if len(at) < most:
            return np.flatnonzero(differing < _FAR)
        return at


def _with_room(array: NDArray[Any], length: int, axis: int) -> NDArray[Any]:
    """Return the array with room for `length` along an axis, and for some more."""
    if array.shape[axis] >= length:
        return array
    shape = list(array.shape)
    shape[axis] = length + length // 8 + _SPARE
    larger = np.zeros(shape, array.dtype)
    larger[tuple(slice(each) for each in array.shape)] = array
    return larger


def _packed(rows: Floats) -> NDArray[np.uint64]:
    """Return the signs of each row, 64 to a number."""
    bits = np.packbits(rows > 0, axis=1)
    return np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8))).view(np.uint64)
