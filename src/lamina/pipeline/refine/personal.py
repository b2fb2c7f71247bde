"""Finds personal data that a digest hardly needs: it is flagged for a person, never removed by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
_PHONE = re.compile(r"(?<![\w.:/-])(?:\+|00)\d{1,3}[ ()/.-]{0,2}(?:\d[ ()/.-]{0,2}){6,12}\d(?![\w.-])")
_LOCAL = re.compile(r"(?<![\w.:/-])\(?0\d{2,4}\)?[ /-]\d{3,4}[ -]?\d{3,6}(?![\w.-])")
_IBAN = re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)")
_CARD = re.compile(r"(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w.-])")
_BIRTH = re.compile(
    r"\b(?:born|birthday|date of birth|DOB)\b[^.\n]{0,20}?\b\d{1,4}[-./]\d{1,2}[-./]\d{1,4}", re.IGNORECASE
)
_SERVICE = re.compile(
    r"(?:noreply|no-reply|example|invalid|localhost|git)(?:@|\.|$)|@(?:[\w-]+\.)*example\.", re.IGNORECASE
)
_LEAST_DIGITS = 8


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


def without(text: str, pieces: tuple[str, ...]) -> frozenset[str]:
    """Return what a text may read like when these pieces were taken out or replaced by `[removed]`."""
    gone, marked = text, text
    for piece in pieces:
        gone, marked = gone.replace(piece, " "), marked.replace(piece, "[removed]")
    return frozenset(" ".join(each.split()) for each in (gone, marked))


def _found(text: str) -> Iterator[tuple[int, int]]:
    for match in _MAIL.finditer(text) if "@" in text else ():
        if not _SERVICE.search(match[0]):
            yield match.span()
    if sum(map(str.isdigit, text)) < _LEAST_DIGITS:
        return
    for pattern in (_PHONE, _LOCAL, _BIRTH):
        yield from (match.span() for match in pattern.finditer(text))
    yield from (match.span() for match in _IBAN.finditer(text) if _is_iban(match[0].replace(" ", "")))
    yield from (match.span() for match in _CARD.finditer(text) if _is_card(match[0]))


def _is_iban(text: str) -> bool:
    moved = text[4:] + text[:4]
    return len(text) >= 15 and int("".join(str(int(char, 36)) for char in moved)) % 97 == 1


def _is_card(text: str) -> bool:
    """Check the last digit by Luhn's rule; a row of one digit is no card."""
    digits = [int(char) for char in text if char.isdigit()]
    doubled = [
        digit if n % 2 == 0 else sum(divmod(2 * digit, 10)) for n, digit in enumerate(reversed(digits))
    ]
    return len(set(digits)) > 2 and sum(doubled) % 10 == 0
