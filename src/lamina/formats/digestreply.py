"""How a model answers when it chooses what a digest keeps, one line a piece of knowledge.

    - [2 | decision] Use plain ESM, because what we ship is what we test.
    UPDATE decision-port [3] :: The port is 9090.
    UPDATE open-guide [3 | state] :: The upgrade guide is written.
    NOTHING 1

The number is that of the session as it was shown. Read leniently: what is no such line is passed over.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from lamina.formats.lines import fold

_NEW: Final = re.compile(
    r"(?:[-*+•]\s*)?\[\s*#?(?:session\s*)?(\d{1,6})\s*\|\s*([A-Za-z ]{3,20}?)\s*\]\s*(.+)", re.IGNORECASE
)
_UPDATE: Final = re.compile(
    r"(?:[-*+•]\s*)?UPDATE\s+`?([^\s`\[]{1,100})`?\s*\[\s*#?(\d{1,6})\s*"
    r"(?:\|\s*([A-Za-z ]{3,20}?)\s*)?\]\s*(?:::|:)\s*(.+)",
    re.IGNORECASE,
)
_NOTHING: Final = re.compile(r"(?:[-*+•]\s*)?NOTHING\s+(.+)", re.IGNORECASE)
_KINDS: Final = {
    "decision": "decision",
    "decisions": "decision",
    "state": "state",
    "change": "state",
    "learning": "learning",
    "learnings": "learning",
    "open": "open",
    "open action": "open",
}


class Piece(NamedTuple):
    """One line that names knowledge; `session` as it was numbered, `id` of the item it puts in new words.

    `kind` is "" where an item keeps its own.
    """

    session: int
    kind: str
    text: str
    id: str = ""


class DigestReply(NamedTuple):
    """A reply as read: the pieces in order, and the sessions that hold nothing."""

    pieces: tuple[Piece, ...] = ()
    nothing: frozenset[int] = frozenset()


def parse_digest_reply(text: str, *, cut: bool = False) -> DigestReply:
    """Read a reply; never fails. With `cut`, a last line without its line end is dropped."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if cut and lines[-1].strip():
        lines.pop()
    pieces: list[Piece] = []
    nothing: set[int] = set()
    for line in map(fold, lines):
        if match := _NEW.fullmatch(line):
            kind = _KINDS.get(match[2].lower())
            if kind:
                pieces.append(Piece(int(match[1]), kind, match[3].strip()))
        elif match := _UPDATE.fullmatch(line):
            kind = _KINDS.get((match[3] or "").lower(), "")
            pieces.append(Piece(int(match[2]), kind, match[4].strip(), match[1]))
        elif match := _NOTHING.fullmatch(line):
            nothing.update(int(number) for number in re.findall(r"\d{1,6}", match[1]))
    return DigestReply(tuple(pieces), frozenset(nothing))
