"""What a resident process keeps ready of one store: its index by words and vectors, and the embedder."""

from __future__ import annotations

import os
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lamina import errors
from lamina.index import disk
from lamina.index.base import Query
from lamina.index.embedded import NAME, VECTORS, Embedded
from lamina.index.source import StoreSource, index_home
from lamina.memory import finding
from lamina.memory.opened import open_parts
from lamina.pipeline import recall
from lamina.pipeline.filters import question
from lamina.resident.client import WITHIN_S
from lamina.resident.filler import Filler, Gentle
from lamina.resident.prompt import LATE, Prompt
from lamina.resident.shared import Shared
from lamina.store import log
from lamina.store.layout import Layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime
    from pathlib import Path

    from lamina.embed.base import Embedder
    from lamina.memory.opened import Opened
    from lamina.pipeline.recall import Found

Json = dict[str, Any]

_RANK_S = 0.1
"""What is kept for ranking and the way back, of the time that a question has."""
_AGAIN_S = 60.0
"""How long words do alone after the embedder failed."""


class Elsewhere(Exception):
    """A question that this process must not answer: of another store, or with another embedder."""


class Warm:
    """The parts of one store that stay open. `embedder` stands for the one that the settings name."""

    def __init__(
        self,
        root: Path,
        *,
        env: Mapping[str, str],
        clock: Callable[[], datetime],
        embedder: Embedder | None = None,
    ) -> None:
        self._root = root
        self._env = env
        self._clock = clock
        self._given = embedder
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._words_until = 0.0
        self._why = ""
        self._missing = ""  # why there is no embedder, though the settings name one
        self._setting = self._own().own["embedder"]
        self._path = os.path.join(index_home(root, env), NAME)  # noqa: PTH118 - compared at each question
        self._file = disk.inode(self._path)
        self._shared, self.embedder = self._made(self._own())
        self.filler = Filler(str(self._root), self._another, self._failed)

    def prepare(self) -> None:
        """Load all that the first question would wait for."""
        index = self._shared.index
        index.refresh(StoreSource(self._root))
        self._file = disk.inode(self._path)  # it may have been built; the search sees if it is replaced now
        for _ in range(2):  # the first loads, the second tells how long a question takes from then on
            answer = index.search(Query("warm up", vectors=self.embedder is not None))
            if self.embedder is not None and VECTORS not in answer.engines:
                self._rest("; ".join(answer.notes))
                break

    def look(self) -> None:
        """Give up an index whose file was replaced: what was purged from it must not stay open here."""
        with self._lock:
            replaced = self._drop_replaced()
        if replaced:
            self.filler.wake()  # it looks at the file that is there now

    def search(self, request: Json) -> Found:
        """Answer a question as a cold process would, by vectors as well.

        Raises Elsewhere, also when who asks does not wait any more, and LaminaError.
        """
        until = time.monotonic() + float(request.get("within_s") or 5.0)
        with self._lent(request) as (opened, embedder):
            return self._answer(opened, embedder, request, until)

    def _answer(self, opened: Opened, embedder: Prompt | None, request: Json, until: float) -> Found:
        by_name = bool(request.get("vectors"))
        asked = question(
            str(request["query"]),
            opened.scope,
            opened.today,
            limit=int(request.get("limit") or 10),
            filters=request.get("filters") or {},
            branch=opened.branch,
        )
        notes = self._prepare(opened, by_name=by_name)
        ready = embedder is not None and time.monotonic() >= self._words_until
        with self._in_turn(until):
            if embedder is not None:
                embedder.until, embedder.late = until - _RANK_S, False
            asked = asked._replace(vectors=ready)
            found = recall.search(opened.index, asked, today=opened.today, here=opened.scope)
            late = embedder is not None and embedder.late
        if late and not by_name:
            found = found._replace(notes=tuple(note for note in found.notes if LATE not in note))
        elif ready and not late:
            self._heard(found)
        self.filler.wake()
        return found._replace(notes=(*found.notes, *notes))

    def _heard(self, found: Found) -> None:
        """Note whether the embedder works."""
        if VECTORS in found.engines:
            self._why = ""
        else:
            self._rest("; ".join(found.notes))

    def _prepare(self, opened: Opened, *, by_name: bool) -> list[str]:
        """Bring the index up to date; vectors that were asked for by name are made first, for two seconds."""
        opened.refresh()
        if by_name:
            try:
                return finding.prepare(opened, within_s=finding.SEARCH_S)
            except (errors.EmbedderUnavailable, errors.UnwritableStore) as problem:
                return [f"searched by words only: {self._missing or finding.told(problem)}"]
        left = self.filler.missing
        return [f"{left} memories have no vector yet; `lamina serve` is making them"] if left else []

    @contextmanager
    def _in_turn(self, until: float) -> Iterator[None]:
        """Wait for the ones who came first; nobody works for one who has gone."""
        if not self._turn.acquire(timeout=max(0.0, until - time.monotonic())):
            raise Elsewhere("too many ask at once")
        try:
            yield
        finally:
            self._turn.release()

    def state(self) -> Json:
        """Return what stands ready."""
        embedder = self.embedder
        name = None if embedder is None else embedder.name
        problem = self._why
        if embedder is not None and not problem and embedder.takes_s > WITHIN_S - _RANK_S:
            problem = f"a question takes {embedder.takes_s:.1f} s, so only --vectors waits for it"
        missing = self.filler.missing
        return {"root": str(self._root), "embedder": name, "missing": missing, "problem": problem}

    def close(self) -> None:
        """End the work behind and give up the index."""
        self.filler.stop(2.0)
        self._shared.give_up()

    @contextmanager
    def _lent(self, request: Json) -> Iterator[tuple[Opened, Prompt | None]]:
        """Lend the store as the asking process sees it, with the parts that are open here."""
        opened = open_parts(
            request["root"],
            workspace=request.get("workspace"),
            cwd=request.get("cwd") or "/",  # the root is no workspace, nor is a folder that is gone
            env={str(name): str(value) for name, value in request.get("env", {}).items()},
            clock=self._clock,
        )
        if os.path.realpath(opened.root) != os.path.realpath(self._root):
            raise Elsewhere(f"this process answers for {self._root}")
        with self._lock:
            self._follow(opened.own["embedder"])
            self._drop_replaced()
            shared, embedder = self._shared, self.embedder
            shared.take()
        with shared.taken() as index:
            opened.lend(index, embedder)
            yield opened, embedder

    def _follow(self, wanted: str) -> None:
        """Take another embedder when the settings name one now; not for one process alone."""
        if wanted == self._setting:
            return
        own = self._own()
        if own.own["embedder"] != wanted:
            raise Elsewhere(f"this process answers with the embedder {self._setting}")
        self._setting, self._words_until, self._why, self._missing = wanted, 0.0, "", ""
        old = self._shared
        self._shared, self.embedder = self._made(own)
        old.give_up()
        self.filler.renew()

    def _drop_replaced(self) -> bool:
        """Start with a fresh index if there is another file than there was; tells whether it did."""
        file = disk.inode(self._path)
        if file == self._file:
            return False
        old, self._file = self._shared, file
        self._shared = self._opened(self.embedder)
        old.give_up()
        return True

    def _made(self, own: Opened) -> tuple[Shared, Prompt | None]:
        embedder: Prompt | None = None
        try:
            found = self._given or own.embedder
            embedder = None if found is None else Prompt(found)
        except errors.EmbedderUnavailable as problem:
            self._why, self._missing = problem.message, finding.told(problem)
        return self._opened(embedder), embedder

    def _opened(self, embedder: Embedder | None) -> Shared:
        return Shared(Embedded(index_home(self._root, self._env), embedder=embedder))

    def _another(self) -> Embedded | None:
        embedder = self.embedder
        if embedder is None:
            return None
        return Embedded(index_home(self._root, self._env), embedder=Gentle(embedder))

    def _own(self) -> Opened:
        return open_parts(self._root, workspace=None, cwd="/", env=self._env, clock=self._clock)

    def _rest(self, why: str) -> None:
        """Leave a failing embedder alone for a while."""
        self._why, self._words_until = why, time.monotonic() + _AGAIN_S
        self._failed(why)

    def _failed(self, why: str) -> None:
        if (self._root / "memory.json").exists():  # else the store is gone, and nothing of it must come back
            log.log(Layout(self._root), "vectors_failed", at=self._clock(), reason=why)
