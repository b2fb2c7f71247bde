"""What an instruction file (`AGENTS.md`, `CLAUDE.md`) says of where a project's memory lies.

Memory path: docs/memory            with or without a list mark, bold or backticks
@docs/agents.md   [more](docs/agents.md)   `docs/agents.md`      files that it points to exactly
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from lamina.formats.fences import fences
from lamina.formats.structure import plain_lines

_LINE: Final = re.compile(
    r"[ \t]{0,8}(?:[-*+][ \t]+|\d{1,3}[.)][ \t]+)?[*_`]{0,3}memory path[*_`]{0,3}[ \t]*:[*_`]{0,3}[ \t]*(.+)",
    re.IGNORECASE,
)
_POINTER: Final = re.compile(
    r"(?<![\w@`/.])@([\w./~-]{1,200}\.md)\b|\]\(<?([^()<>\s#]{1,200}\.md)>?\)|`([\w./ -]{1,200}\.md)`"
)
_LONGEST: Final = 1_000


class Declared(NamedTuple):
    """A declaration: its 1-based line and the path as it is written."""

    line: int
    path: str


def declared(text: str) -> list[Declared]:
    """List the `Memory path:` lines outside of code fences."""
    lines = plain_lines(text.removeprefix("\ufeff"))
    if "emory path" not in text.lower():
        return []
    inside = fences(lines).inside
    found = []
    for number, line in enumerate(lines):
        match = None if number in inside or len(line) > _LONGEST else _LINE.fullmatch(line)
        path = _bare(match[1]) if match else ""
        if path:
            found.append(Declared(number + 1, path))
    return found


def pointed(text: str) -> list[str]:
    """List the Markdown files that a text points to by their paths, in order, each once."""
    lines = plain_lines(text)
    inside = fences(lines).inside
    shown = "\n".join(line[:_LONGEST] for number, line in enumerate(lines) if number not in inside)
    found = (match[1] or match[2] or match[3] for match in _POINTER.finditer(shown))
    return list(dict.fromkeys(path.strip() for path in found))


def _bare(value: str) -> str:
    """Take the marks off a path: backticks, quotes, bold, a full stop behind a closing mark."""
    text = value.strip()
    if text[:1] in ("`", '"', "'") and (end := text.find(text[0], 1)) > 0:
        return text[1:end].strip()
    return text.strip("*_ \t").strip()
