"""Turns a note's bullets into drafts of entries: layer, heading, body, trust and provenance. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, date
from typing import NamedTuple

from lamina.errors import LaminaError
from lamina.formats.bullet import Bullet
from lamina.formats.entry import Draft
from lamina.formats.evidence import Evidence, render_evidence
from lamina.formats.note import Note
from lamina.formats.scope import Scope, parse_scope
from lamina.formats.source import SessionRef
from lamina.pipeline.exchanges import terms
from lamina.pipeline.layout import laid_out
from lamina.pipeline.topics import Shelf, titles
from lamina.pipeline.trust import trust_of

LAYER_OF = {
    **dict.fromkeys(("decision", "choice"), "decisions"),
    **dict.fromkeys(
        ("preference", "constraint", "correction", "fix", "lesson", "learning", "rule"), "learnings"
    ),
    **dict.fromkeys(("how-to", "howto", "procedure", "command", "workflow"), "procedural"),
    **dict.fromkeys(("finding", "fact", "environment", "setup", "configuration"), "semantic"),
}
"""Where a label's bullets go (SPEC section 7); all others are episodic."""

_WEIGHTY = frozenset({"preference", "correction", "constraint"})
_VOLATILITY = {"preference": "stable", "status": "volatile"}
_NEARLY = 0.8  # of the words of two bullets of one note: the same thing said twice


class Planned(NamedTuple):
    """A draft and the label of the bullet that it comes from."""

    label: str
    draft: Draft


def drafts(note: Note, shelf: Shelf | None = None, *, own: str = "", review: str = "doubtful") -> list[Draft]:
    """Make the drafts of a note, in its order; `shelf` and `own` are as in `topics.titles`."""
    return [planned.draft for planned in plan(note, shelf or Shelf(), own=own, review=review)]


def plan(note: Note, shelf: Shelf, *, own: str = "", review: str = "doubtful") -> list[Planned]:
    """Make the drafts with their labels; what nearly repeats an earlier bullet is left out.

    `review` says which of them wait for a person, as in `trust.trust_of`.
    """
    scope = scope_of(note)
    bullets = _distinct(note.bullets)
    named = titles(bullets, shelf, project=scope.key or "", own=own)
    return [
        Planned(_plain_label(bullet.label), _draft(note, scope, bullet, topic, review=review))
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
    return plain if plain in LAYER_OF or plain.endswith(("ss", "us")) else plain.removesuffix("s")


def _draft(note: Note, scope: Scope, bullet: Bullet, topic: str, *, review: str) -> Draft:
    layer, label = layer_of(bullet.label), _plain_label(bullet.label)
    day = bullet.day or day_of(note)
    heading, body, reasoned = laid_out(label, bullet.text, day)
    ref = SessionRef(note.host, note.session, bullet.first, bullet.last)
    return Draft(
        heading=heading,
        body=body,
        scope=scope,
        layer=layer,
        topic=topic,
        date=day,
        importance=4 if reasoned or (label in _WEIGHTY and bullet.who == "user") else None,
        source=str(ref),
        evidence=render_evidence(Evidence(bullet.quote, bullet.who)),
        volatility=_VOLATILITY.get(label),
        trust=trust_of(layer=layer, label=label, everywhere=scope.key is None, who=bullet.who, review=review),
        branch=note.branch or None,
    )


def _distinct(bullets: Iterable[Bullet]) -> list[Bullet]:
    """Leave out what nearly repeats an earlier bullet, unless a number or name differs.

    Only bullets that can be alike are compared, so a bullet of a long session costs no more than another.
    """
    kept: list[Bullet] = []
    seen: dict[tuple[frozenset[str], str], list[frozenset[str]]] = {}
    for bullet in bullets:
        if not bullet.text.strip():
            continue
        words = terms(bullet.text)
        places = _places(words)
        if not any(_alike(words, other) for place in places for other in seen.get(place, ())):
            kept.append(bullet)
            for place in places:
                seen.setdefault(place, []).append(words)
    return kept


def _places(words: frozenset[str]) -> list[tuple[frozenset[str], str]]:
    """Give the places of which two alike sets of words share one: their names and numbers, and a word.

    Of two sets that share the part _NEARLY, in any one order of words, the first words meet: as many as a
    set may lack, and one more (prefix filtering, Bayardo, Ma and Srikant 2007). Long words are rarer.
    """
    exact = frozenset(word for word in words if not word.isalpha())
    first = len(words) - math.ceil(_NEARLY * len(words) - 1e-9) + 1
    return [(exact, word) for word in sorted(words, key=lambda word: (-len(word), word))[:first]]


def _alike(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    if any(not word.isalpha() for word in mine ^ theirs):
        return False
    return len(mine & theirs) >= _NEARLY * max(1, len(mine | theirs))
