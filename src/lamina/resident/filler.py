"""Making the vectors that are missing while the resident process has nothing else to do."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

from lamina import errors
from lamina.index.source import StoreSource

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lamina.embed.base import Embedder, Vectors
    from lamina.index.embedded import Embedded

_LOOK_S = 30.0
_BATCH_S = 0.15
"""How long a batch should take: the process ends no sooner than the one at work."""
_NICE = 10


class _Stopped(Exception):
    """The process is to end."""


class _Renewed(Exception):
    """The settings name another embedder by now."""


class Gentle:
    """An embedder in batches that take a moment each."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name = embedder.name
        self.batch = min(8, embedder.batch)

    @property
    def dimension(self) -> int:
        """The embedder's own."""
        return self._embedder.dimension

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Embed, and learn from the time it took how many texts to take next."""
        start = time.perf_counter()
        rows = self._embedder.embed(texts, query=query)
        took = time.perf_counter() - start
        if took > 2 * _BATCH_S:
            self.batch = max(1, self.batch // 2)
        elif took < _BATCH_S / 2:
            self.batch = min(self._embedder.batch, self.batch * 2)
        return rows


class Filler:
    """A thread with an index of its own, so that no question waits for it.

    `open_index` makes that index for the embedder in use, None if there is none; `failed` hears what went
    wrong, once until it goes well again. `missing` is how many memories had no vector when it last looked,
    every `look_s` seconds.
    """

    def __init__(
        self,
        root: str,
        open_index: Callable[[], Embedded | None],
        failed: Callable[[str], None],
        look_s: float = _LOOK_S,
    ) -> None:
        self.missing = 0
        self._look_s = look_s
        self._problem = ""
        self._source = StoreSource(root)
        self._mark = os.path.join(root, "memory.json")  # noqa: PTH118 - gone with the store
        self._open = open_index
        self._failed = failed
        self._index: Embedded | None = None
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._renewed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lamina-vectors", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wake(self) -> None:
        """Look again now: something may have changed."""
        self._wake.set()

    def stop(self, wait_s: float) -> None:
        """End after the batch at work; what is done stays."""
        self._stop.set()
        self._wake.set()
        self._thread.join(wait_s)

    def renew(self) -> None:
        """Go on with another embedder."""
        self._renewed.set()
        self.wake()

    def _run(self) -> None:
        if hasattr(os, "setpriority") and os.uname().sysname == "Linux":  # elsewhere it is the whole process
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
        while not self._stop.is_set():
            try:
                self._fill()
                self._problem = ""
            except _Renewed:
                continue
            except _Stopped:
                break
            except Exception as problem:  # noqa: BLE001 - an edge: nobody else would go on in its place
                self._tell(problem)
            self._wake.wait(self._look_s)
            self._wake.clear()
        self._close()

    def _tell(self, problem: Exception) -> None:
        """Tell what went wrong, unless it is what was told last."""
        known = isinstance(problem, (errors.LaminaError, OSError))
        said = str(problem) if known else f"{type(problem).__name__}: {problem}"
        if said != self._problem:
            self._problem = said
            self._failed(said)

    def _close(self) -> None:
        if self._index is not None:
            self._index.close()
        self._index = None

    def _fill(self) -> None:
        if self._renewed.is_set():
            self._renewed.clear()
            self._close()
        index = self._index or self._open()
        self._index = index
        if index is None or not os.path.exists(self._mark):  # noqa: PTH110
            self.missing = 0
            return
        index.refresh(self._source)
        _, self.missing = index.embed(told=self._told)

    def _told(self, done: int, of: int) -> None:
        self.missing = of - done
        if self._stop.is_set():
            raise _Stopped
        if self._renewed.is_set():
            raise _Renewed
