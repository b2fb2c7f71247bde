"""Checks what a model gave as a tool's arguments: lenient in form, strict in names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lamina.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lamina.interfaces.mcp.tools import Tool

MOST_CHARACTERS = 200_000
"""Of one text. What is remembered is a statement, not a file."""
MOST_ITEMS = 50
_WORDS = {"true": True, "false": False}
_INTEGER = re.compile(r"[+-]?[0-9]{1,9}")
_IMPORTANCE = ("low", "normal", "high")


def checked(tool: Tool, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the arguments as Python values; null and what is not given are left out.

    A number may come as text, one item in place of a list of one: models do that. Raises UsageError that
    names the tool, the argument and what it takes.
    """
    values: dict[str, Any] = {}
    for name, value in (given or {}).items():
        if name not in tool.arguments:
            raise UsageError(f"{tool.name} has no argument {clip(name)!r}", _known(tool))
        if value is not None:
            values[name] = _value(tool, name, value)
    missing = [name for name in tool.needed if name not in values]
    if missing:
        raise UsageError(f"{tool.name} wants {' and '.join(missing)}", _known(tool))
    return values


def clip(text: str) -> str:
    """Return the beginning of a text that is shown in a message."""
    return text if len(text) <= 60 else f"{text[:60]}…"


def _value(tool: Tool, name: str, value: Any) -> Any:
    schema = tool.arguments[name]
    match schema["type"]:
        case "string":
            return _text(tool, name, value, schema.get("enum"))
        case "boolean":
            return _flag(tool, name, value)
        case "integer":
            return _number(tool, name, value)
        case _:
            return _list(tool, name, value)


def _text(tool: Tool, name: str, value: Any, choices: list[str] | None) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise UsageError(f"{tool.name}: {name} must be text", _known(tool))
    text = _short(tool, name, value) if isinstance(value, str) else _short(tool, name, _digits(value))
    if choices and text not in choices:
        raise UsageError(f"{tool.name}: {name} can't be {clip(text)!r}", f"one of: {', '.join(choices)}")
    return text


def _short(tool: Tool, name: str, text: str) -> str:
    if len(text) > MOST_CHARACTERS:
        raise UsageError(
            f"{tool.name}: {name} has {len(text)} characters, more than {MOST_CHARACTERS}",
            "memory is for statements; name the file instead of giving all of it",
        )
    return text


def _digits(value: int) -> str:
    return str(value) if abs(value) < 10**18 else "a number"


def _flag(tool: Tool, name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().lower() in _WORDS:
        return _WORDS[value.strip().lower()]
    raise UsageError(f"{tool.name}: {name} must be true or false")


def _number(tool: Tool, name: str, value: Any) -> int | str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
        value = int(value)
    if name == "importance" and isinstance(value, str) and value in _IMPORTANCE:
        return value
    if isinstance(value, bool) or not isinstance(value, int):
        raise UsageError(f"{tool.name}: {name} must be a whole number")
    if not 1 <= value < 10**9:
        raise UsageError(
            f"{tool.name}: {name} must be at least 1 and no giant", "leave it out for the default"
        )
    return value


def _list(tool: Tool, name: str, value: Any) -> list[str]:
    items = value if isinstance(value, list) else [value]
    if len(items) > MOST_ITEMS:
        raise UsageError(f"{tool.name}: {name} has {len(items)} items, more than {MOST_ITEMS}")
    return [_text(tool, name, item, None) for item in items]


def _known(tool: Tool) -> str:
    names = [f"{name} (needed)" if name in tool.needed else name for name in tool.arguments]
    return f"its arguments are {', '.join(names)}" if names else "it takes none"
