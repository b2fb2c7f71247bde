"""Tells a tool's failure in words: what failed with which error, and what ended it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from lamina.formats.bullet import Bullet
from lamina.pipeline import cues, noise, signs
from lamina.pipeline.details import is_task
from lamina.pipeline.exchanges import Piece, facts, pieces_of, terms
from lamina.pipeline.headings import HEADING
from lamina.pipeline.relevance import Failure
from lamina.pipeline.statements import sentences

_QUOTE = 104  # characters of a quote: enough to show what it proves
_CLAUSE = re.compile(
    r"[,;:](?= )| [—–] |[，、；：]|(?= (?:because|so that|but|weil|aber|parce que|mais|porque|pero) )"
)
_REASONED = re.compile(r",? (?:because|since) ")
_SETTLED = (
    r"the (?:fix|solution|remedy) (?:is|was)|fix(?:ed)? by|(?:is|was) (?:fixed|solved)[:;,]|solved by",
    r"die lösung (?:ist|war)|behoben (?:durch|mit)",
    r"la solution (?:est|était)|corrigé (?:par|en)",
    r"la solución (?:es|fue)|se arregló (?:con|al)",
    r"решени\w+ (?:—|было)|исправлено",
    r"解决(?:办法|方法)|修复方法|解决了[:：]",
    r"対処法は|修正は|解決しました[:：]",
    r"해결책은|해결했습니다[:：]",
)
_ABOUT = 2  # words that a later remedy shares with the failure


def failed(failure: Failure, day: date, later: Sequence[Piece] = ()) -> Bullet | None:
    """Tell a tool's failure with what ended it; nothing if no words say how.

    `later` is what the agent said afterwards: where it names the remedy, that is the fix.
    """
    if signs.HOSTILE.search(failure.error):
        return None
    told = [
        piece
        for piece in pieces_of(failure.fix, "assistant", failure.last)
        if not signs.HOSTILE.search(piece.said)
    ][:2]
    remedy = _remedy(failure, later)
    if remedy is not None:
        told = [*(piece for piece in told[:1] if piece.said != remedy.said), remedy]
    elif not any(_explains(piece, failure) for piece in told):
        return None
    label, lead = ("failure", "") if failure.explained and remedy is None else ("fix", "Fix: ")
    error = re.sub(r"^E\s+", "", failure.error)
    what, bare = _named(failure, error)
    text = f"{what} failed: {bare}. {lead}{' '.join(piece.text for piece in told)}"
    return Bullet(
        label,
        text,
        day,
        failure.first,
        failure.last,
        clipped(_bare_error(error, _QUOTE) if len(error) > _QUOTE else error),
        "tool",
    )


def _named(failure: Failure, error: str) -> tuple[str, str]:
    """Name a call and its error so that both fit a heading: the call is shortened first."""
    program = noise.program(failure.command).replace("`", "'")
    names = [f"`{failure.command}`", f"`{program}`"] if failure.command else [failure.tool]
    rooms = [HEADING - len(name) - len(" failed: ") for name in names]
    for name, room in zip(names, rooms, strict=True):
        if len(bare := _bare_error(error, len(error))) <= room:
            return name, bare
    return names[-1], _bare_error(error, rooms[-1])


def _explains(piece: Piece, failure: Failure) -> bool:
    """Say whether words tell why something failed or what was done, and do not only repeat that it did."""
    if piece.code or piece.has(cues.REMEDY, cues.REASON):
        return True
    if not failure.explained and facts(piece.text) and not is_task(piece):
        return True
    words = terms(piece.text)
    return bool(words & terms(failure.error)) and not words <= terms(failure.error)


def _remedy(failure: Failure, later: Sequence[Piece]) -> Piece | None:
    """Give the agent's word on what the remedy of a failure was."""
    about = terms(failure.error) | terms(failure.fix)
    said = [
        piece
        for piece in later
        if piece.seq > failure.first
        and piece.has(_SETTLED)
        and not piece.has(cues.UNSURE)
        and not signs.HOSTILE.search(piece.said)
        and len(terms(piece.text) & about) >= _ABOUT
    ]
    return said[-1] if said else None


def _bare_error(error: str, room: int) -> str:
    """Drop the words in front that every error has, then whole parts until the rest fits."""
    text = re.sub(
        r"^(?:(?:\w*(?:error|exception|fatal|failed)\w*|E)\s*[:!]\s*)+",
        "",
        error.strip(),
        flags=re.IGNORECASE,
    )
    text = (text or error).rstrip(". ")
    if len(text) > room and (end := _REASONED.search(text)) and end.start() <= room:
        return text[: end.start()]
    while len(text) > room and ": " in text:
        text = text.split(": ", 1)[1]
    return text


def clipped(text: str) -> str:
    """Keep a quote's first sentence; a long one is cut where a clause ends, else at a word's end."""
    text = sentences(text)[0] if len(text) > _QUOTE and sentences(text) else text
    if len(text) <= _QUOTE + 6:
        return text
    head = text[: _QUOTE - 1]
    ends = [end.start() for end in _CLAUSE.finditer(text, _QUOTE // 3, _QUOTE)]
    space = ends[-1] if ends else max(head.rfind(" "), head.rfind("，"), head.rfind("、"))
    return (head[:space] if space > _QUOTE // 3 else head).rstrip(" ,;:—–-，、") + "…"
