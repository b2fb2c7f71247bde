"""How one text differs from another, word by word. Pure."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

MOST = 600
"""Pieces of a text; longer ones are not compared: it would take too long, and nobody reads it."""
_ALIKE = 0.4
"""Texts with less in common are easier to read one below the other."""
_SCRIPT = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"  # written without blanks
_PIECE = re.compile(rf"\s+|[{_SCRIPT}]|(?:(?![{_SCRIPT}])\w)+|[^\w\s]")


def compared(old: str, new: str) -> str | None:
    """Return both as one text with `[-what went-]` and `{+what came+}`; None if that is not readable."""
    before, after = _PIECE.findall(old), _PIECE.findall(new)
    if max(len(before), len(after)) > MOST:
        return None
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return None
    parts = []
    for kind, start, end, new_start, new_end in matcher.get_opcodes():
        gone, come = "".join(before[start:end]), "".join(after[new_start:new_end])
        parts.append(gone if kind == "equal" else _marked(gone, come))
    return "".join(parts)


def _marked(gone: str, come: str) -> str:
    return (f"[-{gone}-]" if gone else "") + (f"{{+{come}+}}" if come else "")
