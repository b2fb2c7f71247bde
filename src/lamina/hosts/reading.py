"""What the adapters share: clipping, times, paths in arguments, text in content blocks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, NamedTuple

from lamina.formats.event import Author, Event, Kind

#: A text keeps at most so many characters (its head and its tail) …
TEXT_LIMIT = 64 * 1024
#: … a tool's result so many; errors stand at its tail …
RESULT_LIMIT = 8 * 1024
#: … and a tool call's arguments so many.
CALL_LIMIT = 2 * 1024

_PATH_ARGUMENTS = ("file_path", "path", "notebook_path", "filePath", "absolute_path")
_RESULT_FIELDS = ("content", "output", "tool_response", "tool_output", "result")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|(?:mailto|data|urn|javascript):", re.ASCII)
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>\s*", re.DOTALL)
_MAX_PATH = 1024


class Place(NamedTuple):
    """Where and when a record stands: what all its events share."""

    seq: int
    time: datetime | None
    key: str
    sidechain: bool

    def numbered(self, number: int) -> Place:
        """Give the place of a later part of the record, with a key of its own."""
        return self._replace(key=f"{self.key}#{number}") if self.key and number else self

    def injected(self, text: str, tool: str = "", *, limit: int = RESULT_LIMIT) -> Event:
        """Make an event of what the host put there."""
        text = clip(text, limit)
        return Event(
            self.seq, Kind.META, Author.HOST, text, self.time, tool, (), False, self.sidechain, self.key
        )

    def said(self, kind: Kind, author: Author, text: str) -> Event:
        """Make an event of words."""
        text = clip(text, TEXT_LIMIT)
        return Event(self.seq, kind, author, text, self.time, "", (), False, self.sidechain, self.key)

    def called(self, call: str, tool: str, text: str, paths: tuple[str, ...]) -> Event:
        """Make an event of a tool call."""
        return Event(
            self.seq,
            Kind.TOOL_CALL,
            Author.MODEL,
            text,
            self.time,
            tool,
            paths,
            sidechain=self.sidechain,
            key=call or self.key,
            call=call,
        )

    def answered(self, call: str, tool: str, text: str, *, failed: bool) -> Event:
        """Make an event of a tool's result."""
        return Event(
            self.seq,
            Kind.TOOL_RESULT,
            Author.TOOL,
            clip(without_reminders(text), RESULT_LIMIT),
            self.time,
            tool,
            failed=failed,
            sidechain=self.sidechain,
            key=f"{call}:result" if call else self.key,
            call=call,
        )


def clip(text: str, limit: int) -> str:
    """Keep head and tail of a text, the tail a little longer: errors stand there."""
    if len(text) <= limit:
        return text
    head = limit * 2 // 5
    return f"{text[:head]}\n[… clipped …]\n{text[-(limit - head) :]}"


def moment(value: Any) -> datetime | None:
    """Read a time as UTC: ISO text with or without offset, or seconds or milliseconds; else None."""
    try:
        if isinstance(value, str) and len(value) >= 10:
            time = datetime.fromisoformat(value.strip())
            return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def text_of(value: Any) -> str:
    """Give a string as it is and anything else as the empty text."""
    return value if isinstance(value, str) else ""


def dict_of(value: Any) -> dict[str, Any]:
    """Give an object as it is and anything else as an empty one."""
    return value if isinstance(value, dict) else {}


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


def result_text(block: Mapping[str, Any], *, names: tuple[str, ...] = _RESULT_FIELDS) -> str:
    """Find the text of a tool's result, whatever the host's version calls the field."""
    for name in names:
        value = block.get(name)
        text = _plain(value) if isinstance(value, Mapping) else joined_text(value)
        if text:
            return text
    return ""


def _plain(value: Mapping[str, Any]) -> str:
    streams = [text_of(value.get(name)) for name in ("stdout", "stderr")]
    return "\n".join(filter(None, streams)) or joined_text(value) or result_text(value)


def call_text(arguments: Any) -> str:
    """Say in short what a tool was called with: its command, else its arguments as JSON."""
    if isinstance(arguments, str):
        return clip(arguments, CALL_LIMIT)
    if not isinstance(arguments, Mapping):
        return ""
    for name in ("command", "cmd"):
        match arguments.get(name):
            case str(command):
                return clip(command, CALL_LIMIT)
            case list(words):
                return clip(" ".join(word for word in words if isinstance(word, str)), CALL_LIMIT)
    short = {key: clip(item, 500) if isinstance(item, str) else item for key, item in arguments.items()}
    return clip(json.dumps(short, ensure_ascii=False), CALL_LIMIT)


def without_reminders(text: str) -> str:
    """Cut closed `<system-reminder>` spans, which the host mixes into other text."""
    return _REMINDER.sub("", text) if "<system-reminder>" in text else text


def mark(*parts: str) -> str:
    """Make a short identity out of what a record says."""
    return blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()


def named_paths(arguments: Any, root: str, folder: str = "") -> tuple[str, ...]:
    """Collect the paths a tool call names in its path arguments, relative to `root` if inside.

    `folder` is where the call ran, if not in `root`.
    """
    if not isinstance(arguments, Mapping):
        return ()
    values = (value for name in _PATH_ARGUMENTS for value in _strings(arguments.get(name)))
    return distinct_paths(values, root, folder)


def distinct_paths(values: Iterator[str], root: str, folder: str = "") -> tuple[str, ...]:
    """Make paths relative to `root` where they lie inside, each once, leaving out what is no path."""
    found = (relative(value, root, folder) for value in values)
    return tuple(dict.fromkeys(path for path in found if path))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield from (item for item in value if isinstance(item, str))


def relative(path: str, root: str, folder: str = "") -> str:
    """Give a path relative to `root` when inside it; empty for a URL or what is no path."""
    path = path.strip()
    if not path or len(path) > _MAX_PATH or "\n" in path or _SCHEME.match(path):
        return ""
    root = root.rstrip("/\\")
    if folder and folder != root and not path.startswith(("/", "\\", "~")) and path[1:2] != ":":
        path = f"{folder.rstrip('/')}/{path.removeprefix('./')}"
    if root and path.startswith((root + "/", root + "\\")):
        path = path[len(root) + 1 :]
    elif path == root:
        return "."
    return path.removeprefix("./") or "."
