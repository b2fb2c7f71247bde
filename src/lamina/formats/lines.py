"""How a file ends its lines, and how any text is made to stand on one."""

from __future__ import annotations

import re

_CONTROLS = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)), " ")


def newline_of(text: str) -> str:
    """Return the line ending of the first line, LF if there is none."""
    end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


def size_of(text: str) -> int:
    """Count the bytes of a text as UTF-8; half a surrogate pair counts three."""
    return len(text.encode("utf-8", "surrogatepass"))


def fold(text: str) -> str:
    """Put `text` on one line: runs of white space and controls become one space, ends are stripped.

    Lone surrogates, which no UTF-8 file can hold, become U+FFFD.
    """
    folded = " ".join(text.translate(_CONTROLS).split())
    if folded.isascii():
        return folded
    return re.sub("[\ud800-\udfff]", "\ufffd", folded)
