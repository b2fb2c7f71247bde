"""Embedding a question in the time that whoever asks will wait, or not at all."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING

from lamina import errors
from lamina.embed.question import Weighing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from lamina.embed.base import Embedder, Vectors

LATE = "the embedder takes too long for a question"


class Prompt:
    """An embedder that gives a question up when its vector would come too late.

    `until` is when the question at work needs its vector (of time.monotonic(), None: whenever it comes), and
    `late` tells whether one was given up since `late` was last set. What is given up is made all the same,
    behind, one at a time, to learn how long a question takes now. One question at a time may ask.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name = embedder.name
        self.batch = embedder.batch
        self.until: float | None = None
        self.late = False
        self._took = (0.0, 0.0)
        self._began = 0.0
        self._work: Future[Vectors] | None = None
        if isinstance(embedder, Weighing):
            weigh = embedder.weigh

            def weighed(text: str, worth: Mapping[str, float]) -> Vectors:
                return self._in_time(lambda: weigh(text, worth))

            self.weigh = weighed

    @property
    def dimension(self) -> int:
        """The embedder's own."""
        return self._embedder.dimension

    @property
    def takes_s(self) -> float:
        """How many seconds a question takes, as far as is known.

        The faster of the last two counts: a busy moment, or the loading of the model, says little.
        """
        running = time.monotonic() - self._began if self._busy else 0.0
        return max(min(self._took), running)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """Embed; raises EmbedderUnavailable for a question that would get its vector too late."""
        if not query:
            return self._embedder.embed(texts)
        return self._in_time(lambda: self._embedder.embed(texts, query=True))

    def _in_time(self, make: Callable[[], Vectors]) -> Vectors:
        if self.until is None:
            return self._timed(make)
        hopeless = self.takes_s > self.until - time.monotonic()
        if self._work is not None and not hopeless:
            self._wait(self._work)
        if not self._busy:
            self._work = self._begin(make)
            if not hopeless and self._wait(self._work):
                return self._work.result()
        self.late = True
        raise errors.EmbedderUnavailable(LATE, "try again, or choose a faster one")

    @property
    def _busy(self) -> bool:
        return self._work is not None and not self._work.done()

    def _wait(self, work: Future[Vectors]) -> bool:
        """Wait as long as may be; tells whether it is done."""
        left = 0.0 if self.until is None else self.until - time.monotonic()
        return not wait([work], max(0.0, left)).not_done

    def _begin(self, make: Callable[[], Vectors]) -> Future[Vectors]:
        """Embed in a thread that does not keep the process from ending."""
        work: Future[Vectors] = Future()

        def run() -> None:
            try:
                work.set_result(self._timed(make))
            except Exception as problem:  # noqa: BLE001 - it is raised where somebody waits for it
                work.set_exception(problem)

        self._began = time.monotonic()
        threading.Thread(target=run, name="lamina-question", daemon=True).start()
        return work

    def _timed(self, make: Callable[[], Vectors]) -> Vectors:
        start = time.monotonic()
        try:
            return make()
        finally:
            self._took = (self._took[1], time.monotonic() - start)
