"""Commands that turn sessions into memory: import, capture, consolidate."""

from __future__ import annotations

from pathlib import Path

from lamina.interfaces.cli.arguments import command, open_memory, positive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from lamina.interfaces.cli.output import Output


def run(name: str, arguments: list[str], out: Output) -> int:
    """Run one of the gathering commands."""
    return {"import": importing, "capture": capture, "consolidate": consolidate}[name](arguments, out)


def importing(arguments: list[str], out: Output) -> int:
    """Read the sessions that agents left on this machine, or the given ones."""
    parser = command("import", "Read the sessions that your agents left on this machine.", changes=True)
    parser.add_argument(
        "path", nargs="*", type=Path, help="transcripts or folders (default: every host's own place)"
    )
    parser.add_argument("--host", help="only this host: claude-code or codex")
    parser.add_argument("--model", metavar="ROUTE", help="not needed: sessions are read without a model")
    options = parser.parse_args(arguments)
    memory = open_memory(options)

    def tell(step: Mapping[str, Any]) -> None:
        if out.json:
            out.line(step)
        else:
            out.progress(f"{step['number']}/{step['of']} sessions  {step['session']}  {step['status']}")

    try:
        summary = memory.import_sessions(
            options.path, host=options.host, progress=tell, dry_run=options.dry_run
        )
    finally:
        out.settle()
    skipped = ", ".join(f"{count} {why}" for why, count in summary["skipped"].items() if count)
    verb = "would read" if options.dry_run else "read"
    lines = [f"{verb} {summary['sessions']} sessions ({summary['events']} events)"]
    if not options.dry_run:
        lines.append(f"wrote {summary['notes']} notes and {summary['entries']} memories to {memory.root}")
    if skipped:
        lines.append(f"skipped: {skipped}")
    out.result(summary, "\n".join(lines))
    if not out.json:
        for place in summary["damaged"]:
            out.note(f"{place['file']}:{place['line']}: {place['reason']}")
    return 0


def capture(arguments: list[str], out: Output) -> int:
    """Turn one transcript into a note."""
    parser = command("capture", "Turn one transcript into a note.", changes=True)
    parser.add_argument("path", type=Path, help="the transcript")
    parser.add_argument("--host", help="the host that wrote it (default: found from its content)")
    parser.add_argument("--final", action="store_true", help="the session has ended: keep what is thin, too")
    options = parser.parse_args(arguments)
    captured = open_memory(options).capture(
        options.path, host=options.host, final=options.final, dry_run=options.dry_run
    )
    where = f"  {captured['note']}" if captured["note"] else ""
    out.result(captured, f"{captured['status']}: {captured['events']} new events{where}")
    return 0


def consolidate(arguments: list[str], out: Output) -> int:
    """Turn waiting notes into memories."""
    parser = command("consolidate", "Turn waiting notes into memories.", changes=True)
    parser.add_argument("--limit", type=positive, metavar="N", help="at most N notes")
    options = parser.parse_args(arguments)
    done = open_memory(options).consolidate(limit=options.limit, dry_run=options.dry_run)
    verb = "would turn" if options.dry_run else "turned"
    out.result(
        done, f"{verb} {done['notes']} notes into {done['entries']} memories ({done['known']} already known)"
    )
    return 0
