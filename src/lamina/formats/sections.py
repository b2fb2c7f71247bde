"""Files of sections, each rewritten as a whole: what `state.md` and `working.md` have in common.

    ## Health

    **Verified:** 2026-11-30T12:00:00Z

    All tests pass.

A section's text is escaped as an entry's body is, so a line of it never opens a section or sets the time.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from lamina.formats import body, structure
from lamina.formats.dates import parse_time, render_time
from lamina.formats.fences import fences
from lamina.formats.lines import fold, newline_of

_TIME: Final = "verified"


@dataclass(frozen=True, slots=True)
class Section:
    """One section. `text` is unescaped with LF; `verified` is None where no readable time stands.

    `raw` are the bytes it was read from and `read` what they meant; while that holds they are given back.
    """

    title: str
    text: str
    verified: datetime | None = None
    raw: str = field(default="", compare=False, repr=False)
    read: tuple[str, str, datetime | None] | None = field(default=None, compare=False, repr=False)

    @property
    def changed(self) -> bool:
        """Whether the section is new or no longer what was read."""
        return self.read != (self.title, self.text, self.verified)


@dataclass(frozen=True, slots=True)
class Sections:
    """A file: what stands before the first section, byte for byte, and the sections in order."""

    preamble: str
    sections: tuple[Section, ...] = ()

    def get(self, title: str) -> Section | None:
        """Find a section by its title, whatever its case."""
        return next((section for section in self.sections if _key(section.title) == _key(title)), None)

    def putting(self, section: Section) -> Sections:
        """Return the file with the section of this title replaced, or a new one at the end."""
        kept = tuple(section if _key(each.title) == _key(section.title) else each for each in self.sections)
        return replace(self, sections=kept if self.get(section.title) else (*kept, section))

    def without(self, title: str) -> Sections:
        """Return the file without the sections of this title."""
        return replace(
            self, sections=tuple(each for each in self.sections if _key(each.title) != _key(title))
        )


def _key(title: str) -> str:
    return fold(title).casefold()


def parse(text: str) -> Sections:
    """Read a file; never fails, and `render` gives `text` back byte for byte."""
    lines = structure.split_lines(text)
    bare = [line.rstrip("\r\n") for line in lines]
    inside = fences(bare).inside
    starts = [n for n, line in enumerate(bare) if line.startswith("## ") and n not in inside]
    ends = [*starts[1:], len(lines)]
    sections = [
        _section(bare[start:end], inside, start, "".join(lines[start:end]))
        for start, end in zip(starts, ends, strict=False)
    ]
    return Sections("".join(lines[: starts[0]] if starts else lines), tuple(sections))


def _section(bare: list[str], inside: frozenset[int], start: int, raw: str) -> Section:
    at = 1
    while at < len(bare) and structure.is_blank(bare[at]):
        at += 1
    found = structure.field_of(bare[at]) if at < len(bare) else None
    verified = None
    if found and found.label.lower() == _TIME:
        verified = parse_time(found.value)
        at += 1
    text = structure.trim_blank(body.read(bare[at:], inside, start + at))
    title = bare[0][3:].strip()
    return Section(title, text, verified, raw, (title, text, verified))


def render(file: Sections) -> str:
    """Write a file; the preamble and the sections that are as they were parsed keep their bytes."""
    end = newline_of(file.preamble or next((each.raw for each in file.sections), ""))
    out, written = file.preamble, False
    for section in file.sections:
        if out and not out.endswith(("\n", "\r")):
            out += end
        if out and (written or section.changed) and not out.endswith(("\n\n", "\n\r\n", "\r\r")):
            out += end
        out += _written(section, end) if section.changed else section.raw
        written = section.changed
    return out


def _written(section: Section, end: str) -> str:
    lines = [f"## {fold(section.title)}", ""]
    if section.verified:
        lines += [f"**Verified:** {render_time(section.verified)}", ""]
    lines += body.escape(body.normal(section.text))
    return end.join(lines).rstrip("\r\n") + end
