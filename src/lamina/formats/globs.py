"""Patterns that name folders: `~/private`, `/srv/client-*`, `**/secret`, or a bare name at any depth."""

from __future__ import annotations

import re
from collections.abc import Iterable


def matching(path: str, patterns: Iterable[str], *, home: str) -> str | None:
    """Return the first pattern that names a folder or one above it, or None.

    `*` and `?` stay inside one part, `**` is any number of parts. A pattern that begins with neither `/`, `~`
    nor a drive matches at any depth. Paths are compared with `/`.
    """
    folder = _slashes(path)
    return next((pattern for pattern in patterns if _matches(folder, pattern, _slashes(home))), None)


def _matches(folder: str, pattern: str, home: str) -> bool:
    text = _slashes(pattern.strip())
    if not text:
        return False
    if text == "~" or text.startswith("~/"):
        text = home + text[1:]
    anchored = text.startswith("/") or text[1:3] == ":/"
    head = "" if anchored else "(?:.*/)?"
    return re.fullmatch(f"{head}{_expression(text)}(?:/.*)?", folder, re.DOTALL) is not None


def _expression(text: str) -> str:
    out = []
    for part in re.split(r"(/\*\*/|^\*\*/|/\*\*$|\*\*|\*|\?)", text):
        match part:
            case "/**/":
                out.append("/(?:.*/)?")
            case "**/":
                out.append("(?:.*/)?")
            case "/**":
                out.append("(?:/.*)?")
            case "**":
                out.append(".*")
            case "*":
                out.append("[^/]*")
            case "?":
                out.append("[^/]")
            case _:
                out.append(re.escape(part))
    return "".join(out)


def _slashes(path: str) -> str:
    text = path.replace("\\", "/")
    return text.rstrip("/") or text[:1]
