"""Python packages that bring a model: where they lie, and one message when they are not there."""

from __future__ import annotations

from pathlib import Path

from lamina import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType


def absent(module: str, distribution: str) -> errors.EmbedderUnavailable:
    """Return the error for a package that is not installed."""
    return errors.EmbedderUnavailable(
        f"the Python package {module} is not installed here",
        f"run `pip install {distribution}` in Lamina's environment, or choose another embedder",
    )


def folder(module: str, distribution: str) -> Path:
    """Return the folder of an installed package without importing it. Raises EmbedderUnavailable."""
    from importlib.util import find_spec

    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise absent(module, distribution)
    return Path(spec.origin).parent


def load(module: str, distribution: str) -> ModuleType:
    """Import a package. Raises EmbedderUnavailable if it is missing or can't be loaded."""
    from importlib import import_module

    try:
        return import_module(module)
    except ModuleNotFoundError as fault:
        raise absent(fault.name or module, distribution) from fault
    except ImportError as fault:
        raise errors.EmbedderUnavailable(
            f"the Python package {module} can't be loaded: {fault}",
            f"run `pip install --force-reinstall {distribution}`, or choose another embedder",
        ) from fault


def present(path: Path, distribution: str) -> Path:
    """Return a file of a package. Raises EmbedderUnavailable if the installed version lacks it."""
    if not path.is_file():
        raise errors.EmbedderUnavailable(
            f"the installed package {distribution} has no {path.name}",
            f"run `pip install --upgrade --force-reinstall {distribution}`, or choose another embedder",
        )
    return path
