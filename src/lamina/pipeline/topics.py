"""Chooses topic titles without a model: few files, each about one subject.

Standing preferences and the state of affairs have topics of their own. All else of a session goes under its
subject: the phrase of its leading sentences whose words the session repeats most. A session joins
a topic that it has already written to, or an earlier one that is about the same.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lamina.formats.bullet import Bullet
from lamina.pipeline import smalltalk
from lamina.pipeline.exchanges import capital, is_common, unspaced
from lamina.pipeline.statements import sentences

OWN = {"preference": "Preferences", "status": "Status", "open": "Status"}
"""Labels whose bullets have one topic a scope, whatever they are about."""

AGAIN = " · "
"""Stands between a subject and what else is said of it, in a bullet that goes on with another."""

_TOKEN = re.compile(r"`[^`]*`|[^\W_]+(?:['’+#-]+[^\W_]+|[+#]+)*|[^\s\w]")
_RUN = re.compile(r"[\u30a0-\u30ff]{2,}|[\u3400-\u9fff]{2,8}")
_GRAMMAR = re.compile(
    r"[的了吗呢吧在把被和与或从到用给让对是有就都也还再很不要会能该我你他她它们这那些个为以及所因如果请将可已"
    r"]+|使用|需要|决定|采用|问题|修复|添加|实现|设计|设置|开始|现在|今天|変更|使用|追加|実装|設定|修正|問題|今日|以下"
)
_PARTICLE = re.compile(r"(?:에서는|에서|으로|까지|부터|에게|을|를|은|는|이|가|에|의|로|와|과|도)$")
_KOREAN_VERB = re.compile(r"(?:니다|어요|아요|세요|해요|했어|기로|한다|했다|하는|하고|해서|하면|때문)$")
_WORDS = 3
_FIRST = 1.8  # the phrase that a session begins with
_ALIKE = 0.4
_WHOLE = "Overview"
_QUOTED = re.compile(r"(?<!\w)([\"'‘“«「]).{3,200}?[\"'’”»」](?!\w)")


class Known(NamedTuple):
    """An earlier topic: its title and what its headings speak of."""

    title: str
    about: frozenset[str]


def titles(
    bullets: Sequence[Bullet], known: Sequence[Known], *, project: str = "", own: str = ""
) -> list[str]:
    """Give each bullet its topic's title.

    `project` is the workspace's name, which names no subject inside it; `own` is the topic that
    the session wrote to before.
    """
    rest = [bullet for bullet in bullets if bullet.label not in OWN]
    subject = own or (join(subject_of(rest, project), known) if rest else "")
    return [OWN.get(bullet.label, subject) for bullet in bullets]


def join(subject: str, known: Sequence[Known]) -> str:
    """Give the title of the earlier topic that shares most with a subject, else the subject itself."""
    wanted = keys(subject)
    counts = Counter(word for topic in known for word in keys(topic.title))
    best, title = 0.0, subject
    for topic in known:
        named = keys(topic.title)
        shared = sum(1 / counts[word] for word in wanted & named)
        score = (shared + len(wanted & topic.about) / 4) / max(1, min(len(wanted), len(named)))
        if shared and score > best and topic.title not in OWN.values():
            best, title = score, topic.title
    return title if best >= _ALIKE else subject


def keys(text: str) -> frozenset[str]:
    """Give the words that subjects are compared by: folded, without a plural's s."""
    return frozenset(key for token in _TOKEN.findall(text) for key in _keys(token.strip("`")))


def _keys(word: str) -> Iterator[str]:
    plain = word.casefold()
    if unspaced(plain):
        yield from (plain[at : at + 2] for at in range(max(1, len(plain) - 1)))
    elif _tells(word):
        yield plain[:-1] if plain.endswith("s") and len(plain) > 3 else plain


def subject_of(bullets: Sequence[Bullet], project: str = "") -> str:
    """Name what bullets are about: at most three words, as they stand in the text."""
    counts = Counter(key for bullet in bullets for key in keys(bullet.text))
    own = keys(project) | keys(project.replace("-", " ").replace("_", " "))
    for bullet in [one for one in bullets if one.who != "tool"] or bullets:
        lead = re.split("[:：]", sentences(bullet.text)[0])[0]
        found = [*phrases(lead)]
        telling = [phrase for phrase in found if not keys(phrase) <= own]
        if telling:
            best = max(range(len(telling)), key=lambda at: (_weight(telling[at], counts, first=at == 0), -at))
            return capital(telling[best])
        if found:
            break
    return _WHOLE


def _weight(phrase: str, counts: Counter[str], *, first: bool) -> float:
    words = [counts[word] for word in keys(phrase)]
    if unspaced(phrase):
        words = [max(words, default=0)]
    return sum(words) / math.sqrt(max(1, len(words))) * (_FIRST if first else 1)


def phrases(text: str) -> Iterator[str]:
    """Yield the runs of telling words of a sentence, in order."""
    run: list[str] = []
    for token in [*_TOKEN.findall(_QUOTED.sub(".", text)), "."]:
        word = "" if token[0] == "`" and " " in token else token.strip("`")
        if unspaced(word):
            yield from _ended(run)
            run = []
            yield from _unspaced_phrases(word)
        elif _tells(word):
            run.append(word)
        else:
            yield from _ended(run)
            run = []


def _ended(run: list[str]) -> Iterator[str]:
    if run:
        yield " ".join(run[-_WORDS:])


def _tells(word: str) -> bool:
    plain = word.casefold()
    stem = re.split("['’]", plain)[0]
    empty = (
        plain in smalltalk.FILLS
        or plain.removesuffix("s") in smalltalk.FILLS
        or is_common(plain)
        or is_common(stem)
    )
    return len(word) > 1 and word[0].isalpha() and not empty


def _unspaced_phrases(word: str) -> Iterator[str]:
    if re.search("[\uac00-\ud7af]", word):
        if not _KOREAN_VERB.search(word):
            yield _PARTICLE.sub("", word)
        return
    for part in _GRAMMAR.split(word):
        yield from (run for run in _RUN.findall(part or ""))
