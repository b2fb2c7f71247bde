"""Chooses topic titles without a model: few files, each about one subject.

Standing preferences and the state of affairs have topics of their own. All else of a session goes under its
subject: the phrase of its leading sentences whose words the session repeats most. A session joins
a topic that it has already written to, or an earlier one that is about the same.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from lamina.formats.bullet import Bullet
from lamina.pipeline import smalltalk
from lamina.pipeline.exchanges import capital, is_common, unspaced
from lamina.pipeline.statements import sentences

OWN = {"preference": "Preferences", "status": "Status", "open": "Open points"}
"""Labels whose bullets have one topic a scope, whatever they are about."""

_TOKEN = re.compile(r"`[^`]*`|[^\W_]+(?:['’+#.-]+[^\W_]+|[+#]+)*|[^\s\w]")
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9.+-]*[A-Za-z0-9]")
_RUN = re.compile(r"[\u30a0-\u30ff]{2,}|[\u3400-\u9fff]{2,8}")
_GRAMMAR = re.compile(
    r"[的了吗呢吧在把被和与或从到用给让对是有就都也还再很不要会能该我你他她它们这那些个为以及所因如果请将可已"
    r"]+|使用|需要|决定|采用|问题|修复|添加|实现|设计|设置|开始|现在|今天|変更|使用|追加|実装|設定|修正|問題|今日|以下"
)
_PARTICLE = re.compile(r"(?:에서는|에서|으로|까지|부터|에게|을|를|은|는|이|가|에|의|로|와|과|도)$")
_KOREAN_VERB = re.compile(r"(?:니다|어요|아요|세요|해요|했어|기로|한다|했다|하는|하고|해서|하면|때문)$")
_WORDS = 3
_LONE = 3  # letters that a subject of one word must have
_LEADS = 3  # sentences of a bullet in which its subject is looked for
_FIRST = 1.8  # the phrase that a session begins with
_ALIKE = 0.4
_SHORT = 2  # characters of a word without spaces that names a subject only if no longer one does
_WHOLE = "Overview"
_PERSON = re.compile(
    r"\b([A-Z][a-z]+)(?= (?:called|calls|said|says|asked|asks|told|tells|thinks|knows|wants|wrote|reported|"
    r"added|phoned|mailed|answered|agreed|has (?:answered|asked|called|said))\b| ?さん|-san\b)|"
    r"(?:\b[Aa]sk|\b[Tt]ell|\b[Cc]all|\bwith) ([A-Z][a-z]+)(?= (?:about|to|that|whether|before|first)\b)"
)
_PASSING = frozenset(
    "since monday tuesday wednesday thursday friday saturday sunday flaky slow broken failing fails failed "
    "possible impossible sure ready two three four five third "
    "second ago week weeks day days month months morning night lately recently always sometimes often".split()
)
_QUOTED = re.compile(r"(?<!\w)([\"'‘“«「]).{3,200}?[\"'’”»」](?!\w)")


class Shelf:
    """The topics that earlier sessions wrote to, found by the words of their titles."""

    def __init__(self, topics: Iterable[tuple[str, str]] = ()) -> None:
        self._about: dict[str, set[str]] = {}
        self._named: dict[str, frozenset[str]] = {}
        self._with: dict[str, set[str]] = {}
        for title, heading in topics:
            self.add(title, heading)

    def add(self, title: str, heading: str) -> None:
        """Take in an entry: its topic's title and its heading."""
        if title in OWN.values():
            return
        if title not in self._about:
            self._about[title] = set()
            self._named[title] = keys(title)
            for word in self._named[title]:
                self._with.setdefault(word, set()).add(title)
        self._about[title] |= keys(heading)

    def join(self, subject: str) -> str:
        """Give the title of the earlier topic that shares most with a subject, else the subject itself."""
        wanted = keys(subject)
        scores: list[tuple[float, str]] = []
        for title in sorted({title for word in wanted for title in self._with.get(word, ())}):
            named = self._named[title]
            shared = sum(sorted(1 / len(self._with[word]) for word in wanted & named))
            about = len(wanted & self._about[title]) / 4
            scores.append(((shared + about) / max(1, min(len(wanted), len(named))), title))
        best, title = max(scores, key=lambda each: each[0], default=(0.0, subject))
        return title if best >= _ALIKE else subject


def titles(bullets: Sequence[Bullet], shelf: Shelf, *, project: str = "", own: str = "") -> list[str]:
    """Give each bullet its topic's title.

    `project` is the workspace's name, which names no subject inside it; `own` is the topic that
    the session wrote to before.
    """
    rest = [bullet for bullet in bullets if bullet.label not in OWN]
    subject = own or (shelf.join(subject_of(rest, project)) if rest else "")
    return [OWN.get(bullet.label, subject) for bullet in bullets]


@lru_cache(maxsize=4096)  # titles and headings are compared again and again
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
    people = {name for bullet in bullets for found in _PERSON.findall(bullet.text) for name in found}
    own = keys(project) | keys(project.replace("-", " ").replace("_", " "))
    for bullet in [one for one in bullets if one.who != "tool"] or bullets:
        leads = sentences(bullet.text)[:_LEADS]
        found = [phrase for lead in leads for phrase in phrases(lead)]
        named = [phrase for lead in leads for phrase in _named(lead, people)]
        telling = [phrase for phrase in named if not keys(phrase) <= own]
        telling = [phrase for phrase in telling if len(phrase) > _SHORT] or telling
        if telling:
            best = max(range(len(telling)), key=lambda at: (_weight(telling[at], counts, first=at == 0), -at))
            return capital(telling[best])
        if found:
            break
    return _WHOLE


def _named(lead: str, people: set[str]) -> list[str]:
    """Give the phrases that can name a subject: those in front of a colon, else all."""
    for part in (re.split("[:：]", lead)[0], lead):
        found = [phrase for phrase in map(_bare, phrases(part)) if phrase and phrase not in people]
        if found:
            return found
    return []


def _bare(phrase: str) -> str:
    """Drop words of time and state from the ends of a phrase."""
    words = phrase.split(" ")
    while words and words[0].casefold() in _PASSING:
        del words[0]
    while words and words[-1].casefold() in _PASSING:
        words.pop()
    lone = len(words) == 1 and len(words[0]) < _LONE and not unspaced(words[0])
    return "" if lone else " ".join(words)


def _weight(phrase: str, counts: Counter[str], *, first: bool) -> float:
    words = [counts[word] for word in keys(phrase)]
    if unspaced(phrase):
        words = [max(words, default=0)]
    return sum(words) / math.sqrt(max(1, len(words))) * (_FIRST if first else 1)


@lru_cache(maxsize=4096)
def phrases(text: str) -> tuple[str, ...]:
    """Give the runs of telling words of a sentence, in order."""
    return tuple(_phrases(text))


def _phrases(text: str) -> Iterator[str]:
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
    lone = run[0] if len(run) == 1 else ""
    if run and not (lone and (len(lone) < _LONE or (lone[0].isupper() and lone.endswith("ed")))):
        yield " ".join(run[-_WORDS:])


@lru_cache(maxsize=8192)
def _tells(word: str) -> bool:
    plain = word.casefold()
    stem = plain.replace("’", "'").partition("'")[0]
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
    yield from _LATIN.findall(word)
    for part in _GRAMMAR.split(word):
        yield from (run for run in _RUN.findall(part or ""))
