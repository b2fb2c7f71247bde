"""Turns what is new in a session into sections of its note, and moves its watermark, in one batch.

Nothing of the transcript is kept but bullets; everything that is written was redacted first.
A pass reads the new lines only, and one that finds nothing to write leaves no trace, so it may
run as often as a host likes and be killed at any moment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from lamina import errors
from lamina.formats.event import CHILD_MARK, Author, Damage, Event, Kind, Session
from lamina.formats.note import Note, Section, note_name, parse_note
from lamina.formats.remote import normalise
from lamina.pipeline.branches import staging
from lamina.pipeline.bullets import bullets
from lamina.pipeline.ground import Shown, inventions
from lamina.pipeline.redact import redact
from lamina.pipeline.relevance import Limits, Material, collect, shown
from lamina.pipeline.tracks import Reader, Source, known_of, locate
from lamina.store import log, notes, watermarks, workspaces
from lamina.store.identity import RootCommits, Workspace
from lamina.store.store import Store
from lamina.store.watermarks import Watermark
from lamina.store.write import Writing

__all__ = ["CHILD_MARK", "Captured", "Source", "capture", "locate"]

_MARKED = re.compile(r"(?m)^\W*LAMINA_CHILD(?:\s?[=:]\s?\w+)?\W*$")
_PROMPTS = 40  # events in which the first prompt is looked for
_TRIES = 5
_TURNS = 8
_SETTLED = frozenset({"own", "subagent"})


@dataclass(frozen=True, slots=True)
class Captured:
    """What a pass over one session did.

    `status`: `captured`; `thin` (too little yet: nothing moved); `trivial`, `empty` (nothing worth a note);
    `known` (nothing new); `subagent`, `own` (never captured). `note` is its path in the store.
    `invented` counts bullets that named something the session did not.
    """

    status: str
    host: str
    session: str
    events: int = 0
    note: str | None = None
    bullets: int = 0
    invented: int = 0
    damaged: tuple[Damage, ...] = ()


@dataclass(slots=True)
class _Pass:
    """What one reading of the new events came to."""

    sections: list[Section] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    tool_calls: int = 0
    signal: int = 0
    invented: int = 0
    trivial: bool = True


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a pass wants written, and the watermark it started from."""

    session: Session
    before: Watermark | None
    after: Watermark
    done: _Pass
    workspace: Workspace | None


def capture(  # noqa: PLR0913 - the whole of what decides; each has one meaning
    store: Store,
    sources: Sequence[Source],
    *,
    workspace: Callable[[Session], Workspace],
    now: datetime,
    limits: Limits | None = None,
    final: bool = False,
    ancestors: Sequence[Source] = (),
    root_commits: RootCommits = lambda _: (),
    dry_run: bool = False,
) -> Captured:
    """Capture what is new in one session, whose files `sources` are in the order of their beginning.

    `workspace` is asked only if there is something to write. `ancestors` are the files of the sessions
    that it was forked from: what it copied from them stays theirs. With `final` the session has ended,
    so what is still thin is kept. If another process captures the same session meanwhile, reading starts
    again. Raises NoSuchFile or UnreadableFile if no file can be opened, Busy, and what `workspace` raises.
    """
    session = clean(sources[0].host.read(sources[0].path).session)
    for _ in range(_TRIES):
        mark = watermarks.load(store, session.host, session.id)
        reader = Reader(list(sources), mark, list(ancestors), after=-1 if mark else _noted(store, session))
        done = _Pass()
        status = settled(store, session, mark)
        status = status or _read(reader, session, done, _Bounds(limits or Limits(), store.root, now))
        if status == "captured" and done.signal < (limits or Limits()).signal and not final:
            status = "thin"
        if status in _SETTLED:
            reader.pass_over()
        result = _result(session, status, reader, done)
        after = reader.watermark(
            session, status if status != "known" or not mark else known_of(mark).status, now
        )
        if dry_run or not _moves(status, mark, after, final=final):
            break
        bound = workspace(session) if done.sections else None
        rel = _write(store, _Plan(session, mark, after, done, bound), now, root_commits)
        if rel is not None:
            result = replace(result, note=rel or None)
            break
    else:
        raise errors.Busy(
            f"{session.host} session {session.id} is being captured by another process", "try again later"
        )
    if not dry_run:
        _tell(store, result, now)
    return result


def _result(session: Session, status: str, reader: Reader, done: _Pass) -> Captured:
    return Captured(
        status,
        session.host,
        session.id,
        reader.count,
        bullets=sum(len(section.bullets) for section in done.sections),
        invented=done.invented,
        damaged=tuple(reader.damaged),
    )


def _moves(status: str, mark: Watermark | None, after: Watermark, *, final: bool) -> bool:
    """Say whether a pass changes anything on disk."""
    if status == "captured":
        return True
    if status in _SETTLED:
        return mark is None or known_of(mark).status != status
    return final and (mark is None or replace(after, captured=mark.captured) != mark)


def clean(session: Session) -> Session:
    """Redact what a session's head says; an id that holds a secret becomes its hash."""
    id_ = session.id
    if redact(id_).counts:
        id_ = f"redacted-{sha256(id_.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
    remote = normalise(session.remote)  # without user and password
    return replace(
        session,
        id=id_ or "unnamed",
        path=redact(session.path).text,
        cwd=redact(session.cwd).text,
        branch=redact(session.branch).text,
        title=redact(session.title).text,
        remote="" if redact(remote).counts else remote,
    )


def settled(store: Store, session: Session, mark: Watermark | None) -> str:
    """Say why a session is never captured, as far as its head and its watermark tell: "" if it may be."""
    if session.subagent:
        return "subagent"
    if mark is not None and known_of(mark).status in _SETTLED:
        return known_of(mark).status
    return "own" if session.cwd and _inside(session.cwd, store.root) else ""


def _inside(folder: str, root: Path) -> bool:
    try:
        real, home = Path(folder).resolve(), root.resolve()
    except (OSError, ValueError, RuntimeError):
        return False
    return real == home or home in real.parents or Path(folder) == root or root in Path(folder).parents


def _noted(store: Store, session: Session) -> int:
    """Give the last record that a session's note knows of: what is left of a lost watermark."""
    try:
        found = notes.load(store, note_name(session.host, session.id))
    except errors.LaminaError:
        return -1
    return found.note.last if found else -1


class _Bounds(NamedTuple):
    limits: Limits
    root: Path
    now: datetime


def _read(reader: Reader, session: Session, done: _Pass, bounds: _Bounds) -> str:
    """Summarise the new events window by window; returns the status, but for thin."""
    events = reader.events()
    if reader.mark is None:
        head: list[Event] = []
        for event in events:
            head.append(event)
            if event.kind is Kind.USER or len(head) >= _PROMPTS:
                break
        if any(_is_prompt(event) and _MARKED.search(event.text[:20_000]) for event in head):
            return "own"
        events = chain(head, events)
    hidden = (str(bounds.root), str(bounds.root.resolve()))
    for window in collect(session, events, _small(bounds.limits), hidden=hidden):
        _take(done, window, session, bounds)
    if not reader.count:
        return "known" if reader.mark or reader.after >= 0 else "empty"
    return "trivial" if done.trivial else "captured"


def _small(limits: Limits) -> Limits:
    """Narrow the windows to what twelve bullets can hold: an exchange gives one or two."""
    return replace(limits, user_turns=min(limits.user_turns, _TURNS), gists=min(limits.gists, 3 * _TURNS))


def _is_prompt(event: Event) -> bool:
    return event.kind is Kind.USER or event.author is Author.HOST


def _take(done: _Pass, window: Material, session: Session, bounds: _Bounds) -> None:
    done.tool_calls += window.tool_calls
    done.paths += window.paths
    done.signal += window.signal_chars
    done.trivial = done.trivial and window.trivial
    if window.trivial:
        return
    at = window.ended or session.started or bounds.now
    grounds = Shown(shown(window))
    kept = []
    for bullet in bullets(window, at.date(), bounds.limits):
        if inventions(bullet.text, grounds):
            done.invented += 1
        else:
            kept.append(bullet)
    if kept:
        done.sections.append(Section(at, tuple(kept), window.first, window.last))


def _write(store: Store, plan: _Plan, now: datetime, root_commits: RootCommits) -> str | None:
    """Write note and watermark together: the note's path, "" without one, None if someone was faster."""
    session, done = plan.session, plan.done
    with store.writing(label="capture", at=now) as batch:
        if watermarks.load(store, session.host, session.id) != plan.before:
            return None
        workspace = plan.workspace
        if workspace is not None:
            workspace = workspaces.register(batch, workspace, root_commits=root_commits)
        note = _note(batch, session, workspace)
        if done.sections and not note.sections:
            note = replace(note, first=done.sections[0].first)
        for section in done.sections:
            note = note.adding(section)
        rel = notes.save(batch, _headed(note, plan, now)) if note.sections else ""
        watermarks.save(batch, plan.after)
    return rel


def _headed(note: Note, plan: _Plan, now: datetime) -> Note:
    """Bring a note's header up to date; one with something new waits for consolidation again."""
    done = plan.done
    return replace(
        note,
        last=max(note.last, plan.after.last),
        captured=now if done.sections else note.captured,
        consolidated=None if done.sections else note.consolidated,
        tool_calls=note.tool_calls + done.tool_calls,
        paths=tuple(dict.fromkeys((*note.paths, *done.paths)))[: Limits().paths],
    )


def _note(batch: Writing, session: Session, workspace: Workspace | None) -> Note:
    """Give the session's note as it stands, or a new one."""
    name = note_name(session.host, session.id)
    text = batch.text(f"digests/{name}.md")
    if text is not None:
        return parse_note(text)
    scope = workspace.scope.name if workspace else ""
    branch = staging(workspace, session.branch) if workspace else ""
    return Note(session.id, session.host, scope, session.cwd, started=session.started, branch=branch)


def _tell(store: Store, result: Captured, now: datetime) -> None:
    """Log and count what a pass came to."""
    if result.status in {"known", "empty"} and not result.damaged:
        return
    counters = {f"event:{result.status}": 1, "event:read": result.events}
    if result.status in {"thin", "trivial"}:
        counters[result.status] = 1
    if result.invented:
        counters["event:invented"] = result.invented
    log.count(store.layout, counters)
    log.log(
        store.layout, "capture", at=now, host=result.host, session=result.session, status=result.status,
        events=result.events, bullets=result.bullets, invented=result.invented, damaged=len(result.damaged),
    )  # fmt: skip
