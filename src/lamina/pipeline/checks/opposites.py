"""Tells when a text says the opposite of what was said with a word, or drops what it depended on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from lamina.formats.structure import one_line
from lamina.pipeline.exchanges import terms
from lamina.pipeline.statements import sentences

_SAME = 0.6  # of the words of two sentences: what they share if they are about the same
_PAIRS = r"""
most / least
at most|no more than|up to / at least|no less than
increas\w*|rais\w+ / decreas\w*|lower(?:ed|ing)?
before / after
faster / slower
quicker / slower
more / less|fewer
maximum|max / minimum|min
above / below
over / under
enabl\w+ / disabl\w+
allow\w*|permit\w* / forbid\w*|disallow\w*|prohibit\w*
includ\w+ / exclud\w+
accept\w* / reject\w*
add\w* / remov\w+|delet\w+
open\w* / clos\w+
start\w* / stop\w*
first / last
earlier / later
higher / lower
longer / shorter
larger|bigger / smaller
public / private
internal / external
required / optional
safe / unsafe
upgrad\w+ / downgrad\w+
encrypt\w* / decrypt\w*
lock\w* / unlock\w*
online / offline
mehr / weniger
höchstens|maximal / mindestens|minimal
vor / nach
erhöh\w+ / senk\w+|verringer\w+
schneller / langsamer
aktivier\w+ / deaktivier\w+
erlaub\w+ / verbiet\w+|verboten
größer / kleiner
avant / après
plus / moins
activ\w+ / désactiv\w+
antes / después
más / menos
habilit\w+ / deshabilit\w+
máximo / mínimo
до / после
больше / меньше
включ\w+ / выключ\w+|отключ\w+
быстрее / медленнее
"""
_WIDE = r"""
至少 / 至多|最多
最大 / 最小
增加|提高 / 减少|降低
之前 / 之后
更快 / 更慢
启用|开启 / 禁用|关闭
允许 / 禁止
以上 / 以下
増や / 減ら
有効 / 無効
許可 / 禁止
速い|速く / 遅い|遅く
最大 / 最小
이상 / 이하
최대 / 최소
늘리 / 줄이
허용 / 금지
켜 / 끄
빠르 / 느리
먼저 / 나중
"""
_DEPENDS = re.compile(
    r"\b(?:if|unless|in case|as long as|provided that|only when|falls|sofern|es sei denn|wenn|si|sauf si|"
    r"siempre que|если|se|caso)\b|如果|除非|只有|要是|もし|場合|なら|만약|경우|으면",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:used to|old plan|previously|formerly|originally|back then|in the past|was going to|"
    r"were going to|früher|ursprünglich|damals|autrefois|antes se|раньше|antigamente)\b|"
    r"以前|原来|过去|当初|かつて|당초|예전",
    re.IGNORECASE,
)


def opposed(text: str, said: Sequence[str]) -> bool:
    """Say whether a sentence stands in what was said but for a word that its opposite took the place of."""
    told = [each for part in said for each in _sentences(part)]
    return any(_is_opposed(mine, theirs) for mine in _sentences(text) for theirs in told)


def unbound(text: str, said: Sequence[str]) -> bool:
    """Say whether a text states outright what was said under a condition, or of the past, in every place."""
    about = [each for part in said for each in _sentences(part) if _is_about(text, each)]
    return bool(about) and any(
        not cue.search(text) and all(cue.search(each) for each in about) for cue in (_DEPENDS, _PAST)
    )


def _is_opposed(mine: str, theirs: str) -> bool:
    if not _is_about(mine, theirs):
        return False
    return any(
        (one.search(mine) and other.search(theirs) and not one.search(theirs) and not other.search(mine))
        or (other.search(mine) and one.search(theirs) and not other.search(theirs) and not one.search(mine))
        for one, other in _pairs()
    )


def _is_about(mine: str, theirs: str) -> bool:
    wanted = terms(mine)
    return bool(wanted) and len(wanted & terms(theirs)) >= _SAME * len(wanted)


@cache
def _pairs() -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    spaced = [_pair(line, r"\b(?:{})\b") for line in _PAIRS.split("\n") if line]
    return (*spaced, *(_pair(line, "(?:{})") for line in _WIDE.split("\n") if line))


def _pair(line: str, frame: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    one, _, other = line.partition(" / ")
    return re.compile(frame.format(one), re.IGNORECASE), re.compile(frame.format(other), re.IGNORECASE)


def _sentences(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        yield from sentences(one_line(line))
