"""Code fences: which lines of a text stand inside a fence that is closed.

Two kinds of fences are known:

- A *plain* one opens with three or more backticks or tildes behind at most three spaces and
  is closed as CommonMark says: by the first later line of at least as many of the same character
  and nothing else. It protects the lines between from being read as structure.
- A *nested* one stands behind a list mark or deeper indentation. Its closing line is no opening line,
  that is all that matters here: a line of structure at column 0 ends the list and with it the fence.

A plain fence that finds no closing line is *loose*: it is no fence at all. A file may hold several entries,
so a loose mark in one of them could pair with a mark of a later one and swallow the heading between. Two
rules settle that:

- a fence that would run over a `## ` line while another opening line with an info text stands inside
  is loose (nobody writes ```` ```python ```` inside a ```` ``` ```` fence);
- of all readings the one with the fewest loose marks holds, and among those the one that swallows the
  fewest entry starts (`## `, blank lines, a field), then the fewest `## ` lines.

A text whose marks pair as CommonMark pairs them has no loose mark, and then no other reading is tried.
Linear in the size of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import NamedTuple

from lamina.formats import structure

_MARK = re.compile(r"([ \t]*)((?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(`{3,}|~{3,})(.*)", re.DOTALL)


class Fences(NamedTuple):
    """What the fences of a text are, by 0-based line.

    `inside` holds the lines of closed plain fences with their opening and closing lines,
    `loose` the opening marks that never close.
    """

    inside: frozenset[int]
    loose: tuple[int, ...]


class _Mark(NamedTuple):
    line: int
    char: str
    size: int
    bare: bool  # nothing behind the marks
    plain: bool  # at most three spaces before, so it can open or close a plain fence
    listed: bool  # behind a list mark, so it closes nothing


class _Step(NamedTuple):
    """The best reading from one mark on: its cost, and the mark that closes the fence (-1: loose)."""

    cost: tuple[int, int, int]  # loose marks, entry starts and `## ` lines inside fences
    close: int


NONE = Fences(frozenset(), ())


def fences(lines: Sequence[str], *, alone: bool = False) -> Fences:
    """Find the closed fences and the loose marks of a text given as lines without their breaks.

    `alone` says that the lines are the body of one entry, so no mark can pair with another entry's: then
    every fence that can close does.
    """
    marks = _marks(lines)
    if not marks:
        return NONE
    inside: set[int] = set()
    pairs = _paired(marks)
    if pairs is not None:
        for first, last in pairs:
            inside.update(range(first, last + 1))
        return Fences(frozenset(inside), ())
    loose: list[int] = []
    steps = _best(lines, marks, alone=alone)
    at = 0
    while at < len(marks):
        mark, close = marks[at], steps[at].close
        if close < 0:
            if mark.plain:
                loose.append(mark.line)
            at += 1
        else:
            if mark.plain:
                inside.update(range(mark.line, marks[close].line + 1))
            at = close + 1
    return Fences(frozenset(inside), tuple(loose))


def opens_plain(line: str) -> bool:
    """Tell whether a line has the shape of a plain fence's opening (or closing) line."""
    mark = _mark(0, line)
    return mark is not None and mark.plain


def _marks(lines: Sequence[str]) -> list[_Mark]:
    found = [_mark(n, line) for n, line in enumerate(lines) if "```" in line or "~~~" in line]
    return [mark for mark in found if mark]


def _mark(number: int, line: str) -> _Mark | None:
    match = _MARK.fullmatch(line)
    if not match:
        return None
    indent, bullets, run, rest = match.groups()
    if run[0] == "`" and "`" in rest:
        return None
    plain = not bullets and len(indent) <= 3 and "\t" not in indent
    return _Mark(number, run[0], len(run), not rest.strip(" \t"), plain, bool(bullets))


def _paired(marks: list[_Mark]) -> list[tuple[int, int]] | None:
    """Pair the marks as CommonMark does if that leaves nothing to decide, else None."""
    pairs = []
    at = 0
    while at < len(marks):
        first = marks[at]
        at += 1
        while at < len(marks) and not _closes(marks[at], first):
            if not marks[at].bare:
                return None
            at += 1
        if at == len(marks) or not first.plain:
            return None
        pairs.append((first.line, marks[at].line))
        at += 1
    return pairs


def _closes(mark: _Mark, first: _Mark) -> bool:
    return mark.bare and mark.plain and mark.char == first.char and mark.size >= first.size


def _best(lines: Sequence[str], marks: list[_Mark], *, alone: bool) -> list[_Step]:
    """Choose for every mark whether it opens a fence, from the last mark to the first."""
    closes = _next(marks, lambda mark: mark.bare and mark.plain)
    nested_closes = _next(marks, lambda mark: mark.bare and not mark.listed)
    infos = _next(marks, lambda mark: mark.plain and not mark.bare)
    heads, starts, walls = _walls(lines)
    steps = [_Step((0, 0, 0), -1)] * (len(marks) + 1)
    for at in range(len(marks) - 1, -1, -1):
        mark, after = marks[at], steps[at + 1].cost
        close = (closes if mark.plain else nested_closes)[at]
        last = marks[close].line if close >= 0 else -1
        if not mark.plain:
            if close >= 0 and _between(walls, mark.line, last):
                close = -1
            steps[at] = _Step(steps[close + 1].cost if close >= 0 else after, close)
            continue
        steps[at] = _Step((after[0] + 1, after[1], after[2]), -1)
        over = _between(heads, mark.line, last)
        if close >= 0 and not (over and 0 <= infos[at] < close):
            rest = steps[close + 1].cost
            cost = (rest[0], rest[1] + _between(starts, mark.line, last), rest[2] + over)
            if alone or cost <= steps[at].cost:
                steps[at] = _Step(cost, close)
    return steps


def _next(marks: list[_Mark], wanted: Callable[[_Mark], bool]) -> list[int]:
    """Give for each mark the next wanted one of its character that is at least as long, or -1."""
    result = [-1] * len(marks)
    stacks: dict[str, list[int]] = {"`": [], "~": []}
    for at in range(len(marks) - 1, -1, -1):
        mark, stack = marks[at], stacks[marks[at].char]
        # The stack holds wanted marks, nearest on top, each longer than those above it.
        low, high = 0, len(stack)
        while low < high:
            middle = (low + high) // 2
            if marks[stack[middle]].size >= mark.size:
                low = middle + 1
            else:
                high = middle
        result[at] = stack[low - 1] if low else -1
        if wanted(mark):
            while stack and marks[stack[-1]].size <= mark.size:
                stack.pop()
            stack.append(at)
    return result


def _walls(lines: Sequence[str]) -> tuple[list[int], list[int], list[int]]:
    """Give the numbers of `## ` lines, of the entry starts among them, and of all structure."""
    heads: list[int] = []
    starts: list[int] = []
    walls: list[int] = []
    for number, line in enumerate(lines):
        # Escaped structure counts as a wall too: what a writer escapes must not change the reading.
        if line[:1] not in ("#", "*", "\\") or not structure.reads_as(line.lstrip("\\")):
            continue
        walls.append(number)
        if line.startswith("## "):
            heads.append(number)
            if _starts_entry(lines, number):
                starts.append(number)
    return heads, starts, walls


def _starts_entry(lines: Sequence[str], head: int) -> bool:
    at = head + 1
    while at < len(lines) and at <= head + 8 and structure.is_blank(lines[at]):
        at += 1
    return at < len(lines) and structure.is_known_field(lines[at])


def _between(numbers: list[int], first: int, last: int) -> int:
    return bisect_left(numbers, last) - bisect_right(numbers, first)
