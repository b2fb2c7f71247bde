"""A folder with an ONNX sentence encoder, as model hubs lay it out: what its files say about its use."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from lamina import errors
from lamina.formats.frozen import NamedTuple

_MODELS = (
    "model.onnx",
    "onnx/model.onnx",
    "model_quantized.onnx",
    "onnx/model_quantized.onnx",
    "onnx/model_int8.onnx",
)
_LONGEST = 512
_POOLINGS = {"pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean"}
_E5 = re.compile(r"(?:^|[^a-z0-9])e5(?:[^a-z0-9]|$)", re.IGNORECASE)
_BLOCK = 1 << 16


class Recipe(NamedTuple):
    """How a model turns text into a vector. `length` is the most tokens that it takes at once."""

    name: str
    model: Path
    tokenizer: Path
    pooling: str = "mean"
    length: int = _LONGEST
    query: str = ""
    passage: str = ""


def read(folder: Path) -> Recipe:
    """Read a model's folder. Raises EmbedderUnavailable, naming the file that is missing or unusable."""
    if not folder.is_dir():
        raise errors.EmbedderUnavailable(
            f"there is no folder {folder}", "name the folder of an ONNX model: onnx:FOLDER"
        )
    model = next((folder / name for name in _MODELS if (folder / name).is_file()), None)
    if model is None:
        raise errors.EmbedderUnavailable(
            f"{folder} has no ONNX model", f"put one of these files there: {', '.join(_MODELS)}"
        )
    tokenizer = folder / "tokenizer.json"
    if not tokenizer.is_file():
        raise errors.EmbedderUnavailable(
            f"{folder} has no tokenizer.json", "put the model's tokenizer.json beside the model"
        )
    query, passage = _prefixes(folder)
    return named(
        Recipe(folder.resolve().name, model, tokenizer, _pooling(folder), _length(folder), query, passage),
        "onnx",
    )


def named(recipe: Recipe, family: str) -> Recipe:
    """Return the recipe with its full name, which changes with the model, the tokenizer and their use."""
    mark = hashlib.sha256(repr(recipe[3:]).encode())
    for path in (recipe.model, recipe.tokenizer):
        mark.update(_sample(path))
    return recipe._replace(name=f"{family}/{recipe.name}@{mark.hexdigest()[:8]}")


def _sample(path: Path) -> bytes:
    """Digest a file's size and 32 blocks spread over it: all of a large model takes a second to read."""
    size = path.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        for step in range(32):
            file.seek(step * max(0, size - _BLOCK) // 31)
            digest.update(file.read(_BLOCK))
    return digest.digest()


def _config(path: Path) -> dict[str, Any]:
    """Return a JSON object, empty if there is no such file."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as fault:
        raise errors.EmbedderUnavailable(
            f"{path} can't be read: {fault}", "take the file from the model's origin anew, or delete it"
        ) from fault
    return value if isinstance(value, dict) else {}


def _pooling(folder: Path) -> str:
    config = _config(folder / "1_Pooling" / "config.json")
    modes = sorted(key for key, on in config.items() if key.startswith("pooling_mode_") and on is True)
    if not modes:
        return "mean"
    if len(modes) > 1 or modes[0] not in _POOLINGS:
        raise errors.EmbedderUnavailable(
            f"{folder} asks for a pooling that Lamina has not: {', '.join(modes)}",
            "use a model with mean or cls pooling",
        )
    return _POOLINGS[modes[0]]


def _length(folder: Path) -> int:
    config = _config(folder / "config.json")
    limits = [
        _config(folder / "sentence_bert_config.json").get("max_seq_length"),
        _config(folder / "tokenizer_config.json").get("model_max_length"),
        config.get("max_position_embeddings"),
    ]
    known = [limit for limit in limits if isinstance(limit, int) and limit > 2]
    return min([_LONGEST, *known])


def _prefixes(folder: Path) -> tuple[str, str]:
    """Return what stands before a question and before a passage."""
    prompts = _config(folder / "config_sentence_transformers.json").get("prompts")
    if isinstance(prompts, dict) and any(prompts.values()):
        passage = prompts.get("passage") or prompts.get("document") or ""
        return str(prompts.get("query") or ""), str(passage)
    origin = str(_config(folder / "config.json").get("_name_or_path", ""))
    if _E5.search(folder.resolve().name) or _E5.search(origin):
        return "query: ", "passage: "
    return "", ""
