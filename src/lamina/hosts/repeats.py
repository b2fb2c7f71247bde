"""Tell records that a resumed session wrote again from new ones."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from lamina.hosts.jsonlines import Json, Lines, Record


class Repeats:
    """Remembers the records of one file by their own identity.

    What an earlier run read (up to `lines.offset`) is looked at only when needed: a repeat
    keeps its old time, so a record newer than all before it is new.
    """

    def __init__(self, lines: Lines, key: Callable[[Json], str], latest: datetime | None = None) -> None:
        self.latest = latest
        self._lines = lines
        self._key = key
        self._before = lines.offset
        self._seen: set[int] = set()

    def has(self, key: str, time: datetime | None) -> bool:
        """Tell whether the record of this identity and time stood in the file before; remember it."""
        newer = time is not None and (self.latest is None or time > self.latest)
        if self._before and not newer:
            self._look_back()
        if newer:
            self.latest = time
        return self.knows(key)

    def knows(self, key: str) -> bool:
        """Tell whether this identity came before; remember it. An empty one never did."""
        if not key:
            return False
        number = hash(key)
        if number in self._seen:
            return True
        self._seen.add(number)
        return False

    def _look_back(self) -> None:
        before, self._before = self._before, 0
        for record in self._lines.again():
            if isinstance(record, Record):
                if record.end > before:
                    return
                self.knows(self._key(record.data))
