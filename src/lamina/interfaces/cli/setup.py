"""Commands about the store and its workspaces: init, workspaces, associate, trust, pause, resume."""

from __future__ import annotations

from pathlib import Path

from lamina.interfaces.cli.arguments import command, no_store, open_memory

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
    parser = command("init", "Make a store. Every writing command does this on first use, too.", changes=True)
    parser.add_argument("--remote", metavar="URL", help="the git remote that this store will sync with")
    options = parser.parse_args(arguments)
    made = open_memory(options).init(remote=options.remote, dry_run=options.dry_run)
    state = "is there already" if made["existed"] else ("would be made" if options.dry_run else "is ready")
    out.result(
        made, f"the store at {made['root']} {state}\nnext: `lamina import` reads your agents' sessions"
    )
    return 0


def workspaces(arguments: list[str], out: Output) -> int:
    """List the known workspaces."""
    options = command("workspaces", "List the known workspaces.").parse_args(arguments)
    memory = open_memory(options)
    if not memory.exists:
        out.note(no_store(memory))
    known = memory.workspaces()
    lines = []
    for workspace in known:
        mark = "*" if workspace["current"] else " "
        lines.append(
            f"{mark} {workspace['key']:<24} {workspace['entries']:>5} memories  {workspace['title']}"
        )
        lines += [f"      {place}" for place in [*workspace["remotes"], *workspace["paths"]]]
    out.result({"workspaces": known}, "\n".join(lines))
    return 0


def associate(arguments: list[str], out: Output) -> int:
    """Bind a folder to a workspace by hand."""
    parser = command("associate", "Bind a folder to a workspace by hand, for one that moved.", changes=True)
    parser.add_argument("key", help="the workspace's key")
    parser.add_argument(
        "path", nargs="?", type=Path, default=Path(), help="the folder (default: the current one)"
    )
    parser.add_argument("--title", help="the workspace's title")
    options = parser.parse_args(arguments)
    bound = open_memory(options).associate(
        options.key, options.path, title=options.title, dry_run=options.dry_run
    )
    verb = "would belong" if options.dry_run else "belongs"
    out.result(bound, f"{bound['path']} now {verb} to workspace {bound['key']}")
    return 0


def trust(arguments: list[str], out: Output) -> int:
    """Accept the .lamina.toml of a project."""
    parser = command("trust", "Accept the .lamina.toml of a project, as it is now.", changes=True)
    parser.add_argument(
        "path", nargs="?", type=Path, default=Path(), help="the project (default: the current folder)"
    )
    parser.add_argument("--revoke", action="store_true", help="no longer accept it")
    options = parser.parse_args(arguments)
    result = open_memory(options).trust(options.path, revoke=options.revoke, dry_run=options.dry_run)
    out.result(result, f"{result['file']}: {result['state']}")
    return 0


def pause(arguments: list[str], out: Output) -> int:
    """Stop capturing."""
    parser = command("pause", "Stop capturing, for a while or until `lamina resume`.", changes=True)
    parser.add_argument("duration", nargs="?", help="how long: 30m, 2h, 1d (default: until resumed)")
    options = parser.parse_args(arguments)
    result = open_memory(options).pause(options.duration, dry_run=options.dry_run)
    out.result(
        result,
        f"capture is paused {'until ' + result['until'] if result['until'] else 'until `lamina resume`'}",
    )
    return 0


def resume(arguments: list[str], out: Output) -> int:
    """Capture again."""
    parser = command("resume", "Capture again.", changes=True)
    options = parser.parse_args(arguments)
    result = open_memory(options).resume(dry_run=options.dry_run)
    out.result(result, "capture is on")
    return 0
