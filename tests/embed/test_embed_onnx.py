"""ONNX models from a folder."""

from __future__ import annotations

import numpy as np
import pytest
from tests.embed import tiny
from tests.embed.laws import Laws

from lamina.embed.choose import choose
from lamina.errors import EmbedderUnavailable

CLS = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False, "word_embedding_dimension": 9}


def words(embedder, text: str, *, query: bool = False) -> dict[str, float]:
    """Return which words the vector is made of, and how much."""
    row = embedder.embed([text], query=query)[0]
    return {word: round(float(value), 3) for word, value in zip(tiny.WORDS, row, strict=True) if value}


def mixed(**counts: int) -> dict[str, float]:
    """Return the vector of a bag of words."""
    bag = {"[CLS]": 1, "[SEP]": 1} | counts
    length = sum(count**2 for count in bag.values()) ** 0.5
    return {word: round(count / length, 3) for word, count in bag.items()}


class TestTiny(Laws):
    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls, tmp_path_factory):
        return choose(f"onnx:{tiny.folder(tmp_path_factory.mktemp('model') / 'tiny')}", env={})


def test_the_mean_of_the_tokens_is_the_rule(tmp_path):
    embedder = choose(f"onnx:{tiny.folder(tmp_path)}", env={})
    assert words(embedder, "port port bread") == mixed(port=2, bread=1)


def test_the_first_token_where_the_model_says_so(tmp_path):
    tiny.folder(tmp_path, **{"1_Pooling__config": CLS})
    assert words(choose(f"onnx:{tmp_path}", env={}), "port") == {"[CLS]": 1.0}


@pytest.mark.parametrize("named", [True, False])
def test_a_finished_vector_is_taken_as_it_is(tmp_path, named):
    tiny.folder(tmp_path, tiny.model(whole=True, named=named), **{"1_Pooling__config": CLS})
    embedder = choose(f"onnx:{tmp_path}", env={})
    assert embedder.dimension == len(tiny.WORDS)
    assert words(embedder, "port") == mixed(port=1)


def test_a_width_that_the_model_does_not_tell_is_found(tmp_path):
    tiny.folder(tmp_path, tiny.model(named=False))
    assert choose(f"onnx:{tmp_path}", env={}).embed([]).shape == (0, len(tiny.WORDS))


@pytest.mark.parametrize("name", ["multilingual-e5-small", "e5", "E5_base"])
def test_models_of_the_e5_family_have_their_prefixes(tmp_path, name):
    embedder = choose(f"onnx:{tiny.folder(tmp_path / name)}", env={})
    assert words(embedder, "port") == mixed(**{"passage:": 1, "port": 1})
    assert words(embedder, "port", query=True) == mixed(**{"query:": 1, "port": 1})


def test_other_names_have_none(tmp_path):
    embedder = choose(f"onnx:{tiny.folder(tmp_path / 'rune5-small')}", env={})
    assert words(embedder, "port") == words(embedder, "port", query=True) == mixed(port=1)


def test_prompts_of_the_configuration_come_first(tmp_path):
    prompts = {"prompts": {"query": "ask: "}}
    embedder = choose(f"onnx:{tiny.folder(tmp_path / 'e5', config_sentence_transformers=prompts)}", env={})
    assert words(embedder, "port", query=True) == mixed(**{"ask:": 1, "port": 1})
    assert words(embedder, "port") == mixed(port=1)


def test_long_texts_go_in_stretches_up_to_a_limit(tmp_path):
    tiny.folder(tmp_path, sentence_bert_config={"max_seq_length": 6})
    embedder = choose(f"onnx:{tmp_path}", env={})
    assert words(embedder, "port " * 4 + "bread " * 4) == pytest.approx(mixed(port=2, bread=2), abs=0.001)
    assert "bread" not in words(embedder, "port " * 16 + "bread")


def test_the_name_changes_with_the_files_and_their_use(tmp_path):
    names = [
        choose(f"onnx:{folder}", env={}).name
        for folder in (
            tiny.folder(tmp_path / "a" / "m"),
            tiny.folder(tmp_path / "b" / "m", tiny.model(whole=True)),
            tiny.folder(tmp_path / "c" / "m", **{"1_Pooling__config": CLS}),
            tiny.folder(tmp_path / "d" / "m", sentence_bert_config={"max_seq_length": 6}),
            tiny.folder(tmp_path / "e" / "m", config_sentence_transformers={"prompts": {"query": "ask: "}}),
        )
    ]
    assert len(set(names)) == len(names)
    assert all(name.startswith("onnx/m@") for name in names)
    assert choose(f"onnx:{tiny.folder(tmp_path / 'f' / 'm')}", env={}).name == names[0]


def test_a_folder_below_home(tmp_path):
    tiny.folder(tmp_path / "models" / "m")
    assert choose("onnx:~/models/m", env={"HOME": str(tmp_path)}).name.startswith("onnx/m@")


@pytest.mark.parametrize("folder", ["model", "./model", "~/model"])
def test_a_folder_that_depends_on_where_we_stand_is_refused(folder, tmp_path, monkeypatch):
    tiny.folder(tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(EmbedderUnavailable, match="depends on where") as refused:
        choose(f"onnx:{folder}", env={})
    assert "whole path" in refused.value.hint


def test_the_quantised_model_is_found(tmp_path):
    (tiny.folder(tmp_path) / "model.onnx").rename(tmp_path / "model_quantized.onnx")
    np.testing.assert_allclose(np.linalg.norm(choose(f"onnx:{tmp_path}", env={}).embed(["port"])), 1)


def refused(tmp_path) -> EmbedderUnavailable:
    with pytest.raises(EmbedderUnavailable) as caught:
        choose(f"onnx:{tmp_path}", env={}).embed(["port"])
    assert caught.value.kind == "embedder"
    assert caught.value.exit_code == 1
    assert caught.value.hint
    return caught.value


def test_missing_files_are_named(tmp_path):
    assert "no folder" in refused(tmp_path / "nowhere").message
    assert "no ONNX model" in refused(tmp_path).message
    (tiny.folder(tmp_path) / "tokenizer.json").unlink()
    assert "no tokenizer.json" in refused(tmp_path).message


def test_what_is_no_model_is_named(tmp_path):
    assert "can't be used" in refused(tiny.folder(tmp_path, b"no model")).message
    assert "inputs pixels" in refused(tiny.folder(tmp_path, tiny.model(wants="pixels"))).message


def test_a_vocabulary_that_is_too_large_for_the_model_is_named(tmp_path):
    tiny.folder(tmp_path)
    file = tmp_path / "tokenizer.json"
    file.write_text(file.read_text(encoding="utf-8").replace('"port": 4', '"port": 400'), encoding="utf-8")
    assert "can't be used" in refused(tmp_path).message


def test_another_pooling_is_refused(tmp_path):
    pooling = {"pooling_mode_lasttoken": True}
    assert "lasttoken" in refused(tiny.folder(tmp_path, **{"1_Pooling__config": pooling})).message


def test_a_damaged_configuration_is_named(tmp_path):
    (tiny.folder(tmp_path) / "config.json").write_text("{", encoding="utf-8")
    assert "config.json" in refused(tmp_path).message
