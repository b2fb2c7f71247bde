"""What a digest does not tell of yet: the sessions of the daily files that no line of it names."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property

from lamina import errors
from lamina.formats.daily import Bullet, parse_daily
from lamina.formats.dates import parse_time
from lamina.formats.digest import Digest
from lamina.formats.digestreader import parse_digest
from lamina.formats.origin import Key, key_of, origin
from lamina.pipeline.redact import redact
from lamina.store import files, memoryfolder
from lamina.store.memoryfolder import Dailies, MemoryFolder

_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Told:
    """One session of a daily file. `late` says that its day is older than what the digest had reached."""

    source: str
    day: date
    topic: str
    raw: str
    bullets: tuple[Bullet, ...] = ()
    late: bool = False

    @cached_property
    def text(self) -> str:
        """What stands there, without secrets."""
        return redact(self.raw).text

    @cached_property
    def key(self) -> Key:
        """What its reference means."""
        return key_of(self.source)


@dataclass(frozen=True)
class Plan:
    """One look at a memory folder: the bytes as they were read, and the sessions in chronological order.

    `text` is the digest's file, None where there is none. `processed` is the newest day that the digest had
    considered, None for a new one; `inferred` says that its sections told so and not its first line.
    """

    folder: MemoryFolder
    dailies: Dailies
    text: str | None
    digest: Digest
    all: tuple[Told, ...] = ()
    processed: date | None = None
    inferred: bool = False
    problems: tuple[str, ...] = field(default=())

    @cached_property
    def sessions(self) -> tuple[Told, ...]:
        """The sessions that the digest does not cover."""
        return tuple(each for each in self.all if each.key not in self.digest.covered)

    @cached_property
    def known(self) -> dict[Key, Told]:
        """All sessions by what their references mean."""
        return {each.key: each for each in self.all}


def plan(folder: MemoryFolder) -> Plan:
    """Read a memory folder.

    All daily files are looked at: the date of the last run bounds nothing, since a file may come late. Raises
    Undecided where the digest leaves open what it says, UnsafePath, UnreadableFile.
    """
    dailies = memoryfolder.read_dailies(folder)
    text = memoryfolder.read(folder.digest)
    digest = parse_digest(text or "")
    refuse_damage(folder, digest)
    processed = digest.processed or (None if text is None else _inferred(folder, digest))
    told: list[Told] = []
    problems = [
        *dailies.problems,
        *(f"{folder.digest}:{each.line}: {each.message}" for each in digest.problems),
    ]
    for name, data in dailies.data.items():
        try:
            told += _told(folder, dailies, name, files.decode(folder.path / name, data), processed, problems)
        except errors.UnreadableFile as problem:
            problems.append(problem.message)
    told.sort(key=_when)
    return Plan(
        folder, dailies, text, digest, tuple(told), processed,
        text is not None and digest.state is None, tuple(problems),
    )  # fmt: skip


def refuse_damage(folder: MemoryFolder, digest: Digest) -> None:
    """Raise Undecided where a digest is damaged in a way that only a person can repair."""
    if damage := digest.fatal:
        raise errors.Undecided(
            f"{folder.digest}:{damage.line}: {damage.message}",
            "nothing was written; repair the line or take back an older version, then run this again",
            choices=(f"${{EDITOR:-vi}} +{damage.line} {_quoted(folder)}", _restoring(folder)),
        )


def _inferred(folder: MemoryFolder, digest: Digest) -> date:
    """Say from its sections how far a digest without a state marker had come; raises Undecided."""
    if digest.inferred is None:
        raise errors.Undecided(
            f"{folder.digest}:1: there is no state marker, and the sections do not all name dated sources",
            "write on its first line how far it had come:\n"
            "  <!-- digest:state last-run=YYYY-MM-DDTHH:MM:SSZ processed-through=YYYY-MM-DD -->",
            choices=(f"${{EDITOR:-vi}} +1 {_quoted(folder)}", _restoring(folder)),
        )
    return digest.inferred


def _quoted(folder: MemoryFolder) -> str:
    return shlex.quote(str(folder.digest))


def _restoring(folder: MemoryFolder) -> str:
    return f"git -C {shlex.quote(str(folder.path))} restore {memoryfolder.DIGEST}"


def _told(
    folder: MemoryFolder, dailies: Dailies, name: str, text: str, processed: date | None, problems: list[str]
) -> Iterator[Told]:
    day, daily = dailies.day(name), parse_daily(text)
    rel = folder.rel(name)
    problems += (f"{rel}:{line}: {message}" for line, message in daily.problems)
    late = processed is not None and day < processed
    for part in daily.parts:
        yield Told(origin(rel, part.id), day, part.topic, part.text, part.bullets, late)


def _when(told: Told) -> tuple[date, datetime]:
    """Order by day, then by the time that a session's id begins with; files and their order stay else."""
    return told.day, parse_time(told.key[1][:20]) or _NEVER
