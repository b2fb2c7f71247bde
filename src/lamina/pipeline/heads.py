"""Finds and words the statement that a bullet begins with."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lamina.pipeline import cues, signs, smalltalk
from lamina.pipeline.details import is_task
from lamina.pipeline.exchanges import Piece, capital, ended, terms
from lamina.pipeline.headings import limit_of, matter_of, short
from lamina.pipeline.kinds import is_announcement
from lamina.pipeline.topics import keys

_TELLING = 2  # words that a heading must have more of
_AGAIN = 0.6  # of a question's words
_MATTER = 32  # characters of a subject that can lead a sentence
_OVER = 1  # characters by which a heading with its subject may be longer: its end can be cut


def is_slight(piece: Piece) -> bool:
    """Say whether a statement is too little to stand at the head."""
    return (
        len(terms(piece.text)) <= _TELLING
        or piece.has(cues.WORKED)
        or signs.FINE.search(piece.text) is not None
    )


def results(answers: Sequence[Piece], said: Sequence[Piece]) -> list[Piece]:
    """Give the agent's statements that tell of the matter in few words, those of the last message first."""
    asked = set[str]().union(*(terms(piece.text) for piece in said))
    last = max((piece.seq for piece in answers), default=0)
    fit = [
        piece
        for piece in answers
        if short(piece.text, limit_of(piece.text))
        and len(terms(piece.text) & asked) >= min(2, len(asked) / 2)
        and len(terms(piece.text)) > _TELLING
        and not (
            piece.text.count("; ") > 1
            or piece.code
            or piece.has(cues.UNSURE)
            or piece.opens(smalltalk.PRAISES)
        )
    ]
    return sorted(fit, key=lambda piece: piece.seq != last)


def stands_alone(piece: Piece) -> bool:
    """Say whether a statement can be understood without what was said before it."""
    return not (
        piece.question
        or piece.code
        or is_slight(piece)
        or is_announcement(piece)
        or signs.DANGLING.match(piece.text)
        or piece.has(cues.UNSURE)
        or piece.opens(smalltalk.PRAISES)
        or piece.opens(cues.OFFERS)
    )


def restates(answer: Piece, question: Piece) -> bool:
    """Say whether an answer says the question's matter again, so that it stands without it."""
    words = terms(question.text)
    return len(words & terms(answer.text)) >= _AGAIN * len(words)


def headed(head: Piece, label: str, subject: Piece | None, kept: list[str]) -> list[str]:
    """Write a bullet's sentences, the subject in front of the head or what follows if neither names it."""
    text = shorter(head)
    advised = signs.RECOMMENDS.search(text) if head.who == "assistant" else None
    if advised and len(terms(text[advised.end() :])) > _TELLING:
        front, text = text[: advised.start()].strip(" ,"), capital(text[advised.end() :].lstrip(" ,:，、"))
        kept = [ended(front), *kept] if len(terms(front)) > _TELLING else kept
    if label in {"fix", "failure"}:
        text = _reported(text)
    if (
        label == "finding"
        and head.who == "user"
        and is_task(head)
        and is_announcement(head)
        and " " in matter_of(head.text)
    ):
        text = capital(ended(matter_of(head.text)))
    named = matter_of(subject.text) if subject else ""
    wanted, there = keys(named), keys(" ".join([text, *kept]))
    if not named or len(wanted & there) == len(wanted):
        return [text, *kept]
    if len(named) + len(text) <= limit_of(text) + _OVER:
        return [f"{capital(named)}: {text}", *kept]
    return [text, *([f"{capital(named)}: {kept[0]}", *kept[1:]] if kept and len(named) <= _MATTER else kept)]


def shorter(piece: Piece) -> str:
    """Put a question into the form of a head for its answer, where a short one is known."""
    if piece.question:
        for asked, head in smalltalk.SHORTER:
            if found := re.fullmatch(asked + r"\?", piece.text, re.IGNORECASE):
                return capital(found.expand(head))
        _, dash, tail = piece.text.rpartition(" — ")
        return capital(tail) if dash and len(terms(tail)) > _TELLING else piece.text
    if offer := cues.ahead(cues.OFFERS).match(piece.text):
        rest = piece.text[offer.end() :].lstrip(" ,:，、")
        return capital(rest) if rest else piece.text
    return piece.text


def _reported(text: str) -> str:
    """Begin with what failed, not with who saw it."""
    found = cues.ahead(signs.REPORTS).match(text)
    rest = text[found.end() :].lstrip(" ,") if found else ""
    rest = re.sub(r"^(?:an?|some|that)\s+", "", rest)
    return capital(rest) if len(terms(rest)) > 1 else text
