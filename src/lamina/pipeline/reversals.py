"""Finds what was taken back in a session: a correction or a new choice, and what it replaces."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from lamina.pipeline import cues, signs
from lamina.pipeline.exchanges import Exchange, Piece, terms
from lamina.pipeline.kinds import is_remark

_VALUE = re.compile(  # code, numbers, names with capitals or digits inside
    r"`[^`]{1,60}`|\d[\w.:,]*\w|\d|\b[A-Z][\w.+-]*[A-Z0-9]\w*\b"
)
_BACK = 2  # exchanges in which the old statement is looked for


class Reversals(NamedTuple):
    """By exchange: `right` were opened by a correction, `old` is what they replace.

    `gone` maps a statement that holds no more to what is left of it.
    """

    right: frozenset[int]
    old: dict[int, Piece]
    gone: dict[Piece, Piece | None]


def reversals(talk: Sequence[Exchange]) -> Reversals:
    """Look through a session's exchanges."""
    right: set[int] = set()
    old: dict[int, Piece] = {}
    gone: dict[Piece, Piece | None] = {}
    for at, exchange in enumerate(talk):
        said = _opening(exchange)
        before = [
            piece for one in talk[max(0, at - _BACK) : at] for piece in one.pieces if not piece.question
        ]
        if not said or not before:
            continue
        corrects = said[0].opens(cues.SAID_WRONG) and not said[0].opens(cues.AGREES)
        found = _replaced(said, before, corrects=corrects)
        if found is not None:
            old[at], gone[found] = _parted(found, said)
            gone |= {piece: None for piece in before if piece is not found and _says_same(piece, found, said)}
        chooses = any(piece.has(signs.CHOICE) for piece in said)
        if corrects or (found is not None and not chooses):
            right.add(at)
    return Reversals(frozenset(right), old, gone)


def _opening(exchange: Exchange) -> list[Piece]:
    """Give the person's statements of the exchange's first turn, without mere reactions."""
    said = [piece for piece in exchange.by("user") if not piece.question]
    said = [piece for piece in said if piece.seq == said[0].seq]
    return [piece for piece in said if piece.opens(cues.SAID_WRONG) or not is_remark(piece)]


def _replaced(said: Sequence[Piece], before: Sequence[Piece], *, corrects: bool) -> Piece | None:
    """Find the statement that no longer holds: by the value that is named as lost, else by what differs."""
    lost = [found[1] for piece in said for found in cues.LOST.finditer(piece.said)]
    for value in lost:
        wanted = terms(value)
        holding = [piece for piece in before if wanted and wanted <= terms(piece.text)]
        if holding:
            return max(holding, key=lambda piece: (_shared(piece, said), before.index(piece)))
    if not corrects and not any(piece.has(cues.REPLACES) for piece in said):
        return None
    back = any(signs.BACK.search(piece.said) for piece in said)
    # Taken back outright, or by one on the same subject: losing a decision is worse than keeping both.
    chosen = [
        piece
        for piece in before
        if piece.who == "user" and piece.has(signs.CHOICE) and (back or _same_subject(piece, said))
    ]
    if chosen and any(piece.has(signs.CHOICE) for piece in said):
        return chosen[-1]
    values = _values(said)
    differing = [piece for piece in before if _values([piece]) and values and not _values([piece]) <= values]
    best = max(differing, key=lambda piece: (_shared(piece, said), before.index(piece)), default=None)
    return best if best is not None and _same_subject(best, said) else None


def _same_subject(piece: Piece, said: Sequence[Piece]) -> bool:
    """Say whether both sides share a quarter of the shorter one's words: one common word makes no subject."""
    mine, theirs = terms(piece.text), set[str]().union(*(terms(one.text) for one in said))
    return 0 < min(len(mine), len(theirs)) <= 4 * len(mine & theirs)


def _shared(piece: Piece, said: Sequence[Piece]) -> int:
    return len(terms(piece.text) & set[str]().union(*(terms(one.text) for one in said)))


def _values(pieces: Sequence[Piece]) -> set[str]:
    return {found.strip("`") for piece in pieces for found in _VALUE.findall(piece.said)}


def _parted(piece: Piece, said: Sequence[Piece]) -> tuple[Piece, Piece | None]:
    """Part a list into the item that no longer holds and the others."""
    items = piece.text.rstrip(".").split("; ")
    if len(items) < 2:
        return piece, None
    words = {part for one in said for word in terms(one.text) for part in word.split("-")}
    worst = max(items, key=lambda item: sum(word in item.casefold() for word in words))
    rest = "; ".join(item for item in items if item is not worst)
    if worst is items[0] and ": " in worst:
        lead, worst = worst.split(": ", 1)
        rest = f"{lead}: {rest}"
    return replace(piece, text=f"{worst}."), replace(piece, text=f"{rest}.", said=rest)


def _says_same(piece: Piece, gone: Piece, said: Sequence[Piece]) -> bool:
    """Say whether a statement only repeats one that is gone, or tells that it was carried out."""
    mine, theirs = terms(piece.text), terms(gone.text)
    named = {value for value in _values([gone]) - _values(said) if any(char.isalpha() for char in value)}
    carried = piece.who == "assistant" != gone.who and piece.seq > gone.seq and bool(named & _values([piece]))
    carried = carried or (
        piece.who == "assistant" and piece.seq > gone.seq and 2 * len(mine & theirs) > len(theirs)
    )
    return carried or (bool(mine) and len(mine & theirs) >= 0.7 * len(mine | theirs))
