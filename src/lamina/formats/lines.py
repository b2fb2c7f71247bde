"""Lines of a text file: split without loss, joined without guessing, folded without a trace of structure."""

from __future__ import annotations

import re

_CONTROLS = dict.fromkeys((*range(0x20), *range(0x7F, 0xA0)), " ")


def split_lines(text: str) -> list[str]:
    """Split behind each line feed, ends kept; a lone CR or U+2028 ends no line. Joining gives `text` back."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def newline_of(text: str) -> str:
    """Return the line ending of the first line, LF if there is none."""
    end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


def fold(text: str) -> str:
    """Put `text` on one line: runs of white space and controls become one space, ends are stripped.

    Lone surrogates, which no UTF-8 file can hold, become U+FFFD.
    """
    folded = " ".join(text.translate(_CONTROLS).split())
    if folded.isascii():
        return folded
    return re.sub("[\ud800-\udfff]", "\ufffd", folded)
