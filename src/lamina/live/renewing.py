"""Makes the kept cards anew a moment after something was written, in a process that goes on.

So a session that begins right after finds its card, and waits for none.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

from lamina.errors import LaminaError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

AFTER_S = 2.0
"""Seconds of quiet: several writes in a row are answered by one renewal."""


class Renewing:
    """Renews the cards of a store in the background; nothing waits for it, the process may end any time."""

    def __init__(self, *, tell: Callable[[str], None], after_s: float = AFTER_S) -> None:
        self._tell = tell
        self._after_s = after_s
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()

    def soon(self, root: Path) -> None:
        """Renew the cards of the store at `root` once it has been quiet for a moment."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(self._after_s, self._run, (root,))
            self._timer.daemon = True
            self._timer.start()

    def _run(self, root: Path) -> None:
        from lamina.live import cards

        try:
            cards.renew(root, dict(os.environ))
        except (LaminaError, OSError) as problem:
            self._tell(f"the cards were not made anew: {problem}")
