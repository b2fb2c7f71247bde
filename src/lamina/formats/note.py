"""Notes: the durable bullets of one session, waiting in `digests/` for consolidation.

    # Note — claude-code 4f3a1b2c

    **Session:** 4f3a1b2c
    **Host:** claude-code
    …

    ## 2026-11-30T12:00:00Z · #0-40

    - **decision:** use plain ESM, because what we ship is what we test
      - #12-14 “let's keep it plain ESM” (user)

Every text is folded onto its own line behind a list mark or a label, so no text can forge a bullet,
a section or a header field. A parsed note remembers the bytes of each part and gives them back as
long as the part's values are unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Final, NamedTuple

from lamina.formats.bullet import Bullet, is_bullet, parse_bullet, render_bullet, span_of
from lamina.formats.dates import parse_time, render_time
from lamina.formats.lines import fold, newline_of
from lamina.formats.structure import split_lines

__all__ = ["Bullet", "Note", "Section", "note_name", "parse_note", "render_note"]

_BREAKS: Final = ("\n", "\r")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_RANGE: Final = re.compile(r".*#([0-9]{1,15})(?:-([0-9]{1,15}))?")
_FIELD: Final = re.compile(r"((?:[-*+] )?\*\*([^*:]{1,60}):\*\*[ \t]*)(.*)")
_PLAIN_FIELD: Final = re.compile(r"((?:[-*+] )?([A-Za-z][A-Za-z _-]{0,30}):[ \t]*)(.*)")
_SAFE_HOST: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,30}")
_SAFE_SESSION: Final = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,78}[a-z0-9])?")
_LIKE_HASHED: Final = re.compile(r".*-[0-9a-f]{10}")


@dataclass(frozen=True, slots=True)
class Section:
    """What one capture pass added: `first` and `last` span the records it looked at."""

    at: datetime
    bullets: tuple[Bullet, ...]
    first: int
    last: int
    raw: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Note:
    """One session's note. `workspace` is a scope's name; `consolidated` is None while it is pending.

    `through` is the last record that was consolidated, -1 for none, so that a session that goes on is shown
    to a model from there. `branch` is the unmerged branch that its entries belong to, "" for none. `extra`
    holds header fields that Lamina does not know, in file order.
    """

    session: str
    host: str
    workspace: str = ""
    cwd: str = ""
    first: int = 0
    last: int = 0
    started: datetime | None = None
    captured: datetime | None = None
    consolidated: datetime | None = None
    through: int = -1
    attempts: int = 0
    needs_review: bool = False
    tool_calls: int = 0
    paths: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    branch: str = ""
    extra: tuple[tuple[str, str], ...] = ()
    raw: str | None = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:
        """The file name without `.md`."""
        return note_name(self.host, self.session)

    @property
    def bullets(self) -> tuple[Bullet, ...]:
        """The bullets of all sections, oldest first."""
        return tuple(bullet for section in self.sections for bullet in section.bullets)

    @property
    def waiting(self) -> tuple[Section, ...]:
        """The sections that were not consolidated yet."""
        return tuple(section for section in self.sections if section.last > self.through)

    def adding(self, section: Section) -> Note:
        """Return the note with one more section; `last` never goes back."""
        return replace(self, sections=(*self.sections, section), last=max(self.last, section.last))


def note_name(host: str, session: str) -> str:
    """Return a file stem for a session: ASCII, at most 128 characters, no path, no device name.

    Different sessions get different stems, also on a disk that ignores case: what is no plain
    lower-case id carries a hash of the whole, and so does an id that looks like such a stem.
    """
    stem = f"{_tame(host, 30) or 'host'}_{_tame(session, 80) or 'session'}"
    plain = _SAFE_HOST.fullmatch(host) and _SAFE_SESSION.fullmatch(session)
    if plain and not _LIKE_HASHED.fullmatch(session):
        return stem
    import hashlib

    whole = f"{host}\0{session}".encode("utf-8", "surrogatepass")
    return f"{stem}-{hashlib.sha256(whole).hexdigest()[:10]}"


def _tame(text: str, size: int) -> str:
    return re.sub(r"[^a-z0-9._-]+", "-", text[: size * 4].lower())[:size].strip("-._")


# --- the header: one table says how each field is written and read ---------------------------------


class _Field(NamedTuple):
    attribute: str
    label: str
    write: Callable[[Any], str]
    read: Callable[[str], Any]


def _number(text: str) -> int:
    return int(text) if re.fullmatch("[0-9]{1,15}", text) else 0


def _maybe_time(value: datetime | None) -> str:
    return render_time(value) if value else ""


def _place(text: str) -> int:
    return int(text) if re.fullmatch("[0-9]{1,15}", text) else -1


def _maybe_place(value: int) -> str:
    return str(value) if value >= 0 else ""


def _count(value: int) -> str:
    return str(value) if value else ""


def _write_paths(paths: tuple[str, ...]) -> str:
    return ", ".join(re.sub(r"[%,\s\x00-\x1f\x7f-\x9f\ud800-\udfff]", _percent, path) for path in paths)


def _percent(match: re.Match[str]) -> str:
    char = match[0]
    if char == " " and match.start() and match.end() < len(match.string):
        return char
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))


def _read_paths(text: str) -> tuple[str, ...]:
    return tuple(_unpercent(part.strip()) for part in text.split(",") if part.strip())


def _unpercent(text: str) -> str:
    if "%" not in text:
        return text
    raw = re.sub(
        rb"%([0-9A-Fa-f]{2})", lambda match: bytes([int(match[1], 16)]), text.encode("utf-8", "surrogatepass")
    )
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return text


_FIELDS: Final = (
    _Field("session", "Session", fold, str),
    _Field("host", "Host", fold, str),
    _Field("workspace", "Workspace", fold, str),
    _Field("cwd", "Cwd", fold, str),
    _Field("branch", "Branch", fold, str),
    _Field("first", "First", str, _number),
    _Field("last", "Last", str, _number),
    _Field("started", "Started", _maybe_time, parse_time),
    _Field("captured", "Captured", _maybe_time, parse_time),
    _Field("consolidated", "Consolidated", _maybe_time, parse_time),
    _Field("through", "Consolidated-through", _maybe_place, _place),
    _Field("attempts", "Attempts", _count, _number),
    _Field("needs_review", "Needs-review", lambda value: "yes" if value else "", lambda text: text == "yes"),
    _Field("tool_calls", "Tool calls", _count, _number),
    _Field("paths", "Paths", _write_paths, _read_paths),
)


_BY_KEY: Final = {each.label.lower(): each for each in _FIELDS}
_ORDER: Final = [*_BY_KEY]
_ALWAYS: Final = ("session", "host", "first", "last")
# An older store writes bare `name: value` lines with these names.
_OLDER: Final = {
    "sessionid": "session",
    "workspacekey": "workspace",
    "firstseq": "first",
    "lastseq": "last",
    "startedat": "started",
    "capturedat": "captured",
    "consolidatedat": "consolidated",
    "needsreview": "needs-review",
    "toolcalls": "tool calls",
}


class _Line(NamedTuple):
    """A header line that holds a field; `lead` is everything before its value."""

    number: int
    key: str
    label: str
    lead: str
    value: str


def _field_line(index: int, line: str) -> _Line | None:
    text = line.rstrip("\r\n").removeprefix("\ufeff")
    if match := _FIELD.fullmatch(text):
        return _Line(index, match[2].lower(), match[2], match[1], match[3].strip())
    if match := _PLAIN_FIELD.fullmatch(text):
        name = match[2].lower()
        key = _OLDER.get(name, name)
        value = match[3].strip().strip("\"'")
        return (
            _Line(index, key, match[2], match[1], "" if value == "null" else value)
            if key in _BY_KEY
            else None
        )
    return None


def _field_lines(lines: list[str]) -> list[_Line]:
    """List the fields of a header, the first of each name."""
    found: dict[str, _Line] = {}
    for index, line in enumerate(lines):
        if each := _field_line(index, line):
            found.setdefault(each.key, each)
    return list(found.values())


def _parse_head(head: str) -> Note:
    values: dict[str, Any] = {}
    extra: list[tuple[str, str]] = []
    for line in _field_lines(split_lines(head)):
        if known := _BY_KEY.get(line.key):
            values[known.attribute] = known.read(line.value)
        else:
            extra.append((line.label, line.value))
    return Note(**{"session": "", "host": "", **values}, extra=tuple(extra), raw=head)


def _render_head(note: Note) -> str:
    wanted = _wanted(note)
    if note.raw is None:
        title = fold(f"# Note — {note.host} {note.session}")
        fields = (f"**{label}:** {text}".rstrip() for label, text in wanted.values())
        return "\n".join([title, "", *fields, ""])
    head = note.raw
    old = _wanted(_parse_head(head))
    for key in {**old, **wanted}:
        if old.get(key) != wanted.get(key):
            head = _set_field(head, key, wanted.get(key))
    return head


def _wanted(note: Note) -> dict[str, tuple[str, str]]:
    """Map the key of each field that has a value to its label and text, in canonical order."""
    wanted: dict[str, tuple[str, str]] = {}
    for key, each in _BY_KEY.items():
        text = each.write(getattr(note, each.attribute))
        if text or key in _ALWAYS:
            wanted[key] = (each.label, text)
    for label, text in note.extra:
        name = fold(label)
        if _FIELD.fullmatch(f"**{name}:**"):
            wanted.setdefault(name.lower(), (name, fold(text)))
    return wanted


def _set_field(head: str, key: str, field: tuple[str, str] | None) -> str:
    """Change the one line that holds the field, or put a new one where its order wants it."""
    lines = split_lines(head)
    here = _field_lines(lines)
    current = next((each for each in here if each.key == key), None)
    if current is not None:
        line = lines[current.number]
        ending = line[len(line.rstrip("\r\n")) :]
        bom = "\ufeff" if line.startswith("\ufeff") else ""
        lines[current.number] = (
            f"{bom}{current.lead.rstrip()} {field[1]}".rstrip(" ") + ending if field else ""
        )
    elif field is not None:
        rank = _ORDER.index(key) if key in _BY_KEY else len(_ORDER)
        known = [each for each in here if each.key in _BY_KEY and _ORDER.index(each.key) < rank]
        before = here if rank == len(_ORDER) else known or here
        _insert(lines, field, before[-1] if before else None)
    return "".join(lines)


def _insert(lines: list[str], field: tuple[str, str], after: _Line | None) -> None:
    """Add a line in the shape of the one before it, at the end of the header if there is none."""
    end = newline_of("".join(lines[:1]))
    place = after.number + 1 if after else len(lines)
    if lines and not lines[place - 1].endswith(_BREAKS):
        lines[place - 1] += end
    lead = after.lead.replace(after.label, field[0], 1).rstrip() if after else f"**{field[0]}:**"
    lines.insert(place, f"{lead} {field[1]}".rstrip() + end)


# --- sections and bullets ---------------------------------------------------------------------------


def parse_note(text: str) -> Note:
    """Read a note; never fails, and `render_note` gives `text` back byte for byte.

    Any level-two heading opens a section; one without a time has the note's own. Lines of an unknown
    shape belong to the bullet, section or header before them.
    """
    lines = split_lines(text)
    head, *rest = _cut(lines, [index for index, line in enumerate(lines) if line.startswith("## ")])
    note = _parse_head("".join(head))
    return replace(note, sections=tuple(_parse_section(chunk, note) for chunk in rest))


def _cut(lines: list[str], starts: list[int]) -> list[list[str]]:
    """Cut before each start; the first piece is what stands before them all."""
    bounds = [0, *starts, len(lines)]
    return [lines[start:end] for start, end in pairwise(bounds)]


def _parse_section(lines: list[str], note: Note) -> Section:
    title = lines[0][3:].strip()
    moment, _, _ = title.partition(" · ")
    at = parse_time(moment) or note.captured or note.started or _EPOCH
    span = _RANGE.fullmatch(title)
    first, last = span_of(span) if span else (note.first, note.last)
    items = [index for index, line in enumerate(lines) if is_bullet(line)]
    head, *rest = _cut(lines, items)
    bullets = tuple(parse_bullet(chunk, first, last) for chunk in rest)
    return Section(at, bullets, first, last, "".join(head))


def render_note(note: Note) -> str:
    """Write a note; parts that are as they were parsed keep their bytes, only changed ones are rewritten."""
    head = _render_head(note)
    end = newline_of(head)
    base = _parse_head(note.raw or "")
    out = [head]
    for section in note.sections:
        _write_section(out, section, base, end)
    return "".join(out)


def _write_section(out: list[str], section: Section, base: Note, end: str) -> None:
    old = _parse_section(split_lines(section.raw), base) if section.raw else None
    if old and (old.at, old.first, old.last) == (section.at, section.first, section.last):
        _start_line(out, end)
        out.append(section.raw)
    else:
        _start_line(out, end, blank=True)
        span = f"#{section.first}-{section.last}"
        out.append(f"## {render_time(section.at)} · {span}{end}{end}")
    for bullet in section.bullets:
        _start_line(out, end)
        same = bullet.raw and bullet == parse_bullet(split_lines(bullet.raw), section.first, section.last)
        out.append(bullet.raw if same else render_bullet(bullet, end))


def _start_line(out: list[str], end: str, *, blank: bool = False) -> None:
    tail = "".join(out[-2:])
    if tail and not tail.endswith(_BREAKS):
        out.append(end)
    if blank and tail and not tail.endswith(("\n\n", "\n\r\n", "\r\r")):
        out.append(end)
