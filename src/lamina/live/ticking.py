"""The tick of a server that runs for hours: every minute, by one process of all that serve the store."""

from __future__ import annotations

import os
import threading
import time
from contextlib import ExitStack

from lamina.errors import LaminaError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from lamina.memory import Memory
    from lamina.store.locks import Held

EVERY_S = 60.0
LOCK = "mcp-tick"
SHARE = 0.01
"""Of one core, at most: in a large store even a look at what is due costs seconds."""


class Ticking:
    """Runs `Memory.tick` while the process lives, if no other process does it already.

    It also wakes the worker if a session waits for it. The lock of the leader is held until the process ends;
    then another one finds it free.
    """

    def __init__(self, root: str | None, *, tell: Callable[[str], None], every_s: float = EVERY_S) -> None:
        self._root = root
        self._every_s = every_s
        self._tell = tell
        self._stack = ExitStack()
        self._held: Held | None = None

    def start(self) -> None:
        """Begin, in a thread that ends with the process; never in one that Lamina's own model run started."""
        if not os.environ.get("LAMINA_CHILD"):
            threading.Thread(target=self._run, name="lamina-tick", daemon=True).start()

    def _run(self) -> None:
        never, pause = threading.Event(), self._every_s
        while not never.wait(pause):
            began = time.thread_time()
            try:
                self.once()
            except LaminaError as problem:
                self._tell(f"the tick failed: {problem.message}")
            except Exception as problem:  # noqa: BLE001 - the edge of the process
                self._tell(f"the tick failed: {type(problem).__name__}: {problem}")
            pause = max(self._every_s, (time.thread_time() - began) / SHARE)

    def once(self) -> bool:
        """Run what is due, if this process leads; tells whether it does."""
        from lamina.live.worker import wake
        from lamina.memory import Memory

        with Memory.open(self._root, cwd=os.sep) as memory:
            if not memory.exists or not self._leads(memory):
                return False
            wake(memory.root, os.environ)
            memory.tick()
        return True

    def stop(self) -> None:
        """Let somebody else lead."""
        self._held = None
        self._stack.close()

    def _leads(self, memory: Memory) -> bool:
        from lamina.errors import Busy
        from lamina.store import locks

        if self._held is not None and not self._held.is_lost:
            return True
        self._stack.close()
        try:
            self._held = self._stack.enter_context(locks.lock(memory.store.layout.lock(LOCK), timeout_s=0))
        except Busy:
            self._held = None
        return self._held is not None
