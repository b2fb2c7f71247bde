"""Whether two texts say the same in almost the same words, so that a forgotten one does not return reworded.

Anything that may be a correction makes them different: numbers, versions, paths, identifiers, names and
negations must be equal and stand in the same order, and no word may stand where another one stood. What
is left is articles, inflection, case, punctuation, a phrase moved from one end to the other, few added words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

_LEAST_SHARED = 0.85
"""Share of the words that both texts must have in common (Dice), so 1 of 6 may be added."""
_SHORTEST_MOVED = 4
"""Below this many words a moved part may turn the meaning round: `a calls b`, `b calls a`."""
_LONGEST_MOVED = 200
_NOT = "\0not"


class Token(NamedTuple):
    """One unit of meaning. `fixed`: it must have its equal in the other text."""

    text: str
    fixed: bool = False


def nearly_same(one: str, other: str) -> bool:
    """Tell whether two texts differ in nothing that could be a correction."""
    first, second = _words(one), _words(other)
    names = {word.folded for word in (*first, *second) if word.name}
    short, long = sorted((_tokens(first, names), _tokens(second, names)), key=len)
    if not short or 2 * len(short) < _LEAST_SHARED * (len(short) + len(long)):
        return False
    return _is_within(short, long) or (len(short) == len(long) and _is_moved(short, long))


class _Word(NamedTuple):
    folded: str
    kind: str
    """`fixed`, `word`, or a script whose words are not split by spaces."""
    name: bool = False


@lru_cache(maxsize=64)
def _words(text: str) -> tuple[_Word, ...]:
    """Split a text into words and what is exact: code, numbers, paths, identifiers, symbols."""
    out: list[_Word] = []
    plain = unicodedata.normalize("NFKC", text).replace("\u2019", "'").replace("**", "")
    start = True
    for match in _pattern().finditer(plain):
        kind, value = str(match.lastgroup), match[0]
        match kind:
            case "stop":
                start = True
                continue
            case "code":
                out.append(_Word(value.strip("`").strip(), "fixed"))
            case "run":
                out.append(_run(value, start=start))
            case "letters":
                out.extend(_letters(value, start=start))
            case _:
                out.append(_Word(value, "fixed"))
        start = False
    return tuple(out)


def _run(value: str, *, start: bool) -> _Word:
    """Classify a run of ASCII: a plain word, or something exact such as `v2.1`, `src/app.py`, `--flag`."""
    text = value.rstrip(".,:;!?'-") or value
    if re.fullmatch(r"[A-Za-z]+(?:['-][A-Za-z]+)*", text) and not re.search(r"[a-z][A-Z]", text):
        shout = len(text) > 1 and text.isupper()
        return _Word(text.casefold(), "word", name=shout or (text[0].isupper() and not start))
    return _Word(text, "fixed")


def _letters(value: str, *, start: bool) -> Iterator[_Word]:
    """Split a run of letters where its scripts change; Han characters are words of their own."""
    for part in re.findall(_SCRIPTS, value):
        if re.match(_HAN, part):
            yield _Word(part, "han")
        elif re.match(_KANA, part):
            yield _Word(part, "kana")
        elif re.match(_UNSPACED, part):
            yield _Word(part, "unspaced")
        elif part.isdecimal():
            yield _Word("".join(str(unicodedata.digit(char)) for char in part), "fixed")
        else:
            yield _Word(part.casefold(), "word", name=part[0].isupper() and not start)


def _tokens(words: tuple[_Word, ...], names: set[str]) -> list[Token]:
    out: list[Token] = []
    for word in words:
        match word.kind:
            case "fixed":
                out.append(Token(word.folded, fixed=True))
            case "kana":
                out.extend(_kana(word.folded))
            case "han":
                if word.folded not in _EMPTY_HAN:
                    out.append(
                        Token(_NOT if word.folded in _NOT_HAN else word.folded, word.folded in _NOT_HAN)
                    )
            case "unspaced":
                out.extend(_unspaced(word.folded))
            case _:
                out.extend(_spaced(word.folded, names))
    return out


def _spaced(text: str, names: set[str]) -> Iterator[Token]:
    if text in names and text not in _NEGATIONS:
        yield Token(text, fixed=True)
        return
    base = text.removesuffix("n't").removesuffix("not") if text.endswith(("n't", "cannot")) else text
    if base != text:
        if base in _CAN:
            yield Token("can")
        yield Token(_NOT, fixed=True)
    elif text in _NEGATIONS or re.search(_NOT_HANGUL, text):
        yield Token(_NOT, fixed=True)
    elif text in _LIMITS:
        yield Token(text, fixed=True)
    elif text not in _EMPTY:
        yield Token(text)


def _kana(text: str) -> Iterator[Token]:
    if re.search("ない|なかっ|ません|なし|ずに|ぬ$", text):
        yield Token(_NOT, fixed=True)
        return
    rest = re.sub("(?:しています|います|します|ました|でした|です|ます|する|した|う|る|た|だ)$", "", text)
    if rest and rest not in _EMPTY_KANA:
        yield Token(rest)


def _unspaced(text: str) -> Iterator[Token]:
    """Take pairs of characters: Thai, Lao, Khmer and Burmese don't split their words."""
    for _ in re.findall("ไม่|มิใช่|อย่า|ห้าม|ບໍ່|មិន|မ", text):
        yield Token(_NOT, fixed=True)
    for index in range(max(1, len(text) - 1)):
        yield Token(text[index : index + 2])


def _is_within(short: list[Token], long: list[Token]) -> bool:
    """Tell whether the longer text is the shorter one with words added, none of them a fixed one."""
    position = 0
    for token in long:
        if position < len(short) and _same(short[position], token):
            position += 1
        elif token.fixed:
            return False
    return position == len(short)


def _is_moved(one: list[Token], other: list[Token]) -> bool:
    """Tell whether a part moved from the front to the end: `on Fridays we deploy`, `we deploy on Fridays`."""
    size = len(one)
    if not _SHORTEST_MOVED <= size <= _LONGEST_MOVED:
        return False
    twice = other + other
    return any(all(map(_same, one, twice[shift : shift + size])) for shift in range(1, size))


def _same(one: Token, other: Token) -> bool:
    """Tell whether two tokens are one word, perhaps inflected."""
    if one == other:
        return True
    if one.fixed or other.fixed:
        return False
    a, b = sorted((one.text, other.text), key=len)
    shared = next((index for index, pair in enumerate(zip(a, b, strict=False)) if pair[0] != pair[1]), len(a))
    left, right = len(a) - shared, len(b) - shared
    if "\uac00" <= a[0] <= "\ud7a3":
        return shared >= 2 and right <= 3
    if not left:
        return (shared >= 4 and right <= 3) or (shared == 3 and right == 1)
    return shared >= 5 and left <= 2 and right <= 2


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_HAN = "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
_KANA = "[\u3041-\u309f]+"
_UNSPACED = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+"
_SCRIPTS = rf"{_HAN}|{_KANA}|[\u30a0-\u30ff]+|{_UNSPACED}|\d+|(?:(?!{_HAN}|[\u3041-\u30ff]|{_UNSPACED}|\d).)+"
_NOT_HANGUL = "^(?:안|못)$|않|없|아니|못하|마세요|말아"
_NOT_HAN = frozenset("不没沒无無非勿别別未否禁莫休")
_EMPTY_HAN = frozenset("的了是也就都着過过吗吧呢")
_EMPTY_KANA = frozenset(
    ["は", "が", "を", "も", "の", "と", "で", "に", "ね", "よ", "である", "という", "して", "している"]
)
_CAN = frozenset({"ca", "can", "could"})
_EMPTY = _set(
    """a an the is are was were be been being am do does did has have had will would shall and that this these
    those it its we our us you your i my me they their them he she please also just there here s re ve ll d m
    der die das den dem des ein eine einen einem einer eines ist sind war waren wird werden und wir uns es sie
    er ich le la les l un une du est sont était et il elle nous vous ce cette ces qui
    el los las unos unas son está están y se lo gli uno è sono e
    o os as um uma uns umas é são estão está het een zijn wij ons ett är och vi det den er og
    jest są i oraz это и мы он она они bir ve bu هو هي و"""
)
_NEGATIONS = _set(
    """no not never none nor neither without cannot nobody nothing nowhere longer
    nicht kein keine keinen keinem keiner keines nie niemals ohne weder noch nichts
    ne n pas jamais aucun aucune sans rien ni non
    nunca jamás sin ningún ninguna ninguno nada tampoco mai senza nessun nessuna niente né
    não sem nenhum nenhuma nem niet geen nooit zonder niets
    inte aldrig utan ingen inget ikke aldri uten intet nigdy bez żaden żadna brak
    не нет ни никогда без нельзя ні ніколи değil yok asla لا ليس لم لن بدون غير לא אין בלי नहीं न मत बिना
    δεν μην όχι χωρίς ποτέ không chưa đừng tidak bukan jangan tanpa ei eivät ilman nem soha nélkül"""
)
_LIMITS = _set(
    """only except unless instead rather formerly previously deprecated hardly rarely seldom barely almost
    nur außer sondern statt seulement sauf solo solamente excepto tranne apenas somente только кроме вместо"""
)


def _pattern() -> re.Pattern[str]:
    """Compile on first use: few commands ever compare texts."""
    return re.compile(
        r"(?P<code>`[^`\n]+`)"
        r"|(?P<run>(?:(?<![\w/])(?:--?|[./~@$#]+|(?<=\s)\+))?"
        r"(?>[A-Za-z0-9_](?:[A-Za-z0-9_./\\:@#$%~+*=<>&?^'-]*[A-Za-z0-9_+#%*/])?)(?![\u00c0-\u036f]))"
        r"|(?P<letters>[^\W_](?:[\w\u0300-\u036f\u0900-\u0dff\u0e31-\u0e4e']*[^\W_])?)"
        r"|(?P<stop>[.!?:;。！？•\n]+|(?:^|(?<=\n))\s*[-*]\s)"
        r"|(?P<symbol>[<>=+%&|^~€$£¥×÷≤≥≠±→←∞°√✓✗✅❌\U0001f000-\U0001faff]+)"
    )
