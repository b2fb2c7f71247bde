"""Finds what a model's sentence rests on: where it was said, by whom, in which words.

The model is not asked for its sources, since it would name some. Its sentence is laid beside what was
said; shared terms count the more the rarer they are. A summary in another language than its session
shares names and numbers only, which is enough to find the place and too little to call it the person's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from lamina.formats.evidence import LIMIT
from lamina.formats.note import Note
from lamina.formats.slug import whole_words
from lamina.formats.structure import one_line
from lamina.pipeline.exchanges import terms
from lamina.pipeline.ground import Shown, doubts, inventions
from lamina.pipeline.relevance import Material, Turn
from lamina.pipeline.statements import sentences

LEAST = 0.12
"""Share below which a text is not supported."""
FIRM = 0.4
"""Share below which it is doubtful."""

_ESSENTIAL = 0.5  # of a text's weight: what the person must have said for the text to be the person's
_NEARLY = 0.6  # of the best cover: the person's words are preferred down to this
_MORE = 0.15  # of a text's weight: what one more passage must add to be counted in
_MOST = 3  # passages that one sentence is drawn from
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}:?")
_PART = re.compile(r"[^\W_]{3,}")
_WIDE = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_SEAM = re.compile(rf"(?<=[A-Za-z0-9])(?=[{_WIDE}])|(?<=[{_WIDE}])(?=[A-Za-z0-9])")
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
    wanted = _terms(bare)
    weigh = _weigher(wanted, passages)
    total = weigh(wanted)
    best = _chosen(wanted, passages, weigh)
    if not best or not total:
        return None
    share = weigh(_held(wanted, best)) / total
    own = _chosen(wanted, [passage for passage in passages if passage.who == "user"], weigh)
    covered = weigh(_held(wanted, own)) / total
    if covered >= max(_ESSENTIAL, _NEARLY * share) and _all_values(bare, passages):
        return _made(own, covered, wanted, weigh)
    others = _chosen(wanted, [passage for passage in passages if passage.who != "user"], weigh)
    told = weigh(_held(wanted, others)) / total
    if told > _NEARLY * share:
        return _made(others, told, wanted, weigh)
    return Support(min(one.first for one in best), max(one.last for one in best), "assistant", "", share)


def _made(chosen: Sequence[Passage], share: float, wanted: frozenset[str], weigh: Weigh) -> Support:
    lead = chosen[0]
    return Support(
        min(passage.first for passage in chosen),
        max(passage.last for passage in chosen),
        lead.who,
        _quote(lead.quote or lead.text, wanted, weigh),
        min(1.0, share),
    )


@lru_cache(maxsize=2048)
def _terms(text: str) -> frozenset[str]:
    """Give the terms of a text, and those that its paths and identifiers are made of."""
    whole = terms(_SEAM.sub(" ", text))
    made = (word for word in whole if not word.isalnum())
    return whole.union(*(terms(" ".join(_PART.findall(word))) for word in made))


def _weigher(wanted: frozenset[str], passages: Sequence[Passage]) -> Weigh:
    """Weigh a term by how few passages hold it."""
    held: Mapping[str, int] = _counts(wanted, passages)
    size = len(passages)
    weight = {word: math.log(1 + (1 + size) / (1 + held[word])) for word in wanted}
    return lambda words: sum(weight[word] for word in words)


def _counts(wanted: frozenset[str], passages: Sequence[Passage]) -> dict[str, int]:
    counts = dict.fromkeys(wanted, 0)
    for word in chain.from_iterable(wanted & _terms(passage.text) for passage in passages):
        counts[word] += 1
    return counts


def _held(wanted: frozenset[str], chosen: Sequence[Passage]) -> frozenset[str]:
    return frozenset().union(*(wanted & _terms(passage.text) for passage in chosen))


def _chosen(wanted: frozenset[str], passages: Sequence[Passage], weigh: Weigh) -> list[Passage]:
    """Take the passage that holds most, then those that add enough; of equal ones the person's, the first."""
    shared = {at: wanted & _terms(passage.text) for at, passage in enumerate(passages)}
    shared = {at: words for at, words in shared.items() if words}
    chosen: list[Passage] = []
    missing, least = wanted, 0.0
    while shared and len(chosen) < _MOST:
        at = max(shared, key=lambda at: _rank(passages[at], weigh(shared[at] & missing), at))
        if weigh(shared[at] & missing) <= least:
            break
        chosen.append(passages[at])
        missing, least = missing - shared.pop(at), _MORE * weigh(wanted)
    return chosen


def _rank(passage: Passage, weight: float, at: int) -> tuple[float, bool, int]:
    bonus = 1.15 if passage.who == "user" else 1.0
    return weight * bonus, passage.who == "user", -at


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
    worth = [weigh(wanted & _terms(part)) for part in said]
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
    at = max(range(len(cuts)), key=lambda at: (weigh(wanted & _terms(cuts[at])), -at))
    end = starts[at] + len(cuts[at])
    return f"{'…' if starts[at] else ''}{cuts[at]}{'…' if end < len(sentence) else ''}"
