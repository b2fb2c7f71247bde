"""Bullets: one durable thing said in a session, with the records and the words it rests on.

- **decision:** 2026-12-01: use plain ESM, because what we ship is what we test
- #12-14 “let's keep it plain ESM” (user)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from lamina.formats.dates import parse_day
from lamina.formats.lines import fold

_ITEM: Final = re.compile(r"[-*+](?: (.*))?")
_LABELLED: Final = re.compile(r"\*\*([^*:]{1,60}):\*\*(?: (.*))?")
_DATED: Final = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}):(?: (.*))?")
_LIKE_LABEL: Final = re.compile(r"\\*\*\*")
_LIKE_DAY: Final = re.compile(r"\\*[0-9]{4}-[0-9]{2}-[0-9]{2}:")
_PROVENANCE: Final = re.compile(
    r"[ \t]+[-*+] #([0-9]{1,15})(?:-([0-9]{1,15}))?(?: “(.*)”)?(?: \((user|assistant|tool)\))?[ \t]*"
)


@dataclass(frozen=True, slots=True)
class Bullet:
    """One durable thing said in a session.

    `first` and `last` are sequence numbers of records. `who` said the `quote`: `user`, `assistant` or
    `tool`. A bullet written by hand has its section's range, no quote, and counts as the assistant's.
    """

    label: str
    text: str
    day: date | None
    first: int
    last: int
    quote: str = ""
    who: str = "assistant"
    raw: str = field(default="", compare=False, repr=False)


def is_bullet(line: str) -> bool:
    """Tell whether a line opens a bullet."""
    return bool(_ITEM.fullmatch(line.rstrip("\r\n")))


def span_of(match: re.Match[str]) -> tuple[int, int]:
    """Read `#first-last` from groups 1 and 2; one number is both ends."""
    first = int(match[1])
    return first, int(match[2]) if match[2] else first


def parse_bullet(lines: list[str], first: int, last: int) -> Bullet:
    """Read a bullet from its lines, all up to the next one; without provenance it has the given range.

    Indented lines before the provenance belong to the text (a person wrapped it); others are in `raw` alone.
    """
    item = _ITEM.fullmatch(lines[0].rstrip("\r\n"))
    parts = [item[1] or "" if item else ""]
    quote, who = "", "assistant"
    for line in lines[1:]:
        if provenance := _PROVENANCE.fullmatch(line.rstrip("\r\n")):
            first, last = span_of(provenance)
            quote, who = provenance[3] or "", provenance[4] or who
            break
        if not line.strip() or line[0] not in " \t":
            break
        parts.append(line.strip())
    label, day, text = _parse_text(" ".join(parts).strip())
    return Bullet(label, text, day, first, last, quote, who, "".join(lines))


def _parse_text(rest: str) -> tuple[str, date | None, str]:
    label = ""
    if match := _LABELLED.fullmatch(rest):
        label, rest = match[1], match[2] or ""
    elif _LIKE_LABEL.match(rest):
        rest = rest.removeprefix("\\")
    match = _DATED.fullmatch(rest)
    day = parse_day(match[1]) if match else None
    if match and day:
        return label, day, match[2] or ""
    if _LIKE_DAY.match(rest):
        rest = rest.removeprefix("\\")
    return label, None, rest


def _render_text(bullet: Bullet) -> str:
    text = fold(bullet.text)
    if bullet.day:
        text = f"{bullet.day.isoformat()}: {text}"
    elif _LIKE_DAY.match(text):
        text = "\\" + text
    label = fold(re.sub("[*:]", " ", bullet.label))[:60].strip()
    if label:
        return f"**{label}:** {text}"
    return "\\" + text if _LIKE_LABEL.match(text) else text


def render_bullet(bullet: Bullet, end: str) -> str:
    """Write a bullet and its provenance, two lines that end in `end`, whatever the text holds."""
    span = f"#{bullet.first}-{bullet.last}"
    quote = fold(bullet.quote)
    provenance = f"  - {span} “{quote}”" if quote else f"  - {span}"
    who = f" ({bullet.who})" if bullet.who in {"user", "assistant", "tool"} else ""
    return f"- {_render_text(bullet)}".rstrip() + end + provenance + who + end
