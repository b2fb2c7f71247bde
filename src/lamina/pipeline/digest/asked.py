"""A model chooses what the digest keeps; every line of it must stand in the session that it names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lamina import errors
from lamina.formats.digest import Item
from lamina.formats.digestreply import Piece, parse_digest_reply
from lamina.formats.hashing import knowledge_text
from lamina.formats.lines import fold, size_of
from lamina.models.base import Prompt
from lamina.pipeline.checks.hedges import hedged
from lamina.pipeline.digest.drafts import LONGEST, Draft, Selection, labelled
from lamina.pipeline.digest.grounds import Grounds
from lamina.pipeline.digest.view import Session, View
from lamina.pipeline.prompts import load
from lamina.pipeline.redact import redact

if TYPE_CHECKING:
    from lamina.pipeline.asking import Asker

PURPOSE = "digest"
_REPLY_TOKENS = 4096
_LEAST = 4_000  # bytes of one prompt, however small the limit is set
_MOST = 20  # sessions of one prompt
_SHARE = 3  # the items that are kept already take at most this part of a prompt


def asked(asker: Asker, view: View, *, limit: int) -> Selection:
    """Ask a model about the new sessions, in prompts of at most `limit` bytes.

    A session that no reply names, and every session once no model answers, goes by its labelled bullets.
    """
    drafts: list[Draft] = []
    left: list[Session] = []
    told: list[str] = []
    dropped = 0
    items = list(view.digest.current.values()) if view.digest else []
    grounds = Grounds()
    for batch in _batches(view.new, max(limit, _LEAST), items):
        if told:
            left += batch
            continue
        try:
            reply = asker.ask(PURPOSE, _prompt(batch, items, max(limit, _LEAST))).reply
        except (errors.NoModelAnswered, errors.CapReached) as problem:
            told.append(f"no model chose: {problem.message}")
            left += batch
            continue
        said = parse_digest_reply(reply.text, cut=reply.cut)
        found = [_draft(piece, batch, view, grounds) for piece in said.pieces]
        drafts += [draft for draft in found if draft is not None]
        dropped += found.count(None)
        named = {
            piece.session for piece, draft in zip(said.pieces, found, strict=True) if draft
        } | said.nothing
        left += [session for number, session in enumerate(batch, 1) if number not in named]
    if left:
        drafts += labelled(left).drafts
        told.append(f"{len(left)} sessions were taken by their labels")
    if dropped:
        told.append(f"{dropped} lines of the model did not hold beside their session and were left out")
    order = {session.source: number for number, session in enumerate(view.new)}
    drafts.sort(key=lambda draft: order.get(draft.sources[0], -1))
    return Selection(tuple(drafts), tuple(session.source for session in view.new), tuple(told))


def _draft(piece: Piece, batch: Sequence[Session], view: View, grounds: Grounds) -> Draft | None:
    """Return what a line may become, None for one that does not hold."""
    if not 1 <= piece.session <= len(batch):
        return None
    session = batch[piece.session - 1]
    old = view.digest.current.get(piece.id) if view.digest and piece.id else None
    if piece.id and old is None:
        return None
    text = redact(fold(piece.text)).text
    if not knowledge_text(text) or len(text) > LONGEST or grounds.faults(text, [session.shown]):
        return None
    kind = old.kind if old else piece.kind
    if kind in ("decision", "learning") and hedged(text):
        kind = "open"
    return Draft(kind, f"{text} Evidence: `session`", (session.source,), piece.id)


def _batches(sessions: Sequence[Session], limit: int, items: Sequence[Item]) -> Iterator[list[Session]]:
    room = limit - size_of(load(PURPOSE)) - size_of("\n".join(_kept(items, limit)))
    batch: list[Session] = []
    size = 0
    for session in sessions:
        needs = size_of(session.shown) + 40
        if batch and (size + needs > room or len(batch) == _MOST):
            yield batch
            batch, size = [], 0
        batch.append(session)
        size += needs
    if batch:
        yield batch


def _prompt(batch: Sequence[Session], items: Sequence[Item], limit: int) -> Prompt:
    lines = ["BEGIN", *_kept(items, limit)]
    for number, session in enumerate(batch, 1):
        lines += [f"## {number}", f"{session.day.isoformat()}", _clipped(session.shown, limit // 2)]
    return Prompt(load(PURPOSE), "\n".join([*lines, "END"]), tokens=_REPLY_TOKENS)


def _kept(items: Sequence[Item], limit: int) -> list[str]:
    """Return the lines of the items that are kept already, the newest first, as far as there is room."""
    lines: list[str] = []
    room = limit // _SHARE
    for item in reversed(items):
        line = f"{item.id} ({item.kind}): {redact(item.text).text}"
        room -= size_of(line) + 1
        if room < 0:
            break
        lines.append(line)
    return lines


def _clipped(text: str, limit: int) -> str:
    """Return the end of a text that is longer than `limit` bytes: what was settled last counts."""
    data = text.encode("utf-8", "replace")
    return text if len(data) <= limit else "…" + data[-limit:].decode("utf-8", "ignore")
