"""Changes a person makes to what is stored: edit an entry's text or fields, move it elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lamina.errors import BadInput
from lamina.formats.entry import Entry, with_body, with_field, with_heading
from lamina.formats.source import USER, render_sources
from lamina.pipeline.redact import redact
from lamina.pipeline.remember import parse_day, parse_importance, parse_volatility

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import date

LABELS = {
    "importance": "Importance",
    "until": "Valid-until",
    "volatility": "Volatility",
    "verified": "Verified",
    "trust": "Trust",
}


def revision(*, text: str | None, fields: Mapping[str, str | None], today: date) -> Callable[[Entry], Entry]:
    """Return the change that an edit makes to an entry.

    `fields` may hold heading, importance, until, volatility, verified and trust; an empty value takes
    the field away. The person becomes one of the entry's sources, so that no model overrules it.
    Raises BadInput for a value that can't be.
    """
    values = {LABELS[name]: _value(name, value, today) for name, value in fields.items() if name != "heading"}
    heading = redact(said).text if (said := fields.get("heading")) else None
    body = None if text is None else redact(text.replace("\r\n", "\n").strip()).text
    if body == "":
        raise BadInput("the new text is empty", "`lamina forget ID` takes an entry away")

    def change(entry: Entry) -> Entry:
        for label, value in values.items():
            entry = with_field(entry, label, value)
        if heading is not None:
            entry = with_heading(entry, heading)
        if body is not None:
            entry = with_body(entry, body)
        sources = entry.sources
        if USER not in sources:
            entry = with_field(entry, "Source", render_sources((*sources, USER)))
        return entry

    return change


def _value(name: str, value: str | None, today: date) -> str | None:
    if not value:
        return None
    match name:
        case "importance":
            return str(parse_importance(value))
        case "volatility":
            return parse_volatility(value)
        case "verified":
            return str(today if value == "today" else parse_day(value))
        case "until":
            return str(parse_day(value))
        case "trust":
            return None if value == "approved" else value
        case _:
            raise BadInput(
                f"{name!r} is not a field that can be edited", f"one of: {', '.join(LABELS)}, heading"
            )
