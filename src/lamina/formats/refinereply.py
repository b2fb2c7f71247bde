"""How a model answers when it plans a refine, one line an item that does not simply stay.

    MERGE state-a, state-b INTO state-c :: the whole text that says all of them
    DROP open-a :: resolved by state-c
    CONFLICT decision-a, decision-b

Read leniently: what is no such line is passed over.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from lamina.formats.lines import fold

_MARK: Final = r"(?:[-*+•]\s*)?"
_MERGE: Final = re.compile(rf"{_MARK}MERGE\s+(.+?)\s+INTO\s+`?([^\s`:]+)`?\s*(?:::\s*(.*))?", re.IGNORECASE)
_DROP: Final = re.compile(rf"{_MARK}DROP\s+`?([^\s`:]+)`?\s*(?:::|:)\s*(.+)", re.IGNORECASE)
_CONFLICT: Final = re.compile(rf"{_MARK}CONFLICT\s+(.+)", re.IGNORECASE)


class Line(NamedTuple):
    """One line: `merge` (ids into `into`, perhaps with a text), `drop` (one id, a reason) or `conflict`."""

    action: str
    ids: tuple[str, ...]
    into: str = ""
    text: str = ""


def parse_refine_reply(text: str, *, cut: bool = False) -> tuple[Line, ...]:
    """Read a reply; never fails. With `cut`, a last line without its line end is dropped."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if cut and lines[-1].strip():
        lines.pop()
    return tuple(line for each in map(fold, lines) if (line := _line(each)) is not None)


def _line(text: str) -> Line | None:
    if match := _MERGE.fullmatch(text):
        return Line("merge", _ids(match[1]), match[2], (match[3] or "").strip())
    if match := _DROP.fullmatch(text):
        return Line("drop", (match[1],), text=match[2].strip())
    if match := _CONFLICT.fullmatch(text):
        ids = _ids(match[1])
        return Line("conflict", ids) if len(ids) > 1 else None
    return None


def _ids(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.strip("`.") for each in re.split(r"[\s,]+", text) if each.strip("`.")))
