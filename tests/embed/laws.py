"""What holds for every embedder; each one's tests inherit it and say how it is made."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

ANY = st.text(st.characters(exclude_categories=()), max_size=60)
"""Any Unicode text: control characters, emoji, half surrogate pairs."""

ODD = [
    "",
    " \n\t ",
    "\x00",
    "\ud800",
    "\u200b\u202e\x07",
    "🙂",
    "👨‍👩‍👧",
    "a",
    "port 8443 für den Übergang",
    "ステージング環境のポート",
    "스테이징 데이터베이스",
    "数据库在哪里",
    "العربية",
    "a\x00b\ud800c",
    "[CLS] <s> </s> <unk> [SEP]",
]
SILENT = {"", " \n\t ", "\x00", "\ud800", "\u200b\u202e\x07"}

steady = settings(max_examples=30, suppress_health_check=[HealthCheck.differing_executors])


class Laws:
    """Inherit with a fixture `embedder`."""

    def test_empty_input_has_no_rows(self, embedder):
        rows = embedder.embed([])
        assert rows.shape == (0, embedder.dimension)
        assert rows.dtype == np.float32

    def test_rows_of_odd_texts_have_length_one_or_zero(self, embedder):
        rows = embedder.embed(ODD)
        assert rows.shape == (len(ODD), embedder.dimension)
        assert rows.dtype == np.float32
        lengths = np.linalg.norm(rows, axis=1)
        for text, length in zip(ODD, lengths, strict=True):
            assert abs(length - (text not in SILENT)) < 1e-5, ascii(text)

    def test_long_texts_have_a_row(self, embedder):
        texts = [
            "x" * 100_000,
            "字" * 33_000,
            "the port is open " * 6_000,
            "\x01" * 100_000 + "a",
            "🙂" * 25_000,
        ]
        lengths = np.linalg.norm(embedder.embed(texts), axis=1)
        np.testing.assert_allclose(lengths, [1, 1, 1, 0, 1], atol=1e-5)

    @steady
    @given(texts=st.lists(ANY, max_size=5))
    def test_any_text_has_one_row_alone_and_among_others(self, embedder, texts):
        together = embedder.embed(texts)
        assert together.shape == (len(texts), embedder.dimension)
        lengths = np.linalg.norm(together, axis=1)
        assert np.all((abs(lengths - 1) < 1e-5) | (lengths == 0))
        alone = [embedder.embed([text])[0] for text in texts]
        for one, row in zip(alone, together, strict=True):
            np.testing.assert_allclose(one, row, atol=1e-4)

    def test_a_question_has_one_row_too(self, embedder):
        rows = embedder.embed(["which port is open?", ""], query=True)
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1, 0], atol=1e-5)

    def test_more_texts_than_a_batch_keep_their_order(self, embedder):
        texts = [f"port {number}" for number in range(embedder.batch + 3)]
        rows = embedder.embed(texts)
        np.testing.assert_allclose(rows[-1], embedder.embed(texts[-1:])[0], atol=1e-4)
        np.testing.assert_allclose(rows[0], embedder.embed(texts[:1])[0], atol=1e-4)

    def test_its_name_is_one_line_without_spaces(self, embedder):
        assert embedder.name == "".join(embedder.name.split())
        assert embedder.batch > 0


def nearest(embedder, question: str, passages: list[str]) -> str:
    """Return the passage that the embedder finds nearest."""
    scores = embedder.embed(passages) @ embedder.embed([question], query=True)[0]
    return passages[int(scores.argmax())]
