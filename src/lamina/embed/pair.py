"""Token vectors and the multilingual encoder side by side, as one vector.

Token vectors are better at English, the encoder at other scripts, and both together better than either: their
products add up, weighed by how much of a text is beyond Latin letters. Weights chosen by hit@5 of the whole
search on the project's own set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lamina.embed import base, use, wordllama
from lamina.embed.question import ask

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from lamina.embed.base import Embedder, Vectors

_LATIN = 0.5
_OTHER = 0.05
"""What token vectors weigh in a text of Latin letters, and in one that is half or more in other scripts."""
_END_OF_LATIN = "\u024f"


class Pair:
    """Two embedders whose products add up."""

    def __init__(self, words: Embedder, sentences: Embedder) -> None:
        self._words = words
        self._sentences = sentences
        self.name = f"{words.name}+{sentences.name}/{_LATIN}-{_OTHER}"
        self.dimension = words.dimension + sentences.dimension
        self.batch = sentences.batch

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Embed with both."""
        return base.fill(self, texts, lambda kept: self._encode(kept, query=query))

    def weigh(self, text: str, worth: Mapping[str, float]) -> Vectors:
        """Embed a question with both, its words weighed where that can be done."""
        import numpy as np

        share = weight(text)
        words = ask(self._words, text, worth) * np.sqrt(share)
        sentences = ask(self._sentences, text, worth) * np.sqrt(1 - share)
        return np.hstack([words, sentences]).astype(np.float32)

    def _encode(self, texts: list[str], *, query: bool) -> NDArray[np.float64]:
        import numpy as np

        share = np.array([[weight(text)] for text in texts])
        words = self._words.embed(texts, query=query)
        sentences = self._sentences.embed(texts, query=query)
        return np.hstack([words * np.sqrt(share), sentences * np.sqrt(1 - share)])


def weight(text: str) -> float:
    """Return what token vectors weigh for this text, from 0 to 1."""
    letters = [sign for sign in text if sign.isalpha()]
    beyond = sum(sign > _END_OF_LATIN for sign in letters)
    other = min(1.0, 2 * beyond / len(letters)) if letters else 0.0
    return _LATIN - (_LATIN - _OTHER) * other


def find() -> Pair:
    """Return the pair of the installed packages. Raises EmbedderUnavailable."""
    return Pair(wordllama.find(), use.find())
