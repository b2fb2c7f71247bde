"""Direct writes: one memory given by a person or an agent, stored as it was said."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from lamina.errors import BadInput, UnknownScope
from lamina.formats.decision import Decision, render_decision
from lamina.formats.entry import Draft
from lamina.formats.hashing import entry_hash
from lamina.formats.layers import layer_named
from lamina.formats.slug import heading_of
from lamina.pipeline.redact import redact
from lamina.store.tombstones import Graves, refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lamina.formats.scope import Scope
    from lamina.store.store import Store
    from lamina.store.write import Writing

IMPORTANCE = {"low": 2, "normal": 3, "high": 5}
VOLATILITIES = ("stable", "normal", "volatile")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one write: `written`, `known` (equal content is there) or `refused` with a reason.

    `file` is relative to the store; `similar` names entries that say nearly the same.
    """

    id: str
    file: str
    line: int
    status: str
    reason: str = ""
    similar: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the outcome in the shape that programs rely on."""
        value = asdict(self) | {"similar": list(self.similar)}
        if not self.reason:
            del value["reason"]
        return value


def entry_draft(
    text: str,
    *,
    scope: Scope,
    today: date,
    layer: str = "semantic",
    topic: str | None = None,
    heading: str | None = None,
    importance: str | int = 3,
    source: str | None = None,
    until: str | None = None,
    volatility: str | None = None,
) -> Draft:
    """Make a draft of what was said, with secrets replaced; raises UsageError for fields that can't be."""
    kind = layer_named(layer)
    if not kind.many:
        raise BadInput(f"{kind.name} holds no entries", f"`lamina {kind.name}` writes it")
    if kind.workspace_only and scope.key is None:
        raise UnknownScope(f"{kind.name} belongs to a workspace", "go to its folder, or give --workspace KEY")
    body = redact(text.replace("\r\n", "\n").strip()).text
    if not body:
        raise BadInput("there is no text to store", "nothing is left once private and secret text is out")
    title = redact(heading).text if heading else heading_of(body)
    return Draft(
        heading=title,
        body=body,
        scope=scope,
        layer=kind.name,
        topic=redact(topic or title).text,
        date=today,
        importance=parse_importance(importance),
        source=redact(source or "user").text,
        volatility=parse_volatility(volatility),
        valid_until=parse_day(until),
    )


def decision_draft(decision: Decision, draft: Draft, topic: str | None) -> Draft:
    """Return `draft` (of the decision's sentence) with the fixed sections of a decision as its body."""
    clean = Decision(
        heading=draft.heading,
        context=redact(decision.context).text,
        rationale=redact(decision.rationale).text,
        alternatives=tuple(redact(item).text for item in decision.alternatives),
        consequences=redact(decision.consequences).text,
    )
    return replace(draft, layer="decisions", topic=topic or draft.heading, body=render_decision(clean))


def store_draft(
    store: Store,
    draft: Draft,
    now: datetime,
    *,
    label: str = "remember",
    dry_run: bool = False,
    register: Callable[[Writing], object] | None = None,
    similar: Callable[[Draft], Sequence[str]] = lambda draft: (),
) -> Outcome:
    """Write a draft, unless the same content is there or was forgotten.

    `known` is answered only for an equal normalised hash in the same scope. `register` makes the
    workspace known in the same batch.
    """
    hash_ = entry_hash(draft.heading, draft.body)
    near = tuple(similar(draft))
    with store.writing(label=label, at=now, dry_run=dry_run) as batch:
        refusal = Graves.load(store, draft.scope).refusal(draft.heading, draft.body)
        if refusal is not None:
            why = refuse(refusal)
            return Outcome(refusal.id, "", 0, "refused", f"{why.message} ({why.hint})", near)
        for id_ in store.with_hash(draft.scope, hash_):
            located = store.find(id_)
            if located is not None and located.entry.trust in ("approved", "candidate"):
                return Outcome(id_, located.rel, located.entry.line, "known", similar=near)
        if register is not None:
            register(batch)
        written = batch.add(draft)
    return Outcome(written.id, written.rel, written.line, "written", similar=near)


def parse_importance(value: str | int) -> int:
    """Parse 1 to 5 or low, normal, high."""
    text = str(value).strip().lower()
    number = IMPORTANCE.get(text) or (int(text) if text.isascii() and text.isdigit() else 0)
    if not 1 <= number <= 5:  # noqa: PLR2004 - the scale of the format
        raise BadInput(f"importance {value!r} is not on the scale", "1 to 5, or low, normal, high")
    return number


def parse_volatility(value: str | None) -> str | None:
    """Check a volatility's name."""
    if value and value not in VOLATILITIES:
        raise BadInput(f"volatility {value!r} is unknown", f"one of: {', '.join(VOLATILITIES)}")
    return value or None


def parse_day(value: str | date | None) -> date | None:
    """Parse a UTC day written YYYY-MM-DD."""
    if not value or isinstance(value, date):
        return value or None
    try:
        return date.fromisoformat(value.strip())
    except ValueError:
        raise BadInput(f"{value!r} is not a day", "write it as YYYY-MM-DD") from None
