"""Loading a `tokenizer.json`."""

from __future__ import annotations

from lamina import errors
from lamina.embed import package

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from tokenizers import Tokenizer


def load(path: Path) -> Tokenizer:
    """Load a tokenizer that neither pads nor cuts. Raises EmbedderUnavailable."""
    module = package.load("tokenizers", "tokenizers")
    try:
        tokenizer: Tokenizer = module.Tokenizer.from_file(str(path))
    except Exception as fault:
        if type(fault) is not Exception:  # the package raises the bare class for every fault of the file
            raise
        raise errors.EmbedderUnavailable(
            f"{path} is no tokenizer that can be read: {fault}",
            "take tokenizer.json from the same model as the other files",
        ) from fault
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
