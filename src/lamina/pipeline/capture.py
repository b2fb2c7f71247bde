"""Turns what is new in a session into sections of its note, and moves its watermark, in one batch.

Nothing of the transcript is kept but bullets; everything that is written was redacted first.
A pass reads the new lines only, and one that finds nothing to write leaves no trace, so it may
run as often as a host likes and be killed at any moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from zlib import crc32

from lamina import errors
from lamina.formats.event import CHILD_MARK, Damage, Session
from lamina.formats.note import Note, note_name, parse_note
from lamina.formats.remote import normalise
from lamina.pipeline.branches import staging
from lamina.pipeline.passes import Bounds, Pass, Summarise, conclude, read
from lamina.pipeline.redact import redact
from lamina.pipeline.relevance import Limits
from lamina.pipeline.tracks import Reader, Source, known_of, locate
from lamina.store import attempts, locks, log, notes, pause, watermarks, workspaces
from lamina.store.identity import RootCommits, Workspace
from lamina.store.store import Store
from lamina.store.watermarks import Watermark
from lamina.store.write import Writing

__all__ = ["CHILD_MARK", "Captured", "Source", "capture", "locate"]

_TRIES = 5
_LOCKS = 256  # shared by all sessions, so that their files don't pile up
WAIT_S = 510.0
"""Seconds to wait for another process that asks about the same session: four models of two minutes each."""
_SETTLED = frozenset({"own", "subagent"})


@dataclass(frozen=True, slots=True)
class Captured:
    """What a pass over one session did.

    `status`: `captured`; `thin` (too little yet: nothing moved); `trivial`, `empty` (nothing worth a note);
    `known` (nothing new); `subagent`, `own` (never captured). `note` is its path in the store.
    `waiting` (for a model: nothing moved, `waits` says why); `nothing` (a model found nothing durable).
    `invented` counts bullets that named something the session did not. `asked` says that a model was,
    `unusable` that it will be once more, because its reply said nothing, `needs_review` that the note was
    made without it after that.
    """

    status: str
    host: str
    session: str
    events: int = 0
    note: str | None = None
    bullets: int = 0
    invented: int = 0
    damaged: tuple[Damage, ...] = ()
    waits: str = ""
    asked: bool = False
    unusable: bool = False
    needs_review: bool = False


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a pass wants written, and the watermark it started from."""

    status: str
    session: Session
    before: Watermark | None
    after: Watermark
    done: Pass
    workspace: Workspace | None
    replies: int = 0
    """Useless replies about this material: kept with `waiting`, and the reason for a person's review."""


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
    summarise: Summarise | None = None,
    wait_s: float = WAIT_S,
) -> Captured:
    """Capture what is new in one session, whose files `sources` are in the order of their beginning.

    `workspace` is asked before anything is written or shown to a model. `ancestors` are the files of the
    sessions that it was forked from: what it copied from them stays theirs. With `final` the session has
    ended, so what is still thin is kept. `summarise` lets a model make the bullets; a dry run never asks it.
    If another process captures the same session meanwhile, reading starts again. Raises NoSuchFile or
    UnreadableFile if no file can be opened, Busy, and what `workspace` raises.
    """
    session = clean(sources[0].host.read(sources[0].path).session)
    asks = None if dry_run else summarise
    bounds = Bounds(limits or Limits(), store.root, now, asks, wait_s, pause.silences(store.root))
    with _alone(store, session, bounds):
        for _ in range(_TRIES):
            mark = watermarks.load(store, session.host, session.id)
            after = -1 if mark else _noted(store, session)
            reader = Reader(list(sources), mark, list(ancestors), after=after)
            plan = _plan(store, session, reader, bounds, workspace=workspace, final=final)
            result = _result(plan, reader)
            if dry_run or not _moves(plan, final=final):
                break
            rel = _write(store, plan, now, root_commits)
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


@contextmanager
def _alone(store: Store, session: Session, bounds: Bounds) -> Iterator[None]:
    """Let one process at a time ask a model about a session: two would pay for the same summary."""
    if bounds.summarise is None:
        yield
        return
    place = crc32(note_name(session.host, session.id).encode()) % _LOCKS
    with locks.lock(store.layout.lock(f"capture-{place}"), timeout_s=bounds.wait_s):
        yield


def _plan(
    store: Store,
    session: Session,
    reader: Reader,
    bounds: Bounds,
    *,
    workspace: Callable[[Session], Workspace],
    final: bool,
) -> _Plan:
    """Read what is new and say what is to be written."""
    mark, done, bound, replies = reader.mark, Pass(), None, 0
    status = settled(store, session, mark)
    status = status or read(reader, session, done, bounds)
    thin = done.signal < bounds.limits.signal
    if status == "captured" and thin and not final:
        status = "thin"
    if status == "captured":
        if bounds.summarise is not None and not thin:
            bound = workspace(session)  # may refuse: then nothing is shown to a model either
        status = conclude(done, session, bounds, by_hand=thin)
        if done.unusable:
            replies = 1 + attempts.load(store, note_name(session.host, session.id), _start(mark))
            if replies >= max(1, bounds.limits.attempts):
                status = conclude(done, session, bounds, by_hand=True)
    if status in _SETTLED:
        reader.pass_over()
    bound = bound or (workspace(session) if done.sections and status != "waiting" else None)
    said = status if status != "known" or not mark else known_of(mark).status
    return _Plan(status, session, mark, reader.watermark(session, said, bounds.now), done, bound, replies)


def _start(mark: Watermark | None) -> int:
    return mark.last if mark else -1


def _result(plan: _Plan, reader: Reader) -> Captured:
    status, session, done = plan.status, plan.session, plan.done
    return Captured(
        status,
        session.host,
        session.id,
        reader.count,
        bullets=sum(len(section.bullets) for section in done.sections),
        invented=done.invented,
        damaged=tuple(reader.damaged),
        waits=done.waits if status == "waiting" else "",
        asked=done.asked,
        unusable=done.unusable and status == "waiting",
        needs_review=plan.replies > 0 and status == "captured",
    )


def _moves(plan: _Plan, *, final: bool) -> bool:
    """Say whether a pass changes anything on disk."""
    status, mark, after = plan.status, plan.before, plan.after
    if status in {"captured", "nothing"}:
        return True
    if status == "waiting":
        return plan.replies > 0
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


def _write(store: Store, plan: _Plan, now: datetime, root_commits: RootCommits) -> str | None:
    """Write note and watermark together: the note's path, "" without one, None if someone was faster."""
    session, done = plan.session, plan.done
    with store.writing(label="capture", at=now) as batch:
        if watermarks.load(store, session.host, session.id) != plan.before:
            return None
        name, waits = note_name(session.host, session.id), plan.status == "waiting"
        attempts.save(batch, name, _start(plan.before), plan.replies if waits else 0)
        if waits:
            return ""
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
        attempts=plan.replies if done.sections else note.attempts,  # what is new is tried anew
        needs_review=bool(plan.replies) or (note.needs_review and not done.sections),
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
