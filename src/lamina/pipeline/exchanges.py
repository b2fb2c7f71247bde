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
from itertools import pairwise

from lamina.pipeline import choices, cues, signs, smalltalk
from lamina.pipeline.relevance import Failure, Material, Turn
from lamina.pipeline.statements import Statement, statements

_WORD = re.compile(r"[^\W_]+(?:[._'’/-][^\W_]+|_+[^\W_]+)*")
_FACT = re.compile(r"`[^`]+`|\d|[A-Za-z]+_\w+|(?<=[\w,)] )(?!I\b)[A-Z][a-z]*[A-Z]?\w*|[A-Z]{2,}")
_ASIDE = re.compile(
    r"`[^`]*`|(?<!\w)'[^'\n]{3,200}'(?!\w)|\"[^\"\n]{3,200}\"|“[^”\n]{3,200}”|「[^」\n]{3,200}」|"
    r"„[^“”\n]{3,200}[“”]"
)
_OFTEN = re.compile(
    r"\b(?:always|never) (?:the|a|an|been|be|at|on|there|seen|worked|had|same|happens?|fails?)\b|"
    r"\bimmer (?:noch|der|die|das|wieder)\b|\btoujours (?:le|la|les|pas)\b",
    re.IGNORECASE,
)  # what looks like a standing rule and only tells how often something happens
_RULE = re.compile(
    r"(?:^|[,;:—–] |\b(?:and|please|so|but|you|we|i|nobody) )(?:always|never|don't|do not)\b", re.IGNORECASE
)
_ACCOUNT = re.compile(
    r"(?:done|completed?|finished|erledigt|fertig|fait|terminé|hecho|готово|完成|完了|완료)\s*[:：]",
    re.IGNORECASE,
)
_WONDERS = re.compile(
    r"(?:who|why|how come|what's|what is|where|warum|pourquoi|por qué|почему)\b", re.IGNORECASE
)
_LOWER = re.compile(r"[a-zß-öø-ÿа-яё]+(?:['’]\w+)?[ ,:;-]")
_SHORT_REMARK = 48
_STEM = 7  # letters of a word that tell whether it is new: enough for most endings in most languages
_ANEW = 6  # new words with which a turn that agrees opens a matter of its own
_ANSWER = 60  # characters of an opening that only answers what the agent asked
_ORDERS = 3  # new words with which a person's order opens a matter of its own
_JOINS = 4  # a turn with fewer new words than this adds to the exchange before it


@lru_cache(maxsize=2048)  # a piece is weighed many times
def terms(text: str) -> frozenset[str]:
    """Give the content words of a text, folded and cut to stems; unspaced scripts give character pairs."""
    found: set[str] = set()
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        if word.isascii() or not unspaced(word):
            if not {word, word.split("'")[0].split("’")[0]} & smalltalk.COMMON and (
                len(word) > 1 or word.isdigit()
            ):
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


@lru_cache(maxsize=4096)
def _own_words(text: str) -> str:
    """Leave out code and what is quoted: cues in them are somebody else's."""
    return _ASIDE.sub("`", text)


@dataclass(frozen=True, slots=True)
class Piece:
    """One statement of an exchange: `text` as it is kept, `said` as it stood, `first` of its message.

    `chosen`: the person took an option by its letter, and `text` names it.
    """

    text: str
    said: str
    who: str
    seq: int
    code: bool = False
    question: bool = False
    first: bool = False
    chosen: bool = False

    def has(self, *tables: cues.Table) -> bool:
        """Say whether the piece carries a cue of any of the tables."""
        told = _own_words(self.said)
        return any(cues.has(table, told) for table in tables)

    def opens(self, table: cues.Table) -> bool:
        """Say whether the piece begins with a cue."""
        return cues.opens(table, self.said)

    @property
    def standing(self) -> bool:
        """Whether it is a rule for the time to come."""
        if not self.has(cues.PREFERENCE, cues.STANDING) or _OFTEN.search(self.said):
            return False
        firm = self.opens(cues.PREFERENCE) or self.opens(cues.FORBIDS) or self.has(cues.STANDING)
        return firm or not self.has(cues.FAILURE) or _RULE.search(self.said) is not None


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
    tools: int = 0
    asks: bool = False  # the agent ended with a question

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
            and not piece.standing
            and not piece.has(cues.CONSTRAINT)
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
    offered: dict[str, str] = {}
    for turn in material.turns:
        said = statements(turn.user)
        before = found[-1] if found else None
        taken = any(choices.chosen(one.text, offered) for one in said)
        if before is not None and said and not taken:
            _settle(before, [one.text for one in said])
            if (
                len(said) > 1
                and not any(_asks(one.text) for one in said)
                and cues.anywhere(cues.WORKED).search(said[0].text)
            ):
                known.update(*(terms(piece.text) for piece in _confirm(before, turn, said.pop(0))))
        if before is None or taken or not _continues(before, said, known):
            before = Exchange(turn.first, turn.last, turn.time)
            found.append(before)
        known.update(*(terms(piece.text) for piece in _extend(before, turn, said, offered)))
        offered = choices.options(_last_message(turn)) if turn.gists else offered
    for before, here in pairwise(found):
        if here.confirmed and before.reported and not (before.confirmed or here.reported):
            before.confirmed = here.confirmed
    return [one for one in found if one.pieces or one.failures]


def _last_message(turn: Turn) -> str:
    """Put the parts of the agent's last message together."""
    seqs = turn.gist_seqs or (turn.first,) * len(turn.gists)
    return "\n".join(gist for gist, seq in zip(turn.gists, seqs, strict=True) if seq == seqs[-1])


def _confirm(before: Exchange, turn: Turn, told: Statement) -> list[Piece]:
    """Add the word that a remedy held to the exchange that it is about."""
    pieces = [piece for piece in _pieces([told], "user", turn.first) if facts(piece.text[1:])]
    before.pieces += pieces
    before.last = max(before.last, turn.first)
    return pieces


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
    opening, new = said[0].text, _count(words - known)
    lost = (terms(found[1]) for one in said for found in cues.LOST.finditer(one.text))
    if cues.opens(cues.SAID_WRONG, opening) or any(gone and gone <= known for gone in lost):
        return False
    fails = cues.anywhere(cues.FAILURE).search(opening) is not None
    answers = before.asks and len(opening) <= _ANSWER and not (asks or fails)
    orders = new >= _ORDERS and any(_is_order(one.text) for one in said)
    reacts = cues.anywhere(cues.WORKED).search(opening) or cues.ahead(cues.AGREES).match(opening)
    if answers or (reacts and not orders):
        return new < _ANEW and (answers or before.reported or not asks)
    if before.reported and not (before.confirmed or asks or orders):
        anew = fails or cues.ahead(signs.CHOICE).match(opening) is not None
        return bool(words & known) and not (anew and new >= _JOINS)
    trimmed = cues.ahead(smalltalk.TRIMMED).match(opening) is not None
    return new < _JOINS and not (asks or orders or trimmed)


def _count(words: set[str]) -> int:
    """Count words; two pairs of characters make about one in an unspaced script."""
    pairs = sum(1 for word in words if unspaced(word))
    return len(words) - pairs + pairs // 2


def _is_order(text: str) -> bool:
    """Say whether a statement begins with the verb of a task."""
    found = signs.TASK.match(_without_lead(text))
    return found is not None and found.end() > 0 and not signs.ANAPHORIC.search(text)


def _extend(here: Exchange, turn: Turn, said: list[Statement], offered: dict[str, str]) -> list[Piece]:
    """Add a turn to an exchange; give the pieces that it brought."""
    count = len(here.pieces)
    here.last = max(here.last, turn.last)
    here.failures += turn.failures
    here.tools += turn.tools
    here.pieces += _pieces(said, "user", turn.first, offered)
    here.asks = bool(turn.gists) and turn.gists[-1].rstrip().endswith(("?", "？"))
    seqs = turn.gist_seqs or (turn.first,) * len(turn.gists)
    for seq, gist in zip(seqs, turn.gists, strict=True):
        here.pieces += _pieces(statements(gist), "assistant", seq)
    if turn.agreed:
        here.accepted = here.accepted or "yes"
    return here.pieces[count:]


def _pieces(
    said: Iterable[Statement], who: str, seq: int, offered: dict[str, str] | None = None
) -> Iterator[Piece]:
    """Clean statements; what only acknowledges, rates, narrates or asks back is dropped."""
    first = True
    for one in said:
        if named := choices.chosen(one.text, offered or {}):
            yield Piece(ended(capital(named)), one.text, who, seq, first=first, chosen=True)
            first = False
            continue
        text = one.text if one.listed and _ACCOUNT.match(one.text) else _without_lead(one.text)
        if against := choices.refused(one.text, offered or {}):
            text = capital(against)
        question = _asks(one.text)
        if question and who == "user" and signs.REQUESTS.match(one.text):
            question, text = False, text.rstrip("?？ ")
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
        yield Piece(ended(text), one.text, who, seq, one.code, question, first)
        first = False


def pieces_of(text: str, who: str, seq: int) -> list[Piece]:
    """Cut a text into cleaned pieces."""
    return [*_pieces(statements(text), who, seq)]


def _asks(text: str) -> bool:
    end = text.rstrip("\"'”’)*_` ")[-2:]
    wonders = not text.rstrip().endswith((".", "!", ":")) and _WONDERS.match(text) is not None
    return wonders or end.endswith(("?", "？")) or end in {"か。", "吗。", "呢。", "까."}


def _without_lead(text: str) -> str:
    """Drop acknowledging words at the front and the opener of a wish, so that the matter comes first."""
    for _ in range(4):
        before = text
        match = smalltalk.lead_in().match(text) or signs.ASIDE.match(text)
        if match is not None:
            text = text[match.end() :]
        if (generic := smalltalk.GENERIC.match(text)) and len(text) > generic.end():
            text = text[generic.end() :]
        trimmed = cues.ahead(smalltalk.TRIMMED).match(text)
        if trimmed and len(text) > trimmed.end() + 3:
            text = text[trimmed.end() :].lstrip(" ,，、")
        if text == before:
            break
    text = signs.TRAILING.sub("", text)
    return capital(text) if _LOWER.match(text) else text


def ended(text: str) -> str:
    """End a statement with a full stop of its script."""
    if text.endswith((".", "!", "?", "。", "！", "？", "…")):
        return text
    return text + ("。" if unspaced(text[-2:]) else ".")
