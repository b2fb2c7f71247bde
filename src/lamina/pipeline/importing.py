"""Reads the sessions that hosts left on this machine: finds, groups, captures, consolidates.

Sessions are taken in the order in which they began, each is written whole or not at all, and
what was read is known again by size and time. So an import can be killed at any moment: the
next one goes on where it stopped and ends with the same store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from lamina import errors
from lamina.formats.event import Damage, Session
from lamina.hosts.base import HOSTS, Host, detect, host_named, walk
from lamina.pipeline.capture import Captured, Source, capture, clean, settled
from lamina.pipeline.consolidate import Consolidated, consolidate
from lamina.pipeline.passes import Summarise
from lamina.pipeline.redact import redact
from lamina.pipeline.relevance import Limits
from lamina.pipeline.sampling import evenly, prompt_size
from lamina.pipeline.tracks import is_same, known_of, shown_path
from lamina.store import git, watermarks
from lamina.store.identity import RootCommits, Workspace
from lamina.store.store import Store
from lamina.store.watermarks import Watermark

Json = dict[str, Any]
Resolve = Callable[[Session], Workspace]
SKIPPED = ("trivial", "thin", "subagent", "known", "own", "empty", "off", "nothing", "waiting")
_DEPTH = 16  # folders below a given one
_OF_MANY = (".db",)
_SUFFIXES = (".jsonl", ".json", ".zstd", *_OF_MANY)
_EARLY = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class _Group:
    """The files of one session."""

    session: Session
    sources: list[tuple[datetime, Source]] = field(default_factory=list)
    known: bool = True  # no file changed since it was read
    status: str = ""

    @property
    def files(self) -> list[Source]:
        """The files in the order of their beginning."""
        return [source for _, source in sorted(self.sources, key=lambda each: (each[0], str(each[1].path)))]

    @property
    def order(self) -> tuple[datetime, str, str]:
        """The session's place in an import."""
        return min(begun for begun, _ in self.sources), self.session.host, self.session.id


def import_sessions(  # noqa: PLR0913 - the whole of what decides; each has one meaning
    store: Store,
    paths: Sequence[Path] = (),
    *,
    home: Path,
    env: Mapping[str, str],
    resolve: Resolve,
    now: Callable[[], datetime],
    progress: Callable[[Json], None] = lambda _: None,
    host: str | None = None,
    limits: Limits | None = None,
    summarise: Summarise | None = None,
    most: int | None = None,
    finish: Callable[[bool], Consolidated] | None = None,
) -> Json:
    """Capture the sessions at `paths` (files, or folders with all below), else in the hosts' own places.

    Then consolidates what waits. `summarise` lets a model make the bullets, unless more than `most` sessions
    are new; `finish` consolidates, with a model if it is told so. `resolve` gives a session's workspace; if
    it raises Refused, the session is left out (`off`). `progress` is told each session: number, of, host,
    session, status, events, note. The summary holds sessions, events, notes, entries, skipped and damaged;
    `model` says whether one was used and what waits for it. One bad file never stops the rest; a given path
    that does not exist does if it is the only one. Raises BadInput for an unknown host.
    """
    damaged: list[Damage] = []
    groups = _groups(store, _found(paths, host, home, env, damaged), damaged)
    summary: Json = {"sessions": 0, "events": 0, "notes": 0, "entries": 0}
    skipped = dict.fromkeys(SKIPPED, 0)
    new = sum(not group.known for group in groups)
    used = summarise is not None and (most is None or new <= most)
    asks = summarise if used else None
    run = _Run(store, resolve, limits, cache(git.root_commits), _by_id(groups), asks)
    waits, reviews, candidates = "", 0, 0
    failed: list[str] = []
    for number, group in enumerate(groups, 1):
        taken = _capture(run, group, now())
        waits = taken.waits or waits
        reviews += taken.needs_review
        damaged += taken.damaged
        if taken.status == "captured":
            summary["sessions"] += 1
            summary["events"] += taken.events
            summary["notes"] += taken.note is not None
        elif taken.status in skipped:
            skipped[taken.status] += 1
        progress({"number": number, "of": len(groups), **_told(taken)})
    if not waits:  # who could not be asked a moment ago is not asked again at once
        done = finish(used) if finish else consolidate(store, now=now())
        summary["entries"], waits, candidates = done.entries, done.waits, done.candidates
        reviews, failed = reviews + done.needs_review, done.write_failed
    model = {
        "used": used, "left_out": 0 if used or summarise is None else new, "waits": waits,
        "needs_review": reviews, "candidates": candidates, **({"writeFailed": failed} if failed else {}),
    }  # fmt: skip
    return summary | {
        "skipped": skipped, "damaged": [asdict(each) for each in damaged], "model": model,
    }  # fmt: skip


def plan_import(  # noqa: PLR0913 - the whole of what decides; each has one meaning
    store: Store | None,
    paths: Sequence[Path] = (),
    *,
    home: Path,
    env: Mapping[str, str],
    host: str | None = None,
    limits: Limits | None = None,
    sample: bool = False,
) -> Json:
    """Say what an import would read, by the sessions' heads only: the same summary, nothing written.

    With `sample`, some sessions are read whole, to tell how large the prompts about them would be.
    """
    damaged: list[Damage] = []
    groups = _groups(store, _found(paths, host, home, env, damaged), damaged)
    skipped = dict.fromkeys(SKIPPED, 0)
    for group in groups:
        why = group.status or ("known" if group.known else "")
        if why:
            skipped[why] += 1
    waiting = len(groups) - sum(skipped.values())
    return {
        "sessions": waiting, "events": 0, "notes": 0, "entries": 0, "skipped": skipped,
        "damaged": [asdict(each) for each in damaged],
        "sampled": [
            prompt_size(group.session, group.files, limits or Limits())
            for group in evenly([each for each in groups if not each.status and not each.known])
        ] if sample else [],
    }  # fmt: skip


def capture_one(  # noqa: PLR0913 - the whole of what decides; each has one meaning
    store: Store,
    path: Path,
    *,
    resolve: Resolve,
    now: datetime,
    host: str | None = None,
    final: bool = False,
    limits: Limits | None = None,
    dry_run: bool = False,
    summarise: Summarise | None = None,
) -> Json:
    """Capture what is new in one transcript and the session's other files that are known.

    Raises NoSuchFile, UnreadableFile or BadTranscript for the file, BadInput for an unknown host.
    """
    source = _source(path.absolute(), host)
    session = clean(source.host.read(source.path).session)
    taken = capture(
        store,
        _siblings(store, session, source),
        workspace=resolve,
        now=now,
        limits=limits,
        final=final,
        ancestors=_parents(store, session, source),
        root_commits=git.root_commits,
        dry_run=dry_run,
        summarise=summarise,
    )
    return _told(taken) | {"damaged": [asdict(each) for each in taken.damaged]}


def check(paths: Sequence[Path], host: str | None, *, transcript: bool = False) -> None:
    """Raise what an import or (with `transcript`) a capture would raise, before anything is made."""
    if host is not None:
        _named(host)
    if len(paths) == 1 and not _is_there(paths[0].expanduser().absolute()):
        raise errors.NoSuchFile(f"{paths[0].expanduser().absolute()} does not exist", "check the path")
    if transcript:
        for path in paths:
            _source(path.absolute(), host)


def _told(taken: Captured) -> Json:
    return {
        "host": taken.host,
        "session": taken.session,
        "status": taken.status,
        "events": taken.events,
        "note": taken.note,
        "bullets": taken.bullets,
        **({"waits": taken.waits} if taken.waits else {}),
    }


@dataclass(frozen=True, slots=True)
class _Run:
    """What the sessions of one import share."""

    store: Store
    resolve: Resolve
    limits: Limits | None
    root_commits: RootCommits
    groups: Mapping[tuple[str, str], _Group]
    summarise: Summarise | None = None


def _by_id(groups: Iterable[_Group]) -> dict[tuple[str, str], _Group]:
    return {(group.session.host, group.session.id): group for group in groups}


def _capture(run: _Run, group: _Group, now: datetime) -> Captured:
    """Capture one session of an import; whatever is wrong with it becomes damage."""
    session = group.session
    if group.known:
        return Captured(group.status or "known", session.host, session.id)
    try:
        taken = _captured(run, group, now)
        while taken.unusable:  # the same material once more; the attempts are counted in the store
            taken = _captured(run, group, now)
    except errors.Refused:
        return Captured("off", session.host, session.id)
    except errors.Busy as problem:
        return Captured("waiting", session.host, session.id, waits=problem.message)
    except (
        errors.NoSuchFile,
        errors.UnreadableFile,
        errors.BadTranscript,
        errors.BadKey,
    ) as problem:
        where = Damage(shown_path(group.files[0].path), 0, redact(problem.message).text)
        return Captured("failed", session.host, session.id, damaged=(where,))
    return taken


def _captured(run: _Run, group: _Group, now: datetime) -> Captured:
    return capture(
        run.store,
        group.files,
        workspace=run.resolve,
        now=now,
        limits=run.limits,
        final=True,
        ancestors=_ancestors(run, group),
        root_commits=run.root_commits,
        summarise=run.summarise,
    )


def _ancestors(run: _Run, group: _Group) -> list[Source]:
    """Give the files of the session that this one was forked from, out of this import or known before."""
    session = group.session
    parent = run.groups.get((session.host, session.parent)) if session.fork else None
    files = {*(parent.files if parent else ()), *_parents(run.store, session, group.files[0])}
    return sorted(files, key=lambda source: str(source.path))


def _parents(store: Store, session: Session, source: Source) -> list[Source]:
    """Find the files of the session that this one was forked from: by its watermark, else beside it."""
    if not session.fork or not session.parent:
        return []
    mark = watermarks.load(store, session.host, session.parent)
    paths = [Path(read.path) for read in mark.files] if mark else []
    beside = f"{session.parent}{source.path.suffix}"
    if not paths and Path(beside).name == beside and "\0" not in beside:
        paths = [source.path.with_name(beside)]
    return [Source(path, source.host) for path in paths if path != source.path and source.host.stamp(path)]


def _siblings(store: Store, session: Session, source: Source) -> list[Source]:
    """Give the session's files that were read before and are still there, and this one."""
    mark = watermarks.load(store, session.host, session.id)
    known = [Path(read.path) for read in mark.files] if mark else []
    paths = [path for path in known if path != source.path and source.host.stamp(path)]
    at = known.index(source.path) if source.path in known else len(paths)
    return [Source(path, source.host) for path in [*paths[:at], source.path, *paths[at:]]]


# --- finding the files ------------------------------------------------------------------------------


def _found(
    paths: Sequence[Path], name: str | None, home: Path, env: Mapping[str, str], damaged: list[Damage]
) -> Iterator[tuple[Path, Host | None]]:
    """Yield the files to look at, each once; those in a host's own place with their host."""
    wanted = _named(name) if name else None
    seen: set[Path] = set()
    for path, own in _given(paths, damaged) if paths else _at_home(wanted, home, env):
        if path not in seen:
            seen.add(path)
            yield path, own or wanted


def _named(name: str) -> Host:
    found = host_named(name)
    if found is None:
        raise errors.BadInput(f"{name!r} is no host that can be read", f"one of: {', '.join(HOSTS)}")
    return found


def _at_home(wanted: Host | None, home: Path, env: Mapping[str, str]) -> Iterator[tuple[Path, Host | None]]:
    for name in HOSTS:
        host = host_named(name)
        if host is not None and (wanted is None or wanted.name == name):
            for path in host.transcripts(home, env):
                yield path, host


def _given(paths: Sequence[Path], damaged: list[Damage]) -> Iterator[tuple[Path, Host | None]]:
    for given in paths:
        path = given.expanduser().absolute()
        if path.is_dir():
            for file in walk(path, depth=_DEPTH):
                if file.suffix.lower() in _SUFFIXES:
                    yield from _sessions(file)
        elif _is_there(path):
            yield from _sessions(path)
        elif len(paths) == 1:
            raise errors.NoSuchFile(f"{path} does not exist", "check the path")
        else:
            damaged.append(Damage(shown_path(path), 0, "does not exist"))


def _is_there(path: Path) -> bool:
    """Say whether there is something at a path, be it a session within a file of many."""
    return path.exists() or any(host.stamp(path) for host in map(host_named, HOSTS) if host is not None)


def _sessions(path: Path) -> Iterator[tuple[Path, Host | None]]:
    """Yield the transcripts in a file: itself, its host told later; of a database each, with its host."""
    host = detect(path) if path.suffix.lower() in _OF_MANY else None
    if host is None:
        yield path, None
    else:
        yield from ((each, host) for each in host.sessions(path))


def _source(path: Path, name: str | None) -> Source:
    host = _named(name) if name else detect(path)
    if host is None:
        _check(path)
        raise errors.BadTranscript(
            f"{path} is no transcript of a known host", f"name the host with --host: {', '.join(HOSTS)}"
        )
    return Source(path, host)


def _check(path: Path) -> None:
    from lamina.hosts.base import check_readable

    check_readable(path)


def _groups(
    store: Store | None, found: Iterable[tuple[Path, Host | None]], damaged: list[Damage]
) -> list[_Group]:
    """Group the files by session, in the order in which the sessions began."""
    read = _read_before(store)
    groups: dict[tuple[str, str], _Group] = {}
    for path, host in found:
        known = read.get(shown_path(path))
        reader = host or (host_named(known[0].host) if known else None)
        unchanged = known is not None and reader is not None and is_same(*known[1:], Source(path, reader))
        try:
            if known is not None and unchanged:
                session, source = _remembered(known[0], path, host)
            else:
                source = Source(path, host) if host else _source(path, None)
                session = clean(source.host.read(path).session)
        except (errors.LaminaError, OSError) as problem:
            message = problem.message if isinstance(problem, errors.LaminaError) else str(problem)
            damaged.append(Damage(shown_path(path), 0, redact(message).text))
            continue
        group = groups.setdefault((session.host, session.id), _Group(session))
        group.sources.append((session.started or _EARLY, source))
        group.known = group.known and unchanged
        group.status = group.status or _status(store, session, known[0] if known else None)
    return sorted(groups.values(), key=lambda group: group.order)


def _read_before(store: Store | None) -> dict[str, tuple[Watermark, watermarks.Read, int]]:
    """Map each file that was read to its session's watermark, its own record and time."""
    found: dict[str, tuple[Watermark, watermarks.Read, int]] = {}
    for mark in watermarks.watermarks(store) if store else ():
        times = known_of(mark).mtimes
        for read, time in zip(mark.files, times, strict=False):
            found[read.path] = (mark, read, time)
    return found


def _remembered(mark: Watermark, path: Path, host: Host | None) -> tuple[Session, Source]:
    adapter = host if host and host.name == mark.host else _named(mark.host)
    return Session(mark.host, mark.session, path=str(path)), Source(path, adapter)


def _status(store: Store | None, session: Session, mark: Watermark | None) -> str:
    """Say why a session will be skipped whatever it holds, "" if that is not known yet."""
    if store is not None:
        return settled(store, session, mark)
    return "subagent" if session.subagent else ""
