"""`working.md`: what the agent is in the middle of, section by section, and a short rolling log."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from lamina.errors import BadInput
from lamina.formats import sections
from lamina.formats.dates import parse_time, render_time
from lamina.formats.lines import fold, newline_of
from lamina.formats.sections import Section, Sections

OWNERSHIP: Final = """\
THIS FILE BELONGS TO THE AGENT. It is not repository state (that is state.md) and not
durable memory (those are the layered entries). It is your own head for this workspace.

You own it. Read it, edit it, and keep it honest. Write it with `lamina working`, or edit
this file directly. Nothing else writes here, so a stale or empty file means the intent
was never recorded.
"""
REPLACED: Final = ("Task", "Next steps", "Plan", "Blocked by")
ACTIVITY: Final = "Recent activity"
ENTRIES_LIMIT: Final = 20
CHARACTERS_LIMIT: Final = 2_000

_CLAIM: Final = "THIS FILE BELONGS TO THE AGENT."
_ITEM: Final = re.compile(r"[-*+] (?:(\S+) — )?(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Activity:
    """One line of the log; `at` is None for a line written by hand."""

    at: datetime | None
    text: str


@dataclass(frozen=True, slots=True)
class Working:
    """The file, with the parts that have a meaning."""

    file: Sections

    def section(self, title: str) -> str:
        """Return a section's text, empty if it is not there."""
        found = self.file.get(title)
        return found.text if found else ""

    @property
    def activity(self) -> tuple[Activity, ...]:
        """The log, newest last."""
        return tuple(_activity(block) for block in _blocks(self.section(ACTIVITY))[1:])

    @property
    def started(self) -> bool:
        """Whether anything was recorded at all."""
        return any(section.text for section in self.file.sections)

    @property
    def updated(self) -> datetime | None:
        """The newest time in the file, None where none stands."""
        times = [section.verified for section in self.file.sections] + [each.at for each in self.activity]
        return max((time for time in times if time), default=None)


def parse_working(text: str) -> Working:
    """Read a file; never fails, and `render_working` gives `text` back byte for byte."""
    return Working(sections.parse(text))


def render_working(working: Working) -> str:
    """Write a file; what did not change keeps its bytes."""
    return sections.render(working.file)


def with_section(working: Working, title: str, text: str, now: datetime) -> Working:
    """Replace one section; a blank text drops it. Sections that people added survive.

    Raises BadInput for a blank title and for the log, which takes notes one by one.
    """
    name = fold(title)
    if not name or name.casefold() == ACTIVITY.casefold():
        hint = "sections are " + ", ".join(REPLACED) + "; add to the log with an activity note"
        raise BadInput(f"{title!r} is no section of working.md that can be replaced", hint=hint)
    file = _owned(working.file)
    if not text.strip():
        return Working(file.without(name))
    old = file.get(name)
    known = next((each for each in REPLACED if each.casefold() == name.casefold()), name)
    return Working(_ordered(file.putting(Section(old.title if old else known, text, now))))


def with_activity(working: Working, note: str, now: datetime) -> Working:
    """Add a note to the log and drop the oldest beyond the limits; a repeated note only renews its time.

    Lines written by hand count and age like any other; prose before the first of them stays.
    """
    text = fold(note)
    file = _owned(working.file)
    if not text:
        return Working(file)
    head, *blocks = _blocks(working.section(ACTIVITY))
    line = f"- {render_time(now)} — "
    block = line + _clipped(text, CHARACTERS_LIMIT - len(line))
    if blocks and _activity(blocks[-1]).text == _activity(block).text:
        blocks.pop()
    log = _trimmed([*blocks, block])
    kept = f"{head.rstrip()}\n\n" if head.strip() else ""
    old = file.get(ACTIVITY)
    section = Section(old.title if old else ACTIVITY, kept + "\n".join(log), None)
    return Working(_ordered(file.putting(section)))


def without_activity(working: Working) -> Working:
    """Empty the log."""
    return Working(_owned(working.file).without(ACTIVITY))


def _owned(file: Sections) -> Sections:
    """Make sure that the file says whose it is."""
    if _CLAIM in file.preamble:
        return file
    if not file.preamble.strip():
        return replace(file, preamble=f"# Working memory\n\n{OWNERSHIP}")
    end = newline_of(file.preamble)
    notice = OWNERSHIP.replace("\n", end)
    return replace(file, preamble=f"{file.preamble.rstrip()}{end}{end}{notice}{end}")


def _ordered(file: Sections) -> Sections:
    """Move a section that is new into its place: the known ones in their order, the log last of them."""
    *others, last = file.sections
    order = [*REPLACED, ACTIVITY]
    if last.read or last.title not in order:
        return file
    behind = order[order.index(last.title) + 1 :]
    place = next((n for n, each in enumerate(others) if each.title in behind), len(others))
    return replace(file, sections=(*others[:place], last, *others[place:]))


def _blocks(text: str) -> list[str]:
    """Cut the log before each list item; the first piece is what stands before them."""
    blocks: list[list[str]] = [[]]
    for line in text.split("\n"):
        if _ITEM.match(line):
            blocks.append([])
        blocks[-1].append(line)
    return ["\n".join(block).rstrip() for block in blocks]


def _activity(block: str) -> Activity:
    match = _ITEM.fullmatch(block)
    moment, text = (match[1], match[2]) if match else (None, block)
    at = parse_time(moment) if moment else None
    return Activity(at, fold(text) if at or not moment else fold(f"{moment} — {text}"))


def _trimmed(blocks: list[str]) -> list[str]:
    """Keep the newest blocks that fit, at least the newest one."""
    kept: list[str] = []
    size = 0
    for block in reversed(blocks[-ENTRIES_LIMIT:]):
        size += len(block) + 1
        if kept and size > CHARACTERS_LIMIT + 1:
            break
        kept.append(block)
    return kept[::-1]


def _clipped(text: str, size: int) -> str:
    if len(text) <= size:
        return text
    head, gap, _ = text[:size].rpartition(" ")
    return (head if gap and len(head) > size // 2 else text[: size - 1]) + "…"
