"""Entries and topic files: Format-2 Markdown to frozen values and back, byte for byte.

A topic file is a preamble (byte order mark, front matter, title, prose) and entries. An entry starts at a
`## ` line outside closed fences and reaches to the next one; its `raw` is that text. Reading never fails:
what is no header is body. A `# ` line behind the first entry is body text of the entry it stands in.

Trust follows from two fields. `Status: forgotten 2026-01-01` gives `forgotten`, `Status: superseded by <id>`
gives `superseded`; any other status says nothing about trust. Else `Trust` decides: absent, empty or
`approved` is `approved`, `superseded` and `forgotten` are taken at their word, every other value is
`candidate`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date as Date  # noqa: N812  # `date` is a field's own name here

from lamina.errors import BadInput
from lamina.formats import block
from lamina.formats import body as bodies
from lamina.formats.dates import parse_day
from lamina.formats.evidence import Evidence, parse_evidence
from lamina.formats.fences import fences
from lamina.formats.hashing import entry_hash
from lamina.formats.ids import EntryId
from lamina.formats.scope import Scope
from lamina.formats.source import Ref, parse_sources
from lamina.formats.structure import (
    LABELS,
    ORDER,
    Field,
    count_lines,
    fold,
    is_blank,
    plain_lines,
    split_lines,
)

__all__ = [
    "LABELS",
    "Draft",
    "Entry",
    "Field",
    "Topic",
    "new_entry",
    "new_topic",
    "parse_importance",
    "parse_topic",
    "render_topic",
    "with_body",
    "with_field",
    "with_heading",
]

BOM = "\ufeff"
IMPORTANCE = 3
VOLATILITIES = ("stable", "normal", "volatile")

IMPORTANCE_WORDS = {"low": 2, "normal": 3, "high": 5}


@dataclass(frozen=True, slots=True)
class Entry:
    """One remembered thing.

    `body` is what was meant: unescaped, with line feeds as breaks, without blank lines around. `raw` is the
    exact text in the file ("" for a new entry), `line` the 1-based line of the heading (0 for a new one),
    `newline` the file's break. Of several fields with one label the first counts; labels are compared
    without case.
    """

    heading: str
    fields: tuple[Field, ...] = ()
    body: str = ""
    raw: str = ""
    line: int = 0
    newline: str = "\n"

    def field(self, label: str) -> str:
        """Give a field's value, "" if there is none."""
        wanted = label.lower()
        return next((f.value for f in self.fields if f.label.lower() == wanted), "")

    @property
    def id(self) -> str:
        """The id as written, "" for a hand-written entry that has none yet."""
        return self.field("Id")

    @property
    def date(self) -> Date | None:
        """The UTC day of writing."""
        return parse_day(self.field("Date"))

    @property
    def importance(self) -> int:
        """1 to 5; 3 when nothing usable is said."""
        return parse_importance(self.field("Importance")) or IMPORTANCE

    @property
    def source(self) -> str:
        """The text of the Source field."""
        return self.field("Source")

    @property
    def sources(self) -> tuple[Ref, ...]:
        """The references of the Source field."""
        return parse_sources(self.source)

    @property
    def evidence(self) -> Evidence | None:
        """The quote that the entry rests on."""
        return parse_evidence(self.field("Evidence"))

    @property
    def volatility(self) -> str | None:
        """`stable`, `normal` or `volatile`; None when not said."""
        value = self.field("Volatility").lower()
        return value if value in VOLATILITIES else None

    @property
    def verified(self) -> Date | None:
        """The UTC day on which it was last confirmed."""
        return parse_day(self.field("Verified"))

    @property
    def valid_until(self) -> Date | None:
        """The last UTC day on which it holds."""
        return parse_day(self.field("Valid-until"))

    @property
    def status(self) -> str:
        """The text of the Status field."""
        return self.field("Status")

    @property
    def trust(self) -> str:
        """`candidate`, `approved`, `superseded` or `forgotten` (the module says how)."""
        status = self.status.lower().split(maxsplit=1)
        if status and status[0] in ("superseded", "forgotten"):
            return status[0]
        said = self.field("Trust").lower()
        if said in ("", "approved"):
            return "approved"
        return said if said in ("superseded", "forgotten") else "candidate"

    @property
    def superseded_by(self) -> str:
        """The id behind `superseded by`, "" if none is named."""
        words = self.status.split()
        return words[2] if len(words) > 2 and words[0].lower() == "superseded" else ""

    @property
    def aliases(self) -> tuple[str, ...]:
        """Earlier ids of this entry."""
        return tuple(part.strip() for part in self.field("Alias").split(",") if part.strip())

    @property
    def branch(self) -> str:
        """The unmerged branch on which it was learnt, "" for none."""
        return self.field("Branch")

    @property
    def content_hash(self) -> str:
        """The normalised hash of heading and body."""
        return entry_hash(self.heading, self.body)


@dataclass(frozen=True, slots=True)
class Topic:
    """One Markdown file of a layer. `loose` says that a fence in it never closes."""

    preamble: str
    entries: tuple[Entry, ...] = ()
    newline: str = "\n"
    loose: bool = False

    @property
    def title(self) -> str:
        """The first `# ` line of the preamble, outside fences and front matter; "" if there is none."""
        lines = plain_lines(self.preamble.removeprefix(BOM))
        inside = fences(lines).inside
        first = _front_matter_end(lines)
        for number in range(first, len(lines)):
            if lines[number].startswith("# ") and number not in inside:
                return lines[number][2:].strip()
        return ""

    def adding(self, entry: Entry) -> Topic:
        """Put an entry behind the others, in this file's line breaks."""
        entries = list(self.entries)
        preamble = self.preamble
        if entries:
            entries[-1] = replace(entries[-1], raw=_spaced(entries[-1].raw, self.newline))
        else:
            preamble = _spaced(preamble, self.newline)
        entries.append(_fitted(entry, self.newline))
        return self._with(preamble, entries, [len(entries) - 1])

    def replacing(self, index: int, entry: Entry) -> Topic:
        """Put an entry in the place of another; the blank lines behind it stay."""
        return self.replacing_all({index: entry})

    def replacing_all(self, changes: Mapping[int, Entry]) -> Topic:
        """Put entries in the places of others, in time linear in the size of the topic."""
        entries = list(self.entries)
        for index, entry in changes.items():
            new = _fitted(entry, self.newline, whole=False)
            text, _ = block.trailing(new.raw)
            _, blanks = block.trailing(entries[index].raw)
            if block.ends_open(text) and (blanks or index + 1 < len(entries)):
                text += self.newline
            entries[index] = replace(new, raw=text + blanks)
        return self._with(self.preamble, entries, sorted(changes))

    def removing(self, index: int) -> Topic:
        """Take an entry out, and with the last one the blank lines before it."""
        entries = list(self.entries)
        del entries[index]
        preamble = self.preamble
        if index == len(entries):
            if entries:
                entries[-1] = replace(entries[-1], raw=block.trailing(entries[-1].raw)[0])
            else:
                preamble = block.trailing(preamble)[0]
        return self._with(preamble, entries, [min(index, max(len(entries) - 1, 0))])

    def _with(self, preamble: str, entries: list[Entry], places: Sequence[int]) -> Topic:
        """Make the topic of entries; those at `places` (sorted) are new, or follow one that is gone."""
        if self.loose or any(block.read(entries[place].raw)[3] for place in places if place < len(entries)):
            return _settled(preamble, entries)
        changed = places[0] if places else len(entries)
        line = 1 + len(split_lines(preamble.removeprefix(BOM))) if changed == 0 else entries[changed - 1].line
        if changed:
            line += count_lines(entries[changed - 1].raw)
        for number in range(changed, len(entries)):
            entry = entries[number]
            if number > places[-1] and entry.line == line and entry.newline == self.newline:
                break  # the rest stands where it stood
            if entry.line != line or entry.newline != self.newline:
                entries[number] = replace(entry, line=line, newline=self.newline)
            line += count_lines(entry.raw)
        return Topic(preamble, tuple(entries), self.newline)


@dataclass(frozen=True, slots=True)
class Draft:
    """What a stage wants written, before it has an id.

    `topic` is a title, `trust` is `approved` or `candidate`, `replaces` lets it supersede the current
    entries of its topic (codebase).
    """

    heading: str
    body: str
    scope: Scope
    layer: str
    topic: str
    date: Date
    importance: int | None = IMPORTANCE
    source: str = ""
    evidence: str = ""
    volatility: str | None = None
    verified: Date | None = None
    valid_until: Date | None = None
    trust: str = "approved"
    branch: str | None = None
    replaces: bool = False

    def entry(self, id: EntryId | str) -> Entry:
        """Make the new entry under its id."""
        return new_entry(
            self.heading,
            self.body,
            id=id,
            date=self.date,
            importance=self.importance,
            source=self.source,
            evidence=self.evidence,
            volatility=self.volatility,
            verified=self.verified,
            valid_until=self.valid_until,
            trust=self.trust,
            branch=self.branch,
        )


def parse_importance(text: str) -> int | None:
    """Read 1 to 5 or a word (low, normal, high are 2, 3, 5); numbers are clamped, other text is None."""
    text = text.strip().lower()
    if text in IMPORTANCE_WORDS:
        return IMPORTANCE_WORDS[text]
    if text.isascii() and text.isdigit() and len(text) < 10:
        return max(1, min(5, int(text)))
    return None


def parse_topic(text: str) -> Topic:
    """Read a topic file. `render_topic` gives the same text back, whatever it was."""
    mark = BOM if text.startswith(BOM) else ""
    lines = plain_lines(text[len(mark) :])
    kept = split_lines(text[len(mark) :])
    newline = _newline(text)
    found = fences(lines)
    inside = found.inside
    heads = [n for n, line in enumerate(lines) if line.startswith("## ") and n not in inside]
    entries = []
    for head, end in zip(heads, [*heads[1:], len(lines)], strict=False):
        parts = block.outline(lines, inside, head, end)
        first = parts.body_first
        entries.append(
            Entry(
                lines[head][3:].strip(),
                tuple([placed.field for placed in parts.fields]),
                bodies.read(lines[first : parts.body_end], inside, first),
                "".join(kept[head:end]),
                head + 1,
                newline,
            )
        )
    preamble = mark + "".join(kept[: heads[0]] if heads else kept)
    return Topic(preamble, tuple(entries), newline, bool(found.loose))


def render_topic(topic: Topic) -> str:
    """Write a topic file: every byte that was read and not changed is there again."""
    return topic.preamble + "".join([entry.raw for entry in topic.entries])


def new_topic(title: str) -> Topic:
    """Start a topic file that has a title and no entries."""
    return Topic(f"# {block.title(title)}\n")


def new_entry(  # noqa: PLR0913  # one argument for each field of the format
    heading: str,
    body: str,
    *,
    id: EntryId | str | None = None,
    date: Date | None = None,
    importance: int | None = None,
    source: str = "",
    evidence: Evidence | str = "",
    volatility: str | None = None,
    verified: Date | None = None,
    valid_until: Date | None = None,
    trust: str | None = None,
    status: str = "",
    alias: Iterable[str] = (),
    branch: str | None = None,
) -> Entry:
    """Make an entry; fields without a value, and the trust `approved`, are left out.

    The heading becomes one line (`Untitled` if nothing is left). Of the body only the line breaks and the
    blank lines around it change.
    """
    values = (
        id, date, importance, source, evidence, volatility, verified, valid_until,
        None if trust == "approved" else trust, status, ", ".join(alias), branch,
    )  # fmt: skip
    fields = (
        block.checked(label, str(value))
        for label, value in zip(LABELS, values, strict=True)
        if value is not None
    )
    kept = tuple(field for field in fields if field.value)
    return Entry(block.title(heading), kept, bodies.normal(body))


def with_field(entry: Entry, label: str, value: str | None) -> Entry:
    """Set a field, or remove it with None or an empty value; one span of the text changes.

    Raises BadInput for a label that can't be one, and if only unknown labels would be left: without a known
    field a header is not told from prose.
    """
    gone = not fold(value or "")
    field = block.checked(label, "-" if gone else value or "")
    fields = _fields_with(entry.fields, field, gone=gone)
    if fields and not any(f.label.lower() in ORDER for f in fields):
        raise BadInput(
            f"{fields[0].label!r} can't be the only field", hint="set a known field such as Date too"
        )
    if not entry.raw:
        return replace(entry, fields=fields)
    if gone:
        return _edited(entry, lambda raw: block.drop_field(raw, label))
    return _edited(entry, lambda raw: block.set_field(raw, field, entry.newline))


def with_body(entry: Entry, body: str) -> Entry:
    """Change the body; nothing changes if it already means this."""
    body = bodies.normal(body)
    if not entry.raw or body == entry.body:
        return replace(entry, body=body)
    return replace(entry, body=body, raw=block.set_body(entry.raw, body, entry.newline))


def with_heading(entry: Entry, heading: str) -> Entry:
    """Change the heading."""
    heading = block.title(heading)
    if not entry.raw or heading == entry.heading:
        return replace(entry, heading=heading)
    return replace(entry, heading=heading, raw=block.set_heading(entry.raw, heading))


def _fields_with(fields: tuple[Field, ...], field: Field, *, gone: bool) -> tuple[Field, ...]:
    label = field.label.lower()
    if not gone and any(f.label.lower() == label for f in fields):
        return tuple(Field(f.label, field.value) if f.label.lower() == label else f for f in fields)
    rest = [f for f in fields if f.label.lower() != label]
    if gone:
        return tuple(rest)
    return tuple(sorted([*rest, field], key=lambda f: ORDER.get(f.label.lower(), len(ORDER))))


def _edited(entry: Entry, edit: Callable[[str], str]) -> Entry:
    """Edit the text of the header; should the body mean something else then, it is escaped first."""
    raw = edit(entry.raw)
    _, fields, body, _ = block.read(raw)
    if body != entry.body:
        raw = edit(block.set_body(entry.raw, entry.body, entry.newline))
        _, fields, _, _ = block.read(raw)
    return replace(entry, raw=raw, fields=fields)


def _fitted(entry: Entry, newline: str, *, whole: bool = True) -> Entry:
    """Give the entry with a text in this file's line breaks; `whole` ends it with exactly one."""
    if not entry.raw:
        raw = block.render(entry.heading, entry.fields, entry.body, newline)
    else:
        raw = entry.raw if entry.newline == newline else block.converted(entry.raw, newline)
    if whole:
        raw = block.trailing(raw)[0]
        raw += newline if block.ends_open(raw) else ""
    return replace(entry, raw=raw)


def _spaced(text: str, newline: str) -> str:
    """Make sure that a blank line ends the text before a new entry."""
    if text in ("", BOM):
        return text
    if block.ends_open(text):
        return text + newline * 2
    last = split_lines(text)[-1].rstrip("\r\n")
    return text if is_blank(last.removeprefix(BOM)) else text + newline


def _settled(preamble: str, entries: list[Entry]) -> Topic:
    """Make a topic of blocks among which a fence is open, so that each still means what it meant.

    Such a mark may pair with one of a later entry. Where it would, the marks that close nothing
    are escaped in the text; what the entries say stays the same.
    """
    topic = parse_topic(preamble + "".join(entry.raw for entry in entries))
    if _meaning(topic.entries) == _meaning(entries):
        return topic
    calm = [
        replace(e, raw=block.set_body(e.raw, e.body, e.newline)) if block.read(e.raw)[3] else e
        for e in entries
    ]
    lines = split_lines(preamble)
    loose = frozenset(fences(plain_lines(preamble)).loose)
    preamble = "".join("\\" + line if n in loose else line for n, line in enumerate(lines))
    return parse_topic(preamble + "".join(entry.raw for entry in calm))


def _meaning(entries: Iterable[Entry]) -> list[tuple[str, tuple[Field, ...], str]]:
    return [(entry.heading, entry.fields, entry.body) for entry in entries]


def _newline(text: str) -> str:
    """Find the line break that a text uses most."""
    if "\r" not in text:
        return "\n"
    both = text.count("\r\n")
    counts = {"\r\n": both, "\n": text.count("\n") - both, "\r": text.count("\r") - both}
    return max(counts, key=lambda kind: counts[kind])


def _front_matter_end(lines: list[str]) -> int:
    """Find the line behind YAML front matter, 0 if the lines don't start with any."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    return next((n + 1 for n in range(1, len(lines)) if lines[n].rstrip() in ("---", "...")), 0)
