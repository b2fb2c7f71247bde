"""Summaries of models: one bullet a line, `- **label:** text`, date-led when time-bound.

Read as leniently as the consolidation's protocol: what is no bullet is skipped, never an error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Final

from lamina.formats.dates import parse_day
from lamina.formats.lines import fold
from lamina.formats.reply import is_nothing

_ITEM: Final = re.compile(r"[ \t>]{0,8}(?:[-*+•–—]|\(?[0-9]{1,2}[.)、])[ \t]*(?=\S)(?!-)")
_BOLD: Final = re.compile(r"(\*\*|__)\s*([^*_:：]{1,60}?)\s*(?:[:：]\s*\1|\1\s*[:：])\s*")
_BOLD_ALL: Final = re.compile(r"(\*\*|__)\s*([^*_:：]{1,60}?)\s*[:：]\s*(.+?)\s*\1(.*)")
_PLAIN: Final = re.compile(r"([^\W\d_][\w ’'/-]{1,24}?)\s?[:：]\s+(?=\S)")
_DAY: Final = re.compile(r"\(?\[?([0-9]{4}-[0-9]{2}-[0-9]{2})\]?\)?(?:T[0-9:Z.]{4,12})?\s*[:：,—–-]?\s*")
_REFS: Final = re.compile(r"\s*(?:\(|\[)#[0-9]{1,9}(?:\s?[-–]\s?#?[0-9]{1,9})?(?:\)|\])\s*$")
_FENCE: Final = re.compile(r"\s*(?:`{3,}|~{3,})\w*\s*")
_WORDS: Final = 4
"""Words that a label may have; what is longer is a sentence with a colon in it."""


@dataclass(frozen=True, slots=True)
class Point:
    """One bullet of a summary; `label` is lower-case, "" for none."""

    label: str
    text: str
    day: date | None = None


@dataclass(frozen=True, slots=True)
class SummaryReply:
    """What a model answered. `nothing`: it concludes that nothing durable was said."""

    points: tuple[Point, ...] = ()
    nothing: bool = False

    @property
    def usable(self) -> bool:
        """Whether the reply says anything at all."""
        return self.nothing or bool(self.points)


def parse_summary(text: str, *, cut: bool = False) -> SummaryReply:
    """Read a summary; never fails, in time linear in its length.

    With `cut`, a last line without its line end is dropped. A bullet goes on in indented lines below it.
    """
    lines = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if cut and lines[-1].strip():
        lines.pop()
    points = [point for item in _items(lines) if (point := _point(item)) is not None]
    if points:
        return SummaryReply(tuple(points))
    return SummaryReply(nothing=not cut and is_nothing(text))


def _items(lines: list[str]) -> list[str]:
    """Join each bullet's lines; `---` and emphasis at a line's start are no bullets."""
    items: list[str] = []
    inside = False
    for line in lines:
        item = None if line.lstrip().startswith(("**", "---", "***")) else _ITEM.match(line)
        if item:
            items.append(line[item.end() :].strip())
            inside = True
        elif _BOLD.match(line):
            items.append(line.strip())  # a bullet whose mark was forgotten
            inside = True
        elif inside and line[:1] in {" ", "\t"} and line.strip() and not _FENCE.fullmatch(line):
            items[-1] += f" {line.strip()}"
        else:
            inside = False
    return items


def _point(item: str) -> Point | None:
    item = _REFS.sub("", item)
    day, item = _dated(item)
    label, text = _labelled(item)
    later, text = _dated(text)
    text = fold(text).strip()
    if not any(char.isalnum() for char in text) or is_nothing(f"{label}: {text}" if label else text):
        return None
    return Point(label, text, day or later)


def _dated(text: str) -> tuple[date | None, str]:
    found = _DAY.match(text)
    day = parse_day(found[1]) if found else None
    return (day, text[found.end() :]) if found and day else (None, text)


def _labelled(text: str) -> tuple[str, str]:
    if found := _BOLD.match(text):
        return _plain(found[2]), text[found.end() :]
    if found := _BOLD_ALL.fullmatch(text):
        return _plain(found[2]), f"{found[3]}{found[4]}"
    if (found := _PLAIN.match(text)) and len(found[1].split()) <= _WORDS and found[1].casefold() in LABELS:
        return _plain(found[1]), text[found.end() :]
    return "", text


def _plain(label: str) -> str:
    return fold(label).casefold()


LABELS: Final = frozenset(
    """decision decisions choice preference preferences constraint constraints correction fix lesson learning
    rule how-to howto procedure command workflow finding findings fact facts environment setup configuration
    open todo status failure question note""".split()
)
"""Labels that are taken for one without emphasis around them."""
