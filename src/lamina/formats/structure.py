"""What the lines of a topic file are: fields, headings, blank ones.

A line ends at LF, CR LF or a lone CR, and nowhere else: U+2028, U+0085, form feed and their like are
characters of the line.
"""

from __future__ import annotations

import re
from typing import NamedTuple

LABELS = (
    "Id",
    "Date",
    "Importance",
    "Source",
    "Evidence",
    "Volatility",
    "Verified",
    "Valid-until",
    "Trust",
    "Status",
    "Alias",
    "Branch",
)
# The place of each label among the fields, as it is written and in lower case.
ORDER: dict[str, int] = {form: n for n, label in enumerate(LABELS) for form in (label, label.lower())}

# Labels that open a section of a decision's body, so they are never fields.
SECTIONS = ("Context", "Rationale", "Alternatives considered", "Consequences")
_SECTIONS = frozenset(label.lower() for label in SECTIONS)

_LONGEST_LABEL = 64


class Field(NamedTuple):
    """One field of a header: the label as it stands in the file, the value on one line."""

    label: str
    value: str


def split_lines(text: str) -> list[str]:
    """Cut a text into its lines, each with its own break; joined they are the text again."""
    if "\r" in text:
        return re.findall(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+", text)
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def count_lines(text: str) -> int:
    """Count the lines of a text that `split_lines` gives."""
    if "\r" in text:
        return len(split_lines(text))
    return text.count("\n") + (bool(text) and text[-1] != "\n")


def plain_lines(text: str) -> list[str]:
    """Cut a text into its lines without their breaks, one for each line of `split_lines`."""
    if "\r" in text:
        return [line.rstrip("\r\n") for line in split_lines(text)]
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def unix(text: str) -> str:
    """Give every line break of a text as LF."""
    if "\r" not in text:
        return text
    return text.replace("\r\n", "\n").replace("\r", "\n")


def one_line(text: str) -> str:
    """Fold a text to one line with single spaces."""
    return " ".join(text.split())


def fold(value: str) -> str:
    """Fold the line breaks of a field's value to one space each; other spacing stays."""
    if "\n" not in value and "\r" not in value:
        return value.strip()
    parts = (part.strip() for part in unix(value).split("\n"))
    return " ".join(part for part in parts if part)


def is_blank(line: str) -> bool:
    """Tell whether a line holds nothing but spaces and tabs."""
    return not line.strip(" \t")


def trim_blank(text: str) -> str:
    """Drop the blank lines before and after a text with LF breaks."""
    lines = text.split("\n")
    first, last = 0, len(lines)
    while first < last and is_blank(lines[first]):
        first += 1
    while last > first and is_blank(lines[last - 1]):
        last -= 1
    return "\n".join(lines[first:last])


def is_known_field(line: str) -> bool:
    """Tell whether a line starts with the label of a known field."""
    if not line.startswith("**"):
        return False
    end = line.find(":**", 2, _LONGEST_LABEL)
    return end > 2 and line[2:end].lower() in ORDER


def field_of(line: str) -> Field | None:
    """Read a header line; an unknown label counts only with a value."""
    if not line.startswith("**"):
        return None
    end = line.find(":**", 2, _LONGEST_LABEL)
    if end <= 2:
        return None
    label, value = line[2:end], line[end + 3 :].strip()
    if label in ORDER:
        return Field(label, value)
    lower = label.lower()
    if lower in ORDER:
        return Field(label, value)
    odd = "*" in label or ":" in label or label != label.strip()
    return None if odd or not value or lower in _SECTIONS else Field(label, value)


def reads_as(line: str) -> bool:
    """Tell whether a line reads as structure: a title, a heading, a known field."""
    return line.startswith(("# ", "## ")) or is_known_field(line)
