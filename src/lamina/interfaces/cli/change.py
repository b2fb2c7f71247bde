"""Commands that change what is stored: edit, move, forget, undo."""

from __future__ import annotations

from lamina.errors import UsageError
from lamina.interfaces.cli.arguments import command, open_memory, text_or_stdin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lamina.interfaces.cli.output import Output

FIELDS = ("importance", "until", "volatility", "verified", "trust", "heading")


def run(name: str, arguments: list[str], out: Output) -> int:
    """Run one of the changing commands."""
    return {"edit": edit, "move": move, "forget": forget, "undo": undo}[name](arguments, out)


def edit(arguments: list[str], out: Output) -> int:
    """Change the text or the fields of one memory."""
    parser = command(
        "edit",
        "Change the text or the fields of one memory. You become one of its sources, so that no model "
        "overrules it. (Any text editor will do, too: the files are plain Markdown.)",
        changes=True,
        examples=(
            'lamina edit harbor-sem-0004 --text "The staging port is 8082"',
            "lamina edit harbor-sem-0004 --verified today",
            "lamina edit harbor-dec-0002 --trust approved --importance high",
        ),
    )
    parser.add_argument("id", metavar="ID", help="the memory's id")
    parser.add_argument("--text", help="the new text")
    parser.add_argument("--heading", help="the new heading")
    parser.add_argument("--importance", metavar="N", help="1 to 5, or low, normal, high")
    parser.add_argument(
        "--until", metavar="DAY", help="the last day on which it holds, YYYY-MM-DD; empty takes it away"
    )
    parser.add_argument("--volatility", help="stable, normal, volatile; empty takes it away")
    parser.add_argument("--verified", metavar="DAY", help="confirmed true on this day: today, or YYYY-MM-DD")
    parser.add_argument("--trust", choices=("approved", "candidate"), help="approve it, or doubt it")
    options = parser.options(arguments)
    changes = {name: getattr(options, name) for name in FIELDS if getattr(options, name) is not None}
    if options.text is None and not changes:
        raise UsageError("edit wants something to change", "give --text, --heading, --importance, --trust …")
    memory = open_memory(options, out)
    changed = memory.edit(options.id, text=options.text, fields=changes, dry_run=options.dry_run)
    verb = "would change" if options.dry_run else "changed"
    out.result(changed, f"{verb} {changed['id']}  {place(changed)}")
    return 0


def move(arguments: list[str], out: Output) -> int:
    """Move a memory to another layer, topic or scope."""
    parser = command(
        "move",
        "Move a memory. In another layer or scope it gets a new id; the old one goes on finding it.",
        changes=True,
        examples=(
            "lamina move harbor-sem-0004 --layer procedural",
            'lamina move harbor-sem-0004 --topic "Ports"',
            "lamina move harbor-lrn-0002 --scope global",
        ),
    )
    parser.add_argument("id", metavar="ID", help="the memory's id")
    parser.add_argument("--layer", help="semantic, episodic, procedural, learnings, decisions, codebase")
    parser.add_argument("--topic", help="the topic's title; a new one is made")
    parser.add_argument("--scope", help="global or workspace:KEY")
    options = parser.options(arguments)
    if not (options.layer or options.topic or options.scope):
        raise UsageError("move wants a place", "give --layer, --topic or --scope")
    moved = open_memory(options, out).move(
        options.id, layer=options.layer, topic=options.topic, scope=options.scope, dry_run=options.dry_run
    )
    verb = "would move" if options.dry_run else "moved"
    to = "" if moved["id"] == options.id else f" to {moved['id']}"
    out.result(moved, f"{verb} {options.id}{to}  {place(moved)}")
    return 0


def forget(arguments: list[str], out: Output) -> int:
    """Forget memories, so that they do not come back."""
    parser = command(
        "forget",
        "Forget memories: they are no longer found or shown, and the same content is refused later. The "
        "text stays on disk until --purge. Without ids, --session, --since and --workspace choose, all that "
        "are given together, in every project unless --workspace names one.",
        changes=True,
        examples=(
            'lamina forget harbor-sem-0004 --reason "never true"',
            "lamina forget harbor-sem-0004 --undo",
            "lamina forget harbor-sem-0004 --purge",
            "lamina forget --since 2d --dry-run",
        ),
    )
    parser.add_argument("id", nargs="*", metavar="ID", help="ids; - reads ids from standard input")
    parser.add_argument("--undo", action="store_true", help="release what was forgotten")
    parser.add_argument(
        "--purge",
        action="store_true",
        help="also remove the text from disk, and say where it still stands and what removes it there",
    )
    parser.add_argument("--reason", default="", help="why; kept with the tombstone")
    parser.add_argument("--session", metavar="ID", help="everything learnt in this session")
    parser.add_argument("--since", metavar="WHEN", help="everything learnt since this day, or 2d, 1w ago")
    options = parser.options(arguments)
    ids = [word for item in options.id for word in text_or_stdin(item).split()]
    if not ids and (options.id or not (options.session or options.workspace or options.since)):
        raise UsageError(
            "forget wants ids", "lamina forget ID, or --session ID, --since WHEN, --workspace KEY"
        )
    result = open_memory(options, out).forget(
        ids,
        undo=options.undo,
        purge=options.purge,
        reason=options.reason,
        session=options.session,
        whole_workspace=None if ids else options.workspace,
        since=options.since,
        dry_run=options.dry_run,
    )
    done, planned = {
        (True, False): ("released", "would release"),
        (False, True): ("purged", "would purge"),
        (False, False): ("forgot", "would forget"),
    }[options.undo, options.purge]
    verb = planned if options.dry_run else done
    lines = [f"{verb} {item['id']}  {item['heading']}" for item in result["entries"]]
    nothing = "nothing to release" if options.undo else "nothing to forget"
    out.result(result, "\n".join([*(lines or [nothing]), *result["left"]]))
    return 0


def undo(arguments: list[str], out: Output) -> int:
    """Take back the last write."""
    parser = command(
        "undo",
        "Take back the last write that is not taken back yet; call it again for the one before. The last 20 "
        "are kept. A file that was changed since is never overwritten.",
        changes=True,
        examples=("lamina undo --dry-run", "lamina undo"),
    )
    options = parser.options(arguments)
    taken = open_memory(options, out).undo(dry_run=options.dry_run)
    verb = "would take back" if options.dry_run else "took back"
    lines = [f"{verb} {taken['label']} of {taken['at']}", *(f"  {file}" for file in taken["files"])]
    out.result(taken, "\n".join(lines))
    return 0


def place(written: dict[str, object]) -> str:
    """Return where something was written; a dry run does not know the line."""
    return f"{written['file']}:{written['line']}" if written["line"] else str(written["file"])
