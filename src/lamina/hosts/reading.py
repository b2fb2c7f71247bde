"""What the adapters share: clipping, times, paths in arguments, text in content blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

#: A text keeps at most so many characters (its head and its tail) …
TEXT_LIMIT = 64 * 1024
#: … and a tool's result so many; errors stand at its tail.
RESULT_LIMIT = 8 * 1024

_PATH_ARGUMENTS = ("file_path", "path", "notebook_path", "filePath", "absolute_path")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|(?:mailto|data|urn|javascript):", re.ASCII)
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>\s*", re.DOTALL)
_MAX_PATH = 1024


def clip(text: str, limit: int) -> str:
    """Keep head and tail of a text, the tail a little longer than half: errors stand there."""
    if len(text) <= limit:
        return text
    head = limit * 2 // 5
    return f"{text[:head]}\n[… clipped …]\n{text[-(limit - head) :]}"


def moment(value: Any) -> datetime | None:
    """Read a time as UTC: ISO text with or without offset, or seconds or milliseconds; else None."""
    try:
        if isinstance(value, bool):
            return None
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
        if isinstance(value, str) and len(value) >= 10:
            time = datetime.fromisoformat(value.strip())
            return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def text_of(value: Any) -> str:
    """Give a string as it is and anything else as the empty text."""
    return value if isinstance(value, str) else ""


def joined_text(content: Any) -> str:
    """Join the text blocks of a content value: a string, a list of blocks, or one block."""
    match content:
        case str():
            return content
        case list():
            return "\n".join(text for block in content if (text := joined_text(block)))
        case {"type": "text" | "input_text" | "output_text" | "Text", "text": str(text)}:
            return text
    return ""


def without_reminders(text: str) -> str:
    """Cut closed `<system-reminder>` spans, which the host mixes into other text."""
    return _REMINDER.sub("", text) if "<system-reminder>" in text else text


def named_paths(arguments: Any, cwd: str) -> tuple[str, ...]:
    """Collect the paths a tool call names in its path arguments, relative to `cwd` if inside."""
    if not isinstance(arguments, Mapping):
        return ()
    found = (relative(path, cwd) for name in _PATH_ARGUMENTS for path in _strings(arguments.get(name)))
    return tuple(dict.fromkeys(path for path in found if path))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield from (item for item in value if isinstance(item, str))


def relative(path: str, cwd: str) -> str:
    """Give a path relative to the session's folder when inside it; empty for what is no path."""
    path = path.strip()
    if not path or len(path) > _MAX_PATH or "\n" in path or "\0" in path or _SCHEME.match(path):
        return ""
    root = cwd.rstrip("/\\")
    if root and path == root:
        return "."
    if root and path.startswith((root + "/", root + "\\")):
        path = path[len(root) + 1 :]
    return path.removeprefix("./") or "."
