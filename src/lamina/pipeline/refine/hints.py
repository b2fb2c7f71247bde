"""What a person or an agent should look at in a plan: items that may say the same, the opposite, or the end.

A hint changes nothing. Items are compared only where they share words that few others have, so that a long
digest costs little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from lamina.formats.digest import Item
from lamina.pipeline.checks.misread import misread
from lamina.pipeline.checks.wording import meanings
from lamina.pipeline.refine.order import is_later

_COMMON = 24
"""Items that share a word up to which the word tells two of them apart from the rest."""
_SHARED = 0.5
"""Part of the shorter text's words that two items have in common if they may be about the same."""
_LEAST = 2
_LONGEST = 2_000  # characters that are compared


def suspected(items: Sequence[Item]) -> dict[str, str]:
    """Return hints by id: for each item the one earlier or later item that is nearest to it, if any is near.

    `items` are in the digest's order.
    """
    words = [meanings(item.text[:_LONGEST]) for item in items]
    holders: dict[str, list[int]] = {}
    for number, own in enumerate(words):
        for word in own:
            holders.setdefault(word, []).append(number)
    found: dict[str, str] = {}
    for number, item in enumerate(items):
        other = _nearest(number, items, words, holders)
        told = _told(item, items[other]) if other is not None else ""
        if told:
            found[item.id] = told
    return found


def _nearest(
    number: int, items: Sequence[Item], words: Sequence[frozenset[str]], holders: dict[str, list[int]]
) -> int | None:
    shared = Counter(_others(number, words[number], holders))
    best: tuple[float, int] | None = None
    for other, _ in shared.most_common(_COMMON):
        if not _comparable(items[number], items[other]):
            continue
        both = len(words[number] & words[other])
        share = both / min(len(words[number]), len(words[other]))
        if both >= _LEAST and share >= _SHARED and (best is None or share > best[0]):
            best = (share, other)
    return best[1] if best else None


def _others(number: int, own: frozenset[str], holders: dict[str, list[int]]) -> Iterator[int]:
    for word in own:
        listed = holders[word]
        if len(listed) <= _COMMON:
            yield from (other for other in listed if other != number)


def _comparable(item: Item, other: Item) -> bool:
    """Tell whether a hint at the other item is any use: an open action ends by something later."""
    if item.kind == "open" and other.kind == "state":
        return not is_later(item, other) or item.section == other.section
    return item.kind == other.kind or {item.kind, other.kind} == {"decision", "learning"}


def _told(item: Item, other: Item) -> str:
    if item.kind == "open" and other.kind == "state":
        return f"{other.id} may say that this is done"
    if misread(item.text, [other.text]) or misread(other.text, [item.text]):
        return f"{other.id} may say the opposite"
    return f"{other.id} may say the same, or replace it"
