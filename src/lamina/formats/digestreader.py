"""Reads a project's digest: its header, its sections, its items, and what is wrong with it.

Nothing that a person wrote is overlooked: a bullet or a paragraph without a marker is an item too, with an id
`legacy-<ordinal>`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from lamina.formats.dates import parse_day, parse_time
from lamina.formats.digest import (
    BOM,
    CONFLICT_NOTE,
    COVERED,
    ITEM,
    LEGACY,
    NOTHING,
    PROVENANCE,
    REFINE,
    REFINED,
    SECTION,
    STATE,
    SYNC,
    Digest,
    Item,
    Problem,
    Section,
    is_hash,
)
from lamina.formats.fences import fences
from lamina.formats.hashing import content_hash, knowledge_text, without_tail
from lamina.formats.lines import fold
from lamina.formats.marker import Marker, Placed, markers
from lamina.formats.origin import origins_of
from lamina.formats.structure import is_blank, split_lines

_NAMES: Final = frozenset(
    prefix + name for name in (STATE, REFINE, SYNC, SECTION, ITEM, COVERED) for prefix in ("", "fde-")
)
_NAMED: Final = re.compile(r"<!--\s*([A-Za-z-]+:[A-Za-z-]+)")
_HEADING: Final = re.compile(r"## Digest\b[ \t]*(.*)")
_LABEL: Final = re.compile(r"(?:\*\*([^*:]{1,40})(?::\*\*|\*\*\s*:)|#{3,4}\s+([^:#]{1,40}?)\s*:?)\s*$")
_BULLET: Final = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]+\S")
_MARK: Final = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_LONGEST_LABEL: Final = 80
_MERGE: Final = ("<<<<<<< ", ">>>>>>> ")
_LABELS: Final = {
    "decisions": "decision",
    "decision": "decision",
    "state and changes": "state",
    "state": "state",
    "changes": "state",
    "learnings": "learning",
    "learning": "learning",
    "open actions": "open",
    "open action": "open",
    "open": "open",
    "open / next action": "open",
}


def parse_digest(text: str) -> Digest:
    """Read a digest; never fails: what is wrong stands in `problems`."""
    return _Reader(text).read()


class _Reader:
    """Reads one digest, line by line."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = [line.rstrip("\r\n") for line in split_lines(text.removeprefix(BOM))]
        self._inside = fences(self._lines).inside
        self._markers = {placed.line: placed for placed in markers(text)}
        self._problems: list[Problem] = []
        self._legacy = 0
        self._taken: set[str] = set()

    def read(self) -> Digest:
        header = self._header()
        self._look_for_damage()
        self._taken = {
            placed.marker.get("id")
            for placed in self._markers.values()
            if placed.marker and placed.marker.is_(ITEM)
        }
        starts = self._starts()
        top = starts[0][0] if starts else len(self._lines)
        body = max(header.values(), default=-1) + 1
        title_at = next((n for n in range(body, top) if self._lines[n].startswith("# ")), None)
        title = self._lines[title_at][2:].strip() if title_at is not None else ""
        heads = {*header.values(), *([title_at] if title_at is not None else [])}
        preamble, refined = self._refined(title_at + 1 if title_at is not None else body, top, heads)
        ends = [*(first for first, _, _ in starts), len(self._lines)][1:]
        sections = tuple(
            self._section(first, heading, last, named)
            for (first, heading, named), last in zip(starts, ends, strict=True)
        )
        self._compare(refined, sections)
        got = {name: self._markers[line].marker for name, line in header.items()}
        return Digest(
            self._text, got.get(STATE), got.get(REFINE), got.get(SYNC), title, preamble, refined, sections,
            tuple(sorted(self._problems)), header,
        )  # fmt: skip

    # --- the header

    def _header(self) -> dict[str, int]:
        """Find the header's markers: each once, the state on the first line, the others before the title."""
        found: dict[str, int] = {}
        for line, placed in self._markers.items():
            name = _header_name(placed)
            if not name:
                continue
            if name in found:
                self._fatal(line, f"a second {name} marker")
            elif placed.marker is None:
                self._fatal(line, f"the {name} marker is damaged: {placed.problem}")
            else:
                found[name] = line
        if found.get(STATE, 0) != 0:
            self._fatal(found[STATE], f"the {STATE} marker does not stand on the first line")
        self._check_times(found)
        first = next((n for n, line in enumerate(self._lines) if line.startswith("#")), len(self._lines))
        for name in (REFINE, SYNC):
            if found.get(name, -1) > first:
                self._fatal(found[name], f"the {name} marker stands behind the title")
        return found

    def _check_times(self, found: Mapping[str, int]) -> None:
        for name, key in ((STATE, "processed-through"), (REFINE, "refined-through")):
            marker = self._markers[found[name]].marker if name in found else None
            if marker is None:
                continue
            if parse_day(marker.get(key)) is None:
                self._fatal(found[name], f"the {name} marker has no readable {key}")
            if marker.get("last-run") and parse_time(marker.get("last-run")) is None:
                self._fatal(found[name], f"the {name} marker has no readable last-run")

    def _look_for_damage(self) -> None:
        for line, placed in self._markers.items():
            named = _NAMED.match(placed.raw)
            if placed.marker is None and named and named[1] in _NAMES and not _header_name(placed):
                self._fatal(line, f"a {named[1]} marker is damaged: {placed.problem}")
        for number, text in enumerate(self._lines):
            if "\0" in text:
                self._fatal(number, "a NUL byte stands in the text")
            elif text.startswith(_MERGE) and number not in self._inside:
                self._fatal(number, "an unresolved merge of git stands here")

    # --- sections and items

    def _starts(self) -> list[tuple[int, int, str]]:
        """List the sections: the first line (the marker's, if one stands above), the heading's, the id."""
        found = []
        for number, line in enumerate(self._lines):
            if not line.startswith("## ") or number in self._inside or not _HEADING.match(line):
                continue
            above = number - 1
            while above >= 0 and is_blank(self._lines[above]):
                above -= 1
            marker = self._marker(above, SECTION)
            found.append((above if marker else number, number, marker.get("id").strip() if marker else ""))
        headed = {first for first, _, _ in found}
        ids = Counter(each for _, _, each in found if each)
        for at, placed in self._markers.items():
            if placed.marker and placed.marker.is_(SECTION) and at not in headed:
                self._note(at, "a section marker without a heading below it")
        for first, _, named in found:
            if ids[named] > 1:
                self._note(first, f"the section id {named} stands more than once")
                ids[named] -= 1
        return found

    def _section(self, first: int, heading: int, last: int, id: str) -> Section:
        match = _HEADING.match(self._lines[heading])
        named = id or f"at-line-{heading + 1}"
        sources, items = self._items(heading + 1, last, named)
        return Section(id, match[1].strip() if match else "", sources, items, first, last)

    def _refined(
        self, first: int, last: int, heads: Collection[int]
    ) -> tuple[tuple[str, ...], tuple[Item, ...]]:
        """Read what stands before the sections: paragraphs of ours and a person's, then items.

        What a person wrote between the markers and the title is told too; `heads` are the lines of these.
        """
        begin = next(
            (n for n in range(first, last) if _kind_of(self._lines[n]) or self._marker(n, ITEM)), last
        )
        told = [
            text
            for at, end in self._paragraphs(0, begin, heads)
            if (text := "\n".join(line for line in self._lines[at:end] if not _is_ours(line))).strip()
        ]
        return tuple(told), self._items(begin, last, "")[1]

    def _items(self, first: int, last: int, section: str) -> tuple[tuple[str, ...], tuple[Item, ...]]:
        sources: tuple[str, ...] = ()
        items: list[Item] = []
        kind, waiting, at = "state", None, first
        while at < last:
            line = self._lines[at]
            if marker := self._marker(at, ITEM):
                if waiting:
                    self._note(at - 1, f"the marker of {waiting.get('id') or 'an item'} has no bullet")
                waiting = marker
            elif label := _kind_of(line):
                kind = label
            elif _is_sources(line) and not items and not waiting:
                sources = _listed(line)
            elif line.startswith(CONFLICT_NOTE):
                pass
            elif not is_blank(line) and at not in self._markers and line.strip() != NOTHING:
                end = self._end(at, last)
                items.append(self._item(at, end, kind, waiting, section))
                waiting, at = None, end
                continue
            at += 1
        if waiting:
            self._note(last - 1, f"the marker of {waiting.get('id') or 'an item'} has no bullet")
        return sources, tuple(items)

    def _item(self, first: int, last: int, kind: str, marker: Marker | None, section: str) -> Item:
        said = "\n".join(self._lines[first:last])
        bullet = fold(_MARK.sub("", said, count=1))
        named = marker.get("id").strip() if marker else ""
        said_hash = marker.get("hash").strip() if marker else ""
        if marker and not named:
            self._note(first, "an item marker without an id")
        if said_hash and not is_hash(said_hash):
            self._note(first, f"the hash of {named or 'an item'} is none")
            said_hash = ""
        sources = origins_of(marker.get("source")) if marker else ()
        if not sources:
            sources = _tail_of(bullet)
        return Item(
            named or self._ordinal(), kind, bullet, knowledge_text(said), sources, said_hash,
            content_hash(said), marker.get("sync").strip() if marker else "", section, first + 1, marker,
            said.rstrip() if last - first > 1 and _MARK.match(said) else "",
        )  # fmt: skip

    def _end(self, first: int, last: int) -> int:
        """Return the line behind a bullet or a paragraph: what is indented below it belongs to it."""
        at = first + 1
        while at < last:
            line = self._lines[at]
            if is_blank(line):
                ahead = next((n for n in range(at, last) if not is_blank(self._lines[n])), last)
                if ahead == last or not self._lines[ahead].startswith(("  ", "\t")):
                    return at
                at = ahead
            elif at not in self._inside and (
                at in self._markers
                or _kind_of(line)
                or line.startswith(("#", CONFLICT_NOTE))
                or _BULLET.match(line)
            ):
                return at
            else:
                at += 1
        return last

    def _paragraphs(self, first: int, last: int, heads: Collection[int]) -> Iterator[tuple[int, int]]:
        """Yield the paragraphs of the preamble; a blank line in a fence ends none."""
        start = None
        for number in range(first, last):
            apart = number in heads or self._marker(number, COVERED)
            if apart or (is_blank(self._lines[number]) and number not in self._inside):
                if start is not None:
                    yield start, number
                start = None
            elif start is None:
                start = number
        if start is not None:
            yield start, last

    def _compare(self, refined: tuple[Item, ...], sections: tuple[Section, ...]) -> None:
        """Note what was edited by hand; two items of one id in one place leave open which is meant."""
        for items in (refined, *(section.items for section in sections)):
            seen: dict[str, Item] = {}
            for item in items:
                other = seen.setdefault(item.id, item)
                if other is not item and other.content != item.content:
                    self._fatal(item.line - 1, f"two different items of one section have the id {item.id}")
                if item.edited:
                    self._note(item.line - 1, f"{item.id} was edited by hand")

    def _marker(self, line: int, name: str) -> Marker | None:
        placed = self._markers.get(line)
        return placed.marker if placed and placed.marker and placed.marker.is_(name) else None

    def _ordinal(self) -> str:
        self._legacy += 1
        while f"{LEGACY}{self._legacy}" in self._taken:
            self._legacy += 1
        return f"{LEGACY}{self._legacy}"

    def _fatal(self, line: int, message: str) -> None:
        self._problems.append(Problem(line + 1, message, fatal=True))

    def _note(self, line: int, message: str) -> None:
        self._problems.append(Problem(line + 1, message))


def _header_name(placed: Placed) -> str:
    """Return which of the header's markers a line is, or has the name of; "" for any other."""
    if placed.marker:
        return next((name for name in (STATE, REFINE, SYNC) if placed.marker.is_(name)), "")
    named = _NAMED.match(placed.raw)
    name = named[1].removeprefix("fde-") if named else ""
    return name if name in (STATE, REFINE, SYNC) else ""


def _kind_of(line: str) -> str:
    """Return the kind of the items below a heading of ours, "" if the line is none."""
    if not line.startswith(("**", "#")) or len(line) > _LONGEST_LABEL:
        return ""
    match = _LABEL.match(line)
    return _LABELS.get(fold(match[1] or match[2]).casefold(), "") if match else ""


def _is_ours(line: str) -> bool:
    """Tell whether a line of the preamble is one that is written anew."""
    return line.strip() == PROVENANCE or (line.startswith(REFINED) and line.rstrip().endswith("._"))


def _is_sources(line: str) -> bool:
    return line.lstrip("_*").lower().startswith(("source:", "sources:"))


def _listed(line: str) -> tuple[str, ...]:
    """Read the references of a section's `_Sources: …_` line."""
    return origins_of(line.partition(":")[2].strip().strip("*_"))


def _tail_of(bullet: str) -> tuple[str, ...]:
    """Read the references behind a bullet, with commas or blanks between them."""
    tail = bullet[len(without_tail(bullet, "Source:")) :]
    return tuple(dict.fromkeys(ref.strip() for ref in tail.split("`")[1::2] if ref.strip()))
