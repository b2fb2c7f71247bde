"""Which content words of a text another one does not have: what a merge would lose, or make up.

Words are compared by their stems, and by the table of `checks.wording`; small verbs that say nothing by
themselves may come and go. Strict on purpose: a merge that is wrongly refused is told with its words and can
be mended, one that is wrongly taken is lost for ever.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lamina.pipeline.checks.wording import meanings

_WORD = re.compile(r"[^\s,;:!?()\"“”„'’]+")
_NEAR = 3  # letters that two forms of a word have in common: `sent` and `sends`, `hides` and `hidden`
_WEAK = meanings(
    "stay stays stayed remain remains remained behind become becomes became get gets got getting make makes "
    "made making let lets put puts go goes went gone come comes came want wants happen happens happened "
    "occur occurs exist exists take takes took taken give gives gave given do does did done have has had "
    "be is are was were there here this that these those also too both then thus so such very just already "
    "still again well etc namely i.e. e.g. various several "
    "bleibt bleiben wird werden gibt macht machen auch noch schon dann dabei dazu hier dort "
    "并且 另外 此外 同时 以便"
)


def missing(said: str, texts: Iterable[str]) -> list[str]:
    """List the content words of `said` that none of the texts has, as they are written there, each once."""
    whole = "\n".join(texts)
    have = meanings(whole)
    lost = {each for each in meanings(said) - have - _WEAK if not _has(each, have, whole)}
    if not lost:
        return []
    words = [word for word in _WORD.findall(said) if meanings(word) & lost]
    return list(dict.fromkeys(word.strip(".") for word in words)) or sorted(lost)


def _has(word: str, have: frozenset[str], whole: str) -> bool:
    if word[0] >= "\u3040":
        return all(char in whole for char in word)
    if not word.isalpha():
        return False
    return any(_is_near(word, other) for other in have)


def _is_near(word: str, other: str) -> bool:
    """Tell whether two stems are forms of one word: but for the last letter of the shorter one they agree."""
    least = max(_NEAR, min(len(word), len(other)) - 1)
    return other.isalpha() and word[:least] == other[:least] and abs(len(word) - len(other)) <= _NEAR
