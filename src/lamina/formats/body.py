"""Body text in a topic file: escaped so that it never reads as structure, and read back exactly.

Outside closed fences a line that would read as structure (`# `, `## `, a known field, the opening mark
of a fence that never closes) gets one backslash in front; so does a line of backslashes followed by such a
thing. Reading drops one backslash from every line of backslashes followed by such a thing. Inside closed
fences nothing changes.

The mark of a fence that never closes is escaped so that no later entry of the file can close it.
"""

from __future__ import annotations

from collections.abc import Sequence

from lamina.formats import structure
from lamina.formats.fences import fences, opens_plain


def normal(body: str) -> str:
    """Give a body as it will be read back: line feeds as breaks, no blank lines before or after."""
    return structure.trim_blank(structure.unix(body))


def escape(body: str) -> list[str]:
    """Turn a normal body into the lines of a file, without their breaks."""
    if not body:
        return []
    lines = body.split("\n")
    found = fences(lines, alone=True)
    loose = frozenset(found.loose)
    return [
        line if n in found.inside or not (n in loose or _means(line)) else "\\" + line
        for n, line in enumerate(lines)
    ]


def unescape(line: str) -> str:
    """Read one line that stands outside closed fences."""
    return line[1:] if line.startswith("\\") and _means(line) else line


def read(lines: Sequence[str], inside: frozenset[int], first: int) -> str:
    """Read the lines of a body; `inside` numbers the fenced lines, `first` is the first line's number."""
    if inside:
        return "\n".join(line if first + n in inside else unescape(line) for n, line in enumerate(lines))
    text = "\n".join(lines)
    if "\\" not in text:
        return text
    return "\n".join(map(unescape, lines))


def _means(line: str) -> bool:
    """Tell whether a line, without leading backslashes, reads as structure."""
    bare = line.lstrip("\\")
    if structure.reads_as(bare):
        return True
    return bare != line and opens_plain(bare)
