"""Names made from text: topic slugs and headings."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Collection

from lamina.formats.scope import is_device_name
from lamina.formats.structure import one_line

MAX_BYTES = 64
HEADING_LIMIT = 80

_HASHES = (6, 12, 24, 32)
_UNSPACED = (("\u0e00", "\u0eff"), ("\u1000", "\u109f"), ("\u1780", "\u17ff"))  # Thai, Lao, Burmese, Khmer


def topic_slug(title: str, taken: Collection[str] = ()) -> str:
    """Make the file name (without `.md`) of a topic, at most 64 bytes of UTF-8.

    The same title gives the same slug, in whatever Unicode form. Letters and digits of any script stay,
    white space and `-` become `-`; a title that holds anything else, is too long, or gives a name that
    Windows refuses, carries a hash of the title behind it. `taken` are the slugs of *other* topics: on
    a clash, also one of case only, the hash is added or made longer.
    """
    used = {_folded(slug) for slug in taken}
    name, lossless = _name(title)
    if lossless and _folded(name) not in used:
        return name
    digest = _digest(title)
    for width in _HASHES:
        slug = f"{_cut(name, MAX_BYTES - width - 1)}-{digest[:width]}"
        if _folded(slug) not in used:
            break
    return slug


def heading_of(text: str) -> str:
    """Make a heading of a text: its first sentence or line, whole words, at most 80 characters."""
    line = next((bare for bare in map(_unmarked, text.splitlines()) if bare), "")
    cut = whole_words(_first_sentence(line), HEADING_LIMIT)
    mark = cut.rfind("[redacted")
    if mark > 0 and "]" not in cut[mark:]:
        return cut[:mark].rstrip()  # half a mark would read as text of its own
    return cut


def whole_words(text: str, limit: int) -> str:
    """Cut a one-line text to a length at the end of a word; a word that is longer is cut inside.

    Scripts written without spaces break between any two characters, never before a combining mark.
    """
    if len(text) <= limit:
        return text
    for at in range(limit, limit // 2, -1):
        if text[at].isspace() or (_is_wide(text[at - 1]) and not _clings(text[at])) or _is_wide(text[at]):
            return text[:at].rstrip()
    space = text.rfind(" ", 0, limit // 2 + 1)
    if space > 0 and not any(map(_unspaced, text[space:limit])):
        return text[:space].rstrip()
    at = limit
    while at > 1 and (_clings(text[at]) or text[at - 1] == "\u200d"):
        at -= 1
    return text[:at].rstrip()


def _name(title: str) -> tuple[str, bool]:
    """Give the readable part of a slug, and whether it says all that the title says."""
    lowered = unicodedata.normalize("NFC", unicodedata.normalize("NFC", one_line(title)).lower())
    out: list[str] = []
    lossless = True
    for char in lowered:
        if _stays(char, out):
            out.append(char)
        elif unicodedata.category(char) == "Cf":
            lossless = False
        else:
            lossless = lossless and char in " -"
            if out and out[-1] != "-":
                out.append("-")
    name = unicodedata.normalize("NFC", "".join(out)).strip("-")
    lossless = lossless and len(name) == len(lowered)
    short = _cut(name, MAX_BYTES)
    return short or "topic", lossless and bool(name) and short == name and not is_device_name(name)


def _stays(char: str, before: list[str]) -> bool:
    if char.isalnum():
        return True
    kind = unicodedata.category(char)
    # A vowel sign or accent belongs to its letter; a variation selector says nothing.
    return kind in ("Mn", "Mc") and bool(before) and before[-1] != "-" and not 0xFE00 <= ord(char) <= 0xFE0F


def _cut(name: str, size: int) -> str:
    if len(name.encode()) <= size:
        return name
    return name.encode()[:size].decode("utf-8", "ignore").strip("-")


def _digest(title: str) -> str:
    text = one_line(title) or title  # blank titles of different spaces are different titles
    text = unicodedata.normalize("NFC", text)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _folded(slug: str) -> str:
    """Give the form under which two names are one file on a disk that ignores case or form."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", slug).casefold())


def _unmarked(line: str) -> str:
    """Take heading, quote and list marks off a line; a fence line is nothing."""
    line = line.strip()
    if line.startswith(("```", "~~~", "---")):
        return ""
    rest = line.lstrip("#>")
    if not rest or rest[0].isspace():
        line = rest.lstrip()
    for mark in ("- ", "* ", "+ "):
        line = line.removeprefix(mark)
    head, dot, rest = line.partition(". ")
    if dot and head.isascii() and head.isdigit() and len(head) <= 3:
        line = rest
    return one_line(line)


def _first_sentence(line: str) -> str:
    for at, char in enumerate(line[: HEADING_LIMIT + 1]):
        if char in "。！？｡":
            return line[: at + 1]
        if char in ".!?" and line[at + 1 : at + 2].isspace() and not line[at + 2 : at + 3].islower():
            return line[: at + 1]
    return line


def _clings(char: str) -> bool:
    """Tell whether a character belongs to the one before it."""
    return unicodedata.category(char)[0] == "M" or char == "\u200d" or "\U0001f3fb" <= char <= "\U0001f3ff"


def _is_wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in "WF"


def _unspaced(char: str) -> bool:
    return _is_wide(char) or any(first <= char <= last for first, last in _UNSPACED)
