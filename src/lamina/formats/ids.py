"""Entry ids: `<scope key>-<layer abbreviation>-<NNNN>`."""

from __future__ import annotations

from typing import NamedTuple

from lamina.formats.layers import BY_ABBREVIATION, Layer
from lamina.formats.scope import GLOBAL, is_key

_DIGITS = 18  # a number that no store reaches; longer ones are no ids


class EntryId(NamedTuple):
    """An id taken apart; `str()` puts it together, at least four digits wide."""

    key: str
    abbreviation: str
    number: int

    @property
    def layer(self) -> Layer:
        """The layer that the abbreviation names."""
        return BY_ABBREVIATION[self.abbreviation]

    def __str__(self) -> str:
        return f"{self.key}-{self.abbreviation}-{self.number:04d}"


def parse_id(text: str) -> EntryId | None:
    """Read an id, or None. Fewer or more leading zeros are forgiven."""
    head, _, digits = text.strip().rpartition("-")
    key, _, abbreviation = head.rpartition("-")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > _DIGITS:
        return None
    if abbreviation not in BY_ABBREVIATION or not (key == GLOBAL or is_key(key)):
        return None
    return EntryId(key, abbreviation, int(digits))
