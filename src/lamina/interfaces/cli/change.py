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
    parser = command("edit", "Change the text or the fields of one memory.", changes=True)
    parser.add_argument("id")
    parser.add_argument("--text", help="the new text; - reads standard input")
    parser.add_argument("--heading", help="the new heading")
    parser.add_argument("--importance", help="1 to 5, or low, normal, high")
    parser.add_argument(
        "--until", metavar="DAY", help="the day on which it stops being true; empty takes it away"
    )
    parser.add_argument("--volatility", help="stable, normal, volatile; empty takes it away")
    parser.add_argument("--verified", metavar="DAY", help="confirmed true on this day (today, or YYYY-MM-DD)")
    parser.add_argument("--trust", choices=("approved", "candidate"), help="approve it, or doubt it")
    options = parser.parse_args(arguments)
    changes = {name: getattr(options, name) for name in FIELDS if getattr(options, name) is not None}
    text = None if options.text is None else text_or_stdin(options.text)
    if text is None and not changes:
        raise UsageError("edit wants something to change", "give --text, --heading, --importance, --trust …")
    changed = open_memory(options).edit(options.id, text=text, fields=changes, dry_run=options.dry_run)
    verb = "would change" if options.dry_run else "changed"
    out.result(changed, f"{verb} {changed['id']}  {changed['file']}:{changed['line']}")
    return 0


def move(arguments: list[str], out: Output) -> int:
    """Move a memory to another layer, topic or scope."""
    parser = command("move", "Move a memory to another layer, topic or scope.", changes=True)
    parser.add_argument("id")
    parser.add_argument("--layer")
    parser.add_argument("--topic", help="the topic's title")
    parser.add_argument("--scope", help="global or workspace:KEY")
    options = parser.parse_args(arguments)
    if not (options.layer or options.topic or options.scope):
        raise UsageError("move wants a place", "give --layer, --topic or --scope")
    moved = open_memory(options).move(
        options.id, layer=options.layer, topic=options.topic, scope=options.scope, dry_run=options.dry_run
    )
    verb = "would move" if options.dry_run else "moved"
    out.result(moved, f"{verb} {options.id} to {moved['id']}  {moved['file']}:{moved['line']}")
    return 0


def forget(arguments: list[str], out: Output) -> int:
    """Forget memories, so that they do not come back."""
    parser = command("forget", "Forget memories, so that they do not come back.", changes=True)
    parser.add_argument("id", nargs="*", help="ids; - reads ids from standard input")
    parser.add_argument("--undo", action="store_true", help="release what was forgotten")
    parser.add_argument("--purge", action="store_true", help="also remove the text from disk")
    parser.add_argument("--reason", default="", help="why; kept with the tombstone")
    parser.add_argument("--session", help="everything learnt in this session")
    parser.add_argument("--since", metavar="WHEN", help="everything learnt since this day, or 2d, 1w ago")
    options = parser.parse_args(arguments)
    ids = [word for item in options.id for word in text_or_stdin(item).split()]
    if not (ids or options.session or options.workspace or options.since):
        raise UsageError(
            "forget wants ids", "lamina forget ID, or --session ID, --since WHEN, --workspace KEY"
        )
    result = open_memory(options).forget(
        ids,
        undo=options.undo,
        purge=options.purge,
        reason=options.reason,
        session=options.session,
        whole_workspace=None if ids else options.workspace,
        since=options.since,
        dry_run=options.dry_run,
    )
    verb = (
        ("would release" if options.undo else "would forget")
        if options.dry_run
        else ("released" if options.undo else "forgot")
    )
    lines = [f"{verb} {item['id']}  {item['heading']}" for item in result["entries"]]
    lines += result["left"]
    out.result(result, "\n".join(lines) or "nothing to forget")
    return 0


def undo(arguments: list[str], out: Output) -> int:
    """Take back the last write."""
    parser = command("undo", "Take back the last write.", changes=True)
    options = parser.parse_args(arguments)
    taken = open_memory(options).undo(dry_run=options.dry_run)
    if not taken["files"]:
        out.result(taken, "there is no write to take back")
        return 0
    verb = "would take back" if options.dry_run else "took back"
    out.result(
        taken, "\n".join([f"{verb} {taken['label']} of {taken['at']}", *(f"  {f}" for f in taken["files"])])
    )
    return 0
