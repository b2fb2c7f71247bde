"""Lamina: memory for coding agents that people can read, diff and trust."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lamina.errors import LaminaError
    from lamina.memory import Memory

__version__ = "0.1.0"

__all__ = ["LaminaError", "Memory", "__version__"]


def __getattr__(name: str) -> Any:
    """Import the public names on first use, so that `import lamina` costs nothing."""
    if name == "Memory":
        from lamina.memory import Memory

        return Memory
    if name == "LaminaError":
        from lamina.errors import LaminaError

        return LaminaError
    raise AttributeError(f"module 'lamina' has no attribute {name!r}")
