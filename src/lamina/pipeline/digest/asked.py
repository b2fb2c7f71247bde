"""A model chooses what the digest keeps; every line of it must stand in the session that it names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
from lamina.pipeline.prompts import grammar, load, one_of
from lamina.pipeline.redact import redact

if TYPE_CHECKING:
    from lamina.pipeline.asking import Asker

Keep = Callable[[str, str, bool], None]
"""Takes a prompt, its reply, and whether nothing in the reply could be used."""

PURPOSE = "digest"
_REPLY_TOKENS = 4096
_LEAST = 4_000  # bytes of one prompt, however small the limit is set
_MOST = 20  # sessions of one prompt
_AROUND = 40  # bytes of the heading of a session
_SHARE = 3  # the items that are kept already take at most this part of a prompt


def asked(asker: Asker, view: View, *, limit: int, keep: Keep | None = None) -> Selection:
    """Ask a model about the new sessions, in prompts of at most `limit` bytes.

    A session that no reply names or that is too long to be shown whole, and every session once no model
    answers, goes by its labelled bullets. `keep` gets each exchange, without secrets, for the log.
    """
    drafts: list[Draft] = []
    told: list[str] = []
    dropped = 0
    limit = max(limit, _LEAST)
    items = list(view.digest.current.values()) if view.digest else []
    grounds = Grounds()
    room = limit // 2 - _AROUND
    left = [session for session in view.new if size_of(session.shown) > room]
    short = [session for session in view.new if size_of(session.shown) <= room]
    for batch in _batches(short, limit, items):
        if told:
            left += batch
            continue
        try:
            prompt = _prompt(batch, items, limit)
            reply = asker.ask(PURPOSE, prompt).reply
        except (errors.NoModelAnswered, errors.CapReached) as problem:
            told.append(f"no model chose: {problem.message}")
            left += batch
            continue
        said = parse_digest_reply(reply.text, cut=reply.cut)
        if keep is not None:
            keep(redact(prompt.whole).text, redact(reply.text).text, not (said.pieces or said.nothing))
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
    kind = piece.kind or (old.kind if old else "")
    if kind in ("decision", "learning") and hedged(text):
        kind = "open"
    return Draft(kind, f"{text} Evidence: `session`", (session.source,), piece.id)


def _batches(sessions: Sequence[Session], limit: int, items: Sequence[Item]) -> Iterator[list[Session]]:
    room = limit - size_of(load(PURPOSE)) - size_of("\n".join(_kept(items, limit).values()))
    batch: list[Session] = []
    size = 0
    for session in sessions:
        needs = size_of(session.shown) + _AROUND
        if batch and (size + needs > room or len(batch) == _MOST):
            yield batch
            batch, size = [], 0
        batch.append(session)
        size += needs
    if batch:
        yield batch


def _prompt(batch: Sequence[Session], items: Sequence[Item], limit: int) -> Prompt:
    shown = _kept(items, limit)
    lines = ["BEGIN", *shown.values()]
    for number, session in enumerate(batch, 1):
        lines += [f"## {number}", f"{session.day.isoformat()}", session.shown]
    held = grammar(
        PURPOSE,
        lines="piece | change | nothing" if shown else "piece | nothing",
        numbers=one_of(tuple(str(number) for number in range(1, len(batch) + 1))),
        ids=one_of(tuple(shown) or ("none",)),
    )
    return Prompt(load(PURPOSE), "\n".join([*lines, "END"]), tokens=_REPLY_TOKENS, grammar=held)


def _kept(items: Sequence[Item], limit: int) -> dict[str, str]:
    """Return the lines of the items that are kept already by id, newest first, as far as there is room."""
    lines: dict[str, str] = {}
    room = limit // _SHARE
    for item in reversed(items):
        line = f"{item.id} ({item.kind}): {redact(item.text).text}"
        room -= size_of(line) + 1
        if room < 0:
            break
        lines[item.id] = line
    return lines
