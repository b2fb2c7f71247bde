"""Writes a session's durable bullets without a model.

Each exchange gives one bullet: a head (the choice, the correction, the failure, the result) and those
details that add most new words for their length; standing wishes and open ends are bullets of their own.
Everything is quoted from the session as it stood, so doubt stays doubt and nothing can be invented.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date

from lamina.formats.bullet import Bullet
from lamina.pipeline import cues, signs
from lamina.pipeline.details import Want, details, echoes, is_task
from lamina.pipeline.exchanges import Exchange, Piece, capital, ended, exchanges, facts, joined, terms
from lamina.pipeline.failures import clipped, failed
from lamina.pipeline.heads import headed, is_slight, restates, results, shorter, stands_alone
from lamina.pipeline.kinds import ends, goes_on, is_announcement, is_open, kind
from lamina.pipeline.layout import BEFORE
from lamina.pipeline.relevance import Limits, Material
from lamina.pipeline.reversals import Reversals, reversals
from lamina.pipeline.statements import sentences

BULLET_CHARS = 420  # above which no bullet takes in another
_FAILURES = 2  # of an exchange
_CHAT = 10  # words below which an exchange without tools and facts is small talk


def bullets(material: Material, today: date, limits: Limits | None = None) -> list[Bullet]:
    """Give at most `limits.bullets` bullets, oldest first; `today` dates what carries no time."""
    talk = exchanges(material)
    turned = reversals(talk)
    seen: set[str] = set()
    found: list[Bullet] = []
    for at, exchange in enumerate(talk):
        wishing = bool(found) and found[-1].label == "preference"
        later = [piece for one in talk[at : at + 2] for piece in one.by("assistant")]
        found += _Telling(exchange, at, turned, seen, today).told(later, wishing=wishing)
    told = [(piece.seq, piece.said) for exchange in talk for piece in exchange.pieces]
    return _strongest(_joined(_still_open(found, told)), (limits or Limits()).bullets)


class _Telling:
    """Turns one exchange into bullets."""

    def __init__(self, exchange: Exchange, at: int, turned: Reversals, seen: set[str], today: date) -> None:
        self.exchange, self.seen = exchange, seen
        self.day = exchange.time.astimezone(UTC).date() if exchange.time else today
        self.old = turned.old.get(at)
        self.right = at in turned.right
        kept = (turned.gone.get(piece, piece) for piece in exchange.pieces)
        self.pieces = [piece for piece in kept if piece and not signs.HOSTILE.search(piece.said)]
        self.kinds = {piece: kind(piece) for piece in self.pieces if piece.who == "user"}

    def told(self, later: Sequence[Piece], *, wishing: bool) -> Iterator[Bullet]:
        found = (failed(failure, self.day, later) for failure in self.exchange.failures[:_FAILURES])
        broken = [told for told in found if told]
        self.seen.update(*(terms(told.text) for told in broken))
        rest = [piece for piece in self.pieces if self.kinds.get(piece) != "remark"]
        if any(piece.question and piece.who == "user" and piece.has(signs.STATUS) for piece in rest):
            yield from broken
            yield from self._main("status", rest)
            return
        wishes = self._wishes(rest, wishing=wishing)
        if wishes:
            self.seen.update(*(terms(piece.text) for piece in wishes))
            rest = [piece for piece in rest if not self._is_wish(piece, wishes)]
            if not any(piece.who == "user" for piece in rest):
                about = set[str]().union(*(terms(piece.text) for piece in wishes))
                added = [piece for piece in rest if self._adds(piece, about) and not is_open(piece)]
                rest = [piece for piece in rest if is_open(piece)]
                wishes = [*wishes, *added]
        left = [piece for piece in rest if is_open(piece)]
        rest = [piece for piece in rest if piece not in left]
        if any(piece.who == "user" for piece in left):
            left = [piece for piece in left if piece.who == "user" or facts(piece.text)]
        label = self._label(rest)
        main = list(self._main(label, rest)) if label else []
        yield from _with_failures(main, broken)
        if wishes:
            yield self._bullet("preference", wishes)
        yield from self._open(left)

    def _wishes(self, pieces: Sequence[Piece], *, wishing: bool) -> list[Piece]:
        """Take out the standing wishes; where they were announced, all that was said is one."""
        said = [piece for piece in pieces if piece.who == "user" and not piece.question]
        announced = any(piece.has(cues.WISHES) for piece in said)
        if announced or (wishing and said and said[0].opens(cues.FURTHER)):
            return [_announced(piece) for piece in said if not _only_announces(piece)]
        wishes: list[Piece] = []
        for piece in said:
            follows = (
                bool(wishes) and wishes[-1].seq == piece.seq and said[said.index(piece) - 1] is wishes[-1]
            )
            if self.kinds[piece] == "preference" or (
                follows and self.kinds[piece] == "fact" and goes_on(piece)
            ):
                wishes.append(piece)
        return wishes

    def _is_wish(self, piece: Piece, wishes: Sequence[Piece]) -> bool:
        """Say whether a statement is one of the wishes, or the agent only takes them in."""
        if piece.who == "assistant":
            return echoes(piece, self.seen)
        return piece.said in {wish.said for wish in wishes} or piece.has(cues.WISHES)

    def _adds(self, piece: Piece, about: set[str]) -> bool:
        """Say whether the agent's word on a wish tells more than the wish."""
        words = terms(piece.text)
        new = len(words - self.seen)
        return facts(piece.text) > 0 and 1 < 2 * new >= len(words) and bool(words & about)

    def _label(self, pieces: Sequence[Piece]) -> str:
        """Name what the rest of an exchange is about, "" if nothing is left to tell."""
        said = [piece for piece in pieces if piece.who == "user"]
        kinds = ["remark" if signs.POINTS.match(piece.text) else self.kinds[piece] for piece in said]
        if len(said) == len(pieces) and not set(kinds) - {"question"}:
            return ""
        if self.right:
            return "correction"
        if "decision" not in kinds and self._repairs(pieces, kinds):
            return "fix" if self.exchange.worked else "failure"
        if "decision" in kinds or self._taken(pieces):
            return "decision"
        first = next(
            (what for what, piece in zip(kinds, said, strict=True) if not is_announcement(piece)), ""
        )
        doubts = "doubt" in kinds and not set(kinds) - {"doubt", "question"}
        if first == "constraint" or doubts:
            return "open" if doubts else "constraint"
        return "finding" if said and set(kinds) - {"question"} else _answer_label(pieces)

    def _repairs(self, pieces: Sequence[Piece], kinds: Sequence[str]) -> bool:
        """Say whether the exchange is about something that went wrong: so it was reported, or so it ended."""
        exchange = self.exchange
        if exchange.reported and "failure" in kinds:
            return True
        asked = any(piece.question for piece in pieces) or any(
            piece.has(cues.REMEDY) for piece in exchange.by("assistant")
        )
        return bool(exchange.confirmed) and asked and "preference" not in kinds

    def _taken(self, pieces: Sequence[Piece]) -> Piece | None:
        """Give the agent's proposal that the person took."""
        if not self.exchange.accepted:
            return None
        offers = [
            piece
            for piece in pieces
            if piece.who == "assistant"
            and not piece.question
            and (piece.opens(cues.OFFERS) or signs.RECOMMENDS.search(piece.said))
        ]
        # Out of several ways one was taken, even if it sounds like a task.
        either = any(piece.question and signs.ALTERNATIVES.search(piece.said) for piece in pieces)
        return next(
            (
                piece
                for piece in offers
                if either or piece.has(signs.CHOICE) or not is_task(replace(piece, text=shorter(piece)))
            ),
            None,
        )

    def _main(self, label: str, pieces: list[Piece]) -> Iterator[Bullet]:
        if label == "status":
            pieces = [piece for piece in pieces if piece.who == "assistant"] or pieces
        head = self._head(label, pieces)
        if head is None:
            return
        subject = self._subject(head, pieces) if label != "correction" else None
        self.seen |= terms(head.text)
        kept = details(
            [piece for piece in pieces if piece is not subject], head, self.seen, self._want(label)
        )
        if self._is_idle(label, head, kept):
            return
        told = [piece.text for piece in kept]
        if asked := self._asked(label, head, pieces):
            told.insert(0, asked.text)
        text = joined(headed(head, label, subject, told))
        if self.old is not None and label in {"correction", "decision"}:
            text = joined([text, BEFORE + self.old.text])
        yield self._bullet(label, [head, *kept], text)

    def _asked(self, label: str, head: Piece, pieces: Sequence[Piece]) -> Piece | None:
        """Give the question that the head answers, if the answer does not say its matter again."""
        said = [piece for piece in pieces if piece.who == "user"]
        if label not in _PLAIN or head.who == "user" or not said or not said[0].question:
            return None
        return None if restates(head, said[0]) else said[0]

    def _want(self, label: str) -> Want:
        return Want(self.exchange.tools, label == "status", label in {"fix", "failure"})

    def _is_idle(self, label: str, head: Piece, kept: Sequence[Piece]) -> bool:
        """Say whether nothing is worth remembering: an order without a result, a chat without a fact."""
        if not kept and (head.question or (label == "finding" and (is_announcement(head) or is_task(head)))):
            return True
        told = " ".join(piece.text for piece in (head, *kept))
        offered = any(piece.opens(cues.OFFERS) for piece in self.exchange.by("assistant"))
        worked = self.exchange.tools or (self.exchange.accepted and offered)
        return label == "finding" and not (worked or facts(told)) and len(terms(told)) < _CHAT

    def _head(self, label: str, pieces: list[Piece]) -> Piece | None:
        """Choose the statement that a bullet begins with: one that can be understood alone."""
        head = self._first(label, pieces)
        if head is None or label not in _PLAIN or not (head.question or signs.DANGLING.match(head.text)):
            return head
        if head.question and shorter(head) != head.text:
            return head
        others = [piece for piece in pieces if piece.who == head.who] + [
            piece for piece in pieces if piece.who == "assistant"
        ]
        alone = [piece for piece in others if stands_alone(piece)]
        return next((one for one in alone if not signs.ANAPHORIC.search(one.text)), next(iter(alone), head))

    def _first(self, label: str, pieces: list[Piece]) -> Piece | None:
        said = [piece for piece in pieces if piece.who == "user"]
        stated = [piece for piece in said if not piece.question]
        answers = [piece for piece in pieces if piece.who == "assistant" and not piece.question]
        wanted = {
            "decision": ("decision",),
            "constraint": ("constraint",),
            "correction": ("decision", "constraint"),
        }
        wanted |= dict.fromkeys(("fix", "failure"), ("failure",))
        if label in wanted:
            named = [piece for piece in stated if self.kinds[piece] in wanted[label]]
            if label == "correction":
                named = [piece for piece in stated if piece.has(cues.REPLACES)] or named
            if label == "decision":
                named = [piece for piece in named if not signs.POINTS.match(piece.text)]
                named = named or [piece for piece in (self._taken(pieces),) if piece] or answers
            return next(iter(named or stated or answers), None)
        if label == "status" or not said:
            return next(iter(answers or said), None)
        if not stated:
            return next((one for one in results(answers, said) if restates(one, said[0])), said[0])
        if said[0].question and all(self._is_aside(piece) for piece in stated):
            return said[0]
        telling = [piece for piece in stated if not is_announcement(piece)]
        plain = [piece for piece in telling if not is_task(piece) and not is_slight(piece)]
        if (telling and is_task(telling[0])) or not plain:
            plain = results(answers, telling[:1] or stated) or plain
        return next(iter(plain or telling or stated), None)

    def _is_aside(self, piece: Piece) -> bool:
        """Say whether a statement only stands beside a question."""
        return self.kinds[piece] == "doubt" or is_announcement(piece) or piece.opens(cues.FORBIDS)

    def _subject(self, head: Piece, pieces: Sequence[Piece]) -> Piece | None:
        """Give the announcement or task of the person's that the head answers to."""
        first = next((piece for piece in pieces if piece.who == "user" and not piece.question), None)
        if first is None or head.who != "user" or pieces.index(first) >= pieces.index(head):
            return None
        return (
            first
            if is_announcement(first) or (is_task(first) and not re.search(r"[\d`]", first.text))
            else None
        )

    def _open(self, left: Sequence[Piece]) -> Iterator[Bullet]:
        """Give each open end a bullet; what the person said in one breath is one."""
        run: list[Piece] = []
        for piece in left:
            if run and not (piece.who == run[-1].who == "user" and piece.seq == run[-1].seq):
                yield self._bullet("open", run)
                run = []
            for part in _parts(piece):
                if run and piece.who != "user":
                    yield self._bullet("open", run)
                    run = []
                run.append(part)
        if run:
            yield self._bullet("open", run)

    def _bullet(self, label: str, pieces: Sequence[Piece], text: str = "") -> Bullet:
        text = text or joined(piece.text for piece in pieces)
        quote, who = self._quoted(label, pieces)
        last = self.exchange.last if label == "fix" else max(piece.seq for piece in pieces)
        return Bullet(label, text, self.day, min(piece.seq for piece in pieces), last, clipped(quote), who)

    def _quoted(self, label: str, pieces: Sequence[Piece]) -> tuple[str, str]:
        """Choose the words that a bullet rests on: the person's before all, those that confirm for a fix."""
        exchange = self.exchange
        if label == "fix" and exchange.worked:
            return exchange.worked, "user" if exchange.confirmed else "assistant"
        said = [piece for piece in pieces if piece.who == "user" and not piece.question]
        if exchange.accepted and label == "decision" and pieces[0].who == "assistant":
            return exchange.accepted, "user"
        best = (said or [piece for piece in pieces if piece.who == "user"] or pieces)[0]
        return best.said, best.who


def _with_failures(main: list[Bullet], broken: list[Bullet]) -> list[Bullet]:
    """Tell a tool's failures inside the repair that they belong to, else in front of it."""
    if len(main) != 1 or main[0].label not in {"fix", "failure"} or not broken:
        return [*broken, *main]
    one = main[0]
    head, *rest = sentences(one.text)
    label = "fix" if any(each.label == "fix" for each in broken) else one.label
    text = joined([head, *(each.text for each in broken), *rest])
    last = max(one.last, *(each.last for each in broken))
    return [replace(one, label=label, text=text, last=last)]


def _announced(piece: Piece) -> Piece:
    """Drop the announcement in front of a preference."""
    head, colon, rest = piece.text.partition(": ")
    if colon and cues.anywhere(cues.WISHES).search(head):
        return replace(piece, text=capital(rest))
    return piece


def _only_announces(piece: Piece) -> bool:
    return (piece.has(cues.WISHES) and piece.text.rstrip(" .。").endswith((":", "："))) or (
        piece.has(cues.WISHES) and is_announcement(piece) and ": " not in piece.text
    )


def _answer_label(pieces: Sequence[Piece]) -> str:
    """Name what only the agent said."""
    told = [piece for piece in pieces if piece.who == "assistant"]
    if any(piece.code for piece in told):
        return "how-to"
    if told and 2 * sum(piece.has(signs.SETUP) for piece in told) > len(told):
        return "environment"
    return "finding"


def _parts(piece: Piece) -> list[Piece]:
    """Cut a list of open ends into its items, without the words that announce them."""
    text = piece.text
    found = cues.ahead(signs.LEFT).match(text)
    if found and (":" in found[0] or text[found.end() : found.end() + 1] in {":", "："}):
        text = text[found.end() :].lstrip(" :：")
    items = (
        [item.strip() for item in re.split(r"; (?=[^`]*(?:`[^`]*`[^`]*)*$)", text)]
        if piece.who != "user" and not signs.UNTOUCHED.search(text)
        else [text]
    )
    return [replace(piece, text=ended(capital(item))) for item in items if len(terms(item)) > 1]


def _still_open(found: list[Bullet], told: Sequence[tuple[int, str]]) -> list[Bullet]:
    """Leave out open ends that were closed later in the session."""
    return [
        one
        for one in found
        if one.label != "open" or not any(seq > one.last and ends(one.text, said) for seq, said in told)
    ]


def _joined(found: list[Bullet]) -> list[Bullet]:
    """Put what only goes on with the same matter under the bullet before it."""
    out: list[Bullet] = []
    for one in found:
        last = out[-1] if out else None
        if last and _goes_with(last, one):
            text = joined((last.text, one.text))
            first, end = min(last.first, one.first), max(last.last, one.last)
            out[-1] = replace(last, text=text, first=first, last=end)
        else:
            out.append(one)
    return out


def _goes_with(last: Bullet, one: Bullet) -> bool:
    if len(last.text) + len(one.text) > 2 * BULLET_CHARS or (one.who == "user" != last.who):
        return False
    if last.label == one.label and one.label in {"preference", "status"}:
        return True
    if BEFORE in last.text or one.label not in _FOLLOWING or last.label not in _LEADING:
        return False
    words = terms(sentences(one.text)[0])
    return 3 * len(words & terms(last.text)) >= len(words)


_PLAIN = frozenset({"finding", "environment", "how-to"})
_FOLLOWING = frozenset({"finding", "environment", "how-to", "constraint"})
_LEADING = frozenset({"decision", "finding", "environment", "how-to", "fix", "constraint"})
_RANK = (
    "correction", "decision", "preference", "fix", "constraint", "open", "how-to", "environment", "finding",
    "failure", "status",
)  # fmt: skip


def _strongest(found: list[Bullet], limit: int) -> list[Bullet]:
    """Keep the strongest by label, then the latest, in their order."""
    if len(found) <= limit:
        return found
    order = sorted(range(len(found)), key=lambda at: (_RANK.index(found[at].label), -at))
    return [found[at] for at in sorted(order[:limit])]
