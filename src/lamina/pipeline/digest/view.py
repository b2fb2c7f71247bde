"""What lies in a memory folder: sessions of daily files, the digest, and which sessions are new to it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from functools import cached_property
from typing import NamedTuple

from lamina import errors
from lamina.formats.daily import Bullet, Part, parse_daily
from lamina.formats.digest import Digest
from lamina.formats.digestreader import parse_digest
from lamina.formats.origin import day_of, key_of, origin
from lamina.pipeline.redact import redact
from lamina.store import files, memoryfolder
from lamina.store.memoryfolder import Dailies, MemoryFolder


class Session(NamedTuple):
    """One session of a daily file; `source` is how the digest names it."""

    source: str
    day: date
    text: str
    bullets: tuple[Bullet, ...]

    @property
    def shown(self) -> str:
        """The text without secrets."""
        return redact(self.text).text


class View:
    """A memory folder at one moment. `old` is the digest's text, None where there is no digest."""

    def __init__(self, folder: MemoryFolder, dailies: Dailies, old: str | None) -> None:
        self.folder = folder
        self.dailies = dailies
        self.old = old
        self.digest: Digest | None = None if old is None else parse_digest(old)
        self.problems = list(dailies.problems)
        self.sessions: tuple[Session, ...] = tuple(self._read())

    @cached_property
    def by_key(self) -> dict[tuple[str, str], Session]:
        """Every session by what its reference means."""
        return {key_of(session.source): session for session in self.sessions}

    @cached_property
    def new(self) -> tuple[Session, ...]:
        """The sessions that nothing in the digest names, in chronological order."""
        covered = self.digest.covered if self.digest else frozenset()
        return tuple(session for session in self.sessions if key_of(session.source) not in covered)

    @property
    def processed(self) -> date | None:
        """The newest day that was considered, as the digest says or lets infer."""
        return None if self.digest is None else self.digest.processed or self.digest.inferred

    @property
    def late(self) -> tuple[str, ...]:
        """The new sessions that are older than what was considered already."""
        through = self.processed
        return tuple(session.source for session in self.new if through and session.day < through)

    def _read(self) -> Iterator[Session]:
        for name, data in self.dailies.data.items():
            path = self.folder.path / name
            try:
                daily = parse_daily(files.decode(path, data))
            except errors.LaminaError as problem:
                self.problems.append(problem.message)
                continue
            self.problems += [f"{path}:{line}: {message}" for line, message in daily.problems]
            yield from (self._session(name, part) for part in daily.parts)

    def _session(self, name: str, part: Part) -> Session:
        source = origin(self.folder.rel(name), part.id)
        day = day_of(source) or self.dailies.day(name)
        return Session(source, day, part.text, part.bullets)


def look(folder: MemoryFolder, known: View | None = None) -> View:
    """Read a memory folder; `known` is given back where not a byte differs from what it saw.

    Raises UnsafePath for a digest that is a link or no file, UnreadableFile.
    """
    dailies, old = memoryfolder.read_dailies(folder), memoryfolder.read(folder.digest)
    if known is not None and (known.old, known.dailies) == (old, dailies):
        return known
    return View(folder, dailies, old)


def require_readable(digest: Digest, name: str) -> None:
    """Raise Undecided if the digest's text leaves open what it says, naming the line and the ways out."""
    problem = digest.fatal
    if problem is not None:
        raise errors.Undecided(
            f"{name}:{problem.line}: {problem.message}",
            "nothing was written; a person must say what the file should be",
            choices=(
                f"repair line {problem.line} of {name} by hand",
                f"take an older state: git checkout COMMIT -- {name}",
                f"move {name} away; the next digest reads all daily files anew",
            ),
        )


def require_state(view: View) -> None:
    """Raise Undecided where there is no state marker and the sections don't tell what was considered."""
    digest, name = view.digest, view.folder.digest.name
    if digest is None or digest.blank:
        return
    require_readable(digest, name)
    if digest.state is None and digest.inferred is None:
        raise errors.Undecided(
            f"{name}: has no state marker, and its sections don't say which daily files they come from",
            "nothing was written; say on the first line up to which day the daily files are in it",
            choices=(
                "<!-- digest:state last-run=YYYY-MM-DDTHH:MM:SSZ processed-through=YYYY-MM-DD -->",
                f"move {name} away; the next digest reads all daily files anew",
            ),
        )
