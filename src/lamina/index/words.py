"""Text in any script -> words that SQLite's FTS5 can find, for indexing and for asking.

The tokenizer behind it splits at white space and punctuation and stems English. What it can't do is
done here, the same way on both sides: compatibility forms are folded (NFKC), runs of scripts that are
written without spaces become overlapping pairs of characters and are cut loose from Latin text that
is glued to them, and identifiers are findable whole and in parts. No text whatever raises.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from lamina.formats.frozen import NamedTuple

TOKENIZER = "porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
VERSION = f"1/{unicodedata.unidata_version}"
MAX_TERMS = 40
MAX_QUERY = 4000

# Patterns are compiled on first use: a cold search of plain words needs none of them.
# Marks that readers leave out at will (Hebrew points, Arabic vowels, soft hyphen, joiners).
_SILENT = "[\u00ad\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u200c\u200d\u2060\ufeff]+"
# A capital behind a small letter, or the last of several before a word; capitals first, as they are rare.
_HUMP = r"[A-Z](?:(?<=[a-z0-9].)|(?<=[A-Z].)[a-z]{2})"
_CAMEL = rf"\b[A-Za-z][A-Za-z0-9]{{0,62}}{_HUMP}[A-Za-z0-9]{{0,62}}\b"
_HUMPS = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"
_SIGNED = r"(?<![\w])([A-Za-z])(\+\+|#)(?![\w#+])"
_SIGNS = {"++": "plusplus", "#": "sharp"}

_STOP = """
    a an and are as at be been but by can could did do does for from had has have how i if in into is it its
    me my of on or our shall she should so than that the their them then there these they this those to too us
    was we were what when where which who whom whose why will with would you your am being he her his him not
    no just about please also any some such very don't doesn't didn't isn't aren't wasn't won't can't i'm it's
    that's what's
    der das den dem und ist sind ein eine einen mit für auf nicht wie wir ich sie von zu im wird wurde auch
    le les des une est et dans pour que qui sur avec nous vous pas par du au aux ce cette
    el los las una es y en para con por del como qué cómo se su
    o os um uma não com dos das ao na il lo gli di che per non sono
    и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по ее мне было
    вот от о из
"""
STOP_WORDS = frozenset(_STOP.split())
_BREAKS = ',";!?()[]{}<>|“”„«»。、！？，；：…「」『』（）【】《》・'
_SPACES = str.maketrans(_BREAKS, " " * len(_BREAKS))
_JOINTS = r"[^\w\u0300-\u0dff\u1ab0-\u1aff\u1dc0-\u1dff]+|_+"
_QUOTED = r'"([^"]{1,200})"'


class Term(NamedTuple):
    """One thing asked for: the whole as an FTS5 expression, its parts, and how it looks in text.

    `whole` is the closest form; each of `parts` is a looser one. `prefix` also takes longer words.
    `weak` terms carry no content and count only when a query has nothing else.
    """

    text: str
    whole: str
    parts: tuple[str, ...] = ()
    prefix: str = ""
    needles: tuple[str, ...] = ()
    weak: bool = False


def expand(text: str) -> str:
    """Return the text with everything added that makes it findable; plain ASCII costs next to nothing."""
    if not text.isascii():
        from lamina.index import scripts

        text = scripts.spaced(fold(text))
    if "++" in text or "#" in text:
        text = re.sub(_SIGNED, _named_sign, text)
    if re.search(_HUMP, text):
        humps = [" ".join(re.findall(_HUMPS, word)) for word in re.findall(_CAMEL, text)]
        text = f"{text} {' '.join(humps)}"
    return text


def fold(text: str) -> str:
    """Fold compatibility forms and drop what can't be seen or stored."""
    if text.isascii():
        return text
    text = text.encode("utf-8", "replace").decode("utf-8")
    text = unicodedata.normalize("NFKC", text).replace("\u200b", " ").replace("\u2019", "'")
    return re.sub(_SILENT, "", text)


def parse(query: str) -> tuple[Term, ...]:
    """Return what a query asks for, in order, without doubles; an empty tuple when there are no words."""
    text = fold(query[:MAX_QUERY]).replace("\0", " ")
    if "++" in text or "#" in text:
        text = re.sub(_SIGNED, lambda sign: sign[1] + _SIGNS[sign[2]], text)
    found: dict[str, Term] = {}
    for quoted in re.findall(_QUOTED, text) if '"' in text else ():
        if len(quoted.split()) > 1 and speaks(quoted):
            term = Term(quoted, phrase(expand(quoted)), needles=(quoted,))
            found.setdefault(term.whole, term)
    for chunk in text.translate(_SPACES).split():
        for term in _terms(chunk):
            found.setdefault(term.whole, term)
        if len(found) >= MAX_TERMS:
            break
    return tuple(found.values())[:MAX_TERMS]


def _named_sign(match: re.Match[str]) -> str:
    return f"{match[0]} {match[1]}{_SIGNS[match[2]]}"


def speaks(text: str) -> bool:
    """Tell whether there is a letter or digit."""
    return any(map(str.isalnum, text))


def phrase(tokens: str) -> str:
    """Return the FTS5 phrase of a text, whatever stands in it."""
    return '"' + tokens.replace('"', " ").strip() + '"'


def _terms(chunk: str) -> Iterable[Term]:
    if not speaks(chunk):
        return ()
    if not chunk.isascii():
        from lamina.index import scripts

        return scripts.terms(chunk)
    return word(chunk)


def once(*texts: str) -> tuple[str, ...]:
    """Return the texts without doubles."""
    return tuple(dict.fromkeys(texts))


def word(text: str) -> Iterator[Term]:
    """Yield the term of a word, a name with joints, or nothing."""
    text = text.strip("-_./:'@\\=~&%$*^`+#")
    names = [text] if text.isalnum() else [part for part in re.split(_JOINTS, text) if speaks(part)]
    if not names:
        return
    humps = [hump for name in names if _is_camel(name) for hump in re.findall(_HUMPS, name)]
    bare = text.lower()
    if len(names) == 2 and names[1] in ("s", "S") and "'" in text:
        names, bare = names[:1], names[0].lower()
    if len(names) == 1 and not humps:
        weak = bare in STOP_WORDS
        prefix = f"{phrase(names[0])}*" if len(names[0]) > 2 and not weak else ""
        yield Term(names[0], phrase(names[0]), prefix=prefix, needles=(stem(bare),), weak=weak)
        return
    whole = phrase(" ".join(names))
    forms = [whole, f"{whole}*"] + ([f"{phrase(' '.join(humps))}*"] if humps else [])
    parts = [p for p in dict.fromkeys(names + humps) if p.lower() not in STOP_WORDS and len(p) > 1]
    yield Term(
        text,
        f"({' OR '.join(forms)})",
        tuple(phrase(part) for part in parts) if len(parts) > 1 else (),
        needles=once(bare, *(stem(part.lower()) for part in parts)),
        weak=bare in STOP_WORDS,
    )


def _is_camel(name: str) -> bool:
    return not (name.islower() or name[1:].islower()) and re.search(_HUMP, name) is not None


def stem(word: str) -> str:
    """Return a beginning that the word shares with its English forms, to find them in a text."""
    for ending in ("ings", "ing", "ies", "ied", "ed", "es", "s", "ly", "y", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word.removesuffix(ending)
    return word
