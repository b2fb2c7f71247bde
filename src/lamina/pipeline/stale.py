"""Stale entries: which ones may no longer hold, and how they are shown to a model beside their proof."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from lamina.formats.entry import Entry
from lamina.formats.freshness import EXPIRED, STALE, Freshness, freshness
from lamina.formats.layers import LAYERS
from lamina.formats.lines import fold, size_of
from lamina.models.base import Prompt
from lamina.pipeline.changes import conflict_of
from lamina.pipeline.filters import IN_FORCE
from lamina.pipeline.prompts import load
from lamina.pipeline.redact import redact

if TYPE_CHECKING:
    from datetime import date

    from lamina.store.store import Located, Store

PURPOSE = "refresh"
NO_PROOF = "no evidence found"
TEXT_BYTES = 4_000
"""How much of one entry's text is shown."""

_LEAST_BYTES = 4_000
_OPEN, _CLOSE = "BEGIN\n", "\nEND"


class Stale(NamedTuple):
    """An entry that may no longer hold, with what its repository says."""

    located: Located
    grade: Freshness
    proof: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The entry's id."""
        return self.located.entry.id


def stale(store: Store, now: datetime) -> list[Stale]:
    """List what is stale or expired and in force, verified longest ago first.

    History tells what happened, which stays true. Left out as well: what has no id yet, what was learnt on an
    unmerged branch, what was confirmed since it expired, and what a person has to decide about already.
    """
    found, disputed = [], set()
    today = now.astimezone(UTC).date()
    for located in _in_force(store):
        entry = located.entry
        disputed.add(conflict_of(entry.body))
        grade = _grade(entry, today)
        confirmed = entry.verified and entry.valid_until and entry.verified > entry.valid_until
        if grade.grade in (STALE, EXPIRED) and not (confirmed and grade.grade == EXPIRED):
            found.append(Stale(located, grade))
    open_ = [each for each in found if each.id not in disputed and not conflict_of(_body(each))]
    return sorted(open_, key=lambda each: (_since(each.located.entry), each.id))


def _in_force(store: Store) -> Iterator[Located]:
    layers = [name for name, layer in LAYERS.items() if layer.many and name != "history"]
    for scope in store.scopes():
        for layer in layers:
            if scope.key is not None or not LAYERS[layer].workspace_only:
                for located in store.entries(scope, layer):
                    entry = located.entry
                    if entry.id and entry.trust in IN_FORCE and not entry.branch:
                        yield located


def _grade(entry: Entry, today: date) -> Freshness:
    text = f"{entry.heading}\n{entry.body}"
    return freshness(entry.date, entry.verified, entry.valid_until, entry.volatility, text, today)


def _since(entry: Entry) -> str:
    return str(entry.verified or entry.date or "")


def _body(each: Stale) -> str:
    return each.located.entry.body


def groups(some: Sequence[Stale], most: int) -> Iterator[list[Stale]]:
    """Cut into groups whose prompt is at most `most` bytes."""
    room = max(_LEAST_BYTES, most - size_of(load(PURPOSE)) - size_of(_OPEN + _CLOSE))
    group: list[Stale] = []
    used = 0
    for each in some:
        size = size_of(_block(each)) + 2
        if group and used + size > room:
            yield group
            group, used = [], 0
        group.append(each)
        used += size
    if group:
        yield group


# --- the prompt -------------------------------------------------------------------------------------


def prompt_for(group: Sequence[Stale]) -> Prompt:
    """Write what the model is shown: each entry's text and age, then its evidence or that there is none."""
    shown = "\n\n".join(_block(each) for each in group)
    return Prompt(load(PURPOSE), f"{_OPEN}{shown}{_CLOSE}")


def _block(each: Stale) -> str:
    """Show one entry; each line of what others wrote stands behind a mark, so that it is none of its own."""
    age = "" if each.grade.age_days is None else f", not confirmed for {each.grade.age_days} days"
    text = shown_text(each.located.entry).splitlines()
    lines = [f"## {each.id}", *(f"> {fold(line)}".rstrip() for line in text)]
    lines += [f"{each.grade.grade}{age}", ""]
    return "\n".join([*lines, *([f"- {_told(line)}" for line in each.proof] or [NO_PROOF])])


def _told(line: str) -> str:
    """Show a line of proof: a file is called one, since its name may begin like an answer."""
    line = fold(line)
    return line if line.startswith("commit ") else f"file {line}"


def shown_text(entry: Entry) -> str:
    """Return an entry's text as the model sees it, at most 4,000 bytes."""
    text = entry.body if entry.body.startswith(entry.heading) else f"{entry.heading}\n{entry.body}".strip()
    clean = redact(text).text.encode("utf-8", "replace")
    return clean[:TEXT_BYTES].decode("utf-8", "ignore")
