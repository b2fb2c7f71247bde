"""Text in any script -> words that SQLite's FTS5 can find, for indexing and for asking.

The tokenizer behind it splits at white space and punctuation and stems English. What it can't do is
done here, the same way on both sides: compatibility forms are folded (NFKC), runs of scripts that are
written without spaces become overlapping pairs of characters and are cut loose from Latin text that
is glued to them, and identifiers are findable whole and in parts. No text whatever raises.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

TOKENIZER = "porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
VERSION = f"1/{unicodedata.unidata_version}"
MAX_TERMS = 40
MAX_QUERY = 4000

_THAI = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_HANGUL = "\u1100-\u11ff\uac00-\ud7af"
_HIRAGANA = "\u3041-\u3096\u3099-\u309f"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(f"[{_THAI}{_HANGUL}{_HIRAGANA}{_KATAKANA}{_HAN}]+")
# Marks that readers leave out at will (Hebrew points, Arabic vowels, soft hyphen, joiners).
_SILENT = re.compile("[\u00ad\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u200c\u200d\u2060\ufeff]+")
_HUMP = re.compile(r"[a-z0-9][A-Z]")
_CAMEL = re.compile(r"\b[A-Za-z][A-Za-z0-9]{0,62}[a-z0-9][A-Z][A-Za-z0-9]{0,62}\b")
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SIGNED = re.compile(r"(?<![\w])([A-Za-z])(\+\+|#)(?![\w#+])")
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

_BREAKS = re.compile(r'[\s",;!?()\[\]{}<>|“”„«»。、！？，；：…「」『』（）【】《》・]+')
_JOINTS = re.compile(r"[^\w\u0300-\u0dff\u1ab0-\u1aff\u1dc0-\u1dff]+|_+")
_QUOTED = re.compile(r'"([^"]{1,200})"')


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
        text = _RUN.sub(_pairs, fold(text))
    if "++" in text or "#" in text:
        text = _SIGNED.sub(_named_sign, text)
    if _HUMP.search(text):
        humps = [" ".join(_HUMPS.findall(word)) for word in _CAMEL.findall(text)]
        text = f"{text} {' '.join(humps)}"
    return text


def fold(text: str) -> str:
    """Fold compatibility forms and drop what can't be seen or stored."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    return _SILENT.sub("", unicodedata.normalize("NFKC", text).replace("\u200b", " ").replace("\u2019", "'"))


def parse(query: str) -> tuple[Term, ...]:
    """Return what a query asks for, in order, without doubles; an empty tuple when there are no words."""
    text = _SIGNED.sub(lambda m: m[1] + _SIGNS[m[2]], fold(query[:MAX_QUERY]).replace("\0", " "))
    found: dict[str, Term] = {}
    for quoted in _QUOTED.findall(text):
        if len(quoted.split()) > 1 and _speaks(quoted):
            term = Term(quoted, _phrase(expand(quoted)), needles=(quoted,))
            found.setdefault(term.whole, term)
    for chunk in _BREAKS.split(text):
        for term in _terms(chunk):
            found.setdefault(term.whole, term)
        if len(found) >= MAX_TERMS:
            break
    return tuple(found.values())[:MAX_TERMS]


def _pairs(match: re.Match[str]) -> str:
    run = match[0]
    return f" {' '.join([run[i : i + 2] for i in range(len(run))])} "


def _named_sign(match: re.Match[str]) -> str:
    return f"{match[0]} {match[1]}{_SIGNS[match[2]]}"


def _speaks(text: str) -> bool:
    return any(map(str.isalnum, text))


def _phrase(tokens: str) -> str:
    return '"' + tokens.replace('"', " ").strip() + '"'


def _terms(chunk: str) -> Iterator[Term]:
    if not _speaks(chunk):
        return
    pieces: list[Term] = []
    at = 0
    for run in _RUN.finditer(chunk):
        pieces += _word(chunk[at : run.start()])
        pieces.append(_run(run[0]))
        at = run.end()
    pieces += _word(chunk[at:])
    if len(pieces) == 1 or at == 0:
        yield from pieces
        return
    strong = [piece for piece in pieces if not piece.weak and len(piece.text) > 1] or pieces
    parts = [part for piece in strong for part in (piece.whole, *piece.parts)]
    needles = [needle for piece in strong for needle in piece.needles]
    yield Term(chunk, _glued(chunk), tuple(dict.fromkeys(parts)), needles=_once(chunk, *needles))


def _glued(chunk: str) -> str:
    """Return the phrase of a chunk of several scripts, which may go on in the text."""
    last = _RUN.fullmatch(chunk, max((run.start() for run in _RUN.finditer(chunk)), default=0))
    if not last:
        return _phrase(_RUN.sub(_pairs, chunk))
    tokens = _RUN.sub(_pairs, chunk).split()
    return f"{_phrase(' '.join(tokens))}*" if len(last[0]) == 1 else _phrase(" ".join(tokens[:-1]))


def _once(*texts: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _word(text: str) -> Iterator[Term]:
    """Yield the term of a word, a name with joints, or nothing."""
    text = text.strip("-_./:'@\\=~&%$*^`+#")
    names = [part for part in _JOINTS.split(text) if _speaks(part)]
    if not names:
        return
    humps = [hump for name in names if _HUMP.search(name) for hump in _HUMPS.findall(name)]
    bare = text.lower()
    if len(names) == 2 and names[1] in ("s", "S") and "'" in text:
        names, bare = names[:1], names[0].lower()
    if len(names) == 1 and not humps:
        weak = bare in STOP_WORDS
        prefix = f"{_phrase(names[0])}*" if len(names[0]) > 2 and not weak else ""
        yield Term(names[0], _phrase(names[0]), prefix=prefix, needles=(stem(bare),), weak=weak)
        return
    whole = _phrase(" ".join(names))
    forms = [whole, f"{whole}*"] + ([f"{_phrase(' '.join(humps))}*"] if humps else [])
    parts = [p for p in dict.fromkeys(names + humps) if p.lower() not in STOP_WORDS and len(p) > 1]
    yield Term(
        text,
        f"({' OR '.join(forms)})",
        tuple(_phrase(part) for part in parts) if len(parts) > 1 else (),
        needles=_once(bare, *(stem(part.lower()) for part in parts)),
        weak=bare in STOP_WORDS,
    )


def _run(run: str) -> Term:
    """Return the term of a run without spaces: the run itself, and the pairs of what carries content."""
    if re.fullmatch(f"[{_HANGUL}]+", run):
        return _korean(run)
    if len(run) == 1:
        return Term(run, f"{_phrase(run)}*", needles=(run,))
    whole = _pair_phrase(run)
    if re.match(f"[{_THAI}]", run):
        parts, content = _windows(run), [run]
    else:
        content = _content(run)
        parts = [part for piece in content for part in _parts(piece)]
    forms = tuple(dict.fromkeys(_pair_phrase(part) for part in parts if part != run))
    return Term(run, whole, forms, needles=_once(run, *content, *parts), weak=not content)


def _parts(piece: str) -> Iterator[str]:
    """Yield what finds a piece of Han and Kana; Katakana is an alphabet, so its pairs say too little."""
    for stretch in re.findall(f"[{_KATAKANA}]+|[^{_KATAKANA}]+", piece):
        if re.match(f"[{_KATAKANA}]", stretch):
            yield stretch
            yield from _windows(stretch)
        else:
            yield from (stretch[i : i + 2] for i in range(max(1, len(stretch) - 1)))


def _windows(run: str) -> list[str]:
    return [run[i : i + 4] for i in range(len(run) - 3)] if len(run) > 4 else []


def _pair_phrase(part: str) -> str:
    """Return the phrase that finds a part inside of any run."""
    if len(part) == 1:
        return f"{_phrase(part)}*"
    return _phrase(" ".join(part[i : i + 2] for i in range(len(part) - 1)))


def _content(run: str) -> list[str]:
    """Cut the grammar out of a run of Han and Kana; an empty list when there was nothing else."""
    if len(run) < 3:
        return [run]
    left = re.sub("|".join(_GRAMMAR_ZH.split()), " ", run) if len(run) > 3 else run
    left = re.sub(f"[{_HIRAGANA}]+", _kana_content, left)
    pieces = left.split()
    return [piece for piece in pieces if len(piece) > 1] or pieces


def _kana_content(match: re.Match[str]) -> str:
    """Keep a word in Hiragana if something is left of it without its particles and endings."""
    kana = match[0]
    for word in sorted(_GRAMMAR_JA.split(), key=len, reverse=True):
        kana = kana.replace(word, "") if len(word) > 1 else kana.removesuffix(word).removeprefix(word)
    return f" {kana} " if len(kana) > 2 else " "


def _korean(run: str) -> Term:
    stem_ = run
    for ending in _GRAMMAR_KO.split():
        if run.endswith(ending) and len(run) - len(ending) >= 2:
            stem_ = run.removesuffix(ending)
            break
    if len(stem_) == 1:
        return Term(run, f"{_phrase(run)}*", needles=(run,))
    pairs = [stem_[i : i + 2] for i in range(len(stem_) - 1)]
    parts = tuple(_phrase(pair) for pair in dict.fromkeys(pairs)) if len(pairs) > 1 else ()
    return Term(
        run, _phrase(" ".join(pairs)), parts, needles=_once(stem_, *pairs), weak=run in _WEAK_KO.split()
    )


def stem(word: str) -> str:
    """Return a beginning that the word shares with its English forms, to find them in a text."""
    for ending in ("ings", "ing", "ies", "ied", "ed", "es", "s", "ly", "y", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word.removesuffix(ending)
    return word
