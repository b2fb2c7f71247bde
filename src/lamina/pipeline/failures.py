"""Tells a tool's failure in words: what failed with which error, and what ended it."""

from __future__ import annotations

import re
from datetime import date

from lamina.formats.bullet import Bullet
from lamina.pipeline import cues, signs
from lamina.pipeline.exchanges import Piece, pieces_of, terms
from lamina.pipeline.headings import HEADING
from lamina.pipeline.relevance import Failure
from lamina.pipeline.statements import sentences

_QUOTE = 44  # characters of a quote: enough to know the place again


def failed(failure: Failure, day: date) -> Bullet | None:
    """Tell a tool's failure with what ended it; nothing if no words say how."""
    if signs.HOSTILE.search(failure.error):
        return None
    told = [
        piece
        for piece in pieces_of(failure.fix, "assistant", failure.last)
        if not signs.HOSTILE.search(piece.said)
    ][:2]
    if not any(_explains(piece, failure) for piece in told):
        return None
    what = f"`{failure.command}`" if failure.command else failure.tool
    label, lead = ("failure", "") if failure.explained else ("fix", "Fix: ")
    error = _bare_error(failure.error, HEADING - len(what) - len(" failed: "))
    if len(what) + len(error) > HEADING:
        what = f"`{_program(failure.command)}`"
        error = _bare_error(failure.error, HEADING - len(what) - len(" failed: "))
    text = f"{what} failed: {error}. {lead}{' '.join(piece.text for piece in told)}"
    return Bullet(label, text, day, failure.first, failure.last, clipped(failure.error), "tool")


def _explains(piece: Piece, failure: Failure) -> bool:
    """Say whether words tell why something failed or what was done, and do not only repeat that it did."""
    if piece.code or piece.has(cues.REMEDY, cues.REASON):
        return True
    words = terms(piece.text)
    return bool(words & terms(failure.error)) and not words <= terms(failure.error)


def _bare_error(error: str, room: int) -> str:
    """Drop the words in front that every error has, then whole parts until the rest fits."""
    text = re.sub(
        r"^(?:(?:\w*(?:error|exception|fatal|failed)\w*|E)\s*[:!]\s*)+",
        "",
        error.strip(),
        flags=re.IGNORECASE,
    )
    text = (text or error).rstrip(". ")
    while len(text) > room and ": " in text:
        text = text.split(": ", 1)[1]
    return text


def _program(command: str) -> str:
    """Give the program of a command, with its subcommand."""
    words = command.split()
    return " ".join(words[:2] if len(words) > 1 and words[1].isalpha() else words[:1]).replace("`", "'")


def clipped(text: str) -> str:
    """Cut a quote where a part of the sentence ends, else at a word's end."""
    text = sentences(text)[0] if len(text) > _QUOTE and sentences(text) else text
    if len(text) <= _QUOTE + 12:
        return text
    head = text[: _QUOTE - 1]
    space = max(head.rfind(" "), head.rfind("，"), head.rfind("、"))
    return (head[:space] if space > _QUOTE // 2 else head).rstrip(" ,;:—–-，、") + "…"
