"""Commands that put Lamina into the hosts of this machine and take it out: install, uninstall."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from lamina.errors import LaminaError, UsageError
from lamina.interfaces.cli.arguments import command, open_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from lamina.install.engine import Done, Site
    from lamina.interfaces.cli.output import Output
    from lamina.memory import Memory

ALL = "all"
SIGNS = {"create": "+", "change": "~", "remove": "-"}


def run(name: str, arguments: list[str], out: Output) -> int:
    """Install or uninstall."""
    return {"install": install, "uninstall": uninstall}[name](arguments, out)


def install(arguments: list[str], out: Output) -> int:
    """Put Lamina into a host."""
    parser = command(
        "install",
        "Put Lamina into an agent program (a host), so that memory works by itself: sessions are captured, "
        "the next one starts with what it needs, and the agent can search and write. It edits the host's "
        "own settings: only its own entries, after a backup, and `lamina uninstall` takes them back to the "
        "byte. Without HOST it lists the hosts that are here.",
        changes=True,
        examples=(
            "lamina install",
            "lamina install claude-code --dry-run",
            "lamina install all",
            "lamina install codex --project",
        ),
    )
    parser.add_argument("host", nargs="?", metavar="HOST", help="its name, or all: every host found here")
    parser.add_argument(
        "--project", action="store_true", help="into the current project only, not for the user"
    )
    parser.add_argument(
        "--as", dest="way", metavar="WAY", help="claude-code only: plugin (default), or settings"
    )
    options = parser.options(arguments)
    memory = open_memory(options, out)
    site = site_of(memory)
    if options.host is None:
        return overview(site, out)
    names, project = chosen(site, options), project_of(site, options)
    if options.way and options.host == ALL:
        raise UsageError("--as goes with one host", "name the host")
    if not options.dry_run:
        memory.init()

    def one(name: str) -> list[Done]:
        from lamina.install import engine

        way, at = options.way or "", datetime.now(UTC)
        return [engine.install(site, name, at=at, project=project, mode=way, dry_run=options.dry_run)]

    text = plan_text if options.dry_run else installed_text
    return told(names, one, out, dry_run=options.dry_run, text=text)


def uninstall(arguments: list[str], out: Output) -> int:
    """Take Lamina out of a host."""
    parser = command(
        "uninstall",
        "Take Lamina out of a host again: its files become what they were, to the byte, and what you or the "
        "host changed in them meanwhile stays. Your memories stay, too.",
        changes=True,
        examples=("lamina uninstall codex --dry-run", "lamina uninstall all"),
    )
    parser.add_argument("host", metavar="HOST", help="its name, or all: every host it is installed into")
    parser.add_argument(
        "--project", action="store_true", help="out of the current project only (default: out of everywhere)"
    )
    options = parser.options(arguments)
    memory = open_memory(options, out)
    site = site_of(memory)
    project = project_of(site, options)

    def one(name: str) -> list[Done]:
        from lamina.install import engine

        return engine.uninstall(
            site, name, project=project, everywhere=project is None, dry_run=options.dry_run
        )

    names = chosen(site, options)
    text = plan_text if options.dry_run else uninstalled_text
    return told(names, one, out, dry_run=options.dry_run, text=text)


def site_of(memory: Memory) -> Site:
    """Return the store and the person that it is installed for."""
    from lamina.install.engine import Site

    settings = memory.settings
    return Site(memory.root, settings.home, os.environ, bool(settings["recall"]))


def chosen(site: Site, options: argparse.Namespace) -> list[str]:
    """Return the hosts that are meant."""
    from lamina.install import check, engine

    if options.host != ALL:
        return [engine.live(options.host).name]
    if "way" not in vars(options):
        return check.with_traces(site)
    names = engine.present(site)
    if not names:
        raise LaminaError("no host was found on this machine", f"name one: {', '.join(engine.hosts())}")
    return names


def project_of(site: Site, options: argparse.Namespace) -> Path | None:
    """Return the top of the current project for --project; the home, `/` and the store are no projects."""
    if not options.project:
        return None
    from lamina.install import engine

    top = engine.top_of(Path.cwd())
    if top in (site.home.resolve(), Path(top.anchor)) or top.is_relative_to(site.root.resolve()):
        raise UsageError(f"{top} is no project", "go into a project's folder, or leave --project out")
    return top


def told(
    names: Iterable[str],
    act: Callable[[str], list[Done]],
    out: Output,
    *,
    dry_run: bool,
    text: Callable[[list[Done]], str],
) -> int:
    """Act on each host; one that fails does not stop the others."""
    done: list[Done] = []
    failed: list[tuple[str, LaminaError]] = []
    parts = []
    names = list(names)
    for name in names:
        try:
            places = act(name)
        except LaminaError as problem:
            if len(names) == 1:
                raise
            failed.append((name, problem))
            parts.append(f"{name}: {problem.message}\n  {problem.hint}")
            continue
        done += places
        parts.append(text(places))
    result: dict[str, Any] = {"hosts": [facts(each, dry_run=dry_run) for each in done]}
    if failed:
        result["failed"] = [
            {"host": name, "kind": each.kind, "message": each.message, "hint": each.hint}
            for name, each in failed
        ]
    out.result(result, "\n\n".join(parts) or "Lamina is not installed into any host")
    return 1 if failed else 0


def facts(done: Done, *, dry_run: bool) -> Mapping[str, Any]:
    """Return what was done to one place, for a program."""
    changes = [
        {"file": str(change.file), "action": change.action, **({"diff": change.diff()} if dry_run else {})}
        for change in done.changed
    ]
    project = str(done.project) if done.project else None
    return {
        "host": done.host,
        "as": done.mode,
        "project": project,
        "files": changes,
        "say": list(done.say),
    }


def installed_text(places: list[Done]) -> str:
    """Return what an install did, for a person."""
    done = places[0]
    way = f" as a {done.mode}" if done.mode == "plugin" else f" by its {done.mode}" if done.mode else ""
    place = f" in {done.project}" if done.project else ""
    if not done.changed:
        lines = [f"{done.host}: Lamina is installed already{way}{place}; nothing changed"]
    else:
        lines = [f"{done.host}: Lamina is installed{way}{place}", *touched(done)]
        lines += [f"next: start {done.host} anew; sessions that run now do not see it"]
    lines += [f"next: {text}" for text in done.say]
    if done.changed:
        name = f"{done.host} --project" if done.project else done.host
        lines += [
            "capture is on: sessions become memories from now on (`lamina pause` stops it)",
            f"undo: lamina uninstall {name}",
        ]
    return "\n".join(lines)


def uninstalled_text(places: list[Done]) -> str:
    """Return what an uninstall did, for a person."""
    changed = [done for done in places if done.changed]
    if not changed:
        return f"{places[0].host}: nothing of Lamina is there"
    lines = [f"{places[0].host}: Lamina is taken out"]
    return "\n".join([*lines, *(line for done in changed for line in touched(done))])


def plan_text(places: list[Done]) -> str:
    """Return a plan as unified diffs."""
    diffs = [change.diff() for done in places for change in done.changed]
    return "".join(diffs).rstrip("\n") or f"{places[0].host}: nothing would change"


def touched(done: Done) -> list[str]:
    """Return a line for each file of the host, and one for those that stand in the store."""
    own = [change for change in done.changed if change.file.is_relative_to(done.assets)]
    lines = [f"  {SIGNS[change.action]} {change.file}" for change in done.changed if change not in own]
    if own:
        signs = {SIGNS[change.action] for change in own}
        lines.append(f"  {signs.pop() if len(signs) == 1 else '~'} {done.assets} ({len(own)} files)")
    return lines


def overview(site: Site, out: Output) -> int:
    """List the hosts: found here or not, installed or not."""
    from lamina.install import engine

    known, found = engine.known(site), engine.present(site)
    rows = []
    for name in engine.hosts():
        how = known.get(name)
        rows.append(
            {
                "host": name,
                "found": name in found,
                "installed": how is not None,
                "as": how.mode if how else "",
                "projects": list(how.projects) if how else [],
            }
        )
    lines = [f"{row['host']:<14} {_standing(row)}" for row in rows]
    lines += ["", "`lamina install HOST` puts Lamina into one, `lamina install all` into every one found"]
    out.result({"hosts": rows}, "\n".join(lines))
    return 0


def _standing(row: Mapping[str, Any]) -> str:
    if row["installed"]:
        return "installed"
    return "found" if row["found"] else "not found"
