"""The content hash: what makes two pieces of knowledge the same.

Linear in the size of the text, also for hostile input: nothing here searches with a pattern that can
backtrack.
"""

from __future__ import annotations

import hashlib
import unicodedata

_TAILS = ("Source:", "Evidence:")


def knowledge_text(bullet: str) -> str:
    """Give a bullet's text without list mark and provenance: NFC, single spaces, stripped.

    Provenance is a tail of backticked references behind `Source:`, and then one behind `Evidence:`.
    """
    text = _without_mark(bullet)
    for word in _TAILS:
        text = without_tail(text, word)
    return " ".join(unicodedata.normalize("NFC", text).split())


def content_hash(bullet: str) -> str:
    """Hash a bullet's knowledge text: SHA-256 in lower-case hex."""
    return hashlib.sha256(knowledge_text(bullet).encode("utf-8", "surrogatepass")).hexdigest()


def entry_hash(heading: str, body: str) -> str:
    """Hash an entry by the same rule, on the heading and then the body."""
    return content_hash(f"{heading}\n{body}")


def _without_mark(text: str) -> str:
    text = text.lstrip()
    mark, rest = text[:1], text[1:]
    if mark in ("-", "*", "+"):
        return rest.lstrip() if rest[:1].isspace() else text
    end = 0
    while end < 9 and text[end : end + 1].isascii() and text[end : end + 1].isdigit():
        end += 1
    if end and text[end : end + 1] in (".", ")") and text[end + 1 : end + 2].isspace():
        return text[end + 1 :].lstrip()
    return text


def without_tail(text: str, word: str) -> str:
    r"""Return a bullet's text without the provenance that stands behind `word` at its end.

    Cuts ``(?:^|\s+)WORD\s*`[^`]+`(?:(?:\s*,\s*|\s+)`[^`]+`)*\s*\.?\s*$`` off the end.

    Read from the end: backticks pair up from there in one way only, so the first gap between two references
    that is no separator must hold the word.
    """
    end = text.rstrip()
    end = end.removesuffix(".").rstrip()
    if not end.endswith("`"):
        return text
    close = len(end) - 1
    while True:
        opening = end.rfind("`", 0, close)
        if opening < 0 or opening == close - 1:
            return text
        before = end.rfind("`", 0, opening)
        gap = end[before + 1 : opening]
        if before >= 0 and gap and gap.strip() in ("", ","):
            close = before
            continue
        head = gap.rstrip()
        if not head.endswith(word):
            return text
        start = before + 1 + len(head) - len(word)
        if start and not end[start - 1].isspace():
            return text
        return end[:start].rstrip()
