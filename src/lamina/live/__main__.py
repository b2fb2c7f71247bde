"""What the hook command starts: `python -m lamina.live ROOT card|worker|ask …`."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

LONGEST_S = 120


def main(arguments: list[str]) -> int:
    """Make a card, work, or answer a question; returns the exit code."""
    root, what, *rest = arguments
    env = dict(os.environ)
    if what != "worker" and hasattr(signal, "alarm"):
        signal.alarm(LONGEST_S)  # nobody waits for it that long
    match what, rest:
        case "card", [cwd]:
            from lamina.live import cards

            cards.make(Path(root), cwd, env=env)
        case "worker", [handle]:
            from lamina.live import worker

            worker.work(Path(root), env=env, handle=int(handle))
            os._exit(0)  # the lock is free: nothing of this worker is to be seen beside the next one
        case "ask", []:
            from lamina.live import asked

            question = sys.stdin.buffer.read().decode("utf-8", "replace")
            asked.answer(Path(root), question, out=sys.stdout.buffer, env=env)
        case _:
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
