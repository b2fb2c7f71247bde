"""Chooses what is kept beside a head: the person's statements, and the agent's most telling ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from lamina.pipeline import cues, signs, smalltalk
from lamina.pipeline.exchanges import Piece, facts, terms

_SHARE = 0.4  # of the agent's characters: less loses answers, more adds little on either half of a set
_LEAST, _MOST = 140, 400
_BUSY, _BUSY_SHARE = 240, 0.5  # with tools at work the words are few beside what the tools put out
_CLOSING = 700  # after long work on its own the agent's last message is the account of it
_LONG, _TOOLS = 4, 12  # messages of the agent, or tool calls, that make an exchange long
_REPAIRS = 2  # statements on the cause and the remedy that are kept whatever their length
_MINIMUM = 0.075  # new words for a character below which a detail is not worth its place
_TELLING = 2  # words that a detail without facts must have more of
_REMARKS = 0.25  # added to a detail's worth for each cue that it carries
_LIGHT = 60  # characters of a remark that all is well now
_SAID = 480  # characters of the person's own words


class Want(NamedTuple):
    """What sort of exchange it is: `whole` for an account of how things stand, `repair` for a failure."""

    tools: int = 0
    whole: bool = False
    repair: bool = False


def details(pieces: Sequence[Piece], head: Piece, seen: set[str], want: Want) -> list[Piece]:
    """Give what is kept beside the head, in its order; `seen` takes in the words of what was chosen."""
    said = [piece for piece in pieces if piece is not head and piece.who == "user"]
    answers = [piece for piece in pieces if piece is not head and piece.who == "assistant"]
    least, share = (_BUSY, _BUSY_SHARE) if want.tools else (_LEAST, _SHARE)
    room = min(_MOST, max(least, share * sum(len(piece.text) for piece in answers)))
    last = closing(answers, want.tools)
    spent = [piece for piece in said if _is_spent(piece, head, alone=bool(last))]
    kept = _said([piece for piece in said if piece not in spent], seen)
    if last or want.whole:
        answers, room = last or answers, _CLOSING
    fit = [piece for piece in answers if _tells(piece) and not piece.has(smalltalk.PRAISES)]
    causes = [piece for piece in fit if piece.has(cues.REMEDY) and not piece.has(cues.UNSURE)]
    for piece in causes[:_REPAIRS] if want.repair else ():
        room -= _keep(piece, kept, seen, _CLOSING)
    openings = [fit, [piece for piece in fit if piece.seq == answers[-1].seq] if want.tools else []]
    for some in openings:  # the first word on the matter, and the outcome of work with tools
        new = next((piece for piece in some if piece not in kept and not echoes(piece, seen)), None)
        room -= _keep(new, kept, seen, room) if new else 0
    kept += worthiest([piece for piece in answers if piece not in kept], seen, room)
    return sorted(kept, key=pieces.index)


def _keep(piece: Piece, kept: list[Piece], seen: set[str], room: float) -> int:
    """Keep a statement that is new and fits; give the room it takes."""
    if piece in kept or echoes(piece, seen) or len(piece.text) >= room:
        return 0
    kept.append(piece)
    seen |= terms(piece.text)
    return len(piece.text)


def closing(answers: Sequence[Piece], tools: int) -> list[Piece]:
    """Give the statements of the last message, and those that name a cause, where the agent sent many."""
    seqs = sorted({piece.seq for piece in answers})
    if not seqs or (len(seqs) < _LONG and tools < _TOOLS):
        return []
    return [
        piece
        for piece in answers
        if piece.seq == seqs[-1] or (piece.has(cues.REMEDY) and not piece.has(cues.UNSURE))
    ]


def _said(said: Sequence[Piece], seen: set[str]) -> list[Piece]:
    """Take the person's statements as they come, as far as they are new."""
    kept: list[Piece] = []
    room = _SAID
    for piece in said:
        new = terms(piece.text) - seen
        if not piece.question and new and (len(new) > 1 or facts(piece.text)) and len(piece.text) <= room:
            kept.append(piece)
            room -= len(piece.text)
            seen |= terms(piece.text)
    return kept


def worthiest(pieces: Sequence[Piece], seen: set[str], room: float) -> list[Piece]:
    """Choose those that tell most that is new for their length, best first."""
    left = {at: _factor(piece) for at, piece in enumerate(pieces) if _tells(piece)}
    kept: list[Piece] = []
    while left:
        worth, best = max((_worth(pieces[at].text, seen) * factor, -at) for at, factor in left.items())
        piece = pieces[-best]
        if worth < _MINIMUM and not piece.code:
            break
        del left[-best]
        if len(piece.text) <= room:
            kept.append(piece)
            room -= len(piece.text)
            seen |= terms(piece.text)
    return kept


def _is_spent(said: Piece, head: Piece, *, alone: bool) -> bool:
    """Say whether the head tells of what was asked for, or `alone` made the asking only the beginning."""
    if said.has(cues.CONSTRAINT) or said.opens(cues.FORBIDS):
        return False
    words, told = terms(said.text), head.who == "assistant"
    covered = told and is_task(said) and 2 * len(words & terms(head.text)) >= len(words)
    return covered or (alone and (is_task(said) or (told and not facts(said.text))))


def _tells(piece: Piece) -> bool:
    if piece.question or (piece.has(cues.WORKED) and len(piece.text) < _LIGHT):
        return False
    return facts(piece.text) > 0 or len(terms(piece.text)) > _TELLING


def is_task(piece: Piece) -> bool:
    """Say whether a statement asks for work."""
    found = signs.TASK.match(piece.text)
    return found is not None and found.end() > 0 and not piece.has(signs.CHOICE)


def echoes(piece: Piece, seen: set[str]) -> bool:
    """Say whether a piece mostly repeats what stands already and names nothing new."""
    words = terms(piece.text)
    named = terms(" ".join(re.findall("`([^`]+)`", piece.text))) | {word for word in words if word.isdigit()}
    return 2 * len(words & seen) > len(words) and named <= seen


def _worth(text: str, seen: set[str]) -> float:
    """Count new words for a character, facts on top."""
    words = terms(text)
    new = len(words - seen)
    return (new + facts(text) * new / len(words)) / (len(text) + 15) if new else 0.0


def _factor(piece: Piece) -> float:
    """Weigh a piece by its cues; doubt halves it."""
    strong = sum(piece.has(table) for table in (cues.REASON, cues.REMEDY, signs.WHY))
    return (1 + _REMARKS * strong) * (0.5 if piece.has(cues.UNSURE) else 1.0)
