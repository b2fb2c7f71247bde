"""The loop of consolidation with a model: ask about some notes, write what holds, go on with the next.

A call to a model holds no lock of the store, and its reply is written in one batch with the marks of its
notes: killed anywhere, the next run asks about the same notes again and ends with the same store.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from lamina import errors
from lamina.formats.note import Note
from lamina.formats.reply import Reply, parse_reply
from lamina.pipeline.consolidate import Consolidated
from lamina.pipeline.consolidation.filing import Filing
from lamina.pipeline.consolidation.sheet import Bounds, Nearest, Sheet, parts_of, sheet_of
from lamina.pipeline.drafts import day_of
from lamina.pipeline.redact import redact
from lamina.store import exchange, locks, log, notes

if TYPE_CHECKING:
    from lamina.pipeline.asking import Asker
    from lamina.store.store import Store

_WRITES = 3
"""Times that one reply is written before giving up on files that people keep changing."""


def consolidate_with(  # noqa: PLR0913 - the whole of what decides; each has one meaning
    store: Store,
    asker: Asker,
    *,
    now: datetime,
    neighbours: Callable[[], Nearest],
    bounds: Bounds | None = None,
    limit: int | None = None,
    review: Callable[[Note], str] = lambda _: "doubtful",
    wait_s: float = 510.0,
) -> Consolidated:
    """Consolidate waiting notes with a model, the oldest session first, at most `limit`.

    `neighbours` is called before every question, so that it knows what the last reply changed. Stops where no
    model can be asked; `waits` then says why. One process at a time: raises Busy after `wait_s`.
    """
    bounds = bounds or Bounds()
    with locks.lock(store.layout.lock("consolidate"), timeout_s=wait_s):
        done = Consolidated()
        waiting = sorted(
            notes.pending(store), key=lambda each: (day_of(each.note), str(each.note.started), each.name)
        )
        for parts in parts_of(store, waiting[:limit], bounds):
            one = _exchange(store, asker, sheet_of(store, parts, bounds, neighbours()), now, review, bounds)
            done.add(one)
            if done.waits or one.write_failed:
                break  # what the disk refuses now it refuses for the next notes too
    _tell(store, done, now)
    return done


def _exchange(
    store: Store,
    asker: Asker,
    sheet: Sheet,
    now: datetime,
    review: Callable[[Note], str],
    bounds: Bounds,
) -> Consolidated:
    """Ask once and write what holds."""
    calls, tokens, said = 1, 0, ""
    if not any(part.shown.bullets for part in sheet.parts.values()):
        return _write(store, sheet, Reply(done=tuple(sheet.parts)), now, review, bounds)
    try:
        answer = asker.ask("consolidate", sheet.prompt)
    except errors.CapReached as problem:
        return Consolidated(waits=problem.message)
    except errors.NoModelAnswered as problem:
        if not problem.replied:
            return Consolidated(waits=problem.message, calls=calls)
        reply = Reply()
    else:
        said, tokens = answer.reply.text, answer.reply.tokens_in + answer.reply.tokens_out
        reply = parse_reply(said, answer.reply.cut)
    done = _write(store, sheet, reply, now, review, bounds)
    exchange.keep(
        store.layout, "consolidate", prompt=redact(sheet.prompt.whole).text, reply=redact(said).text, at=now,
        failed=not reply.usable,
    )  # fmt: skip
    done.calls, done.tokens, done.parse_failed = calls, tokens, not reply.usable
    return done


def _write(
    store: Store,
    sheet: Sheet,
    reply: Reply,
    now: datetime,
    review: Callable[[Note], str],
    bounds: Bounds,
) -> Consolidated:
    """Write a reply in one batch; where a person saved a file meanwhile, it is read and written anew."""
    problem = errors.LaminaError("")
    for _ in range(_WRITES):
        try:
            with store.writing(label="consolidate", at=now) as batch:
                return Filing(batch, sheet, review=review, attempts=bounds.attempts).file(reply)
        except errors.ChangedMeanwhile as changed:
            problem = changed
        except errors.LaminaError as refused:
            problem = refused
            break
    return Consolidated(write_failed=[problem.message])


def _tell(store: Store, done: Consolidated, now: datetime) -> None:
    if not (done.calls or done.waits):
        return
    log.count(store.layout, {"event:consolidated": done.notes, "event:rejected": sum(done.rejected.values())})
    log.log(
        store.layout, "consolidate", at=now, notes=done.notes, entries=done.entries,
        updated=len(done.updated), superseded=len(done.superseded), known=done.known,
        refused=done.refused, rejected=done.rejected,
        unattributed=done.unattributed, parse_failed=done.parse_failed, write_failed=done.write_failed[:5],
        waits=done.waits,
    )  # fmt: skip
