"""Names the option that a person points at by its letter or number with the words it was offered in."""

from __future__ import annotations

import re

from lamina.pipeline import cues
from lamina.pipeline.statements import sentences

_OFFERED = re.compile(
    r"^\s*(?:[-*+•]\s+)?(?:\*\*|__)?(?:(?:option|variante?|opción|вариант|方案|案)\s*)?"
    r"(?P<key>[A-H]|[1-9])(?:\*\*|__)?[:.)：、](?:\*\*|__)?\s+(?P<text>\S.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_POINTED = re.compile(
    r"(?:(?:option|variante?|number|opción|вариант|方案|案)\s*(?P<named>[A-H1-9])|(?P<bare>[A-H]))"
    r"(?![\w'’+#.-]*\w)",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:(?:let's|we(?:'ll| will)?|i(?:'d|'ll)?|please|then|so|and|but|do|go(?: with)?|take|use|pick|choose|"
    r"prefer|the|nehmen|wir|on prend|vamos con|давай)\b[\s,]*)*",
    re.IGNORECASE,
)
_NOT = re.compile(r"(?:but |and )?(?:not|no|nicht|kein\w*|pas|не|不要|不是)\s+(?:the )?", re.IGNORECASE)
_JOINS = re.compile(r"[\s,;]*(?:please|bitte|then|it is)?[.!\s]*$", re.IGNORECASE)


def options(text: str) -> dict[str, str]:
    """Give what a message offers under letters or numbers, the first sentence of each; none if only one."""
    found: dict[str, str] = {}
    for match in _OFFERED.finditer(text):
        told = re.sub(r"\*\*|__(?=\W|$)", "", match["text"]).strip()
        if told:
            found.setdefault(match["key"].upper(), sentences(told)[0].rstrip(" .;,。"))
    return found if len(found) > 1 else {}


def chosen(said: str, offered: dict[str, str]) -> str:
    """Put an option's own words in the place of the letter that a person takes it by, "" if none is taken."""
    if not offered or said.rstrip().endswith(("?", "？")):
        return ""
    start = 0
    if agrees := cues.ahead(cues.AGREES).match(said):
        start = agrees.end()
        start += len(said[start:]) - len(said[start:].lstrip(" ,.!:;—–-，、。"))
    if lead := _LEAD.match(said, start):
        start = lead.end()
    found = _POINTED.match(said, start)
    key = (found["named"] or found["bare"] or "").upper() if found else ""
    # A small "a" in front of a word is an article.
    if found is None or key not in offered or (found["bare"] == "a" and said[found.end() :][:1] == " "):
        return ""
    rest = said[found.end() :]
    return offered[key] if _JOINS.fullmatch(rest) else f"{offered[key]}{rest}"


def refused(said: str, offered: dict[str, str]) -> str:
    """Say behind the letter of an option that is turned down what it was, "" if none is."""
    lead = _NOT.match(said) if offered else None
    found = _POINTED.match(said, lead.end()) if lead else None
    key = (found["named"] or found["bare"]).upper() if found else ""
    if found is None or key not in offered:
        return ""
    return f"{said[: found.end()]} ({offered[key]}){said[found.end() :]}"
