"""Daily records: the append-only files of a project, one a day, a part for each session.

    # Memory — harbor — 2026-11-30

    <!-- memory:session id=2026-11-30T09:00:00Z -->
    ## Session 10:00 — plain ESM

    **Decisions**:
    - Use plain ESM, because what we ship is what we test. Evidence: `session`

Files of other tools are read as far as they have parts: labels in bold or as headings, bullets below.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, NamedTuple

from lamina.formats.fences import fences
from lamina.formats.lines import fold
from lamina.formats.marker import escape, markers, render_marker, unescape
from lamina.formats.structure import is_blank, split_lines, trim_blank, unix

SESSION_MARKER: Final = "memory:session"
LABELS: Final = {
    "context": "Context",
    "done": "Done",
    "decisions": "Decisions",
    "commits": "Commits today",
    "open": "Open / next action",
}
"""The parts of a session in the order in which they are written."""

_KINDS: Final = {"done": "state", "decisions": "decision", "open": "open", "learnings": "learning"}
_PARTS: Final = {
    "context": "context",
    "done": "done",
    "state and changes": "done",
    "decisions": "decisions",
    "decision": "decisions",
    "commits today": "commits",
    "commits": "commits",
    "open / next action": "open",
    "open/next action": "open",
    "open": "open",
    "open actions": "open",
    "next action": "open",
    "next actions": "open",
    "next steps": "open",
    "learnings": "learnings",
    "learning": "learnings",
}
_LABEL: Final = re.compile(r"(?:\*\*([^*:]{1,40})(?::\*\*|\*\*\s*:)|#{3,4}\s+([^:#]{1,40}?)\s*:?\s*$)\s*(.*)")
_BULLET: Final = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)")
_LEARNING: Final = re.compile(
    r"(?:\*\*)?(?:learning|learnt|learned|lesson)s?(?:\*\*)?\s*:(?:\*\*)?\s*", re.IGNORECASE
)
_LINE: Final = 200  # what a label may take of a line; the rest is text
_TITLE: Final = re.compile(r"##\s+Session\b\s*(?:\d{1,2}:\d{2})?\s*(?:[—–-]+\s*)?(.*)", re.IGNORECASE)


class Bullet(NamedTuple):
    """A bullet of a session: its kind ("" where it is no item of a digest) and its text on one line."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Part:
    """One session of a daily file as read. `id` is "" in a file without marks; `text` is what stands there.

    `line` is the 1-based line of its marker, or of its first line.
    """

    id: str
    topic: str
    text: str
    bullets: tuple[Bullet, ...] = ()
    line: int = 1


@dataclass(frozen=True, slots=True)
class Daily:
    """A daily file: its title, its sessions in file order (of one id only one), and what is wrong with it."""

    title: str
    parts: tuple[Part, ...]
    problems: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Session:
    """A session to be written. `clock` is the local HH:MM; a bullet is a text and its evidence."""

    id: str
    clock: str
    topic: str
    context: str = ""
    done: tuple[tuple[str, str], ...] = ()
    decisions: tuple[tuple[str, str], ...] = ()
    commits: tuple[str, ...] = ()
    open: tuple[tuple[str, str], ...] = ()
    source: str = ""
    """Which records of which captured session it was made from, as in a Source field."""


def parse_daily(text: str) -> Daily:
    """Read a daily file; never fails.

    What stands before the first marker and has bullets is a session without an id. Two parts of one id are
    read as one.
    """
    text = unix(text.removeprefix("\ufeff"))
    lines = split_lines(text)
    bare = [line.rstrip("\n") for line in lines]
    title = next((line[2:].strip() for line in bare if line.startswith("# ")), "")
    starts: list[tuple[int, str]] = []
    problems: list[tuple[int, str]] = []
    for placed in markers(text):
        if placed.marker is None:
            problems.append((placed.line + 1, placed.problem))
        elif placed.marker.is_(SESSION_MARKER):
            named = placed.marker.get("id").strip()
            if named:
                starts.append((placed.line, named))
            else:
                problems.append((placed.line + 1, "a session marker without an id"))
    parts: dict[str, Part] = {}
    for first, last, named in _spans(starts, len(lines)):
        part = _part(named, bare[first:last], first)
        if named or part.bullets:
            if named in parts:
                problems.append((first + 1, f"the session {named} stands twice"))
            parts[named] = _joined(parts[named], part) if named in parts else part
    return Daily(title, tuple(parts.values()), tuple(problems))


def render_title(target: str, day: date) -> str:
    """Write the first line of a new daily file."""
    return f"# Memory — {fold(target)} — {day.isoformat()}\n"


def render_session(session: Session) -> str:
    """Write a session with LF breaks: empty parts are left out, foreign text can't forge a marker."""
    named = {"id": session.id} | ({"source": session.source} if session.source else {})
    marker = render_marker(SESSION_MARKER, named)
    blocks = [f"{marker}\n## Session {session.clock} — {fold(session.topic)}\n"]
    if session.context.strip():
        blocks.append(f"**{LABELS['context']}**:\n{_shielded(session.context)}\n")
    bullets = {"done": session.done, "decisions": session.decisions}
    blocks += [_listed(name, map(_bullet, said)) for name, said in bullets.items() if said]
    if session.commits:
        blocks.append(_listed("commits", (f"- {fold(each)}" for each in session.commits)))
    if session.open:
        blocks.append(_listed("open", map(_bullet, session.open)))
    return "\n".join(blocks)


def appended(old: str, title: str, session: str) -> str:
    """Return what stands in the file after a session was added: `old` is a prefix of it, byte for byte.

    A fence that the file leaves open is closed by nothing here, so the session stands behind a blank line.
    """
    end = "\r\n" if "\r\n" in old[:4096] else "\n"
    body = session if end == "\n" else session.replace("\n", end)
    if not old.strip("\ufeff"):
        return old + (title.replace("\n", end) + end) + body
    gap = "" if old.endswith(("\n\n", "\r\n\r\n")) else end if old.endswith("\n") else end + end
    return old + gap + body


def _spans(starts: Sequence[tuple[int, str]], count: int) -> Iterator[tuple[int, int, str]]:
    yield 0, starts[0][0] if starts else count, ""
    for number, (line, named) in enumerate(starts):
        yield line, starts[number + 1][0] if number + 1 < len(starts) else count, named


def _part(id: str, lines: Sequence[str], first: int) -> Part:
    body = lines[1:] if id else [line for line in lines if not line.startswith("# ")]
    topic = next((match[1].strip() for line in body if (match := _TITLE.match(line))), "")
    text = trim_blank(unescape("\n".join(body)))
    return Part(id, topic, text, tuple(_bullets(body)), first + 1)


def _joined(one: Part, other: Part) -> Part:
    return Part(one.id, one.topic, f"{one.text}\n\n{other.text}", (*one.bullets, *other.bullets), one.line)


def _bullets(lines: Sequence[str]) -> Iterator[Bullet]:
    """Yield the bullets below known labels; what is indented or goes on below one belongs to it."""
    inside = fences(lines).inside
    part, said = "", ""
    for number, line in enumerate(lines):
        label = None if number in inside or not line.startswith(("**", "###")) else _LABEL.match(line[:_LINE])
        found = _BULLET.match(line) if number not in inside else None
        if label or found or is_blank(line) or line.startswith(("#", "<!--")):
            if said:
                yield _made(part, said)
            said = ""
        if label:
            part = _PARTS.get(fold(label[1] or label[2]).casefold(), "")
            said = label[3] + line[_LINE:] if part in _KINDS else ""
        elif found:
            said = found[1]
        elif said and not line.startswith(("#", "<!--")):
            said += f" {line}"
    if said:
        yield _made(part, said)


def _made(part: str, said: str) -> Bullet:
    text = fold(unescape(said))
    learnt = _LEARNING.match(text)
    if learnt and part != "context":
        return Bullet("learning", text[learnt.end() :])
    return Bullet(_KINDS.get(part, ""), text)


def _listed(name: str, bullets: Iterator[str] | Sequence[str] | map[str]) -> str:
    return "\n".join([f"**{LABELS[name]}**:", *bullets]) + "\n"


def _bullet(said: tuple[str, str]) -> str:
    text, evidence = said
    tail = f" Evidence: {fold(evidence)}" if evidence.strip() else ""
    return f"- {fold(text)}{tail}"


def _shielded(text: str) -> str:
    """Make a paragraph of foreign text that opens no heading, label, list of ours or marker."""
    lines = [f"\\{line}" if line.startswith(("#", "**")) else line for line in unix(text).strip().split("\n")]
    return escape("\n".join(lines))
