"""Says what kind of statement a sentence is, and whether one ends what another left open."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from lamina.pipeline import cues, signs, smalltalk
from lamina.pipeline.exchanges import Piece, facts, is_common
from lamina.pipeline.topics import keys, phrases

_SHORT = 60  # characters: a sentence without any cue that is shorter goes on with a wish before it


@lru_cache(maxsize=1024)
def kind(piece: Piece) -> str:
    """Name a person's statement.

    `remark` says nothing to remember; `question`, `doubt`, `preference`, `constraint`, `open`, `decision`,
    `failure`, else `fact`.
    """
    tests: tuple[tuple[str, Callable[[], bool]], ...] = (
        ("decision", lambda: piece.chosen),
        ("remark", lambda: is_remark(piece)),
        ("question", lambda: piece.question),
        ("doubt", lambda: piece.has(cues.UNSURE)),
        ("decision", lambda: piece.has(signs.CHOICE) and not piece.has(cues.PREFERENCE)),
        ("preference", lambda: piece.standing),
        ("open", lambda: is_open(piece)),
        ("decision", lambda: piece.has(signs.CHOICE)),
        ("constraint", lambda: piece.has(cues.CONSTRAINT) or piece.opens(cues.FORBIDS)),
        ("failure", lambda: piece.has(cues.FAILURE)),
    )
    return next((name for name, holds in tests if holds()), "fact")


def is_open(piece: Piece) -> bool:
    """Say whether a statement names what is not done: by its first words, or a person's by a cue."""
    if piece.question or piece.opens(signs.LEFT):
        return not piece.question
    if piece.who == "assistant":
        return signs.UNTOUCHED.search(piece.said) is not None and not piece.code
    return piece.has(cues.OPEN) and not (piece.has(signs.DONE) or signs.GOES_ON.match(piece.said))


@lru_cache(maxsize=1024)
def is_remark(piece: Piece) -> bool:
    """Say whether a statement only reacts: agrees, thanks, confirms, rates, greets."""
    said = signs.ASIDE.sub("", piece.said, count=1) if signs.ASIDE.match(piece.said) else piece.said
    words = _telling(said)
    if signs.HOSTILE.search(said) or _is_chore(said, piece):
        return True
    if piece.question:
        return not words
    if piece.has(cues.WORKED) and not piece.has(cues.PREFERENCE, cues.CONSTRAINT):
        return len(words) <= 4 + 2 * bool(piece.opens(cues.WORKED)) and not facts(said[1:])
    if not words:
        return not facts(said[1:])
    reacts = piece.opens(cues.AGREES) or cues.ahead(smalltalk.PRAISES).match(said) is not None
    return reacts and len(words) <= 2 and not facts(said[1:]) and not piece.has(signs.CHOICE, cues.PREFERENCE)


def _is_chore(said: str, piece: Piece) -> bool:
    """Say whether a statement only takes up work, leaves it, or orders what is done at once."""
    if signs.GOES_ON.match(said):
        return piece.has(cues.OPEN) and len(said) <= _SHORT
    return signs.CHORE.match(said) is not None and not piece.has(cues.PREFERENCE, cues.STANDING)


def is_announcement(piece: Piece) -> bool:
    """Say whether a statement only opens a matter: few words that tell, no fact among them."""
    return len(_telling(piece.text)) <= 3 and not facts(piece.text[1:]) and not piece.has(signs.CHOICE)


def goes_on(piece: Piece) -> bool:
    """Say whether a sentence only completes the wish before it."""
    return len(piece.text) <= _SHORT or signs.FOLLOWS.match(piece.said) is not None


def _telling(text: str) -> set[str]:
    """Give the words that name something."""
    return {word for phrase in phrases(text) for word in phrase.split() if not is_common(word.casefold())}


def matter(text: str) -> frozenset[str]:
    """Give what an open statement is about: the keys of its first phrase, or two if that is one word."""
    stripped = text.split(":", 1)[1] if cues.ahead(signs.LEFT).match(text) and ":" in text else text
    found = [keys(phrase) for phrase in phrases(stripped)]
    if not found:
        return frozenset()
    first = found[0]
    return first | found[1] if len(first) < 2 and len(found) > 1 else first


def ends(left: str, told: str) -> bool:
    """Say whether a sentence says outright that what was left open is done."""
    about = matter(left)
    if len(about) < 2 or not about <= keys(told):
        return False
    return cues.anywhere(signs.DONE).search(told) is not None and not signs.NOT_DONE.search(told)
