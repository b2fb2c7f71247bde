"""A project's digest: `digest.md`, read into items and sections, and changed a line at a time.

    <!-- digest:state last-run=2026-11-30T12:00:00Z processed-through=2026-11-30 -->
    <!-- digest:sync status=synced pending=none -->
    # Memory digest — harbor

    Daily memory is the source; this file is the compact reading layer.

    <!-- digest:section id=2026-11-30T12:00:00Z -->
    ## Digest 2026-11-30 13:00

    _Sources: `memory/2026-11-30-esm-memory.md#session-2026-11-30T09:00:00Z`_

    **Decisions**:
    <!-- digest:item id=decision-plain-esm source=memory/… hash=… sync=candidate -->
    - Use plain ESM, because … Source: `memory/…`.

What stands before the first `## Digest` heading is the refined part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import Final, NamedTuple

from lamina.formats.dates import parse_day, render_time
from lamina.formats.hashing import content_hash, knowledge_text, without_tail
from lamina.formats.lines import fold, newline_of
from lamina.formats.marker import Marker, markers, render_marker
from lamina.formats.origin import Key, day_of, key_of, origins_of, quote_origins, render_origins
from lamina.formats.structure import split_lines

KINDS: Final = ("decision", "state", "learning", "open")
HEADINGS: Final = {
    "decision": "Decisions",
    "state": "State and changes",
    "learning": "Learnings",
    "open": "Open actions",
}
STATE, REFINE, SYNC = "digest:state", "digest-refine:state", "digest:sync"
SECTION, ITEM = "digest:section", "digest:item"
COVERED: Final = "digest:covered"
"""The marker that keeps, at the end of a refined part, the sources that no item names any more."""

NOTHING: Final = "Nothing durable was found in these sources."
PROVENANCE: Final = "Daily memory is the source; this file is the compact reading layer."
REFINED: Final = "_Refined from the digest sections through "
CONFLICT: Final = "conflict"
"""The attribute of an item that names the items it contradicts, a comma list of ids."""
CONFLICT_NOTE: Final = "_Conflict:"
"""How the line below a list begins that tells a person of two items which contradict each other."""
LEGACY: Final = "legacy-"
BOM: Final = "\ufeff"

_HEX: Final = re.compile("[0-9a-f]{64}")


class Problem(NamedTuple):
    """What is wrong at a 1-based line. A `fatal` one leaves open what the file says."""

    line: int
    message: str
    fatal: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """One piece of knowledge, at one place of the file.

    `bullet` is its text as it stands, without list mark, on one line, with its tails; `text` the knowledge in
    it, which `content` is the hash of. `hash` is what the marker says ("" for none), `sources` the references
    of the marker, else of the tail. `section` is the section's id, "" in the refined part. `raw` are
    the lines of a bullet that has several, with its list mark.
    """

    id: str
    kind: str
    bullet: str
    text: str
    sources: tuple[str, ...] = ()
    hash: str = ""
    content: str = ""
    sync: str = ""
    section: str = ""
    line: int = 1
    marker: Marker | None = field(default=None, compare=False, repr=False)
    raw: str = field(default="", compare=False, repr=False)

    @property
    def edited(self) -> bool:
        """Whether the text is no longer what the marker's hash was taken of."""
        return bool(self.hash) and self.hash != self.content

    @property
    def legacy(self) -> bool:
        """Whether it had no marker."""
        return self.marker is None

    @property
    def conflicts(self) -> tuple[str, ...]:
        """The ids of the items that it contradicts."""
        return origins_of(self.marker.get(CONFLICT)) if self.marker else ()


@dataclass(frozen=True, slots=True)
class Section:
    """One `## Digest` section, from the 0-based line `first` up to `last`.

    Without a marker its id is `at-line-<line of the heading>`.
    """

    id: str
    title: str
    sources: tuple[str, ...]
    items: tuple[Item, ...]
    first: int
    last: int

    @property
    def day(self) -> date | None:
        """The day of the heading, else of the id."""
        return parse_day(self.title[:10]) or parse_day(self.id[:10])


@dataclass(frozen=True)
class Digest:
    """A digest as read. `preamble` are paragraphs that a person wrote before the refined items."""

    text: str
    state: Marker | None = None
    refine: Marker | None = None
    sync: Marker | None = None
    title: str = ""
    preamble: tuple[str, ...] = ()
    refined: tuple[Item, ...] = ()
    sections: tuple[Section, ...] = ()
    problems: tuple[Problem, ...] = ()
    places: Mapping[str, int] = field(default_factory=dict)
    """The 0-based lines of the header's markers by name."""

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """Every item of the file, in file order, older wordings too."""
        return (*self.refined, *(item for section in self.sections for item in section.items))

    @cached_property
    def current(self) -> dict[str, Item]:
        """The items by id, the last occurrence of each."""
        return {item.id: item for item in self.items}

    @cached_property
    def named(self) -> tuple[str, ...]:
        """The sources that the items and the sections name, and those that refining kept."""
        refs = [ref for item in self.items for ref in item.sources]
        refs += [ref for section in self.sections for ref in section.sources]
        # A marker that lost its bullet still tells that its source was looked at.
        refs += [ref for marker in self._of(ITEM, COVERED) for ref in origins_of(marker.get("source"))]
        return tuple(dict.fromkeys(refs))

    @cached_property
    def covered(self) -> frozenset[Key]:
        """What is named as a source, by meaning."""
        return frozenset(key_of(ref) for ref in self.named)

    @cached_property
    def kept(self) -> tuple[str, ...]:
        """The sources that refining kept of items and sections that are gone."""
        return tuple(ref for marker in self._of(COVERED) for ref in origins_of(marker.get("source")))

    def _of(self, *names: str) -> list[Marker]:
        placed = (each.marker for each in markers(self.text))
        return [marker for marker in placed if marker and any(marker.is_(name) for name in names)]

    @property
    def blank(self) -> bool:
        """Whether the file says nothing yet."""
        return not self.text.strip("\ufeff \t\r\n")

    @property
    def fatal(self) -> Problem | None:
        """The first problem that leaves open what the file says."""
        return next((problem for problem in self.problems if problem.fatal), None)

    @property
    def processed(self) -> date | None:
        """The newest source day that was considered, as the state marker says."""
        return parse_day(self.state.get("processed-through")) if self.state else None

    @property
    def refined_through(self) -> date | None:
        """The day up to which the digest was refined."""
        return parse_day(self.refine.get("refined-through")) if self.refine else None

    @property
    def status(self) -> str:
        """How the semantic core stands, as the sync marker says; "" without one."""
        return self.sync.get("status") if self.sync else ""

    @property
    def pending(self) -> tuple[str, ...]:
        """The hashes that wait for the core; `none`, empty and absent are alike."""
        said = origins_of(self.sync.get("pending")) if self.sync else ()
        return tuple(each for each in said if each.lower() != "none")

    @property
    def inferred(self) -> date | None:
        """The newest day that the sections name, if every one of them names dated sources, else None."""
        days = [[day for ref in _named(section) if (day := day_of(ref))] for section in self.sections]
        return max(map(max, days)) if days and all(days) else None


def _named(section: Section) -> Iterator[str]:
    yield from section.sources
    for item in section.items:
        yield from item.sources


def setting_header(
    digest: Digest, *, state: Marker | None = None, refine: Marker | None = None, sync: Marker | None = None
) -> str:
    """Return the file with header markers replaced or put in their places; every other byte stays.

    Their order is state, refine, sync, from the first line on.
    """
    bom = BOM if digest.text.startswith(BOM) else ""
    lines = split_lines(digest.text.removeprefix(BOM))
    end = newline_of(digest.text)
    behind: dict[int, str] = {}
    last = -1
    for name, marker in ((STATE, state), (REFINE, refine), (SYNC, sync)):
        place = digest.places.get(name)
        if place is None and marker is not None:
            behind[last] = behind.get(last, "") + str(marker) + end
        elif place is not None:
            last = place
            if marker is not None:
                lines[place] = str(marker) + lines[place][len(lines[place].rstrip("\r\n")) :]
    return bom + behind.get(-1, "") + "".join(line + behind.get(n, "") for n, line in enumerate(lines))


def appended(text: str, section: str) -> str:
    """Return the file with a section (LF breaks) at its end, in the file's own line endings."""
    end = newline_of(text)
    gap = "" if text.endswith(end * 2) else end if text.endswith(("\n", "\r")) else end * 2
    return text + gap + section.replace("\n", end)


def is_hash(text: str) -> bool:
    """Tell whether a text is a content hash: 64 lower-case hex digits."""
    return bool(_HEX.fullmatch(text))


def render_item(item: Item) -> str:
    """Write an item as its two lines: the marker, with what it had beside ours, and the bullet.

    The bullet is `item.bullet` without its old source tail, and the sources behind it.
    """
    marker = item.marker or Marker(ITEM)
    for key, value in (
        ("id", item.id),
        ("source", render_origins(item.sources)),
        ("hash", item.hash),
        ("sync", item.sync),
    ):
        marker = marker.setting(key, value)
    return f"{marker}\n{bullet_line(item.bullet, item.sources)}\n"


def bullet_line(bullet: str, sources: tuple[str, ...]) -> str:
    """Write an item's second line: text, evidence, sources."""
    body = without_sources(fold(bullet))
    return f"- {body} Source: {quote_origins(sources)}." if sources else f"- {body}"


def made(id: str, kind: str, bullet: str, sources: tuple[str, ...], *, sync: str = "candidate") -> Item:
    """Make a new item; its hash is that of the line that `render_item` will write."""
    line = bullet_line(bullet, sources)
    found = content_hash(line)
    return Item(id, kind, without_sources(fold(bullet)), knowledge_text(line), sources, found, found, sync)


def without_sources(bullet: str) -> str:
    """Return a bullet without the source tails at its end."""
    text = bullet.strip()
    while (shorter := without_tail(text, "Source:").rstrip()) != text:
        text = shorter
    return text


def render_section(id: str, stamp: str, sources: tuple[str, ...], items: Iterable[Item]) -> str:
    """Write a section with LF breaks; without items one honest line says so.

    `stamp` is the local time, `YYYY-MM-DD HH:MM`.
    """
    head = f"{render_marker(SECTION, {'id': id})}\n## Digest {stamp}\n\n_Sources: {quote_origins(sources)}_\n"
    blocks = render_kinds(items)
    return "\n".join([head, *(blocks or [f"{NOTHING}\n"])])


def render_kinds(items: Iterable[Item]) -> list[str]:
    """Write items below their headings, one text for each kind that has any."""
    listed = list(items)
    return [
        f"**{HEADINGS[kind]}**:\n" + "".join(render_item(item) for item in listed if item.kind == kind)
        for kind in KINDS
        if any(item.kind == kind for item in listed)
    ]


def render_new(target: str, state: Marker, sync: Marker) -> str:
    """Write a new digest without sections, with LF breaks."""
    return f"{state}\n{sync}\n# Memory digest — {fold(target)}\n\n{PROVENANCE}\n"


def state_marker(last_run: datetime, processed: date) -> Marker:
    """Make the marker of the first line."""
    return Marker(STATE, (("last-run", render_time(last_run)), ("processed-through", processed.isoformat())))


def sync_marker(old: Marker | None, status: str, pending: Iterable[str]) -> Marker:
    """Make the sync marker, or change the old one's status and pending hashes; `none` stands for no hash."""
    listed = ",".join(dict.fromkeys(pending)) or "none"
    return (old or Marker(SYNC)).setting("status", status).setting("pending", listed)
