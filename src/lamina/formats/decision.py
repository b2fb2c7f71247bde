"""Decision bodies: fixed sections, each label on a line of its own; the heading is the decision.

    **Context:**
    What made it necessary.

    **Rationale:**
    Why it won.

    **Alternatives considered:**
    - What lost

    **Consequences:**
    What follows from it.

Sections without text are left out. A line of a section's text that would read as a label gets one backslash
in front (also if backslashes are there already) and loses it on reading; fences make no difference, so that
one which is open in a section can't hide the next.
"""

from __future__ import annotations

from typing import NamedTuple

from lamina.formats.structure import SECTIONS, trim_blank, unix

_FORMS = {label.lower(): label for label in SECTIONS} | {"alternatives": SECTIONS[2]}
_LONGEST = 40
_BULLETS = ("- ", "* ", "+ ")


class Decision(NamedTuple):
    """A settled choice and why it won."""

    heading: str
    context: str = ""
    rationale: str = ""
    alternatives: tuple[str, ...] = ()
    consequences: str = ""


def parse_decision(heading: str, body: str) -> Decision:
    """Read a decision's body.

    Lenient: labels in any case and order, `**Label**:` too, text behind a label on its line. Text before
    the first label goes in front of the context.
    """
    parts: dict[str, list[str]] = {label: [] for label in SECTIONS}
    current = SECTIONS[0]
    for line in unix(body).split("\n"):
        found = _label(line)
        if found is None:
            parts[current].append(_unescape(line))
            continue
        current, rest = found
        if parts[current]:
            parts[current].append("")
        if rest:
            parts[current].append(rest)
    texts = {label: trim_blank("\n".join(found)) for label, found in parts.items()}
    context, rationale, alternatives, consequences = (texts[label] for label in SECTIONS)
    return Decision(heading, context, rationale, _items(alternatives), consequences)


def render_decision(decision: Decision) -> str:
    """Write a decision's body; a model or person gives the fields, never the shape."""
    bullets = "\n".join(_bullet(item) for item in map(_normal, decision.alternatives) if item)
    texts = (_normal(decision.context), _normal(decision.rationale), bullets, _normal(decision.consequences))
    return "\n\n".join(
        f"**{label}:**\n{_escape(text)}" for label, text in zip(SECTIONS, texts, strict=True) if text
    )


def _normal(text: str) -> str:
    return trim_blank(unix(text))


def _label(line: str) -> tuple[str, str] | None:
    """Read a label line: the section it opens and the text behind it."""
    if not line.startswith("**"):
        return None
    end = line.find("**", 2, _LONGEST)
    if end < 0:
        return None
    name, rest = line[2:end], line[end + 2 :]
    if not name.endswith(":"):
        if not rest.startswith(":"):
            return None
        rest = rest[1:]
    label = _FORMS.get(name.rstrip(":").strip().lower())
    return (label, rest.strip()) if label else None


def _escape(text: str) -> str:
    return "\n".join("\\" + line if _label(line.lstrip("\\")) else line for line in text.split("\n"))


def _unescape(line: str) -> str:
    return line[1:] if line.startswith("\\") and _label(line.lstrip("\\")) else line


def _bullet(item: str) -> str:
    return "- " + item.replace("\n", "\n  ")


def _items(text: str) -> tuple[str, ...]:
    """Read the alternatives: bullets with their indented lines; a text without bullets is one."""
    items: list[list[str]] = []
    for line in text.split("\n"):
        if line.startswith(_BULLETS):
            items.append([line[2:]])
        elif items:
            items[-1].append(line.removeprefix("  "))
        elif line.strip():
            items.append([line])
    return tuple(item for item in (trim_blank("\n".join(lines)) for lines in items) if item)
