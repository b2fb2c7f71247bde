"""An index that several threads use, and that may be given up while they do."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lamina.index.embedded import Embedded


class Shared:
    """Closes its index as soon as it is given up and nobody is at it any more."""

    def __init__(self, index: Embedded) -> None:
        self.index = index
        self._lock = threading.Lock()
        self._users = 1  # the one who will give it up

    def take(self) -> None:
        """Count one more user; each gives it up once. Only while somebody has it."""
        with self._lock:
            self._users += 1

    def give_up(self) -> None:
        """Count one user less; the last one closes the index."""
        with self._lock:
            self._users -= 1
            left = self._users
        if not left:
            self.index.close()

    @contextmanager
    def taken(self) -> Iterator[Embedded]:
        """Give up in the end what was taken."""
        try:
            yield self.index
        finally:
            self.give_up()
