"""A sentence encoder small enough to be written by hand: a table of word vectors, as an ONNX file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers, processors

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "port", "bread", "query:", "passage:", "ask:"]
TABLE = np.eye(len(WORDS), dtype=np.float32)
FLOAT, INT64 = 1, 7


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(raw)) + raw


def _value(name: str, kind: int, *shape: str | int) -> bytes:
    dims = b"".join(
        _bytes(1, _number(1, size) if isinstance(size, int) else _bytes(2, size)) for size in shape
    )
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, dims)))


def _node(kind: str, given: list[str], made: str, more: bytes = b"") -> bytes:
    return b"".join(_bytes(1, name) for name in given) + _bytes(2, made) + _bytes(4, kind) + more


def model(*, wants: str = "input_ids", whole: bool = False, named: bool = True) -> bytes:
    """Return an ONNX file that looks words up; with `whole` it gives their mean, not one row a word."""
    width = TABLE.shape[1] if named else "width"
    nodes = [_node("Gather", ["table", wants], "last_hidden_state")]
    output = _value("last_hidden_state", FLOAT, "batch", "length", width)
    outputs = [output]
    if whole:
        axes = _bytes(1, "axes") + _number(8, 1) + _number(20, 7)
        keep = _bytes(1, "keepdims") + _number(3, 0) + _number(20, 2)
        nodes.append(
            _node(
                "ReduceMean", ["last_hidden_state"], "sentence_embedding", _bytes(5, axes) + _bytes(5, keep)
            )
        )
        outputs.append(_value("sentence_embedding", FLOAT, "batch", width))
    table = b"".join(_number(1, size) for size in TABLE.shape)
    table += _number(2, FLOAT) + _bytes(8, "table") + _bytes(9, TABLE.tobytes())
    graph = b"".join(_bytes(1, node) for node in nodes) + _bytes(2, "tiny") + _bytes(5, table)
    graph += _bytes(11, _value(wants, INT64, "batch", "length"))
    graph += b"".join(_bytes(12, output) for output in outputs)
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _number(2, 13))


def folder(path: Path, content: bytes | None = None, **files: object) -> Path:
    """Write a model's folder; `files` are JSON values under their names, `__` for `/`, without `.json`."""
    path.mkdir(parents=True, exist_ok=True)
    (path / "model.onnx").write_bytes(model() if content is None else content)
    words = Tokenizer(models.WordLevel({word: row for row, word in enumerate(WORDS)}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    words.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    words.save(str(path / "tokenizer.json"))
    for name, value in files.items():
        file = path / (name.replace("__", "/") + ".json")
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(value), encoding="utf-8")
    return path
