"""Reads a session's material as exchanges: what a person said, what came back, how it ended.

An exchange is a person's turn with the answers to it; later turns that only confirm, agree or add a
word join it. Its pieces are cleaned statements with the cues they carry.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

from lamina.pipeline import cues, smalltalk
from lamina.pipeline.relevance import Failure, Material, Turn
from lamina.pipeline.statements import Statement, statements

_WORD = re.compile(r"[^\W_]+(?:[._'’/-][^\W_]+|_+[^\W_]+)*")
_FACT = re.compile(r"`[^`]+`|\d|[A-Za-z]+_\w+|(?<=\S )[A-Z][a-z]*[A-Z]?\w*|[A-Z]{2,}")
_CODE = re.compile(r"`[^`]*`")
_LOWER = re.compile(r"[a-zß-öø-ÿа-яё]+(?:['’]\w+)?[ ,:;-]")
_SHORT_REMARK = 48
_STEM = 7  # letters of a word that tell whether it is new: enough for most endings in most languages
_ANEW = 6  # new words with which a turn that agrees opens a matter of its own
_JOINS = 4  # a turn with fewer new words than this adds to the exchange before it


@lru_cache(maxsize=2048)  # a piece is weighed many times
def terms(text: str) -> frozenset[str]:
    """Give the content words of a text, folded and cut to stems; unspaced scripts give character pairs."""
    found: set[str] = set()
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        if word.isascii() or not unspaced(word):
            if word not in smalltalk.COMMON and (len(word) > 1 or word.isdigit()):
                found.add(word[:_STEM] if word.isalpha() else word)
        else:
            found.update(word[at : at + 2] for at in range(max(1, len(word) - 1)))
    return frozenset(found)


def facts(text: str) -> int:
    """Count what is a fact by its shape: code, numbers, identifiers, names inside a sentence."""
    return len(_FACT.findall(text))


def capital(text: str) -> str:
    """Begin with a capital letter."""
    return text[:1].upper() + text[1:]


def joined(texts: Iterable[str]) -> str:
    """Join sentences; scripts without spaces need none between them."""
    out = ""
    for text in texts:
        out += text if not out or out[-1] in "。！？" else f" {text}"
    return out


def is_common(word: str) -> bool:
    """Say whether a folded word is grammar or small talk."""
    return word in smalltalk.COMMON


def unspaced(word: str) -> bool:
    """Say whether a word has characters of a script that is written without spaces, or Korean ones."""
    return any(
        "\u0e00" <= char <= "\u0e7f" or "\u3040" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7af"
        for char in word
    )


@dataclass(frozen=True, slots=True)
class Piece:
    """One statement of an exchange: `text` as it is kept, `said` as it stood, `first` of its message."""

    text: str
    said: str
    who: str
    seq: int
    code: bool = False
    question: bool = False
    first: bool = False

    def has(self, *tables: cues.Table) -> bool:
        """Say whether the piece carries a cue of any of the tables."""
        told = _CODE.sub("`", self.said)
        return any(cues.anywhere(table).search(told) for table in tables)

    def opens(self, table: cues.Table) -> bool:
        """Say whether the piece begins with a cue."""
        return cues.ahead(table).match(self.said) is not None


@dataclass(slots=True)
class Exchange:
    """What belongs together, in the order it was said; `accepted` are the words that took a proposal."""

    first: int
    last: int
    time: datetime | None
    pieces: list[Piece] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    accepted: str = ""
    confirmed: str = ""

    def by(self, who: str) -> list[Piece]:
        """Give what one side said."""
        return [piece for piece in self.pieces if piece.who == who]

    @property
    def reported(self) -> bool:
        """Whether the person began with a failure."""
        told = [piece for piece in self.by("user") if not piece.question][:1]
        return any(
            piece.has(cues.FAILURE)
            and not piece.opens(smalltalk.TRIMMED)
            and not piece.has(cues.PREFERENCE, cues.CONSTRAINT)
            for piece in told
        )

    @property
    def worked(self) -> str:
        """The words that say that a remedy held: the person's, else the agent's last ones."""
        if self.confirmed:
            return self.confirmed
        told = [
            piece.said
            for piece in self.by("assistant")
            if piece.has(cues.WORKED) and not piece.has(cues.UNSURE)
        ]
        return told[-1] if told else ""


def exchanges(material: Material) -> list[Exchange]:
    """Cut the material into exchanges, oldest first."""
    found: list[Exchange] = []
    known: set[str] = set()
    for turn in material.turns:
        said = statements(turn.user)
        before = found[-1] if found else None
        if before is not None and said:
            _settle(before, [one.text for one in said])
        if before is None or not _continues(before, said, known):
            before = Exchange(turn.first, turn.last, turn.time)
            found.append(before)
        known.update(*(terms(piece.text) for piece in _extend(before, turn, said)))
    return [one for one in found if one.pieces or one.failures]


def _settle(before: Exchange, said: list[str]) -> None:
    """Note that the person confirmed a remedy or took a proposal."""
    worked = next((text for text in said[:2] if cues.anywhere(cues.WORKED).search(text)), "")
    if worked and not worked.endswith(("?", "？")):
        before.confirmed = before.confirmed or worked
    if cues.ahead(cues.AGREES).match(said[0]) and not cues.ahead(cues.SAID_WRONG).match(said[0]):
        before.accepted = before.accepted or " ".join(said[:2])


def _continues(before: Exchange, said: list[Statement], known: set[str]) -> bool:
    """Say whether a turn only goes on with the exchange before it."""
    if not said:
        return True
    asks = any(_asks(one.text) for one in said)
    words = set[str]().union(*(terms(one.text) for one in said))
    opening = said[0].text
    if cues.ahead(cues.SAID_WRONG).match(opening):
        return False
    if cues.anywhere(cues.WORKED).search(opening) or cues.ahead(cues.AGREES).match(opening):
        return (before.reported or not asks) and len(words - known) < _ANEW
    if before.reported and not before.confirmed and not asks:
        return bool(words & known)
    return len(words - known) < _JOINS and not asks and not cues.ahead(smalltalk.TRIMMED).match(opening)


def _extend(here: Exchange, turn: Turn, said: list[Statement]) -> list[Piece]:
    """Add a turn to an exchange; give the pieces that it brought."""
    count = len(here.pieces)
    here.last = max(here.last, turn.last)
    here.failures += turn.failures
    here.pieces += _pieces(said, "user", turn.first)
    seqs = turn.gist_seqs or (turn.first,) * len(turn.gists)
    for seq, gist in zip(seqs, turn.gists, strict=True):
        here.pieces += _pieces(statements(gist), "assistant", seq)
    if turn.agreed:
        here.accepted = here.accepted or "yes"
    return here.pieces[count:]


def _pieces(said: Iterable[Statement], who: str, seq: int) -> Iterator[Piece]:
    """Clean statements; what only acknowledges, rates, narrates or asks back is dropped."""
    first = True
    for one in said:
        text = _without_lead(one.text)
        question = _asks(one.text)
        if not terms(text) or cues.ahead(smalltalk.NARRATES).match(text):
            continue
        if who == "assistant":
            offer = cues.ahead(cues.OFFERS).match(text)
            if question and not offer:
                continue
            if (
                len(text) <= _SHORT_REMARK
                and cues.ahead(smalltalk.PRAISES).match(text)
                and not _FACT.search(text[1:])
            ):
                continue
        yield Piece(_ended(text), one.text, who, seq, one.code, question, first)
        first = False


def pieces_of(text: str, who: str, seq: int) -> list[Piece]:
    """Cut a text into cleaned pieces."""
    return [*_pieces(statements(text), who, seq)]


def _asks(text: str) -> bool:
    end = text.rstrip("\"'”’)*_` ")[-2:]
    return end.endswith(("?", "？")) or end in {"か。", "吗。", "呢。", "까."}


def _without_lead(text: str) -> str:
    """Drop acknowledging words at the front and the opener of a wish, so that the matter comes first."""
    for _ in range(3):
        match = smalltalk.lead_in().match(text)
        if match is None or match.end() == len(text) == 0:
            break
        text = text[match.end() :]
    if (generic := smalltalk.GENERIC.match(text)) and len(text) > generic.end():
        text = text[generic.end() :]
    for _ in range(2):
        trimmed = cues.ahead(smalltalk.TRIMMED).match(text)
        if trimmed and len(text) > trimmed.end() + 3:
            text = text[trimmed.end() :].lstrip(" ,，、")
    return capital(text) if _LOWER.match(text) else text


def _ended(text: str) -> str:
    if text.endswith((".", "!", "?", "。", "！", "？", "…")):
        return text
    return text + ("。" if unspaced(text[-2:]) else ".")
