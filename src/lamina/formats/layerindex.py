"""The generated `<layer>.md`: one line a topic, so that a layer reads as a table of contents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date as Date  # noqa: N812  # the field is a day

from lamina.formats.layers import Layer
from lamina.formats.structure import one_line

# The layer whose headings stand in its index too: they are the decisions.
_LISTS_HEADINGS = "decisions"
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


@dataclass(frozen=True, slots=True)
class TopicSummary:
    """What the index says of a topic file; `headings` are those of its entries."""

    title: str
    slug: str
    count: int
    updated: Date | None = None
    headings: tuple[str, ...] = ()


def render_layer_index(layer: Layer, summaries: Iterable[TopicSummary]) -> str:
    """Write the index of a layer, sorted by title (history: by day)."""
    topics = sorted(summaries, key=lambda t: (one_line(t.title).casefold(), t.slug))
    lines = [f"# {layer.title}", "", layer.sentence]
    if topics:
        lines.append("")
    for topic in topics:
        lines.append(_line(layer, topic))
        if layer.name == _LISTS_HEADINGS:
            lines += [f"  - {_text(heading)}" for heading in topic.headings]
    return "\n".join(lines) + "\n"


def _line(layer: Layer, topic: TopicSummary) -> str:
    entries = "1 entry" if topic.count == 1 else f"{topic.count} entries"
    updated = f", updated {topic.updated.isoformat()}" if topic.updated else ""
    link = f"[{_text(topic.title or topic.slug)}]({layer.name}/{_target(topic.slug)}.md)"
    return f"- {link} — {entries}{updated}"


def _target(slug: str) -> str:
    """Escape what would end a link's target; a person may have named a file so."""
    if _PLAIN.issuperset(slug) or not any(_ends_target(char) for char in slug):
        return slug
    coded = (
        "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogateescape"))
        if _ends_target(char)
        else char
        for char in slug
    )
    return "".join(coded)


def _ends_target(char: str) -> bool:
    return char in "()<>\\%?# " or not char.isprintable()


def _text(title: str) -> str:
    """Escape what would end a link's text or start other markup."""
    return "".join("\\" + char if char in "[]\\`<" else char for char in one_line(title))
