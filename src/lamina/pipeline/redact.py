"""Replaces secrets by `[redacted <kind>]` before anything is written, logged, embedded or sent.

Three cheap looks at a text decide what is searched at all: its long words (vendors' tokens),
the names in its lower-cased form (assigned values), and a few signs (`://`, `%`, `-----BEGIN`).
Ordinary prose passes them at some ten MB a second; hostile text takes linear time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from urllib.parse import unquote

from lamina.pipeline import assigned, places, tokens

_PRIVATE = re.compile(r"<(/?)private(?![\w-])[^<>]*>?", re.IGNORECASE)
_PASSES = 4  # what a replacement uncovers is looked at again, at most so often

_BLOCK = re.compile(r"-{4,5}\s?BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?\s?-{4,5}")
_BLOCK_END = re.compile(r"-{4,5}\s?END [A-Z0-9 ]{0,60}PRIVATE KEY(?: BLOCK)?\s?-{4,5}")
_BLOCK_GAP = r"(?:\s|\\+[nrt\\]|[\"'`,|>]|\d{1,5}[→:\t])"  # also the numbers that a reader puts before lines
_BLOCK_BODY = re.compile(
    rf"(?>(?:{_BLOCK_GAP}*+(?:[A-Za-z0-9+/=]{{16,}}+|(?:Proc-Type|DEK-Info|Version|Comment|Hash)[^\n\\]{{0,120}}))*+)"
    rf"(?:{_BLOCK_GAP}*+[A-Za-z0-9+/=]*[0-9+/=][A-Za-z0-9+/=]*+)?"
)
_PUTTY = re.compile(
    r"Private-Lines:\s*\d{1,4}(?:\r?\n[A-Za-z0-9+/=]{1,80}){1,200}|Private-MAC:\s*[0-9a-f]{20,}"
)


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and how many of each kind were replaced."""

    text: str
    counts: dict[str, int] = field(default_factory=dict)


def redact(text: str) -> Redacted:
    """Replace every secret that can be told from prose; what is private is dropped whole.

    Idempotent and linear in the text's length. Prose about keys, labels, hashes, UUIDs,
    integrity values and images stay as they are.
    """
    counts: Counter[str] = Counter()
    open_text = without_private(text)
    if open_text != text:
        counts["private"] += 1
    for _ in range(_PASSES):
        clean = _once(open_text, counts)
        if clean == open_text:
            break
        open_text = clean
    return Redacted(open_text, dict(counts))


def without_private(text: str) -> str:
    """Drop `<private>…</private>`, nested or not; an unclosed one takes the rest of the text."""
    if "<" not in text or not any(mark in text.lower() for mark in ("<private", "</private")):
        return text
    kept: list[str] = []
    depth, start = 0, 0
    for mark in _PRIVATE.finditer(text):
        if depth == 0:
            kept.append(text[start : mark.start()])
        depth = max(0, depth - 1) if mark[1] else depth + 1
        start = mark.end()
    if depth == 0:
        kept.append(text[start:])
    # A blank at each seam, so that the pieces never join to a new mark.
    return " ".join(kept)


def _once(text: str, counts: Counter[str]) -> str:
    if "-BEGIN " in text or "Private-Lines" in text:
        text = _swap(text, _blocks(text), counts)
    text = _swap(text, tokens.split(text), counts)
    text = _swap(text, tokens.find(text), counts)
    if any(sign in text for sign in _PERCENTS):
        text = _without_percents(text, counts)
    if "\\u" in text:
        text = _ESCAPES.sub(lambda match: _decoded(match[0], _unescaped(match[0]), counts), text)
    lowered = _lower(text)
    return _swap(text, chain(places.find(text, lowered), assigned.find(text, lowered)), counts)


def _lower(text: str) -> str:
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def _swap(text: str, found: Iterable[assigned.Found], counts: Counter[str]) -> str:
    """Replace what was found, overlapping places as one; what is replaced already stays."""
    parts: list[str] = []
    done = 0
    for start, end, kind in sorted(found):
        if start >= done:
            if start >= end or text.startswith("[redacted", start):
                continue
            parts += (text[done:start], f"[redacted {kind}]")
            counts[kind] += 1
        done = max(done, end)
    return "".join((*parts, text[done:])) if parts else text


def _blocks(text: str) -> Iterator[assigned.Found]:
    at = 0
    head = _BLOCK.search(text)
    while head is not None:
        following = _BLOCK.search(text, head.end())
        limit = min(following.start() if following else len(text), head.end() + 32_768)
        end = _BLOCK_END.search(text, head.end(), limit) or _BLOCK_BODY.match(text, head.end(), limit)
        at = end.end() if end else head.end()
        yield assigned.Found(head.start(), at, "private-key")
        head = following
    if at == 0 and "Private-Lines" in text:
        for match in _PUTTY.finditer(text):
            yield assigned.Found(match.start(), match.end(), "private-key")


def _without_percents(text: str, counts: Counter[str]) -> str:
    """Look into the URL-encoded words of a text."""
    parts: list[str] = []
    done = 0
    mark = _PERCENT.search(text)
    while mark is not None:
        begin = mark.start()
        while begin > done and text[begin - 1] not in _AROUND:
            begin -= 1
        end = _WORD_END.search(text, mark.end())
        stop = end.start() if end else len(text)
        word = text[begin:stop]
        parts += (text[done:begin], _decoded(word, unquote(word, errors="replace"), counts))
        done = stop
        mark = _PERCENT.search(text, done)
    return "".join((*parts, text[done:]))


def _decoded(word: str, plain: str, counts: Counter[str]) -> str:
    """Give the clean decoded form of what hides a secret, else the word as it is."""
    if plain == word:
        return word
    inner: Counter[str] = Counter()
    public = without_private(plain)
    inner["private"] += public != plain
    clean = _once(public, inner)
    counts.update(inner)
    return clean if inner.total() else word


def _unescaped(text: str) -> str:
    plain = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


_PERCENTS = ("%2", "%3", "%4", "%5")
_PERCENT = re.compile("%[2-5][0-9A-Fa-f]")
_AROUND = frozenset(" \t\r\n\f\v\"'<>")
_WORD_END = re.compile("[\\s\"'<>]")
_ESCAPES = re.compile(r"(?m)^[^\n\\]*(?:\\(?!u)[^\n\\]*)*\\u[^\n]*")
_ESCAPE = re.compile(r"\\+u(00[2-9a-fA-F][0-9a-fA-F]|0[1-9a-fA-F][0-9a-fA-F]{2}|[1-9a-fA-F][0-9a-fA-F]{3})")
