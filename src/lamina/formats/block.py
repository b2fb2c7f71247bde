"""The text of one entry: its outline, and edits that change one span and leave every other byte."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lamina.errors import BadInput
from lamina.formats import body as bodies
from lamina.formats.fences import fences
from lamina.formats.structure import (
    ORDER,
    Field,
    field_of,
    fold,
    is_blank,
    one_line,
    plain_lines,
    split_lines,
)

UNTITLED = "Untitled"


class Placed(NamedTuple):
    """A field and its lines: the one that holds it and those that continue it."""

    field: Field
    first: int
    end: int


class Outline(NamedTuple):
    """Where the parts of an entry stand, by line number; `header_end` is behind the last field."""

    head: int
    fields: tuple[Placed, ...]
    header_end: int
    body_first: int
    body_end: int


def outline(lines: Sequence[str], inside: frozenset[int], head: int, end: int) -> Outline:
    """Find header and body of the entry on lines `head` to `end`, given without line breaks."""
    at = head + 1
    while at < end and is_blank(lines[at]):
        at += 1
    fields = _header(lines, inside, at, end)
    header_end = fields[-1].end if fields else head + 1
    first = header_end
    while first < end and is_blank(lines[first]):
        first += 1
    last = end
    while last > first and is_blank(lines[last - 1]):
        last -= 1
    return Outline(head, fields, header_end, first, last)


def _header(lines: Sequence[str], inside: frozenset[int], at: int, end: int) -> tuple[Placed, ...]:
    """Read the fields from line `at` to the first blank or fenced line.

    Without a known field among its first fields a paragraph is body. A line that is no field continues
    the field above if another field follows it; behind the last field it belongs to the body.
    """
    placed: list[Placed] = []
    known = False
    for number in range(at, end):
        line = lines[number]
        field = field_of(line)
        if (field is None and is_blank(line)) or number in inside:
            break
        if field is None:
            if not known:
                break
            continue
        known = known or field.label.lower() in ORDER
        if placed and placed[-1].end < number:
            placed[-1] = _continued(placed[-1], lines, number)
        placed.append(Placed(field, number, number + 1))
    return tuple(placed) if known else ()


def _continued(placed: Placed, lines: Sequence[str], end: int) -> Placed:
    parts = [placed.field.value, *(line.strip() for line in lines[placed.end : end])]
    return Placed(Field(placed.field.label, " ".join(parts).strip()), placed.first, end)


def read(raw: str) -> tuple[str, tuple[Field, ...], str, bool]:
    """Read one entry's text alone: heading, fields, body, and whether it has a loose fence mark."""
    lines = plain_lines(raw)
    found = fences(lines)
    parts = outline(lines, found.inside, 0, len(lines))
    text = bodies.read(lines[parts.body_first : parts.body_end], found.inside, parts.body_first)
    return lines[0][3:].strip(), tuple(p.field for p in parts.fields), text, bool(found.loose)


def render(heading: str, fields: Iterable[Field], body: str, newline: str = "\n") -> str:
    """Write an entry anew; `body` is normal (see `body.normal`)."""
    lines = [f"## {heading}"]
    header = [f"**{field.label}:** {field.value}" for field in fields]
    if header:
        lines += ["", *header]
    if body:
        lines += ["", *bodies.escape(body)]
    return newline.join(lines) + newline


def title(heading: str) -> str:
    """Give a heading as it is written: one line, never empty."""
    return one_line(heading) or UNTITLED


def checked(label: str, value: str) -> Field:
    """Make a field; raises BadInput for a label that can't be one."""
    field = field_of(f"**{label}:** {fold(value)}")
    if field is None or field.label != label or len(label.splitlines()) != 1:
        raise BadInput(f"{label!r} can't be the label of a field", hint="use plain words without `*` and `:`")
    return field


def set_heading(raw: str, heading: str) -> str:
    """Change the heading, leaving the spacing around it."""
    lines = split_lines(raw)
    line = lines[0].rstrip("\r\n")
    old = line[3:].strip()
    at = line.index(old, 3) if old else len(line)
    lines[0] = line[:at] + title(heading) + line[at + len(old) :] + _break(lines[0])
    return "".join(lines)


def set_field(raw: str, field: Field, newline: str) -> str:
    """Change a field's value, or insert the field at its place in the order of fields."""
    lines, parts = _opened(raw)
    for placed in parts.fields:
        if placed.field.label.lower() == field.label.lower():
            lines[placed.first : placed.end] = [_revalued(lines, placed, field.value)]
            return "".join(lines)
    text = f"**{field.label}:** {field.value}"
    if parts.fields:
        return _inserted(lines, _place(parts, field.label), [text], newline)
    follows = parts.header_end < len(lines) and not is_blank(lines[parts.header_end].rstrip("\r\n"))
    return _inserted(lines, parts.header_end, ["", text, *([""] if follows else [])], newline)


def drop_field(raw: str, label: str) -> str:
    """Remove every field of this label; with the last field the empty header goes too."""
    lines, parts = _opened(raw)
    gone = [placed for placed in parts.fields if placed.field.label.lower() == label.lower()]
    if gone and len(gone) == len(parts.fields):
        del lines[parts.head + 1 : parts.header_end]
        return "".join(lines)
    for placed in reversed(gone):
        del lines[placed.first : placed.end]
    return "".join(lines)


def set_body(raw: str, body: str, newline: str) -> str:
    """Change the body (a normal one), leaving header and the blank lines around as they are."""
    lines, parts = _opened(raw)
    text = bodies.escape(body)
    first, end = parts.body_first, parts.body_end
    if first == end or not text:
        # From or to an empty body: the blank lines between go with it.
        del lines[parts.header_end : end if first < end else parts.header_end]
        return _inserted(lines, parts.header_end, ["", *text], newline) if text else "".join(lines)
    if parts.fields and first == parts.header_end:
        text.insert(0, "")
    ending = _break(lines[end - 1])
    inner = ending or _break(lines[0]) or newline
    lines[first:end] = [line + inner for line in text[:-1]] + [text[-1] + ending]
    return "".join(lines)


def converted(raw: str, newline: str) -> str:
    """Give the text with one kind of line break."""
    lines = split_lines(raw)
    return "".join(line.rstrip("\r\n") + (newline if _break(line) else "") for line in lines)


def trailing(raw: str) -> tuple[str, str]:
    """Cut the blank lines off the end of a text: what stands before, and they."""
    lines = split_lines(raw)
    last = len(lines)
    while last and is_blank(lines[last - 1].rstrip("\r\n")):
        last -= 1
    return "".join(lines[:last]), "".join(lines[last:])


def ends_open(text: str) -> bool:
    """Tell whether a text ends inside a line."""
    return bool(text) and text[-1] not in "\r\n"


def _opened(raw: str) -> tuple[list[str], Outline]:
    lines = split_lines(raw)
    plain = plain_lines(raw)
    return lines, outline(plain, fences(plain).inside, 0, len(plain))


def _break(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _revalued(lines: list[str], placed: Placed, value: str) -> str:
    line = lines[placed.first].rstrip("\r\n")
    start = line.index(":**", 2) + 3
    old = line[start:].strip()
    at = line.index(old, start) if old else len(line)
    lead = line[start:at] if old else line[start:] or " "
    tail = line[at + len(old) :] if old else ""
    return line[:start] + lead + value + tail + _break(lines[placed.end - 1])


def _place(parts: Outline, label: str) -> int:
    """Find the line for a new field: behind the last field that comes before it in the order."""
    rank = ORDER.get(label.lower(), len(ORDER))
    at = parts.fields[0].first
    for placed in parts.fields:
        if ORDER.get(placed.field.label.lower(), len(ORDER)) <= rank:
            at = placed.end
    return at


def _inserted(lines: list[str], at: int, new: list[str], newline: str) -> str:
    newline = next((b for b in map(_break, reversed(lines[:at])) if b), newline)
    if at == len(lines) and ends_open(lines[-1]):
        return "".join(lines) + newline + newline.join(new)
    return "".join([*lines[:at], *(line + newline for line in new), *lines[at:]])
