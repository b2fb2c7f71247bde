"""Direct writes: one memory given by a person or an agent, stored as it was said."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from lamina.errors import BadInput, UnknownScope
from lamina.formats.block import UNTITLED
from lamina.formats.decision import Decision, render_decision
from lamina.formats.entry import IMPORTANCE_WORDS, VOLATILITIES, Draft
from lamina.formats.hashing import entry_hash
from lamina.formats.layers import layer_named
from lamina.formats.slug import heading_of, topic_slug
from lamina.pipeline.filters import IN_FORCE
from lamina.pipeline.redact import redact
from lamina.store.tombstones import Graves, refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lamina.formats.scope import Scope
    from lamina.store.store import Located, Store
    from lamina.store.write import Writing

ENDINGS = " .,;:!?…。！？"
"""What ends a sentence and no topic's name."""


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


def entry_draft(  # noqa: PLR0913 - one for each word of the command
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
        raise BadInput(f"{kind.name} holds no entries", _elsewhere(kind.name))
    if kind.workspace_only and scope.key is None:
        raise UnknownScope(f"{kind.name} belongs to a workspace", "go to its folder, or give --workspace KEY")
    body = _clean(text)
    if not body:
        raise BadInput("there is no text to store", "nothing is left once private and secret text is out")
    title = _line(heading) or heading_of(body) or UNTITLED
    return Draft(
        heading=title,
        body=body,
        scope=scope,
        layer=kind.name,
        topic=_line(topic) or title.rstrip(ENDINGS) or title,
        date=today,
        importance=parse_importance(importance),
        source=_line(source) or "user",
        volatility=parse_volatility(volatility),
        valid_until=parse_day(until),
    )


def decision_draft(
    said: Decision,
    *,
    scope: Scope,
    today: date,
    topic: str | None = None,
    importance: str | int = 3,
    source: str | None = None,
) -> Draft:
    """Make a draft of a settled choice; `said.heading` is the choice in words, however long.

    What does not fit into the heading opens the context, so that nothing of it is lost.
    """
    draft = entry_draft(
        said.heading,
        scope=scope,
        today=today,
        layer="decisions",
        topic=topic,
        importance=importance,
        source=source,
    )
    if not _clean(said.rationale):
        raise BadInput("a decision wants its reason", "say why it won: --rationale TEXT")
    context = _clean(said.context)
    if draft.body != draft.heading:
        context = f"{draft.body}\n\n{context}".strip()
    clean = Decision(
        heading=draft.heading,
        context=context,
        rationale=_clean(said.rationale),
        alternatives=tuple(text for text in map(_clean, said.alternatives) if text),
        consequences=_clean(said.consequences),
    )
    return replace(draft, body=render_decision(clean))


def codebase_draft(
    topic: str,
    text: str,
    *,
    scope: Scope,
    today: date,
    importance: str | int = 3,
    source: str | None = None,
) -> Draft:
    """Make a draft that describes a path or a subsystem and replaces what described it before."""
    if not _line(topic):
        raise BadInput("a description wants its topic", "name the path or the subsystem")
    draft = entry_draft(
        text, scope=scope, today=today, layer="codebase", topic=topic, importance=importance, source=source
    )
    return replace(draft, replaces=True)


def store_draft(  # noqa: PLR0913 - one for each word of the command
    store: Store,
    draft: Draft,
    now: datetime,
    *,
    label: str = "remember",
    dry_run: bool = False,
    register: Callable[[Writing], Scope] | None = None,
    similar: Callable[[Draft], Sequence[str]] = lambda _: (),
) -> Outcome:
    """Write a draft, unless the same content is there or was forgotten.

    `known` is answered only for an equal normalised hash in the same scope. `register` makes the
    workspace known in the same batch and may give the scope another key.
    """
    near = tuple(similar(draft))
    try:
        with store.writing(label=label, at=now, dry_run=dry_run) as batch:
            if register is not None:
                draft = replace(draft, scope=register(batch))
            _check(store, draft)
            written = batch.add(draft)
    except _Settled as settled:
        return replace(settled.outcome, similar=tuple(id_ for id_ in near if id_ != settled.outcome.id))
    return Outcome(written.id, written.rel, written.line, "written", similar=near)


class _Settled(Exception):
    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.status)
        self.outcome = outcome


def _check(store: Store, draft: Draft) -> None:
    """End the write if the content was forgotten or is there already."""
    refusal = Graves.load(store, draft.scope).refusal(draft.heading, draft.body)
    if refusal is not None:
        why = refuse(refusal)
        raise _Settled(Outcome(refusal.id, "", 0, "refused", f"{why.message} ({why.hint})"))
    hash_ = entry_hash(draft.heading, draft.body)
    for located in _holders(store, draft.scope, hash_):
        if located.entry.trust in IN_FORCE and _is_same_kind(located, draft):
            raise _Settled(Outcome(located.entry.id, located.rel, located.entry.line, "known"))


def _holders(store: Store, scope: Scope, hash_: str) -> Iterator[Located]:
    """Yield the entries of a scope with this content, those without an id too."""
    ids = store.with_hash(scope, hash_)
    for id_ in filter(None, ids):
        located = store.find(id_)
        if located is not None:
            yield located
    if "" in ids:
        yield from (
            each for each in store.entries(scope) if not each.entry.id and each.entry.content_hash == hash_
        )


def _is_same_kind(located: Located, draft: Draft) -> bool:
    """Tell whether knowing the entry makes the draft needless: a description of another path does not."""
    return not draft.replaces or (
        located.layer == draft.layer and topic_slug(located.topic) == topic_slug(draft.topic)
    )


def _elsewhere(layer: str) -> str:
    return "it is kept by hand" if layer == "junk" else f"`lamina {layer} SECTION TEXT` writes it"


def _clean(text: str) -> str:
    """Return a text with one kind of line end and without secrets."""
    return redact(text.replace("\r\n", "\n").replace("\r", "\n")).text.strip()


def _line(text: str | None) -> str:
    """Return a text that stands on one line, without secrets."""
    return " ".join(redact(text).text.split()) if text else ""


def parse_importance(value: str | int) -> int:
    """Parse 1 to 5 or low, normal, high."""
    text = str(value).strip().lower()
    number = IMPORTANCE_WORDS.get(text) or (int(text) if text.isascii() and text.isdigit() else 0)
    if not 1 <= number <= 5:
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
