"""Finds what a model's sentence rests on: where it was said, by whom, in which words.

The model is not asked for its sources, since it would name some. Its sentence is laid beside what was
said; shared terms count the more the rarer they are. A summary in another language than its session
shares names and numbers only, which is enough to find the place and too little to call it the person's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from lamina.formats.evidence import LIMIT
from lamina.formats.note import Note
from lamina.formats.slug import whole_words
from lamina.formats.structure import one_line
from lamina.pipeline.checks.names import doubts
from lamina.pipeline.checks.polarity import turned
from lamina.pipeline.checks.wording import OWN_LETTERS, meanings, tongue
from lamina.pipeline.ground import Shown, inventions
from lamina.pipeline.relevance import Material, Turn
from lamina.pipeline.statements import sentences

LEAST = 0.2
"""Share below which a text is not supported: 0 % of honest summaries, 71 % of lies about the same subject.

Measured on 142 summaries and 143 lies that invent no value, in English, Chinese, Japanese, Korean and German
(tests/pipeline/checks/data/support.txt). What is told in another language is never below it.
"""
FIRM = 0.35
"""Share below which a text is doubtful: 6 % of honest summaries, 95 % of lies; of summaries in another
language than their session, 62 %."""

_ESSENTIAL = 0.5  # of a text's weight: what the person must have said for the text to be the person's
_NEARLY = 0.6  # of the best cover: the person's words are preferred down to this
_MORE = 0.15  # of a text's weight: what one more passage must add to be counted in
_TOGETHER = 2  # words that one more passage must add: single ones are found all over a session
_SPREAD = 0.3  # of the share: how well the half of a text that is told worse is told
_FEW = 4  # words of a text that has halves
_WHOLE = 240  # characters of a passage that is laid beside a text whole
_MOST = 3  # passages that one sentence is drawn from
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}:?")
_BREAK = re.compile(r"(?<=[,;:，；、：]) ?")

Weigh = Callable[[frozenset[str]], float]


@dataclass(frozen=True, slots=True)
class Passage:
    """What one side said in one place; `first` and `last` are sequence numbers of records.

    `agreed`: the person answered it with a bare yes. `quote` stands for the text where it is quoted.
    """

    first: int
    last: int
    who: str
    text: str
    agreed: bool = False
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Support:
    """What a text rests on.

    `who` said the `quote`, a part of at most 200 characters of the best passage. `share` is the part of
    the text's weight, 0 to 1, that was found. The quote is empty where nobody but the person said much of
    the text, and the person too little for it to be theirs: `who` is then `assistant`.
    """

    first: int
    last: int
    who: str
    quote: str
    share: float


def passages_of(material: Material) -> list[Passage]:
    """List what was said in a session's material, in its order."""
    return [passage for turn in material.turns for passage in _of_turn(turn) if passage.text.strip()]


def _of_turn(turn: Turn) -> Iterator[Passage]:
    yield Passage(turn.first, turn.first, "user", turn.user)
    seqs = turn.gist_seqs or (turn.first,) * len(turn.gists)
    for seq, gist in zip(seqs, turn.gists, strict=True):
        yield Passage(seq, seq, "assistant", gist, agreed=turn.agreed)
    for failure in turn.failures:
        told = (failure.command, failure.error, "" if failure.explained else failure.fix)
        text = "\n".join(part for part in told if part)
        yield Passage(failure.first, failure.last, "tool", text)
        if failure.explained:
            yield Passage(failure.last, failure.last, "assistant", failure.fix)


def passages_of_note(note: Note) -> list[Passage]:
    """List a note's bullets; a bullet's quote is what is quoted of it."""
    return [
        Passage(bullet.first, bullet.last, bullet.who, f"{bullet.text}\n{bullet.quote}", quote=bullet.quote)
        for bullet in note.bullets
        if bullet.text.strip()
    ]


def support(text: str, passages: Sequence[Passage]) -> Support | None:
    """Find the passages that a text rests on, None if it shares nothing with any of them.

    `who` is `user` only if the person's passages hold half of the text's weight and every number,
    identifier and name in it; values may also stand in what the person said yes to.
    """
    bare = _DATE.sub(" ", text)
    wanted = meanings(bare)
    units = _units(wanted, passages)
    weigh = _weigher(wanted, units, len(passages))
    units = _on_side(bare, wanted, units, weigh)
    total = weigh(wanted)
    best = _chosen(wanted, units, weigh)
    if not best or not total:
        return None
    share = weigh(_held(best)) / total
    own = _chosen(wanted, [unit for unit in units if unit.passage.who == "user"], weigh)
    covered = weigh(_held(own)) / total
    if covered >= max(_ESSENTIAL, _NEARLY * share) and _all_values(bare, passages):
        return _made(bare, own, wanted, weigh)
    others = _chosen(wanted, [unit for unit in units if unit.passage.who != "user"], weigh)
    told = weigh(_held(others)) / total
    if told > _NEARLY * share:
        return _made(bare, others, wanted, weigh)
    first, last = _span(best)
    return Support(first, last, "assistant", "", _share(bare, best, weigh))


def _made(text: str, chosen: Sequence[_Unit], wanted: frozenset[str], weigh: Weigh) -> Support:
    lead = chosen[0].passage
    first, last = _span(chosen)
    quote = _quote(lead.quote or lead.text, wanted, weigh)
    return Support(first, last, lead.who, quote, _share(text, chosen, weigh))


def _share(text: str, chosen: Sequence[_Unit], weigh: Weigh) -> float:
    """Give the part of a text's weight that was found, less where one half of it is told by nothing.

    A lie takes a true subject and says something else of it; a paraphrase is found from end to end. What is
    told in another language shares names alone, which is little, but no sign of a lie.
    """
    held, wanted = _held(chosen), meanings(text)
    found = weigh(held) / weigh(wanted)
    halves = [half for half in (meanings(part) & wanted for part in _halves(text)) if half]
    worse = min((weigh(half & held) / weigh(half) for half in halves), default=found)
    share = min(1.0, (1 - _SPREAD) * found + _SPREAD * worse) if len(wanted) >= _FEW else min(1.0, found)
    return LEAST if share < LEAST and _foreign(text, chosen) else share


def _halves(text: str) -> tuple[str, str]:
    words = text.split()
    if len(words) >= _FEW:
        half = len(words) // 2
        return " ".join(words[:half]), " ".join(words[half:])
    return text[: len(text) // 2], text[len(text) // 2 :]


def _span(chosen: Sequence[_Unit]) -> tuple[int, int]:
    return min(unit.passage.first for unit in chosen), max(unit.passage.last for unit in chosen)


def _foreign(text: str, best: Sequence[_Unit]) -> bool:
    """Say whether a text is told in another language than what it was drawn from."""
    mine, theirs = tongue(text), tongue("\n".join(unit.passage.text for unit in best))
    return mine != theirs and (bool(mine and theirs) or not OWN_LETTERS.isdisjoint((mine, theirs)))


class _Unit(NamedTuple):
    """What one passage, or two sentences of a long one, share with a text; `at` is the passage's place."""

    at: int
    passage: Passage
    shared: frozenset[str]


def _units(wanted: frozenset[str], passages: Sequence[Passage]) -> list[_Unit]:
    return [
        _Unit(at, passage, shared)
        for at, passage in enumerate(passages)
        for said in _parts(passage.text)
        if (shared := wanted & said)
    ]


@lru_cache(maxsize=2048)
def _parts(text: str) -> tuple[frozenset[str], ...]:
    """Give what a passage says; of a long one, what each two sentences say.

    Words from all over a long passage together say nothing.
    """
    if len(text) <= _WHOLE:
        return (meanings(text),)
    said = [meanings(part) for line in text.split("\n") for part in sentences(one_line(line))]
    return tuple(one | two for one, two in pairwise(said)) or (meanings(text),)


def _weigher(wanted: frozenset[str], units: Sequence[_Unit], size: int) -> Weigh:
    """Weigh a term by how few passages hold it."""
    holders: dict[str, set[int]] = {word: set() for word in wanted}
    for unit in units:
        for word in unit.shared:
            holders[word].add(unit.at)
    weight = {word: math.log(1 + (1 + size) / (1 + len(held))) for word, held in holders.items()}
    return lambda words: sum(weight[word] for word in words)


def _held(chosen: Sequence[_Unit]) -> frozenset[str]:
    return frozenset().union(*(unit.shared for unit in chosen))


def _chosen(wanted: frozenset[str], units: Sequence[_Unit], weigh: Weigh) -> list[_Unit]:
    """Take the unit that holds most, then those that add enough; of equal ones the person's, the first."""
    chosen: list[_Unit] = []
    missing, least = wanted, 0.0
    while units and len(chosen) < _MOST:
        best = max(units, key=lambda unit: _rank(unit, weigh(unit.shared & missing)))
        found = best.shared & missing
        if weigh(found) <= least or (chosen and len(found) < _TOGETHER):
            break
        chosen.append(best)
        missing, least = missing - best.shared, _MORE * weigh(wanted)
    return chosen


def _on_side(text: str, wanted: frozenset[str], units: list[_Unit], weigh: Weigh) -> list[_Unit]:
    """Leave out passages that say the contrary, if others tell nearly as much."""
    best = _chosen(wanted, units, weigh)
    left, enough = units, _NEARLY * weigh(_held(best))
    for _ in range(_MOST):
        against = {unit.at for unit in best if turned(text, _near(wanted, unit.passage.text))}
        if not against:
            return left
        left = [unit for unit in left if unit.at not in against]
        best = _chosen(wanted, left, weigh)
        if weigh(_held(best)) < enough:
            return units
    return units


def _near(wanted: frozenset[str], text: str) -> list[str]:
    said = (part for line in text.split("\n") for part in sentences(one_line(line)))
    return [part for part in said if len(meanings(part) & wanted) >= _TOGETHER]


def _rank(unit: _Unit, weight: float) -> tuple[float, bool, int]:
    own = unit.passage.who == "user"
    return weight * (1.15 if own else 1.0), own, -unit.at


def _all_values(text: str, passages: Sequence[Passage]) -> bool:
    """Say whether the person named, or said yes to, each value and name in a text."""
    said = "\n".join(passage.text for passage in passages if passage.who == "user" or passage.agreed)
    return not inventions(text, _shown(said)) and not doubts(text, _shown(said))


@lru_cache(maxsize=4)  # the sentences of one reply are checked against one session
def _shown(said: str) -> Shown:
    return Shown(said)


def _quote(text: str, wanted: frozenset[str], weigh: Weigh) -> str:
    """Quote the sentences that share most, side by side, in at most 200 characters."""
    said = [part for line in text.split("\n") for part in sentences(one_line(line))]
    if not said:
        return ""
    worth = [weigh(wanted & meanings(part)) for part in said]
    at = max(range(len(said)), key=lambda at: (worth[at], -at))
    if len(said[at]) > LIMIT:
        return _window(said[at], wanted, weigh)
    first = last = at
    quote = said[at]
    while True:
        sides = [side for side in (first - 1, last + 1) if 0 <= side < len(said) and worth[side]]
        fits = [side for side in sides if len(quote) + 1 + len(said[side]) <= LIMIT]
        if not fits:
            return quote
        side = max(fits, key=lambda side: worth[side])
        first, last = min(first, side), max(last, side)
        quote = " ".join(said[first : last + 1])


def _window(sentence: str, wanted: frozenset[str], weigh: Weigh) -> str:
    """Cut a long sentence to the clauses that share most."""
    starts = [0, *(match.end() for match in _BREAK.finditer(sentence) if match.end() < len(sentence))]
    cuts = [whole_words(sentence[start : start + 4 * LIMIT], LIMIT - 2) for start in starts]
    at = max(range(len(cuts)), key=lambda at: (weigh(wanted & meanings(cuts[at])), -at))
    end = starts[at] + len(cuts[at])
    return f"{'…' if starts[at] else ''}{cuts[at]}{'…' if end < len(sentence) else ''}"
