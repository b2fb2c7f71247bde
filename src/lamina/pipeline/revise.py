"""Changes a person makes to what is stored: edit an entry's text or fields, move it elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lamina.errors import BadInput
from lamina.formats.entry import Entry, with_body, with_field, with_heading
from lamina.formats.slug import heading_of
from lamina.formats.source import USER, render_sources
from lamina.pipeline.redact import redact
from lamina.pipeline.remember import parse_day, parse_importance, parse_volatility

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import date, datetime

    from lamina.formats.scope import Scope
    from lamina.store.store import Store
    from lamina.store.write import Writing, Written

LABELS = {
    "importance": "Importance",
    "until": "Valid-until",
    "volatility": "Volatility",
    "verified": "Verified",
    "trust": "Trust",
}
TRUSTS = ("approved", "candidate")


def edit(
    store: Store,
    id_: str,
    now: datetime,
    *,
    text: str | None = None,
    fields: Mapping[str, str | None],
    dry_run: bool = False,
) -> dict[str, Any]:
    """Change an entry in one write; raises NoEntry."""
    change = revision(text=text, fields=fields, today=now.date())
    with store.writing(label="edit", at=now, dry_run=dry_run) as batch:
        written = batch.change(id_, change)
    return _told(written)


def move(  # noqa: PLR0913 - one for each word of the command
    store: Store,
    id_: str,
    now: datetime,
    *,
    scope: Scope | None = None,
    layer: str | None = None,
    topic: str | None = None,
    dry_run: bool = False,
    register: Callable[[Writing], Scope] | None = None,
) -> dict[str, Any]:
    """Move an entry in one write; raises NoEntry, UnknownLayer and UnknownScope."""
    title = " ".join(redact(topic).text.split()) if topic else None
    with store.writing(label="move", at=now, dry_run=dry_run) as batch:
        if register is not None:
            scope = register(batch)
        written = batch.move(id_, scope=scope, layer=layer, topic=title)
    return _told(written)


def _told(written: Written) -> dict[str, Any]:
    return {"id": written.id, "file": written.rel, "line": written.line}


def revision(*, text: str | None, fields: Mapping[str, str | None], today: date) -> Callable[[Entry], Entry]:
    """Return the change that an edit makes to an entry.

    `fields` may hold heading, importance, until, volatility, verified and trust; an empty value takes
    the field away. A heading made of the text's first words follows a new text. The person becomes one
    of the entry's sources, so that no model overrules it. Raises BadInput for a value that can't be.
    """
    values = {_label(name): _value(name, value, today) for name, value in fields.items() if name != "heading"}
    heading = " ".join(redact(fields["heading"] or "").text.split()) if "heading" in fields else None
    body = None if text is None else redact(text.replace("\r\n", "\n").replace("\r", "\n")).text.strip()
    if body == "" or heading == "":
        raise BadInput("the new text is empty", "`lamina forget ID` takes an entry away")

    def change(entry: Entry) -> Entry:
        for label, value in values.items():
            entry = with_field(entry, label, value)
        title = heading
        if title is None and body is not None and heading_of(entry.body) == entry.heading:
            title = heading_of(body)  # it was the old text's first words: it must not go on saying them
        if title:
            entry = with_heading(entry, title)
        if body is not None:
            entry = with_body(entry, body)
        sources = entry.sources
        if USER not in sources:
            entry = with_field(entry, "Source", render_sources((*sources, USER)))
        return entry

    return change


def _label(name: str) -> str:
    if name not in LABELS:
        raise BadInput(f"{name!r} is not a field that can be edited", f"one of: {', '.join(LABELS)}, heading")
    return LABELS[name]


def _value(name: str, value: str | None, today: date) -> str | None:
    if not value:
        return None
    match name:
        case "importance":
            return str(parse_importance(value))
        case "volatility":
            return parse_volatility(value)
        case "verified" if value == "today":
            return str(today)
        case "trust":
            if value not in TRUSTS:
                raise BadInput(f"trust {value!r} can't be set", f"one of: {', '.join(TRUSTS)}")
            return None if value == "approved" else value
        case _:
            return str(parse_day(value))
