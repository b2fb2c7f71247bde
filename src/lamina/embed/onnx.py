"""Sentence encoders in ONNX form, run by `onnxruntime` on the processor.

Texts go through one by one: measured on MiniLM with 60-word texts, batches of 1 or 2 were the fastest (25
texts per CPU second, 21 in batches of 8, 15 in batches of 32) and took half the memory. Nothing is padded,
so a text's vector can't depend on its neighbours, not even with models that quantise as they run.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from lamina import errors
from lamina.embed import base, package, tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Encoding, Tokenizer

    from lamina.embed.base import Vectors
    from lamina.embed.folder import Recipe

_PIECES = 4
"""Stretches of a long text that are embedded, each as long as the model takes."""
_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids", "position_ids"})


class Onnx:
    """One model, loaded when it is first used."""

    batch = 16

    def __init__(self, recipe: Recipe, threads: int) -> None:
        self._recipe = recipe
        self._threads = threads

    @property
    def name(self) -> str:
        """The model's name with a mark of its files and their use."""
        return self._recipe.name

    @cached_property
    def dimension(self) -> int:
        """The length of the model's vectors."""
        last = self._output.shape[-1]
        return last if isinstance(last, int) else self._vector("a").shape[0]

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Embed with the prefix that the model wants for questions or passages."""
        prefix = self._recipe.query if query else self._recipe.passage
        return base.fill(self, texts, lambda kept: self._encode([prefix + text for text in kept]))

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        tokenizer = tokens.load(self._recipe.tokenizer)
        tokenizer.enable_truncation(self._recipe.length)
        return tokenizer

    @cached_property
    def _faults(self) -> tuple[type[Exception], ...]:
        """What `onnxruntime` raises: a dozen classes without a common root."""
        state = package.load("onnxruntime.capi.onnxruntime_pybind11_state", "onnxruntime")
        kinds = tuple(k for k in vars(state).values() if isinstance(k, type) and issubclass(k, Exception))
        return (*kinds, RuntimeError, ValueError)

    @cached_property
    def _session(self) -> Any:
        runtime = package.load("onnxruntime", "onnxruntime")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # Threads that wait in a loop halve the speed as soon as another program runs beside them.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            session = runtime.InferenceSession(
                str(self._recipe.model), options, providers=["CPUExecutionProvider"]
            )
        except self._faults as fault:
            raise self._unusable(fault) from fault
        if odd := {field.name for field in session.get_inputs()} - _INPUTS:
            raise self._unusable(f"it wants the inputs {', '.join(sorted(odd))}")
        return session

    @cached_property
    def _output(self) -> Any:
        """The output that is read: a finished vector if there is one, else one vector per token."""
        outputs = [field for field in self._session.get_outputs() if len(field.shape) in (2, 3)]
        if not outputs:
            raise self._unusable("it has no output of vectors")
        # Models with both name the finished one so; a `pooler_output` is not made for comparing.
        finished = [field for field in outputs if field.name == "sentence_embedding"]
        by_token = [field for field in outputs if len(field.shape) == 3]
        return (finished or by_token or outputs)[0]

    def _encode(self, texts: list[str]) -> NDArray[np.floating]:
        import numpy as np

        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> NDArray[np.floating]:
        """Embed one text, a long one as the mean of its stretches."""
        import numpy as np

        first = self._tokenizer.encode(text)
        pieces = [first, *first.overflowing][:_PIECES]
        rows = base.normalise(np.stack([self._run(piece) for piece in pieces]))
        weights = np.array([[len(piece.ids) or 1] for piece in pieces])
        mean: NDArray[np.floating] = (rows * weights).sum(axis=0)
        return mean

    def _run(self, piece: Encoding) -> NDArray[np.floating]:
        import numpy as np

        ids = np.array([piece.ids], dtype=np.int64)
        values = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
            "position_ids": np.arange(ids.shape[1], dtype=np.int64)[None, :],
        }
        feed = {field.name: values[field.name] for field in self._session.get_inputs()}
        try:
            row: NDArray[np.floating] = self._session.run([self._output.name], feed)[0][0]
        except self._faults as fault:
            raise self._unusable(fault) from fault
        if row.ndim == 1:
            return row
        pooled: NDArray[np.floating] = row[0] if self._recipe.pooling == "cls" else row.mean(axis=0)
        return pooled

    def _unusable(self, why: object) -> errors.EmbedderUnavailable:
        return errors.EmbedderUnavailable(
            f"the model {self._recipe.model} can't be used: {why}",
            "use a sentence encoder that was exported to ONNX, or choose another embedder",
        )
