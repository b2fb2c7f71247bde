"""A corpus as tools get it, a Markdown page per session, and the way back from text to turns."""

from __future__ import annotations

import bisect
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lamina.evaluation.corpora import Corpus, Unit

HALF = 0.5
PIECE = 200
"""A turn counts as shown with all of its text, half of it, or so many characters of it."""
SHORTEST = 12
"""Below this a text may stand in a foreign turn by chance; it counts only where its place is known."""


class Turn(NamedTuple):
    """One turn as it is handed out: `label` says in which project who spoke and when."""

    id: str
    session: str
    seq: int
    page: str
    label: str
    text: str
    day: str
    speaker: str
    project: str


class Chunk(NamedTuple):
    """One result of a tool: its text as shown, and the name of the page it comes from ("" if not told)."""

    text: str
    page: str = ""


def turns_of(corpus: Corpus) -> list[Turn]:
    """Return the turns in the order of the corpus, each with the file name of its page."""
    names: dict[str, str] = {}
    for unit in corpus.units:
        slug = re.sub(r"[^A-Za-z0-9]+", "-", unit.session).strip("-").lower()
        names.setdefault(unit.session, f"session-{len(names) + 1:03}-{slug}".rstrip("-") + ".md")
    return [_turn(unit, names[unit.session]) for unit in corpus.units]


def _turn(unit: Unit, page: str) -> Turn:
    day = unit.day.isoformat() if unit.day else ""
    label = ", ".join(part for part in (unit.project, unit.speaker, day) if part) or "turn"
    text = unit.text.strip()
    return Turn(unit.id, unit.session, unit.seq, page, label, text, day, unit.speaker, unit.project)


def write_pages(turns: Iterable[Turn], folder: Path) -> list[Path]:
    """Write a Markdown file per session with a section per turn; a file that says the same is left alone."""
    folder.mkdir(parents=True, exist_ok=True)
    several: dict[str, list[Turn]] = defaultdict(list)
    for turn in turns:
        several[turn.page].append(turn)
    for name, group in several.items():
        text = page_text(group)
        if not (folder / name).exists() or (folder / name).read_text(encoding="utf-8") != text:
            (folder / name).write_text(text, encoding="utf-8")
    return sorted(folder / name for name in several)


def page_text(turns: Sequence[Turn]) -> str:
    """Render one session."""
    parts = [f"# Session {turns[0].session}\n"]
    parts += [f"\n## {turn.label}\n\n{turn.text}\n" for turn in turns]
    return "".join(parts)


def write_turns(turns: Iterable[Turn], path: Path) -> None:
    """Write one JSON line per turn, for tools that take memories instead of files."""
    lines = [json.dumps(turn._asdict(), ensure_ascii=False) + "\n" for turn in turns]
    path.write_text("".join(lines), encoding="utf-8")


class Places:
    """Where each turn stands, so that text can be traced back to turns by nothing but its wording."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._pages: dict[str, _Page] = {}
        self._known: dict[Chunk, tuple[str, ...]] = {}
        groups: dict[str, list[Turn]] = defaultdict(list)
        for turn in turns:
            groups[turn.page].append(turn)
        for name, group in groups.items():
            self._pages[name] = _Page(group)

    def turns_in(self, chunk: Chunk) -> tuple[str, ...]:
        """Return the ids of the turns that a chunk shows, in the order in which they stand there."""
        if chunk not in self._known:
            self._known[chunk] = tuple(dict.fromkeys(self._find(chunk)))
        return self._known[chunk]

    def _find(self, chunk: Chunk) -> Iterator[str]:
        text = squeezed(chunk.text)
        pages = [self._pages[chunk.page]] if chunk.page in self._pages else list(self._pages.values())
        for page in pages if text else ():
            found = list(page.shown_by(text))
            yield from found
            if found and len(text) > PIECE:
                return


class _Page:
    """One page with white space squeezed, and where each turn's own words begin and end in it."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.text = squeezed(page_text(turns))
        self.spans: list[tuple[int, int, str]] = []
        at = 0
        for turn in turns:
            body = squeezed(turn.text)
            head = squeezed(f"## {turn.label}")
            start = self.text.index(f"{head} {body}".strip(), at) + len(head) + 1
            self.spans.append((start, start + len(body), turn.id))
            at = start + len(body)
        self.bodies = [(self.text[start:stop], name) for start, stop, name in self.spans]
        self.whole: dict[str, list[str]] = defaultdict(list)
        for turn, (body, name) in zip(turns, self.bodies, strict=True):
            for text in (body, f"{squeezed(turn.label)} {body}", f"{squeezed(turn.label)}: {body}"):
                self.whole[text].append(name)
        self.starts = [start for start, _, _ in self.spans]

    def shown_by(self, text: str) -> Iterator[str]:
        """Yield the turns in `text`: the one it is, else by its place on the page, else all that it holds."""
        if text in self.whole:
            yield from self.whole[text]
            return
        at = self.text.find(text)
        if at >= 0 and len(text) >= SHORTEST:
            yield from self._between(at, at + len(text))
            return
        held = [(text.find(body), name) for body, name in self.bodies if len(body) >= SHORTEST]
        yield from (name for place, name in sorted(held) if place >= 0)

    def _between(self, start: int, stop: int) -> Iterator[str]:
        first = max(0, bisect.bisect_right(self.starts, start) - 1)
        for low, high, name in self.spans[first:]:
            if low >= stop:
                return
            shared = min(stop, high) - max(start, low)
            if shared > 0 and (shared >= HALF * (high - low) or shared >= PIECE):
                yield name


def squeezed(text: str) -> str:
    """Return text with each run of white space as one space."""
    return " ".join(text.split())
