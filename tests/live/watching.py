"""How many workers of a store run at the same moment, looked at again and again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from live.standing import Machine

EVERY_S = 0.01


@contextmanager
def watched(machine: Machine) -> Iterator[list[int]]:
    """Count the workers of this store all the while; gives the list that the counts go to."""
    counts, over = [0], threading.Event()

    def watch() -> None:
        while not over.wait(EVERY_S):
            counts.append(sum("lamina.live" in line and " worker " in line for line in machine.processes()))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield counts
    finally:
        over.set()
        watcher.join()
