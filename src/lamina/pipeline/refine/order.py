"""Which of two items is the later one: a refined digest has lost the order in which they came."""

from __future__ import annotations

from collections.abc import Iterable

from lamina.formats.digest import Item
from lamina.formats.origin import day_of, key_of

Stamp = tuple[str, str]
"""The day and the session of an item's newest source, empty where it names no daily record."""


def stamp(items: Iterable[Item]) -> Stamp:
    """Return when what these items say was said last."""
    refs = [ref for item in items for ref in item.sources]
    return max(((str(day), key_of(ref)[1]) for ref in refs if (day := day_of(ref))), default=("", ""))


def is_later(one: Item, other: Item) -> bool:
    """Tell whether an item is later than another one: by their sources, else by their lines."""
    mine, theirs = stamp([one]), stamp([other])
    return one.line > other.line if mine == theirs or not all((mine[0], theirs[0])) else mine > theirs
