"""Finds personal data that a digest hardly needs: it is flagged for a person, never removed by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
_PHONE = re.compile(r"(?<![\w.:/-])(?:\+|00)\d{1,3}[ ()/.-]{0,2}(?:\d[ ()/.-]{0,2}){6,12}\d(?![\w-]|\.\w)")
_LOCAL = re.compile(r"(?<![\w.:/-])\(?0\d{2,4}\)?[ /-]\d{3,4}[ -]?\d{3,6}(?![\w-]|\.\w)")
_IBAN = re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)")
_CARD = re.compile(r"(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-]|\.\w)")
_BIRTH = re.compile(
    r"\b(?:born|birthday|date of birth|DOB)\b[^.\n]{0,20}?\b\d{1,4}[-./]\d{1,2}[-./]\d{1,4}", re.IGNORECASE
)
_SOCIAL = re.compile(r"(?<![\w.-])\d{3}-\d{2}-\d{4}(?![\w-]|\.\w)")
_STREET = re.compile(
    r"\b\d{1,5} (?:[A-Z][a-z]+ ){1,3}(?:Street|St\.|Avenue|Ave\.|Road|Rd\.|Lane|Drive|Blvd\.)(?!\w)|"
    r"\b[A-ZÄÖÜ][a-zäöüß]+(?:straße|strasse|str\.|weg|gasse|allee|platz) \d{1,4}[a-z]?\b(?=[,;.)]| \d{5}|$)"
)
_SERVICE = re.compile(
    r"(?:noreply|no-reply|example|invalid|localhost|git)(?:@|\.|$)|@(?:[\w-]+\.)*example\.", re.IGNORECASE
)
_LEAST_DIGITS = 8
_ISSUERS = (3, 4, 5, 6)
REMOVED = "[removed]"
_BESIDE = " ()<>"


def personal(text: str) -> tuple[str, ...]:
    """List what in a text looks like a person's address, number or date of birth, in order, each once."""
    found = sorted(_found(text))
    kept: list[str] = []
    end = -1
    for start, stop in found:
        if start >= end:
            kept.append(text[start:stop])
            end = stop
    return tuple(dict.fromkeys(kept))


def cleaned(text: str) -> str:
    """Return a text without what looks like personal data."""
    for piece in personal(text):
        text = text.replace(piece, " ")
    return " ".join(text.split())


def is_cleaned(text: str, other: str) -> bool:
    """Tell whether the other text is this one with nothing but personal data gone or `[removed]`."""
    pieces = personal(text)
    if not pieces:
        return False
    parts = re.split("(" + "|".join(map(re.escape, sorted(pieces, key=len, reverse=True))) + ")", text)
    said = " ".join(other.split())
    ends = {0}
    for number, part in enumerate(parts):
        if number % 2:
            ends |= _behind(said, part, ends) | _behind(said, REMOVED, ends)
        else:
            ends = _loosely(said, part, ends)
    return len(said) in ends


def _loosely(said: str, part: str, starts: set[int]) -> set[int]:
    """Return where a part may end: blanks and brackets beside what is gone may be gone, too.

    All places are followed at once: a pattern with so many optional signs would try each way by itself.
    """
    bare = part.strip(_BESIDE)
    head = len(part) - len(part.lstrip(_BESIDE)) if bare else len(part)
    ends = starts
    for char in part[:head]:
        ends = ends | _behind(said, char, ends)
    ends = _behind(said, bare, ends)
    for char in part[head + len(bare) :]:
        ends = ends | _behind(said, char, ends)
    return ends


def _behind(said: str, part: str, starts: set[int]) -> set[int]:
    return {start + len(part) for start in starts if said.startswith(part, start)}


def _found(text: str) -> Iterator[tuple[int, int]]:
    for match in _MAIL.finditer(text) if "@" in text else ():
        if not _SERVICE.search(match[0]):
            yield match.span()
    digits = sum(map(str.isdigit, text))
    if digits:
        yield from (match.span() for match in _STREET.finditer(text))
    if digits < _LEAST_DIGITS:
        return
    for pattern in (_PHONE, _LOCAL, _BIRTH, _SOCIAL):
        yield from (match.span() for match in pattern.finditer(text))
    yield from (match.span() for match in _IBAN.finditer(text) if _is_iban(match[0].replace(" ", "")))
    yield from (match.span() for match in _CARD.finditer(text) if _is_card(match[0]))


def _is_iban(text: str) -> bool:
    moved = text[4:] + text[:4]
    return len(text) >= 15 and int("".join(str(int(char, 36)) for char in moved)) % 97 == 1


def _is_card(text: str) -> bool:
    """Check the first digit, and the last one by Luhn's rule; a row of one digit is no card."""
    digits = [int(char) for char in text if char.isdigit()]
    doubled = [
        digit if n % 2 == 0 else sum(divmod(2 * digit, 10)) for n, digit in enumerate(reversed(digits))
    ]
    return digits[0] in _ISSUERS and len(set(digits)) > 1 and sum(doubled) % 10 == 0
