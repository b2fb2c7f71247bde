"""Turns a session's material into bullets with a model, and checks every one of them against the material.

The model chooses what matters and words it. Where it was said, by whom and in which words is found by code;
a bullet that names what the session did not, that rests on nothing in it, that makes a doubt a fact or turns
what was said round, is left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from lamina import errors
from lamina.formats.bullet import Bullet
from lamina.formats.lines import size_of
from lamina.formats.structure import one_line
from lamina.formats.summary import Point, parse_summary
from lamina.models.base import Prompt
from lamina.pipeline.checks.hedges import hedged
from lamina.pipeline.checks.misread import misread
from lamina.pipeline.checks.names import doubts
from lamina.pipeline.checks.opposites import unbound
from lamina.pipeline.checks.parts import least_share
from lamina.pipeline.checks.support import FIRM, LEAST, Passage, passages_of, support
from lamina.pipeline.ground import Shown, inventions
from lamina.pipeline.prompts import grammar, load
from lamina.pipeline.redact import redact
from lamina.pipeline.relevance import Limits, Material, Turn, clip

if TYPE_CHECKING:
    from lamina.formats.event import Session
    from lamina.pipeline.asking import Asker

BEGIN, END = "BEGIN", "END"
_REPLY_TOKENS = 2048
_BULLET_CHARS = 600
_PATH_BYTES = 2_000
_LEAST = 1_000  # bytes of material, however small the limit is set
_SETTLED = frozenset({"decision", "preference", "constraint", "correction", "fix", "rule", "how-to", ""})


@dataclass(frozen=True, slots=True)
class Summary:
    """What a model made of a session's material.

    `usable` is false if its reply said nothing that could be read: the material is kept and asked about once
    more. Without bullets a usable one concludes that nothing is durable. `invented` counts bullets left out
    because they named or settled what the session did not. `prompt` and `reply` are redacted, for the log.
    """

    bullets: tuple[Bullet, ...] = ()
    invented: int = 0
    usable: bool = True
    prompt: str = ""
    reply: str = ""


def summarise(asker: Asker, session: Session, material: Material, limits: Limits) -> Summary:
    """Ask for a session's bullets.

    A reply without text counts as unusable. Raises NoModelAnswered where no model was reached, and
    CapReached.
    """
    prompt = prompt_for(session, material, limits)
    told = redact(prompt.whole).text
    try:
        reply = asker.ask("summarise", prompt, own=f"host/{session.host}").reply
    except errors.NoModelAnswered as silence:
        if silence.replied:
            return Summary(usable=False, prompt=told)
        raise
    said = parse_summary(reply.text, cut=reply.cut)
    passages, grounds, day = passages_of(material), Shown(prompt.text), _day_of(session, material)
    found = [_bullet(point, passages, grounds, day) for point in said.points]
    kept = {bullet.text: bullet for bullet in found if bullet is not None}
    return Summary(
        tuple(kept.values())[: limits.bullets],
        found.count(None),
        usable=bool(kept) or said.nothing,
        prompt=told,
        reply=redact(reply.text).text,
    )


def _bullet(point: Point, passages: list[Passage], grounds: Shown, today: date | None) -> Bullet | None:
    """Give the bullet that a model's point may become, None for one that does not hold."""
    text = clip(redact(point.text).text, _BULLET_CHARS)
    label = "" if inventions(point.label, grounds) else redact(point.label).text
    led = f"{point.day}: {text}" if point.day and point.day != today else text
    found = support(text, passages)
    share = least_share(text, found, passages)
    if found is None or share < LEAST or inventions(led, grounds):
        return None
    said = [each.text for each in passages if found.first <= each.first and each.last <= found.last]
    if misread(text, said):
        return None
    if label in _SETTLED and hedged(text):
        label = "open"
    firm = share >= FIRM and not doubts(text, grounds) and not unbound(text, said)
    quote, who = (found.quote, found.who) if firm else ("", "assistant")  # a bullet that nobody's words carry
    return Bullet(label, text, point.day or today, found.first, found.last, quote, who)


def _day_of(session: Session, material: Material) -> date | None:
    moment = material.ended or session.started
    return moment.astimezone(UTC).date() if moment else None


# --- the prompt -------------------------------------------------------------------------------------


def prompt_for(session: Session, material: Material, limits: Limits) -> Prompt:
    """Write what the model is shown, in at most `limits.bytes` with instructions: the oldest goes first."""
    system = load("summarise").replace("{bullets}", str(limits.bullets))
    room = max(_LEAST, limits.bytes - size_of(system))
    head, tail = [*_head(session, material), BEGIN], [*_paths(material), END]
    room -= size_of("\n".join([*head, *tail]))
    lines = [line for turn in material.turns for line in _lines(turn)]
    while lines and sum(size_of(line) + 1 for line in lines) > room:
        del lines[0]
    held = grammar("summarise", bullets=str(max(1, limits.bullets)))
    return Prompt(system, "\n".join([*head, *lines, *tail]), tokens=_REPLY_TOKENS, grammar=held)


def _head(session: Session, material: Material) -> Iterator[str]:
    yield f"Session of {session.host}{_span(material.started or session.started, material.ended)}"
    if session.title:
        yield f"Title: {one_line(session.title)}"


def _span(start: datetime | None, end: datetime | None) -> str:
    days = list(dict.fromkeys(each.astimezone(UTC).date() for each in (start, end) if each))
    return f", {' to '.join(map(str, days))} (UTC)" if days else ""


def _lines(turn: Turn) -> Iterator[str]:
    if turn.user:
        yield f"PERSON: {one_line(turn.user)}"
    for gist in turn.gists:
        yield f"AGENT: {one_line(gist)}"
    for failure in turn.failures:
        yield f"FAILED: {failure.tool} {failure.command}: {one_line(failure.error)}"
        yield f"FIXED BY: {one_line(failure.fix)}"
    if turn.agreed:
        yield "PERSON: (agrees)"


def _paths(material: Material) -> Iterator[str]:
    shown: list[str] = []
    for path in material.paths:
        if size_of(", ".join([*shown, path])) > _PATH_BYTES:
            break
        shown.append(one_line(path))
    if shown:
        yield f"FILES: {', '.join(shown)}"
