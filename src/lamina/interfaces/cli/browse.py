"""Commands that only read: list, show, why, log, card."""

from __future__ import annotations

from lamina.interfaces.cli.arguments import (
    add_filters,
    command,
    filters_of,
    open_memory,
    open_reading,
    point_elsewhere,
    positive,
    text_or_stdin,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from lamina.interfaces.cli.arguments import Parser
    from lamina.interfaces.cli.output import Output

NAMED = "its id, or FILE:LINE; - reads it from standard input"


def run(name: str, arguments: list[str], out: Output) -> int:
    """Run one of the reading commands."""
    return {"list": listing, "show": show, "why": why, "log": log, "card": card}[name](arguments, out)


def listing(arguments: list[str], out: Output) -> int:
    """List memories, newest first."""
    parser = command(
        "list",
        "List memories, newest first: those of this workspace and the global ones, unless --scope says "
        "otherwise.",
        examples=(
            "lamina list --limit 20",
            "lamina list --layer decisions --since 30d",
            "lamina list --scope all",
        ),
    )
    add_filters(parser)
    options = parser.options(arguments)
    memory = open_reading(options, out)
    items, problems = memory.list(limit=options.limit, **filters_of(options))
    for problem in problems:
        out.note(str(problem))
    lines = [
        f"{item['id'] or '(no id yet)':<24} {item['date'] or '':<10}  {item['heading']}{_mark(item)}"
        for item in items
    ]
    if not lines and memory.exists:
        lines = ["nothing is stored here that fits"]
    out.result({"entries": items, "problems": [str(problem) for problem in problems]}, "\n".join(lines))
    if not items:
        point_elsewhere(memory, options, out)
    return 0


def _mark(item: Mapping[str, Any]) -> str:
    """Return what a person should know before relying on an entry."""
    marks = [item["trust"]] if item["trust"] != "approved" else []
    marks += [item["freshness"]] if item["freshness"] in ("stale", "expired") else []
    return f"  [{', '.join(marks)}]" if marks else ""


def show(arguments: list[str], out: Output) -> int:
    """Print one memory with all its fields."""
    parser = _of_one("show", "Print one memory as it stands in its file, with trust and freshness.")
    options = parser.options(arguments)
    memory = open_memory(options, out)
    item = memory.show(text_or_stdin(options.id).strip())
    place = out.style(f"{item['file']}:{item['line']}  ({item['trust']}, {item['freshness']})", "dim")
    out.result(item, f"{place}\n\n{item['text'].rstrip()}")
    return 0


def why(arguments: list[str], out: Output) -> int:
    """Follow a memory back to where it came from."""
    parser = _of_one(
        "why",
        "Follow a memory back to where it came from: the words it rests on, the note, the session's lines or "
        "the commit, and whether each can be looked at here.",
    )
    options = parser.options(arguments)
    memory = open_memory(options, out)
    chain = memory.why(text_or_stdin(options.id).strip())
    lines = [out.style(chain["heading"], "bold")]
    for link in chain["chain"]:
        lines += _link(link)
    out.result(chain, "\n".join(lines))
    return 0


def _link(link: Mapping[str, Any]) -> list[str]:
    """Return one link of a chain for a person to read."""
    place = link.get("file", "")
    if place and link.get("lines"):
        place += f":{link['lines']}"
    if link["kind"] == "evidence":
        said = f"“{link['quote']}”" if link.get("quote") else "said directly"
        return [f"  {'evidence':<9} {said} ({link['ref']})"]
    first = f"  {link['kind']:<9} {link['ref']}  [{link['state']}]" + (f"  {place}" if place else "")
    return [first, *(f"            {line}" for line in link.get("quote", "").splitlines())]


def _of_one(name: str, summary: str) -> Parser:
    parser = command(
        name,
        summary,
        examples=(f"lamina {name} harbor-dec-0003", f"lamina {name} global/semantic/tools.md:12"),
    )
    parser.add_argument("id", metavar="ID", help=NAMED)
    return parser


def log(arguments: list[str], out: Output) -> int:
    """Print what was learnt, session by session."""
    parser = command(
        "log",
        "What was learnt, session by session, newest first, in every workspace.",
        examples=("lamina log --since 7d", "lamina log --limit 3 --json"),
    )
    parser.add_argument(
        "--since", metavar="WHEN", help="from this UTC day on (YYYY-MM-DD), or 7d, 2w for that long ago"
    )
    parser.add_argument(
        "--limit", type=positive, default=20, metavar="N", help="at most N sessions (default 20)"
    )
    options = parser.options(arguments)
    memory = open_reading(options, out)
    sessions = memory.log(since=options.since, limit=options.limit)
    lines: list[str] = []
    for session in sessions:
        lines.append(out.style(f"{session['date']}  {session['source']}", "bold"))
        lines += [f"  {entry['id'] or '(no id yet)':<22} {entry['heading']}" for entry in session["entries"]]
    out.result({"sessions": sessions}, "\n".join(lines) or "nothing was learnt in that time")
    return 0


def card(arguments: list[str], out: Output) -> int:
    """Print the context block that a new session gets."""
    parser = command(
        "card",
        "Print the context block that a new session in this folder gets. It is the same all day (UTC) as "
        "long as the memory is.",
        examples=("lamina card", "lamina card --budget 2000"),
    )
    parser.add_argument(
        "--budget", type=positive, metavar="N", help="at most N characters, 400 at least (default 6000)"
    )
    options = parser.options(arguments)
    memory = open_reading(options, out)
    text = memory.card(budget=options.budget)
    out.result({"card": text, "characters": len(text)}, text.rstrip("\n"))
    return 0
