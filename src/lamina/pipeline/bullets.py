"""Writes a session's durable bullets without a model.

Each exchange gives one bullet, two when it holds a lot: its lead (the wish, the failure, the question)
and those details that add most new words for their length. Everything is quoted from the
session as it stood, so doubt stays doubt and nothing can be invented.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date

from lamina.formats.bullet import Bullet
from lamina.pipeline import cues, smalltalk
from lamina.pipeline.exchanges import Exchange, Piece, capital, exchanges, facts, joined, pieces_of, terms
from lamina.pipeline.relevance import Failure, Limits, Material
from lamina.pipeline.topics import AGAIN, phrases

BULLET_CHARS = 420
QUOTE_CHARS = 80
_SHARE = 0.6  # of an exchange's characters: less loses answers, more adds little on either half of the set
_LEAST, _MOST = 160, 900
_MINIMUM = 0.05  # new words for a character below which a detail is not worth its place


_FAILURES = 2  # of an exchange
_TELLING = 2  # words that a detail without facts must have more of
_REMARKS = 0.25  # added to a detail's worth for each cue that it carries


def bullets(material: Material, today: date, limits: Limits | None = None) -> list[Bullet]:
    """Give at most `limits.bullets` bullets, oldest first; `today` dates what carries no time."""
    seen: set[str] = set()
    found: list[Bullet] = []
    for exchange in exchanges(material):
        wishing = bool(found) and found[-1].label == "preference"
        found += _told(exchange, seen, today, wishing=wishing)
    return _strongest(_joined(found), (limits or Limits()).bullets)


def _told(exchange: Exchange, seen: set[str], today: date, *, wishing: bool) -> Iterator[Bullet]:
    day = exchange.time.astimezone(UTC).date() if exchange.time else today
    for failure in exchange.failures[:_FAILURES]:
        if told := _failed(failure, day):
            seen |= terms(told.text)
            yield told
    wishes, rest = _wishes(exchange, wishing=wishing)
    if wishes:
        seen.update(*(terms(piece.text) for piece in wishes))
        rest = [piece for piece in rest if piece.who == "user" or not _echoes(piece, seen)]
        if not any(piece.who == "user" for piece in rest):
            wishes, rest = [*wishes, *_details(rest, seen)], []
        yield from (_bullet("preference", packed, exchange, day) for packed in _packed(wishes))
    label = _label(exchange, rest)
    chosen = _chosen(rest, seen)
    subject = next(phrases(chosen[0].text), "") if chosen else ""
    for index, packed in enumerate(_packed(chosen)):
        told = _bullet(_detail_label(label, packed) if index else label, packed, exchange, day)
        yield (replace(told, text=f"{capital(subject)}{AGAIN}{told.text}") if index and subject else told)


def _wishes(exchange: Exchange, *, wishing: bool) -> tuple[list[Piece], list[Piece]]:
    """Part standing preferences from the rest; where they were announced, all that was said is one."""
    said = [piece for piece in exchange.by("user") if not piece.question]
    wishes = [piece for piece in said if piece.has(cues.PREFERENCE) and not piece.has(cues.UNSURE)]
    goes_on = wishing and bool(said) and said[0].opens(cues.FURTHER)
    if goes_on or 2 * len(wishes) > len(said) or any(piece.has(cues.WISHES) for piece in said):
        wishes = [_announced(piece) for piece in said]
        said_seqs = {piece.said for piece in said}
        return wishes, [piece for piece in exchange.pieces if piece.said not in said_seqs]
    return wishes, [piece for piece in exchange.pieces if piece not in wishes]


def _announced(piece: Piece) -> Piece:
    """Drop the announcement in front of a preference."""
    head, colon, rest = piece.text.partition(": ")
    if colon and cues.anywhere(cues.WISHES).search(head):
        return replace(piece, text=capital(rest))
    return piece


def _echoes(piece: Piece, seen: set[str]) -> bool:
    """Say whether a piece mostly repeats what stands already and names nothing new."""
    words = terms(piece.text)
    named = terms(" ".join(re.findall("`([^`]+)`", piece.text)))
    return 2 * len(words & seen) > len(words) and named <= seen


def _label(exchange: Exchange, pieces: list[Piece]) -> str:
    """Name what an exchange is about, going by the person's opening words first."""
    said = [piece for piece in pieces if piece.who == "user"]
    said = [piece for piece in said if piece.seq == said[0].seq]
    told = [piece for piece in said if not piece.question]
    if any(piece.question and piece.has(cues.STATUS) for piece in said):
        return "status"
    if exchange.reported:
        return "fix" if exchange.worked else "failure"
    if label := _stated(told):
        return label
    if exchange.accepted and any(piece.opens(cues.OFFERS) for piece in exchange.by("assistant")):
        return "decision"
    return "finding" if told else _answer_label(pieces)


def _stated(told: list[Piece]) -> str:
    """Name what a person stated, "" if no cue tells; what is said with doubt stays open."""
    if told and told[0].opens(cues.SAID_WRONG):
        return "correction"
    if told and told[0].opens(cues.FORBIDS):
        return "constraint"
    sure = [piece for piece in told if not piece.has(cues.UNSURE)]
    for label, table in (("decision", cues.DECISION), ("constraint", cues.CONSTRAINT), ("open", cues.OPEN)):
        if any(piece.has(table) for piece in sure):
            return label
    return "open" if len(sure) < len(told) else ""


def _answer_label(pieces: list[Piece]) -> str:
    """Name what only the agent said."""
    if any(piece.code for piece in pieces):
        return "how-to"
    for label, table in (("open", cues.OPEN), ("environment", cues.SETUP)):
        if pieces and 2 * sum(piece.has(table) for piece in pieces) > len(pieces):
            return label
    return "finding"


def _detail_label(label: str, pieces: list[Piece]) -> str:
    return label if label in {"fix", "failure", "status", "open"} else _answer_label(pieces)


def _chosen(pieces: list[Piece], seen: set[str]) -> list[Piece]:
    """Choose the lead and its details, in their order."""
    lead = _lead(pieces)
    if lead is None:
        return []
    seen |= terms(lead.text)
    room = min(_MOST, max(_LEAST, _SHARE * sum(len(piece.text) for piece in pieces)))
    kept = [lead, *_wanted(pieces, lead, seen)]
    answer = next((piece for piece in pieces if piece.who == "assistant" and not piece.question), None)
    if (
        answer is not None
        and answer is not lead
        and not answer.has(smalltalk.PRAISES)
        and not _echoes(answer, seen)
    ):
        kept.append(answer)
        seen |= terms(answer.text)
    room -= sum(len(piece.text) for piece in kept)
    kept += _details([piece for piece in pieces if piece not in kept], seen, room)
    if lead.question and len(kept) == 1:
        return []
    return sorted(kept, key=pieces.index)


def _wanted(pieces: list[Piece], lead: Piece, seen: set[str]) -> list[Piece]:
    """Choose what else the person decided, demanded, gave a reason for or left open, as far as it is new."""
    kept: list[Piece] = []
    for piece in pieces:
        if piece is lead or piece.who != "user" or piece.question:
            continue
        strong = piece.has(cues.REASON, cues.REPLACES, cues.CONSTRAINT, cues.OPEN) or piece.opens(
            cues.DECISION
        )
        if strong and len(terms(piece.text) - seen) > _TELLING and len(piece.text) <= _LEAST:
            kept.append(piece)
            seen |= terms(piece.text)
    return kept


def _details(pieces: list[Piece], seen: set[str], room: float = BULLET_CHARS) -> list[Piece]:
    """Choose those that tell most that is new for their length, best first."""
    left = {
        at: _factor(piece)
        for at, piece in enumerate(pieces)
        if not piece.question and (facts(piece.text) or len(terms(piece.text)) > _TELLING)
    }
    kept: list[Piece] = []
    while left:
        worth, best = max((_worth(pieces[at].text, seen) * factor, -at) for at, factor in left.items())
        if worth < _MINIMUM:
            break
        piece = pieces[-best]
        del left[-best]
        if len(piece.text) <= room:
            kept.append(piece)
            room -= len(piece.text)
            seen |= terms(piece.text)
    return kept


def _lead(pieces: list[Piece]) -> Piece | None:
    """Choose what a bullet begins with: what the person stated first, or asked, else the agent's first."""
    said = [piece for piece in pieces if piece.who == "user"]
    opening = [piece for piece in said if piece.seq == said[0].seq]
    stated = [piece for piece in opening if not piece.question]
    return next(iter(stated or opening or pieces), None)


def _worth(text: str, seen: set[str]) -> float:
    """Count new words for a character, facts on top."""
    words = terms(text)
    new = len(words - seen)
    return (new + facts(text) * new / len(words)) / (len(text) + 15) if new else 0.0


def _factor(piece: Piece) -> float:
    """Weigh a piece by its cues; doubt halves it."""
    strong = sum(piece.has(table) for table in (cues.REASON, cues.REMEDY, cues.WORKED, cues.OPEN))
    if piece.who == "user":
        strong += 1 + sum(piece.has(table) for table in (cues.CONSTRAINT, cues.DECISION, cues.REPLACES))
    return (1 + _REMARKS * strong) * (0.5 if piece.has(cues.UNSURE) else 1.0)


def _packed(pieces: Sequence[Piece]) -> Iterator[list[Piece]]:
    """Part the pieces into runs of about equal length, none much over a bullet's."""
    total = sum(len(piece.text) + 1 for piece in pieces)
    target = total / max(1, -(-total // BULLET_CHARS))
    run: list[Piece] = []
    for piece in pieces:
        length = sum(len(one.text) + 1 for one in run)
        if run and length + len(piece.text) / 2 > target:
            yield run
            run = []
        run.append(piece)
    if run:
        yield run


def _bullet(label: str, pieces: list[Piece], exchange: Exchange, day: date) -> Bullet:
    text = joined([_headed(pieces[0]), *(piece.text for piece in pieces[1:])])
    quote, who = _quoted(label, pieces, exchange)
    last = exchange.last if label == "fix" else max(piece.seq for piece in pieces)
    return Bullet(label, text, day, min(piece.seq for piece in pieces), last, _clipped(quote), who)


def _quoted(label: str, pieces: list[Piece], exchange: Exchange) -> tuple[str, str]:
    """Choose the words that a bullet rests on: the person's before all, those that confirm for a fix."""
    if label == "fix" and exchange.worked:
        return exchange.worked, "user" if exchange.confirmed else "assistant"
    said = [piece for piece in pieces if piece.who == "user"]
    if not said and exchange.accepted and label == "decision":
        return exchange.accepted, "user"
    best = max(said or pieces, key=lambda piece: len(terms(piece.said)) + facts(piece.said))
    return best.said, best.who


def _failed(failure: Failure, day: date) -> Bullet | None:
    """Tell a tool's failure with what ended it; nothing if no words say how."""
    told = [piece.text for piece in pieces_of(failure.fix, "assistant", failure.last)][:2]
    if not told:
        return None
    what = f"`{failure.command}`" if failure.command else failure.tool
    label, lead = ("failure", "") if failure.explained else ("fix", "Fix: ")
    text = f"{what} failed: {failure.error.rstrip('. ')}. {lead}{' '.join(told)}"
    return Bullet(label, text, day, failure.first, failure.last, _clipped(failure.error), "tool")


def _headed(piece: Piece) -> str:
    """Put a question into the form of a head for its answer, where a short one is known."""
    if piece.question:
        for asked, head in smalltalk.SHORTER:
            if found := re.fullmatch(asked + r"\?", piece.text, re.IGNORECASE):
                return capital(found.expand(head))
    return piece.text


def _clipped(text: str) -> str:
    """Cut a quote at a word's end."""
    if len(text) <= QUOTE_CHARS:
        return text
    head = text[: QUOTE_CHARS - 1]
    space = head.rfind(" ")
    return (head[:space] if space > QUOTE_CHARS // 2 else head).rstrip(" ,;:—–-") + "…"


def _joined(found: list[Bullet]) -> list[Bullet]:
    """Join neighbours of one label where both fit into one bullet; each decision and fix stands alone."""
    out: list[Bullet] = []
    for one in found:
        last = out[-1] if out else None
        fits = last is not None and len(last.text) + len(one.text) < BULLET_CHARS
        if last and fits and (last.label, last.who) == (one.label, one.who) and one.label in _JOINED:
            text = joined((last.text, one.text))
            out[-1] = replace(
                last, text=text, first=min(last.first, one.first), last=max(last.last, one.last)
            )
        else:
            out.append(one)
    return out


_JOINED = frozenset({"preference", "constraint", "how-to", "environment", "finding", "open", "status"})
_RANK = (
    "correction",
    "decision",
    "preference",
    "fix",
    "constraint",
    "how-to",
    "environment",
    "finding",
    "open",
    "failure",
    "status",
)


def _strongest(found: list[Bullet], limit: int) -> list[Bullet]:
    """Keep the strongest by label, then the latest, in their order."""
    if len(found) <= limit:
        return found
    order = sorted(range(len(found)), key=lambda at: (_RANK.index(found[at].label), -at))
    return [found[at] for at in sorted(order[:limit])]
