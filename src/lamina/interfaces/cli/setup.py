"""Commands about the store and its workspaces: init, workspaces, associate, trust, pause, resume."""

from __future__ import annotations

from pathlib import Path

from lamina.interfaces.cli.arguments import command, open_memory, open_reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lamina.interfaces.cli.output import Output


def run(name: str, arguments: list[str], out: Output) -> int:
    """Run one of the set-up commands."""
    handlers = {
        "init": init,
        "workspaces": workspaces,
        "associate": associate,
        "trust": trust,
        "pause": pause,
        "resume": resume,
    }
    return handlers[name](arguments, out)


def init(arguments: list[str], out: Output) -> int:
    """Make a store."""
    parser = command(
        "init",
        "Make a store: a folder of its own that is a git repository. Every writing command does this on "
        "first use, too.",
        changes=True,
        examples=("lamina init", "lamina init --root ~/work-memory --remote git@example.com:me/memory.git"),
    )
    parser.add_argument("--remote", metavar="URL", help="the git remote that this store will sync with")
    options = parser.options(arguments)
    made = open_memory(options, out).init(remote=options.remote, dry_run=options.dry_run)
    state = "is there already" if made["existed"] else ("would be made" if options.dry_run else "is ready")
    out.result(
        made, f"the store at {made['root']} {state}\nnext: `lamina import` reads your agents' sessions"
    )
    return 0


def workspaces(arguments: list[str], out: Output) -> int:
    """List the known workspaces."""
    parser = command(
        "workspaces",
        "List the known workspaces with their remotes and folders; * marks the one you are in.",
        examples=("lamina workspaces", "lamina workspaces --json"),
    )
    memory = open_reading(parser.options(arguments), out)
    known = memory.workspaces()
    lines = []
    for workspace in known:
        mark = "*" if workspace["current"] else " "
        lines.append(
            f"{mark} {workspace['key']:<24} {workspace['entries']:>5} memories  {workspace['title']}"
        )
        lines += [f"      {place}" for place in [*workspace["remotes"], *workspace["paths"]]]
    if not lines and memory.exists:
        lines = ["no workspace is known yet: the first memory of a project makes it one"]
    out.result({"workspaces": known}, "\n".join(lines))
    return 0


def associate(arguments: list[str], out: Output) -> int:
    """Bind a folder to a workspace by hand."""
    parser = command(
        "associate",
        "Bind a folder to a workspace by hand: one that moved and has no remote, or one that shall share "
        "the memory of another.",
        changes=True,
        examples=("lamina associate harbor", "lamina associate harbor ~/src/harbor --title Harbor"),
    )
    parser.add_argument("key", metavar="KEY", help="the workspace's key; a new one is made")
    parser.add_argument(
        "path",
        nargs="?",
        metavar="FOLDER",
        type=Path,
        default=Path(),
        help="the folder (default: the current one)",
    )
    parser.add_argument("--title", help="the workspace's title")
    options = parser.options(arguments)
    bound = open_memory(options, out).associate(
        options.key, options.path, title=options.title, dry_run=options.dry_run
    )
    verb = "would belong" if options.dry_run else "belongs"
    out.result(bound, f"{bound['path']} {verb} to workspace {bound['key']}")
    return 0


def trust(arguments: list[str], out: Output) -> int:
    """Accept the .lamina.toml of a project."""
    parser = command(
        "trust",
        "Accept the .lamina.toml of a project as it is now. It travels with the repository, so until then "
        "it may only narrow what is remembered. A changed file has to be accepted anew.",
        changes=True,
        examples=("lamina trust", "lamina trust ~/src/harbor --revoke"),
    )
    parser.add_argument(
        "path",
        nargs="?",
        metavar="FOLDER",
        type=Path,
        default=Path(),
        help="the project (default: the current folder)",
    )
    parser.add_argument("--revoke", action="store_true", help="no longer accept it")
    options = parser.options(arguments)
    result = open_memory(options, out).trust(options.path, revoke=options.revoke, dry_run=options.dry_run)
    out.result(result, f"{result['file']}: {result['state']}")
    return 0


def pause(arguments: list[str], out: Output) -> int:
    """Stop capturing."""
    parser = command(
        "pause",
        "Stop capturing sessions, for a while or until `lamina resume`. What is said meanwhile stays out of "
        "memory for good, also when the session is read later. Writing by hand goes on.",
        changes=True,
        examples=("lamina pause 2h", "lamina pause"),
    )
    parser.add_argument(
        "duration", nargs="?", metavar="DURATION", help="how long: 30m, 2h, 1d (default: until resumed)"
    )
    options = parser.options(arguments)
    result = open_memory(options, out).pause(options.duration, dry_run=options.dry_run)
    verb = "would be" if options.dry_run else "is"
    out.result(result, f"capture {verb} paused until {result['until'] or '`lamina resume`'}")
    return 0


def resume(arguments: list[str], out: Output) -> int:
    """Capture again."""
    parser = command(
        "resume", "Capture again after `lamina pause`.", changes=True, examples=("lamina resume",)
    )
    options = parser.options(arguments)
    result = open_memory(options, out).resume(dry_run=options.dry_run)
    out.result(result, f"capture {'would be' if options.dry_run else 'is'} on")
    return 0
