"""Turns a note's bullets into drafts of entries: layer, heading, body, trust and provenance. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, date
from typing import NamedTuple

from lamina.errors import LaminaError
from lamina.formats.bullet import Bullet
from lamina.formats.decision import Decision, render_decision
from lamina.formats.entry import Draft
from lamina.formats.evidence import Evidence, render_evidence
from lamina.formats.note import Note
from lamina.formats.scope import Scope, parse_scope
from lamina.formats.slug import whole_words
from lamina.formats.source import SessionRef
from lamina.pipeline import cues
from lamina.pipeline.exchanges import joined, terms, unspaced
from lamina.pipeline.statements import sentences
from lamina.pipeline.topics import AGAIN, Known, titles

LAYER_OF = {
    **dict.fromkeys(("decision", "choice"), "decisions"),
    **dict.fromkeys(
        ("preference", "constraint", "correction", "fix", "lesson", "learning", "rule"), "learnings"
    ),
    **dict.fromkeys(("how-to", "howto", "procedure", "command", "workflow"), "procedural"),
    **dict.fromkeys(("finding", "fact", "environment", "setup", "configuration"), "semantic"),
}
"""Where a label's bullets go (SPEC section 7); all others are episodic."""

_IMPORTANCE = {"decision": 4, "preference": 4, "correction": 4, "constraint": 4, "status": 2, "open": 2}
_VOLATILITY = {"preference": "stable", "status": "volatile"}
_HEADING, _LEAST, _SUBJECT = 72, 16, 40
_BREAK = re.compile(
    r"(?P<clean> [—–] |: |：|；|; )|, |，|、| \(|"
    r" (?:because|so that|which|with|when|while|if|and|or|but|weil|und|parce que|et|porque|потому что) "
)
_NEARLY = 0.8  # of the words of two bullets of one note: the same thing said twice


class Planned(NamedTuple):
    """A draft and the label of the bullet that it comes from."""

    label: str
    draft: Draft


def drafts(note: Note, known: Sequence[Known] = (), *, own: str = "") -> list[Draft]:
    """Make the drafts of a note, in its order; `known` and `own` are as in `topics.titles`."""
    return [planned.draft for planned in plan(note, known, own=own)]


def plan(note: Note, known: Sequence[Known] = (), *, own: str = "") -> list[Planned]:
    """Make the drafts with their labels; what nearly repeats an earlier bullet is left out."""
    scope = scope_of(note)
    bullets = _distinct(note.bullets)
    named = titles(bullets, known, project=scope.key or "", own=own)
    return [
        Planned(_plain_label(bullet.label), _draft(note, scope, bullet, topic))
        for bullet, topic in zip(bullets, named, strict=True)
    ]


def scope_of(note: Note) -> Scope:
    """Give the scope a note's entries go to: its workspace, global where it names none that can be one."""
    try:
        return parse_scope(note.workspace)
    except LaminaError:
        return Scope(None)


def day_of(note: Note) -> date:
    """Give the UTC day of a session."""
    moment = note.started or note.captured
    return moment.astimezone(UTC).date() if moment else date.min


def layer_of(label: str) -> str:
    """Give the layer of a label."""
    return LAYER_OF.get(_plain_label(label), "episodic")


def _plain_label(label: str) -> str:
    plain = "-".join(label.casefold().split())
    return plain if plain in LAYER_OF else plain.removesuffix("s")


def _draft(note: Note, scope: Scope, bullet: Bullet, topic: str) -> Draft:
    layer = layer_of(bullet.label)
    head, rest = split(bullet.text)
    ref = SessionRef(note.host, note.session, bullet.first, bullet.last)
    label = _plain_label(bullet.label)
    doubtful = bullet.who != "user" and (layer == "decisions" or label == "preference" or scope.key is None)
    return Draft(
        heading=head,
        body=_decided(head, rest) if layer == "decisions" else rest or bullet.text,
        scope=scope,
        layer=layer,
        topic=topic,
        date=bullet.day or day_of(note),
        importance=_IMPORTANCE.get(label, 3),
        source=str(ref),
        evidence=render_evidence(Evidence(bullet.quote, bullet.who)),
        volatility=_VOLATILITY.get(label),
        trust="candidate" if doubtful else "approved",
    )


def split(text: str) -> tuple[str, str]:
    """Part a bullet's text into a heading and what stands under it.

    The heading is the first sentence, or its first part where that is too long. What the heading
    says whole is not said again; where it had to be cut inside, the body has all.
    """
    subject, again, told = text.partition(AGAIN)
    if again and len(subject) <= _SUBJECT:
        head, rest = _split(told, _HEADING - len(subject))
        return f"{subject}{again}{head}", rest or told
    return _split(text, _HEADING)


def _split(text: str, limit: int) -> tuple[str, str]:
    first = sentences(text)[0] if text.strip() else ""
    rest = text[len(first) :].strip()
    limit = limit // 2 if unspaced(first) else limit
    breaks = [found for found in _BREAK.finditer(first) if _fits(first[: found.start()], limit)]
    clean = [found for found in breaks if found["clean"]]
    if clean and (len(first) > limit or clean[0][0].strip() in ":："):
        tail = first[clean[0].end() :]
        return first[: clean[0].start()], f"{tail[:1].upper()}{tail[1:]} {rest}".strip()
    if len(first) <= limit:
        return first.rstrip(".。:： ") or text, rest
    return (first[: breaks[-1].start()] if breaks else whole_words(first, limit)), text


def _fits(head: str, limit: int) -> bool:
    """Say whether a heading of this length may end here: not inside parentheses or code."""
    return _LEAST <= len(head) <= limit and head.count("(") == head.count(")") and head.count("`") % 2 == 0


def _decided(heading: str, text: str) -> str:
    """Sort a decision's sentences into its sections: reasons, what lost, and what follows."""
    told = sentences(text)
    reasons = [one for one in told if cues.anywhere(cues.REASON).search(one)]
    others = [one for one in told if one not in reasons]
    lost = [found[1] for one in (heading, *told) for found in cues.LOST.finditer(one)]
    return render_decision(
        Decision(
            heading,
            rationale=joined(reasons),
            alternatives=tuple(dict.fromkeys(lost))[:3],
            consequences=joined(others),
        )
    )


def _distinct(bullets: Iterable[Bullet]) -> list[Bullet]:
    """Leave out what nearly repeats an earlier bullet, unless a number or name differs."""
    kept: list[Bullet] = []
    for bullet in bullets:
        if bullet.text.strip() and not any(_alike(bullet.text, one.text) for one in kept):
            kept.append(bullet)
    return kept


def _alike(one: str, other: str) -> bool:
    mine, theirs = terms(one), terms(other)
    differ = mine ^ theirs
    if any(not word.isalpha() for word in differ):
        return False
    return len(mine & theirs) >= _NEARLY * max(1, len(mine | theirs))
