"""Reduces words to what they say, so that a sentence and its paraphrase share them.

Endings go, a few words that people use for one another become one, and words that carry no claim do not
count. Only pairs that are sure in talk about software are in the table: a wrong one would support a lie.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from lamina.pipeline import smalltalk
from lamina.pipeline.exchanges import unspaced

_WORD = re.compile(r"[^\W_]+(?:[._'’/-][^\W_]+|_+[^\W_]+)*")
_PART = re.compile(r"[^\W_]{2,}")
_WIDE = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_SEAM = re.compile(rf"(?<=[A-Za-z0-9])(?=[{_WIDE}])|(?<=[{_WIDE}])(?=[A-Za-z0-9])")
_STEM = 7
_SHORT = 4  # letters of a word that has no ending to lose
_ENDING = re.compile(
    r"(?:ically|ations?|ingly|ments?|ingen|ungen|ions?|ings?|ily|ied|ies|ers?|ors?|ung|est|ely|ed|es|en|em|"
    r"ly|s|e|n|y|t)$"
)
_HANGUL = re.compile(
    r"(?:(?:합니다|됩니다|입니다|습니다|한다|된다|하며|하고|하지|해서|하는|되는|이다|에서는|에서|으로|로|"
    r"에는|에|은|는|이|가|을|를|의|와|과|도|마다|까지|부터|만))$"
)
_SAME = (
    "store keep hold save live reside locate place put speicher lieg steh halt",
    "start launch boot begin ",
    "delete remove erase",
    "verify check validate",
    "document documentation docs doc",
    "admin administrator",
    "need require",
    "deploy deployment rollout deployt",
    "setting configuration config",
    "error failure fail",
    "choose pick select chose chosen",
    "write written wrote",
    "take took taken takes",
    "break broke broken",
    "disable deaktiviert ausgeschaltet",
    "enable activate",
    "come came",
    "arise arose",
    "slow slowly langsam",
    "every each jeder jede jedes",
    "move moved relocate",
    "session sitzung",
    "image picture",
    "quarter quarterly",
    "night nightly",
    "day daily",
    "last latest recent",
    "default standardmäßig voreinstellung",
)
_LIGHT = frozenset(
    """
    project project's repository repo code codebase team currently instead never always everywhere without
    while since within whenever otherwise beyond another own
    during whose whom been being cannot they're it's don't doesn't isn't
    werden wird wurde wurden sein seine muss müssen darf dürfen soll sollen jetzt nun statt keine kein keinen
    damit weil daher nie niemals sich sind immer überall projekt
    """.split()
)
"""Words that say nothing about a matter, which every summary adds or leaves out."""
_EMPTY = frozenset("的了着过吗吧呢和与或在是为被把让也都就会要而其所以及由于因")
_LIGHT_PAIRS = frozenset(
    "使用 采用 用于 必须 需要 所有 统一 一律 因为 由于 项目 现在 已经 不要 不能 禁止 不使 不用 不引 "
    "する した して しま ます です ない てい いる いま れる こと ため から もの には ので われ "
    "また ある".split()
)
_TONGUES = {
    "en": frozenset("the and is are of to with not for by its from be on".split()),
    "de": frozenset("der das und ist nicht mit ein eine auf wird nach von den kein".split()),
    "fr": frozenset("le la les et est une pour dans du sont".split()),
    "es": frozenset("el los las y es una para que".split()),
}
_SURE = 2  # words of grammar that tell a language
_LATIN = re.compile(r"[a-zà-ÿ]+")


@lru_cache(maxsize=2048)
def meanings(text: str) -> frozenset[str]:
    """Give what a text's words say: stems of content words, values whole, pairs of unspaced characters."""
    return frozenset(_each(_SEAM.sub(" ", unicodedata.normalize("NFKC", text)).casefold()))


OWN_LETTERS = frozenset({"ja", "ko", "zh", "ru"})
"""Languages that their letters tell."""


def tongue(text: str) -> str:
    """Guess the language of a text, empty if nothing tells it; only to see that two texts have another."""
    folded = text[:2000].casefold()
    wide = {
        "ja": sum("\u3041" <= char <= "\u30ff" for char in folded),
        "ko": sum("\uac00" <= char <= "\ud7a3" for char in folded),
        "zh": sum("\u3400" <= char <= "\u9fff" for char in folded),
        "ru": sum("\u0400" <= char <= "\u04ff" for char in folded),
    }
    if sum(wide.values()) * 4 > len(folded):
        return "ja" if wide["ja"] * 5 > wide["zh"] > 0 else max(wide, key=lambda name: wide[name])
    counts = dict.fromkeys(_TONGUES, 0)
    for word in _LATIN.findall(folded):
        for name, grammar in _TONGUES.items():
            counts[name] += word in grammar
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] >= _SURE and counts[best] > sorted(counts.values())[-2] else ""


def _each(text: str) -> Iterator[str]:
    for word in _WORD.findall(text):
        if "\uac00" <= word[0] <= "\ud7a3":
            yield from _korean(word)
        elif not word.isascii() and unspaced(word):
            yield from _pairs(word)
        elif word.isalpha():
            yield from _plain(word)
        else:
            yield from _compound(word)


def _plain(word: str) -> Iterator[str]:
    if word not in smalltalk.COMMON and word not in _LIGHT and len(word) > 1:
        yield _stem(word)


def _compound(word: str) -> Iterator[str]:
    """Give a value or a name whole, and the words that it is made of."""
    owner = re.split(r"['’]", word)[0]
    if owner != word and owner.isalpha():
        yield from _plain(owner)
        return
    if len(word) > 1 or word.isdigit():
        yield word
    if not word.isalnum():
        for part in _PART.findall(word):
            yield from _plain(part) if part.isalpha() else (part,)


def _korean(word: str) -> Iterator[str]:
    bare = _HANGUL.sub("", word) or word
    yield from _pairs(bare)


def _pairs(word: str) -> Iterator[str]:
    """Give pairs of characters; hiragana and characters that only join words stand between them."""
    for run in _RUN.findall(word):
        if len(run) == 1:
            yield run
        for at in range(len(run) - 1):
            pair = run[at : at + 2]
            if pair not in _LIGHT_PAIRS:
                yield pair


@lru_cache(maxsize=16_384)
def _stem(word: str) -> str:
    """Cut the ending, and give words of one meaning the same form."""
    if word in _ONE:
        return _ONE[word]
    bare = _bare(word)
    return _ONE.get(bare, bare)


def _bare(word: str) -> str:
    bare = word
    for _ in range(2):
        cut = _ENDING.sub("", bare) if len(bare) > _SHORT else bare
        bare = cut if len(cut) >= _SHORT - 1 else bare
    if len(bare) == _SHORT and bare[-1] == "s" and bare[-2] != "s":
        bare = bare[:-1]
    if len(bare) > 3 and bare[-1] == bare[-2]:
        bare = bare[:-1]
    return bare[:_STEM]


_RUN = re.compile(rf"[^{''.join(sorted(_EMPTY))}]+")
_ONE = {form: names.split()[0] for names in _SAME for name in names.split() for form in (name, _bare(name))}
