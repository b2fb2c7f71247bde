"""`lamina hook HOST EVENT`: what the hook command does, within this program; hosts call the faster copy."""

from __future__ import annotations

import sys

from lamina.errors import UsageError
from lamina.interfaces.cli.arguments import command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lamina.interfaces.cli.output import Output


def run(name: str, arguments: list[str], out: Output) -> int:
    """Answer one event of a host; always 0, since a host takes anything else for its own trouble."""
    parser = command(
        name,
        "Answer one event of a host: read its payload on standard input, print what the host is to show its "
        "model, and note for the worker that there is something new. Hosts call this by themselves once "
        "`lamina install` was run; it never fails, and what went wrong stands in the store's logs/.",
        examples=("lamina hook claude-code SessionStart < payload.json",),
    )
    parser.add_argument("host", metavar="HOST", help="claude-code, codex, gemini, …")
    parser.add_argument("event", metavar="EVENT", help="the host's own name of the event")
    try:
        options = parser.options(arguments)
    except UsageError as problem:
        out.note(f"lamina: {problem.message}: {problem.hint}")
        return 0
    from lamina.live import fast, program
    from lamina.memory import Memory

    root = Memory.open(options.root).root  # of the settings nothing is told: the host would show it
    fast.main(
        (options.host, options.event),
        state=str(root / "state"),
        dialects=program.dialects(),
        program=program.program(root, sys.executable),
    )
    return 0
