"""Evidence: one short quote and who said it, as `“quote” (who)`."""

from __future__ import annotations

from typing import NamedTuple

from lamina.formats.slug import whole_words
from lamina.formats.structure import one_line

LIMIT = 200
SPEAKERS = ("user", "assistant", "tool")


class Evidence(NamedTuple):
    """A quote on one line; `who` is one of SPEAKERS, or "" in a hand-written field that does not say."""

    quote: str
    who: str = ""

    def __str__(self) -> str:
        return render_evidence(self)


def quoted(text: str, who: str) -> Evidence:
    """Quote a text: one line, whole words, at most 200 characters, `…` where it was cut."""
    text = one_line(text)
    if len(text) > LIMIT:
        text = whole_words(text, LIMIT - 1).rstrip() + "…"
    return Evidence(text, who)


def parse_evidence(value: str) -> Evidence | None:
    """Read an Evidence field; a value without quotation marks is all quote. None if it is empty."""
    value = value.strip()
    who = ""
    head, paren, tail = value.rpartition("(")
    if paren and tail.endswith(")") and tail[:-1].strip().lower() in SPEAKERS:
        who, value = tail[:-1].strip().lower(), head.rstrip()
    for left, right in (("“", "”"), ('"', '"')):
        if len(value) > 1 and value.startswith(left) and value.endswith(right):
            value = value[1:-1].strip()
            break
    return Evidence(value, who) if value else None


def render_evidence(evidence: Evidence) -> str:
    """Write an Evidence field; the quote is cut as `quoted` cuts it. Empty for an empty quote."""
    quote, who = quoted(evidence.quote, evidence.who)
    if not quote:
        return ""
    return f"“{quote}” ({who})" if who else f"“{quote}”"
