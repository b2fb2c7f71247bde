"""Commands that only read: list, show, why, log, card."""

from __future__ import annotations

from lamina.interfaces.cli.arguments import (
    add_filters,
    command,
    no_store,
    open_memory,
    positive,
    text_or_stdin,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from lamina.interfaces.cli.arguments import Parser
    from lamina.interfaces.cli.output import Output
    from lamina.memory import Memory


def run(name: str, arguments: list[str], out: Output) -> int:
    """Run one of the reading commands."""
    return {"list": listing, "show": show, "why": why, "log": log, "card": card}[name](arguments, out)


def opened(parser: Parser, arguments: list[str], out: Output) -> tuple[Namespace, Memory]:
    """Parse the options and open the memory, saying so when there is no store yet."""
    options = parser.parse_args(arguments)
    memory = open_memory(options)
    if not memory.exists:
        out.note(no_store(memory))
    return options, memory


def listing(arguments: list[str], out: Output) -> int:
    """List memories, newest first."""
    parser = command("list", "List memories, newest first.")
    add_filters(parser)
    options, memory = opened(parser, arguments, out)
    items, problems = memory.list(
        limit=options.limit,
        scope=options.scope,
        layer=options.layer,
        topic=options.topic,
        trust=options.trust,
        since=options.since,
        until=options.until,
    )
    for problem in problems:
        out.note(str(problem))
    lines = [
        f"{item['id'] or '(no id yet)':<24} {item['date'] or '':<10}  {item['heading']}" for item in items
    ]
    out.result({"entries": items, "problems": [str(problem) for problem in problems]}, "\n".join(lines))
    return 0


def show(arguments: list[str], out: Output) -> int:
    """Print one memory with all its fields."""
    parser = command("show", "Print one memory with all its fields.")
    parser.add_argument("id", help="the memory's id; - reads it from standard input")
    options, memory = opened(parser, arguments, out)
    item = memory.show(text_or_stdin(options.id).strip())
    place = out.style(f"{item['file']}:{item['line']}  ({item['trust']}, {item['freshness']})", "dim")
    out.result(item, f"{place}\n\n{item['text'].rstrip()}")
    return 0


def why(arguments: list[str], out: Output) -> int:
    """Follow a memory back to where it came from."""
    parser = command("why", "Follow a memory back to where it came from.")
    parser.add_argument("id", help="the memory's id; - reads it from standard input")
    options, memory = opened(parser, arguments, out)
    chain = memory.why(text_or_stdin(options.id).strip())
    lines = [chain["heading"]]
    for link in chain["chain"]:
        place = f"  {link['file']}" if link.get("file") else ""
        if place and link.get("lines"):
            place += f":{link['lines']}"
        lines.append(f"  {link['kind']:<9} {link['ref']}  [{link['state']}]{place}")
        lines += [f"            {line}" for line in link.get("quote", "").splitlines()]
    out.result(chain, "\n".join(lines))
    return 0


def log(arguments: list[str], out: Output) -> int:
    """Print what was learnt, session by session."""
    parser = command("log", "What was learnt, session by session, newest first.")
    parser.add_argument("--since", metavar="WHEN", help="from this UTC day on, or 7d, 2w for that long ago")
    parser.add_argument(
        "--limit", type=positive, default=20, metavar="N", help="at most N sessions (default 20)"
    )
    options, memory = opened(parser, arguments, out)
    sessions = memory.log(since=options.since, limit=options.limit)
    lines: list[str] = []
    for session in sessions:
        lines.append(out.style(f"{session['date']}  {session['source']}", "bold"))
        lines += [f"  {entry['id']:<22} {entry['heading']}" for entry in session["entries"]]
    out.result({"sessions": sessions}, "\n".join(lines) or "nothing was learnt in that time")
    return 0


def card(arguments: list[str], out: Output) -> int:
    """Print the context block that a new session gets."""
    parser = command("card", "Print the context block that a new session gets.")
    parser.add_argument("--budget", type=positive, metavar="N", help="at most N characters (default 6000)")
    options, memory = opened(parser, arguments, out)
    text = memory.card(budget=options.budget)
    out.result({"card": text, "characters": len(text)}, text.rstrip("\n"))
    return 0
