"""`lamina serve`: keep search warm for the other processes of this machine."""

from __future__ import annotations

import os

from lamina.errors import UsageError
from lamina.interfaces.cli.arguments import command, open_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lamina.interfaces.cli.output import Output


def run(name: str, arguments: list[str], out: Output) -> int:
    """Answer the searches of other processes until Ctrl-C or SIGTERM."""
    parser = command(
        name,
        "Keep the search of one store warm: while this runs, every `lamina search` on this machine is "
        "answered by it, by words and by meaning, what is new gets its vector in the background, and every "
        "minute what is due is done (as by `lamina tick`). It "
        "listens on a local socket that only you may open, never on a network. Ctrl-C ends it.",
        examples=("lamina serve", "lamina serve --idle 30m", "lamina serve --stop"),
    )
    parser.add_argument(
        "--idle", metavar="TIME", help="end by itself after so long without a question: 30m, 2h"
    )
    parser.add_argument("--stop", action="store_true", help="end the process that runs, and do nothing else")
    options = parser.options(arguments)
    idle = seconds(options.idle)
    memory = open_memory(options, out)
    if options.stop:
        from lamina.resident.client import stop

        ended = memory.exists and stop(memory.standpoint, env=os.environ)
        out.result({"stopped": ended}, "stopped" if ended else "no process keeps this store warm")
        return 0
    from lamina.live.ticking import Ticking
    from lamina.resident.server import Server

    root = memory.store.layout.root
    Ticking(str(root), tell=out.note).start()
    Server(root, env=os.environ, idle_s=idle).serve(teller(out))
    return 0


def seconds(text: str | None) -> int | None:
    """Parse a span of time."""
    from lamina.formats.duration import parse_duration

    found = parse_duration(text) if text else None
    if text is not None and not found:
        raise UsageError(f"{text!r} is no time", "write 30m, 2h or 1d")
    return found


def teller(out: Output) -> Any:
    """Return what tells that the process is ready."""

    def tell(state: dict[str, Any]) -> None:
        by = f"words and vectors ({state['embedder']})"
        if state["problem"] or state["embedder"] is None:
            by = f"words ({state['problem'] or 'the setting embedder is none'})"
        out.result(state, f"answering searches of {state['root']} by {by}; Ctrl-C ends it")
        out.flush()

    return tell
