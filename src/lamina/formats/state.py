"""`state.md`: what a repository is right now, one section at a time, each with the time it was verified."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Final

from lamina.errors import BadInput
from lamina.formats import sections
from lamina.formats.lines import fold
from lamina.formats.sections import Section
from lamina.formats.sections import Sections as StateFile

__all__ = ["Section", "StateFile", "parse_state", "render_state", "with_section", "without_section"]

_TITLE: Final = "# State\n"


def parse_state(text: str) -> StateFile:
    """Read a file; never fails, and `render_state` gives `text` back byte for byte."""
    return sections.parse(text)


def render_state(file: StateFile) -> str:
    """Write a file; sections that did not change keep their bytes."""
    return sections.render(file)


def with_section(file: StateFile, title: str, text: str, now: datetime) -> StateFile:
    """Replace one section (or add it) as verified now; the others keep their text and their times.

    Raises BadInput for a blank title.
    """
    name = fold(title)
    if not name:
        raise BadInput("a section of state.md needs a title", hint='for example "Health"')
    old = file.get(name)
    opened = file if file.preamble.strip() else replace(file, preamble=_TITLE)
    return opened.putting(Section(old.title if old else name, text, now))


def without_section(file: StateFile, title: str) -> StateFile:
    """Drop a section that no longer describes anything."""
    return file.without(title)
