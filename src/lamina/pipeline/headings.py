"""Writes headings: the sentence that tells what an entry is about, shortened at a place where sense ends."""

from __future__ import annotations

import re

from lamina.formats.slug import whole_words
from lamina.pipeline import signs, smalltalk
from lamina.pipeline.exchanges import is_common, unspaced
from lamina.pipeline.statements import sentences

HEADING = 80
_LEAST = 16
_LEADS = 28  # characters before a colon that can be a heading where no list follows
_COLONS = (": ", "：")
_BREAK = re.compile(
    r"(?P<clean> [—–] |: |：|；|; )|, |，|、(?=.{4})| \(| (?:because|so that|which|with|when|while|if|and|"
    r"or|but|weil|"
    r"und|parce que|et|porque|потому что) "
)
_TAIL = re.compile(r"[\s,;:—–(\[-]+$")
_LIST = re.compile(r"; |；|`[^`]+ [^`]+`|^(?:[\w ]{1,30}: )?`")


def split(text: str) -> tuple[str, str]:
    """Part a text into a heading and what stands under it.

    The heading is the first sentence, or its first part where that is too long or leads a list. What
    the heading says whole is not said again; where it had to be cut inside, the body has all.
    """
    first = sentences(text)[0] if text.strip() else ""
    rest = text[len(first) :].strip()
    limit = limit_of(first)
    breaks = [found for found in _BREAK.finditer(first) if _fits(first[: found.start()], limit)]
    clean = [
        found
        for found in breaks
        if found["clean"] and (found["clean"] not in _COLONS or found.start() >= _LEADS)
    ]
    lists = [found for found in breaks if found["clean"] in _COLONS and _LIST.search(first[found.end() :])]
    long = len(_neat(first)) > limit
    if lists or (clean and long):
        at = lists[0] if lists else clean[-1]
        tail = first[at.end() :]
        return _neat(first[: at.start()]), f"{tail[:1].upper()}{tail[1:]} {rest}".strip()
    if not long:
        return _neat(first) or text, rest
    return _neat(first[: breaks[-1].start()] if breaks else _words(first, limit)), text


def limit_of(text: str) -> int:
    """Give a heading's length in characters: one of Han, Kana or Hangul is as wide as two."""
    width = 0
    for count, char in enumerate(text):
        width += 1 + ("\u1100" <= char <= "\uffdc")
        if width > HEADING:
            return count
    return HEADING


def short(text: str, limit: int) -> str:
    """Shorten a statement for a list of several, "" if there is no good place to cut."""
    first = _neat(sentences(text)[0]) if text.strip() else ""
    if len(first) <= limit:
        return first
    ends = [found.start() for found in _BREAK.finditer(first) if _fits(first[: found.start()], limit)]
    return _neat(first[: ends[-1]]) if ends else ""


def _neat(text: str) -> str:
    """Drop a full stop and punctuation that leads on."""
    text = text.strip()
    return _TAIL.sub("", text.rstrip("。.:：") if not text.endswith("…") else text) or text


def _words(text: str, limit: int) -> str:
    """Cut between words, and before words of grammar, which lead on to what is gone."""
    words = whole_words(text, limit).split(" ")
    while len(words) > 2 and is_common(words[-1].strip(",;:").casefold()):
        words.pop()
    head = " ".join(words)
    return head if head.count("`") % 2 == 0 else head[: head.rfind("`")].rstrip() or head


def _fits(head: str, limit: int) -> bool:
    """Say whether a heading of this length may end here: not inside parentheses, quotes or code."""
    return (
        (_LEAST if not unspaced(head) else _LEAST // 3) <= len(head) <= limit
        and head.count("(") == head.count(")")
        and head.count("`") % 2 == 0
        and head.count('"') % 2 == 0
        and head.count("“") == head.count("”")
        and len(re.findall(r"(?<!\w)'|'(?!\w)", head)) % 2 == 0
    )


def matter_of(text: str) -> str:
    """Name what a task is about: what is left behind its verb, up to the first break; "" if nothing tells."""
    found = signs.TASK.match(text)
    rest = text[found.end() :] if found else text
    rest = re.sub(r"^(?:the|a|an|our|my|this|that|some|proper|new)\s+", "", rest, flags=re.IGNORECASE)
    rest = re.split(
        r" [—–-] | (?:and|but|because|so|is|are|was|were|should|will) |[,:;.!?]\s|[.!?:]$|[，。；！？、]",
        rest,
    )[0].strip()
    rest = re.sub(r"\s+(?:now|today|time|next|first|done|please)$", "", rest, flags=re.IGNORECASE)
    return (
        rest
        if len(rest) > 2 and rest.casefold() not in smalltalk.FILLS and not signs.ANAPHORIC.search(rest)
        else ""
    )
