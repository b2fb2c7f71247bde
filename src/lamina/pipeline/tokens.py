"""Finds vendors' tokens in a text, also those that a line break cuts in two."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import NamedTuple

from lamina.pipeline import secrets
from lamina.pipeline.assigned import Found, mixed

_LONG = 16  # no vendor's token is shorter
_SLICE = 1 << 20
_DIGIT = re.compile("[0-9]")
_BLANK = re.compile(r"\s")
_ESCAPE = re.compile(r"(?:%[0-9A-Fa-f]{2}|\\[nrtbf]|\\u[0-9A-Fa-f]{4})$")
_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9+/=_-])(?:[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=_-])")
_ORDINARY = re.compile(r"v?\d[\d.]*|[A-Z]?[a-z]{1,15}[-_]?\d{1,2}")
_TOKEN_CHARS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./+=%~:$")
# Tokens of one length.
_FULL = {
    "ghp_": 40, "gho_": 40, "ghu_": 40, "ghs_": 40, "ghr_": 40, "github_pat_": 93, "AIza": 39, "npm_": 40,
    "hf_": 37, "glpat-": 26, "GOCSPX-": 35, "dop_v1_": 71, "SK": 34, "AC": 34,
}  # fmt: skip


def find(text: str) -> Iterator[Found]:
    """Yield the tokens in a text, in no order."""
    words = list(_long_words(text))
    if not words:
        return
    sample = "\n".join(word for _, word in words)
    shapes = _triggered(sample)
    begins = list(accumulate((len(word) + 1 for _, word in words), initial=0)) if shapes else []
    for shape in shapes:
        for span in _matches(shape, sample):
            index = bisect_right(begins, span.start) - 1
            shift = words[index][0] - begins[index]
            yield Found(span.start + shift, span.end + shift, span.kind)
            if span.kind == "aws-key":
                yield from _aws_secret(text, span.end + shift)


def _aws_secret(text: str, at: int) -> Iterator[Found]:
    """Find the secret that stands near behind an access key."""
    secret = _AWS_SECRET.search(text, at, at + 300)
    if secret and secrets.looks_random(secret[0]) and not re.fullmatch("[0-9a-f]+", secret[0]):
        yield Found(secret.start(), secret.end(), "aws-secret")


def _triggered(sample: str) -> list[secrets.Shape]:
    return [
        shape
        for shape in secrets.SHAPES
        if any(trigger in sample for trigger in shape.prefixes or shape.triggers)
    ]


def _matches(shape: secrets.Shape, text: str) -> Iterator[Found]:
    for match in _starting(shape, text) if shape.prefixes else _within(shape, text):
        if secrets.is_sample(match[0]) or (shape.random and not secrets.looks_random(match[0])):
            continue
        yield Found(match.start(), match.end(), shape.kind)


def _starting(shape: secrets.Shape, text: str) -> Iterator[re.Match[str]]:
    for prefix in shape.prefixes:
        at = text.find(prefix)
        while at >= 0:
            match = shape.expression.match(text, at) if shape.glued or _is_edge(text, at) else None
            if match is not None:
                yield match
            at = text.find(prefix, match.end() if match is not None else at + len(prefix))


def _within(shape: secrets.Shape, text: str) -> Iterator[re.Match[str]]:
    begin = 0
    while begin < len(text):
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        if end - begin >= shape.least and any(text.find(mark, begin, end) >= 0 for mark in shape.triggers):
            yield from shape.expression.finditer(text, begin, end)
        begin = end + 1


def _is_edge(text: str, at: int) -> bool:
    """Say whether a token can begin here: not behind a letter or digit, but behind an escape."""
    before = text[at - 1 : at]
    if not (before.isalnum() and before.isascii()):
        return True
    return _ESCAPE.search(text, max(0, at - 6), at) is not None


def _long_words(text: str) -> Iterator[tuple[int, str]]:
    """Yield the long words and where they begin; a piece of the text at a time, to save memory."""
    start = 0
    while start < len(text):
        stop = _BLANK.search(text, start + _SLICE)
        end = stop.start() if stop else len(text)
        at = start
        for word in [word for word in text[start:end].split() if len(word) >= _LONG]:
            at = text.find(word, at)
            yield at, word
            at += len(word)
        start = end + 1


class _Seam(NamedTuple):
    """Two words around a line break: where the first begins and ends, the second begins, and both joined."""

    head: int
    left: int
    right: int
    word: str


def split(text: str) -> Iterator[Found]:
    """Yield the tokens that a line break cuts in two, wherever it cuts."""
    seams = list(_seams(text)) if "\n" in text else []
    shapes = _triggered("\n".join(seam.word for seam in seams)) if seams else []
    for seam in seams if shapes else ():
        for shape in shapes:
            if any(mark in seam.word for mark in shape.prefixes or shape.triggers):
                yield from _cut(seam, shape)


def _cut(seam: _Seam, shape: secrets.Shape) -> Iterator[Found]:
    cut = seam.left - seam.head
    for span in _matches(shape, seam.word):
        if span.start < cut < span.end:
            more = seam.word[cut : span.end]
            whole = _is_whole(seam.word[span.start : cut], shape)
            if not whole or _goes_on(more, seam.word[cut:]):
                yield Found(seam.head + span.start, seam.right + len(more), span.kind)


def _seams(text: str) -> Iterator[_Seam]:
    """Yield the line breaks whose words are worth joining."""
    lines = text.split("\n")
    at = 0
    for line, below in pairwise(lines):
        begin, at = at, at + len(line) + 1
        left = line.rstrip(" \t\r\\") if line[-1:] in " \t\r\\" else line
        if not left or left[-1] not in _TOKEN_CHARS:
            continue
        right = below.lstrip(" \t>|")
        if not right or right[0] not in _TOKEN_CHARS:
            continue
        first = left[max(left.rfind(" "), left.rfind("\t"), len(left) - 513) + 1 :]
        second = right[:512].split(None, 1)[0]
        if len(first) + len(second) >= _LONG and (_DIGIT.search(first) or _DIGIT.search(second)):
            end = begin + len(left)
            yield _Seam(end - len(first), end, at + len(below) - len(right), first + second)


def _is_whole(word: str, shape: secrets.Shape) -> bool:
    """Say whether a cut token could be complete already."""
    full = next((size for prefix, size in _FULL.items() if word.startswith(prefix)), 0)
    return len(word) >= full and shape.expression.fullmatch(word) is not None


def _goes_on(more: str, word: str) -> bool:
    """Say whether what stands below a whole token is rather its rest than a word."""
    if more != word.rstrip("\"'`.,;:)]}"):
        return False
    return mixed(more) and not more.isdigit() and _ORDINARY.fullmatch(more) is None
