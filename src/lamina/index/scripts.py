"""Scripts that are written without spaces, and Hangul: pairs of characters stand for words.

Where a script is an alphabet (Thai, Katakana), pairs say too little on their own; there the whole run and
windows of four characters are looked for. Particles and endings are cut from what is asked, never from
what is indexed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby

from lamina.index.words import Term, once, phrase, word

# The first and last character of each range. Texts are cut by one compiled pattern, the few characters of a
# query without any: compiling such ranges takes longer than a search.
_THAI = ("\u0e00\u0eff", "\u1000\u109f", "\u1780\u17ff")
_HANGUL = ("\u1100\u11ff", "\uac00\ud7af")
_HIRAGANA = ("\u3041\u3096", "\u3099\u309f")
_KATAKANA = ("\u30a1\u30fa", "\u30fc\u30ff", "\u31f0\u31ff")
_HAN = ("\u3005\u3007", "\u3400\u4dbf", "\u4e00\u9fff", "\uf900\ufaff", "\U00020000\U0003ffff")
_JOINED = (*_THAI, *_HANGUL, *_HIRAGANA, *_KATAKANA, *_HAN)

_GRAMMAR_ZH = """
    我们 你们 他们 这个 那个 这些 那些 什么 怎么样 怎么 怎样 如何 为什么 在哪里 哪里 在哪 哪个 哪些 是不是
    有没有 可以 一下 一个 请问 以及 因为 所以 但是 如果 的 了 吗 呢 吧 啊
"""
_GRAMMAR_JA = """
    してください ください しました します している していた していない でした です ました ます ません という
    について すべて どのように どうやって なぜ いつ どこ どれ どの この その あの これ それ ために ための から
    まで より など した して する された される れる られる ない たい の を は が に で と も へ や か ね よ
"""
_GRAMMAR_KO = """
    했습니다 입니다 합니다 습니다 해주세요 하세요 주세요 에서는 에서 으로 부터 까지 에게 하고 하는 했다 한다
    이다 을 를 은 는 이 가 에 의 로 와 과 도 만
"""
_WEAK_KO = """
    어떻게 무엇 무엇을 무슨 언제 어디 어디에 그리고 하지만 있는 하는 대한 위해 모든 해주세요 주세요
"""


def spaced(text: str) -> str:
    """Return a folded text with its runs as overlapping pairs, each run ended by its last character."""
    return _runs().sub(_pairs, text)


def is_run(text: str) -> bool:
    """Tell whether a text is all written without spaces, so that its pairs find it inside of any word."""
    return all(_is(_JOINED, char) for char in text)


def terms(chunk: str) -> Iterable[Term]:
    """Return what a chunk without spaces asks for: one term if several scripts are glued together."""
    pieces: list[Term] = []
    runs = False
    for joined, stretch in _stretches(_JOINED, chunk):
        runs = runs or joined
        pieces += [_run(stretch)] if joined else word(stretch)
    if len(pieces) == 1 or not runs:
        return pieces
    strong = [piece for piece in pieces if not piece.weak and len(piece.text) > 1] or pieces
    parts = [part for piece in strong for part in (piece.whole, *piece.parts)]
    needles = [needle for piece in strong for needle in piece.needles]
    return [Term(chunk, _glued(chunk), once(*parts), needles=once(chunk, *needles))]


@cache
def _runs() -> re.Pattern[str]:
    return re.compile(f"[{''.join(map('-'.join, _JOINED))}]+")


def _is(script: Iterable[str], char: str) -> bool:
    return any(ends[0] <= char <= ends[1] for ends in script)


def _stretches(script: Iterable[str], text: str) -> Iterator[tuple[bool, str]]:
    """Cut a short text into what is written in a script and what is not."""
    return ((inside, "".join(part)) for inside, part in groupby(text, lambda char: _is(script, char)))


def _pairs(match: re.Match[str]) -> str:
    return _paired(match[0])


def _paired(run: str) -> str:
    return f" {' '.join([run[i : i + 2] for i in range(len(run))])} "


def _glued(chunk: str) -> str:
    """Return the phrase of a chunk of several scripts, which may go on in the text."""
    stretches = list(_stretches(_JOINED, chunk))
    text = "".join(_paired(stretch) if joined else stretch for joined, stretch in stretches)
    joined, last = stretches[-1]
    if not joined:
        return phrase(text)
    tokens = text.split()
    return f"{phrase(' '.join(tokens))}*" if len(last) == 1 else phrase(" ".join(tokens[:-1]))


def _run(run: str) -> Term:
    """Return the term of a run without spaces: the run itself, and the pairs of what carries content."""
    if all(_is(_HANGUL, char) for char in run):
        return _korean(run)
    if len(run) == 1:
        return Term(run, f"{phrase(run)}*", needles=(run,))
    whole = _pair_phrase(run)
    if _is(_THAI, run[0]):
        parts, content = _windows(run), [run]
    else:
        content = _content(run)
        parts = [part for piece in content for part in _parts(piece)]
    forms = tuple(dict.fromkeys(_pair_phrase(part) for part in parts if part != run))
    return Term(run, whole, forms, needles=once(run, *content, *parts), weak=not content)


def _parts(piece: str) -> Iterator[str]:
    """Yield what finds a piece of Han and Kana; Katakana is an alphabet, so its pairs say too little."""
    for alphabetic, stretch in _stretches(_KATAKANA, piece):
        if alphabetic:
            yield stretch
            yield from _windows(stretch)
        else:
            yield from (stretch[i : i + 2] for i in range(max(1, len(stretch) - 1)))


def _windows(run: str) -> list[str]:
    return [run[i : i + 4] for i in range(len(run) - 3)] if len(run) > 4 else []


def _pair_phrase(part: str) -> str:
    """Return the phrase that finds a part inside of any run."""
    if len(part) == 1:
        return f"{phrase(part)}*"
    return phrase(" ".join(part[i : i + 2] for i in range(len(part) - 1)))


def _content(run: str) -> list[str]:
    """Cut the grammar out of a run of Han and Kana; an empty list when there was nothing else."""
    if len(run) < 3:
        return [run]
    left = _without(_GRAMMAR_ZH.split(), run) if len(run) > 3 else run
    parts = (_kana_content(part) if kana else part for kana, part in _stretches(_HIRAGANA, left))
    pieces = "".join(parts).split()
    return [piece for piece in pieces if len(piece) > 1] or pieces


def _without(grammar: Iterable[str], run: str) -> str:
    """Return a run with a space for each of these words, of which the earlier one counts at any place."""
    left, at = "", 0
    while at < len(run):
        said = next((each for each in grammar if run.startswith(each, at)), "")
        left += " " if said else run[at]
        at += len(said) or 1
    return left


def _kana_content(kana: str) -> str:
    """Keep a word in Hiragana if something is left of it without its particles and endings."""
    for part in sorted(_GRAMMAR_JA.split(), key=len, reverse=True):
        kana = kana.replace(part, "") if len(part) > 1 else kana.removesuffix(part).removeprefix(part)
    return f" {kana} " if len(kana) > 2 else " "


def _korean(run: str) -> Term:
    stem_ = run
    for ending in _GRAMMAR_KO.split():
        if run.endswith(ending) and len(run) - len(ending) >= 2:
            stem_ = run.removesuffix(ending)
            break
    if len(stem_) == 1:
        return Term(run, f"{phrase(run)}*", needles=(run,))
    pairs = [stem_[i : i + 2] for i in range(len(stem_) - 1)]
    parts = tuple(phrase(pair) for pair in dict.fromkeys(pairs)) if len(pairs) > 1 else ()
    return Term(
        run, phrase(" ".join(pairs)), parts, needles=once(stem_, *pairs), weak=run in _WEAK_KO.split()
    )
