"""`typing.NamedTuple` for modules that every command loads: the same classes, made at a third of the cost.

`typing` compiles each annotation of each class while the program starts, which took a cold search a quarter
of its time. Type checkers see the original; here annotations stay the texts that they are, so a module that
uses this begins with `from __future__ import annotations`.
"""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NamedTuple
else:

    class _Made(type):
        """Turns a class body into a named tuple with the body's methods."""

        def __new__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, space)
            fields = tuple(space.get("__annotations__", ()))
            defaults = [space.pop(field) for field in fields if field in space]
            made = namedtuple(name, fields, defaults=defaults, module=space["__module__"])  # noqa: PYI024 - that is what this is
            for key, value in space.items():
                if key not in ("__module__", "__qualname__"):
                    setattr(made, key, value)
            made.__qualname__ = space["__qualname__"]
            return made

    class NamedTuple(metaclass=_Made):
        """The base that a class names to become a named tuple."""


__all__ = ["NamedTuple"]
