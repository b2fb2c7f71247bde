"""Spans of time as people write them: `90`, `45s`, `30m`, `2h`, `1h30m`, `3d`, `1w`."""

from __future__ import annotations

import re

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def parse_duration(text: str) -> int | None:
    """Return the seconds that a text means, or None; a bare number is seconds already."""
    rest = text.strip().lower()
    if rest.isascii() and rest.isdigit():
        return int(rest) if len(rest) < 10 else None
    total = 0
    while rest:
        part = re.match(r"(\d{1,9})\s*([smhdw])", rest, re.ASCII)
        if part is None:
            return None
        total += int(part[1]) * _SECONDS[part[2]]
        rest = rest[part.end() :].lstrip()
    return total if text.strip() else None
