"""A session is appended to the daily record: which file, under which id, and that it stands there."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from lamina import errors
from lamina.formats.daily import (
    Part,
    Session,
    appended,
    parse_daily,
    render_session,
    render_title,
)
from lamina.formats.dates import render_time
from lamina.formats.hashing import knowledge_text
from lamina.formats.marker import markers
from lamina.formats.origin import daily_day, numbered
from lamina.formats.slug import topic_slug, whole_words
from lamina.pipeline.record.body import Body
from lamina.pipeline.record.evidence import Commit, evidence, listed
from lamina.pipeline.verified import require
from lamina.store import memoryfolder
from lamina.store.memoryfolder import Dailies, MemoryFolder

MOST_COMMITS = 20
_TOPIC = 80
_WORDS = (2, 5)


class Recorded(NamedTuple):
    """What a run came to: the file, the session's id, and `written`, `known` or `nothing`."""

    status: str
    file: str
    session: str = ""
    created: bool = False
    bullets: tuple[int, int, int] = (0, 0, 0)
    """How many of Done, Decisions and Open."""
    commits: int = 0
    redacted: int = 0

    def as_json(self) -> dict[str, object]:
        """Return it as programs read it."""
        done, decisions, left = self.bullets
        return {
            "file": self.file,
            "session": self.session or None,
            "created": self.created,
            "status": self.status,
            "bullets": {"done": done, "decisions": decisions, "open": left},
            "commits": self.commits,
            "redacted": self.redacted,
        }


class Wanted(NamedTuple):
    """What is to be recorded: a body, the commits of today (newest first), the session that it is of."""

    body: Body
    commits: Sequence[Commit] = ()
    source: str = ""
    """Which records of which captured session, as in a Source field; "" for the session at hand."""
    file: str = ""
    """The daily file that was named."""


def record(
    folder: MemoryFolder, wanted: Wanted, *, now: datetime, own: Collection[str], dry_run: bool = False
) -> Recorded:
    """Append a session to the record of its day.

    `now` is aware: the file's date and the heading's clock are its local time, the id its UTC. `own` are the
    names of files that this machine wrote. Raises Undecided where several files of the day are there and it
    is not clear which is meant, VerificationFailed with the old file restored.
    """
    if dry_run or not folder.path.is_dir():
        if wanted.body.empty and not wanted.commits:
            return Recorded("nothing", "")
        if dry_run:
            return _planned(folder, wanted, now, own)
    with memoryfolder.locked(folder, make=True):
        dailies = memoryfolder.read_dailies(folder)
        name = _file(folder, dailies, wanted, now, own)
        path = folder.path / name
        old = memoryfolder.read(path)
        known = _known(dailies, wanted, path)
        if known is not None:
            return known
        session = _session(wanted, dailies, old or "", now)
        if session is None:
            return Recorded("nothing", "")
        text = _text(folder, old, session, now)
        if _repeated(old or "", session):
            return Recorded("known", str(path))
        memoryfolder.replace(path, text, old=old)
        _verify(path, old, text, session)
        return _done(path, session, old is None, wanted)


def _planned(folder: MemoryFolder, wanted: Wanted, now: datetime, own: Collection[str]) -> Recorded:
    dailies = memoryfolder.read_dailies(folder)
    path = folder.path / _file(folder, dailies, wanted, now, own)
    old = memoryfolder.read(path)
    known = _known(dailies, wanted, path)
    session = _session(wanted, dailies, old or "", now)
    if known is not None or session is None:
        return known or Recorded("nothing", "")
    return _done(path, session, old is None, wanted)._replace(status="planned")


def _done(path: Path, session: Session, created: bool, wanted: Wanted) -> Recorded:  # noqa: FBT001
    counts = (len(session.done), len(session.decisions), len(session.open))
    return Recorded(
        "written", str(path), session.id, created, counts, len(session.commits), wanted.body.redacted
    )


def _file(folder: MemoryFolder, dailies: Dailies, wanted: Wanted, now: datetime, own: Collection[str]) -> str:
    """Choose the daily file: the named one, the only one of the day, our own of several, else a new one."""
    day = now.astimezone().date()
    there = [name for name in dailies.data if dailies.day(name) == day]
    if wanted.file:
        name = Path(wanted.file).name
        if daily_day(name) != day:
            raise errors.BadInput(
                f"{wanted.file!r} is no record of {day.isoformat()}",
                f"a record is called {day.isoformat()}-<words>-memory.md",
            )
        return name
    if len(there) > 1:
        ours = [name for name in there if name in own]
        if len(ours) != 1:
            raise errors.Undecided(
                f"{folder.path} holds {len(there)} records of {day.isoformat()}: {', '.join(there)}",
                "say which one with --file",
                choices=tuple(f"--file {name}" for name in ours or there),
            )
        return ours[0]
    return there[0] if there else f"{day.isoformat()}-{_slug(wanted.body.named, folder)}-memory.md"


def _slug(topic: str, folder: MemoryFolder) -> str:
    """Make the words of a new file's name: two to five, of the first topic."""
    least, most = _WORDS
    words = topic_slug(" ".join(_words(topic)[:most])).split("-") if _words(topic) else []
    if len(words) < least:
        words = [*topic_slug(folder.root.name).split("-"), *(words or ["session"])]
    return "-".join([word for word in words if word][:most])


def _words(text: str) -> list[str]:
    return [
        word
        for word in "".join(c if c.isalnum() or c in "'’" else " " for c in text).split()
        if word.strip("'’")
    ]


def _session(wanted: Wanted, dailies: Dailies, old: str, now: datetime) -> Session | None:
    body, commits = wanted.body, wanted.commits
    told = listed(commits, old, MOST_COMMITS)
    if body.empty and not told:
        return None

    def with_evidence(bullets: Sequence[tuple[str, str]], label: str = "") -> list[tuple[str, str]]:
        return [(f"{label}{text}", evidence(text, given, commits)) for text, given in bullets]

    return Session(
        _id(dailies, now),
        now.astimezone().strftime("%H:%M"),
        whole_words(body.named, _TOPIC) or "session",
        body.context,
        (*with_evidence(body.done), *with_evidence(body.learnings, "Learning: ")),
        tuple(with_evidence(body.decisions)),
        told,
        tuple(with_evidence(body.open)),
        wanted.source,
    )


def _id(dailies: Dailies, now: datetime) -> str:
    """Return the session's id: the time, with a number behind it where another session has it."""
    text = b"\n".join(dailies.data.values())
    return numbered(render_time(now), lambda name: f"id={name} ".encode() in text)


def _text(folder: MemoryFolder, old: str | None, session: Session, now: datetime) -> str:
    title = render_title(folder.root.name, now.astimezone().date())
    return appended(old or "", title, render_session(session))


def _known(dailies: Dailies, wanted: Wanted, path: Path) -> Recorded | None:
    """Tell whether the captured session is recorded already, in any file of the folder."""
    if not wanted.source:
        return None
    for name, data in dailies.data.items():
        for placed in markers(data.decode("utf-8", "replace")) if wanted.source.encode() in data else ():
            if placed.marker and placed.marker.get("source") == wanted.source:
                return Recorded("known", str(path.with_name(name)), placed.marker.get("id"))
    return None


def _repeated(old: str, session: Session) -> bool:
    """Tell whether the file's last session says just the same, its evidence and its commits aside."""
    parts = parse_daily(old).parts if old else ()
    said = _said(parse_daily(render_session(session)).parts[0])
    return bool(parts and said) and _said(parts[-1]) == said


def _said(part: Part) -> list[tuple[str, str]]:
    return [(bullet.kind, knowledge_text(bullet.text)) for bullet in part.bullets if bullet.kind]


def _verify(path: Path, old: str | None, text: str, session: Session) -> None:
    """Check on the disk that the file only grew, by this one session, and that it says what was meant."""
    on_disk = memoryfolder.read(path) or ""
    meant = parse_daily(render_session(session)).parts
    before, after = parse_daily(old or "").parts, parse_daily(on_disk).parts
    checks = (
        ("the file is what was written", on_disk == text),
        ("what stood there before is unchanged", on_disk.startswith(old or "")),
        ("there is one session more", len(after) == len(before) + 1),
        ("the session says what was meant", bool(after) and after[-1].bullets == meant[0].bullets),
        ("the session has its id", bool(after) and after[-1].id == session.id),
    )
    require(checks, path, ours=text, old=old)
