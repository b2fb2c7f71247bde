"""What every embedder promises, and the parts that keep the promise alike in all of them.

Rows have length 1, or 0 for a text that has nothing to embed; a text gives the same row alone and among
others; any text is taken, of any length, with any characters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

LONGEST = 16_000
"""Characters of a text that are embedded; what follows is left out."""


class Embedder(Protocol):
    """Makes vectors of texts."""

    @property
    def name(self) -> str:
        """Stored with every vector; another name means that the vectors can't be compared."""

    @property
    def dimension(self) -> int:
        """How many numbers a vector has. May load the model or ask the endpoint once."""

    @property
    def batch(self) -> int:
        """How many texts are worth giving at once."""

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Return one row per text, of shape (len(texts), dimension).

        `query` tells a question from a passage, for models that were trained to see the difference.
        Raises EmbedderUnavailable when the model can't be loaded or reached.
        """


def clean(text: str, longest: int = LONGEST) -> str:
    """Return the text as a tokenizer can take it, "" if it shows nothing.

    Without half surrogate pairs, which no UTF-8 has, and without NUL, where C ends a text.
    """
    text = text[:longest].replace("\0", " ")
    if not text.isascii():
        text = text.encode("utf-8", "ignore").decode("utf-8")
    return text if any(sign.isprintable() and not sign.isspace() for sign in text) else ""


def normalise(rows: NDArray[np.floating]) -> Vectors:
    """Return the rows with length 1; a row of zeros stays one."""
    import numpy as np

    # The largest number first, in double: squares of very large or small ones leave the range.
    wide = rows.astype(np.float64)
    peak = np.abs(wide).max(axis=1, keepdims=True, initial=0.0)
    wide /= np.where(peak > 0, peak, 1.0)
    length = np.linalg.norm(wide, axis=1, keepdims=True)
    wide /= np.where(length > 0, length, 1.0)
    return wide.astype(np.float32)


def fill(
    embedder: Embedder,
    texts: Sequence[str],
    encode: Callable[[list[str]], NDArray[np.floating]],
    *,
    longest: int = LONGEST,
) -> Vectors:
    """Return normalised rows for all texts, asking `encode` only for those that show something."""
    import numpy as np

    cleaned = [clean(text, longest) for text in texts]
    kept = [row for row, text in enumerate(cleaned) if text]
    if not kept:
        return np.zeros((len(cleaned), embedder.dimension), dtype=np.float32)
    made = normalise(encode([cleaned[row] for row in kept]))
    result = np.zeros((len(cleaned), made.shape[1]), dtype=np.float32)
    result[kept] = made
    return result


def split(text: str, size: int) -> list[str]:
    """Cut the text into parts of at most `size` characters, at white space if there is some."""
    parts = []
    while len(text) > size:
        space = max(text.rfind(" ", size // 2, size), text.rfind("\n", size // 2, size))
        cut = space + 1 if space > 0 else size
        parts.append(text[:cut])
        text = text[cut:]
    return [*parts, text]


def by_parts(
    texts: Sequence[str],
    size: int,
    encode: Callable[[list[str]], NDArray[np.floating]],
) -> NDArray[np.float64]:
    """Embed long texts as the mean of their parts, each weighing what it is long."""
    import numpy as np

    parts = [split(text, size) for text in texts]
    owners = [owner for owner, own in enumerate(parts) for _ in own]
    flat = [part for own in parts for part in own]
    rows = normalise(encode(flat)).astype(np.float64)
    rows *= np.array([[len(part)] for part in flat], dtype=np.float64)
    sums = np.zeros((len(parts), rows.shape[1]))
    np.add.at(sums, owners, rows)
    return sums
