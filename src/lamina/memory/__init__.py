"""Memory: one open memory, wired together. The only place where the parts meet."""

from lamina.memory.memory import Memory

__all__ = ["Memory"]
