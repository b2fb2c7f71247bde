"""Commands that turn sessions into memory: import, capture, consolidate."""

from __future__ import annotations

from pathlib import Path

from lamina.interfaces.cli.arguments import command, open_memory, positive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from lamina.interfaces.cli.output import Output

BAR = 20
HOSTS = "claude-code or codex"
NONE_LEFT = (
    "no sessions found: Claude Code leaves them below ~/.claude/projects, Codex below ~/.codex/sessions\n"
    "next: `lamina import PATH` reads transcripts that lie elsewhere"
)
NONE_THERE = "no transcript of Claude Code or Codex was found there"


def run(name: str, arguments: list[str], out: Output) -> int:
    """Run one of the gathering commands."""
    return {"import": importing, "capture": capture, "consolidate": consolidate}[name](arguments, out)


def importing(arguments: list[str], out: Output) -> int:
    """Read the sessions that agents left on this machine, or the given ones."""
    parser = command(
        "import",
        "Read the sessions that your agents left on this machine, or the given ones, and make memories of "
        "what lasts. Nothing leaves this machine. It may be stopped at any time; the next run goes on from "
        "there. With --json, one line a session comes first and the summary last.",
        changes=True,
        examples=("lamina import --dry-run", "lamina import", "lamina import ~/old-sessions --host codex"),
    )
    parser.add_argument(
        "path",
        nargs="*",
        metavar="PATH",
        type=Path,
        help="transcripts or folders (default: every host's own place)",
    )
    parser.add_argument("--host", metavar="NAME", help=f"only this host: {HOSTS}")
    parser.add_argument(
        "--model", metavar="ROUTE", help="a model to summarise with; this version reads sessions without one"
    )
    options = parser.options(arguments)
    memory = open_memory(options, out)
    if options.model:
        out.note("this version has no models: the sessions are read without one")
    out.progress("looking for sessions…")
    try:
        summary = memory.import_sessions(
            options.path, host=options.host, progress=teller(out), dry_run=options.dry_run
        )
    finally:
        out.settle()
    told = summed_up(summary, str(memory.root), dry_run=options.dry_run)
    if not summary["sessions"] and not any(summary["skipped"].values()):
        told = NONE_THERE if options.path else NONE_LEFT
    out.result(summary, told)
    if not out.json:
        for place in summary["damaged"]:
            where = f"{place['file']}:{place['line']}" if place["line"] else place["file"]
            out.note(f"{where}: {place['reason']}")
    return 0


def teller(out: Output) -> Any:
    """Return what shows each session: a bar on a terminal, a line of JSON with --json."""

    def tell(step: Mapping[str, Any]) -> None:
        if out.json:
            out.line(step)
            return
        number, of = step["number"], max(step["of"], 1)
        bar = "█" * (BAR * number // of)
        out.progress(f"{bar:·<{BAR}} {number}/{of}  {step['host']} {step['session'][:8]}  {step['status']}")

    return tell


def summed_up(summary: Mapping[str, Any], root: str, *, dry_run: bool) -> str:
    """Return what an import did, for a person to read."""
    skipped = ", ".join(f"{count} {why}" for why, count in summary["skipped"].items() if count)
    if dry_run:
        lines = [f"would read {counted(summary['sessions'], 'session')}"]
    else:
        events = counted(summary["events"], "event")
        lines = [
            f"read {counted(summary['sessions'], 'session')} ({events})",
            (
                f"wrote {counted(summary['notes'], 'note')} and "
                f"{counted(summary['entries'], 'memory', 'memories')} to {root}"
            ),
        ]
    if skipped:
        lines.append(f"skipped: {skipped}")
    if summary["entries"]:
        lines.append("next: `lamina list`, `lamina search WORDS`, `lamina why ID`")
    return "\n".join(lines)


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def capture(arguments: list[str], out: Output) -> int:
    """Turn one transcript into a note."""
    parser = command(
        "capture",
        "Turn what is new in one transcript into a note, which waits for `lamina consolidate`. `thin` says "
        "that there is too little yet: it waits and joins what comes next.",
        changes=True,
        examples=("lamina capture ~/.claude/projects/-home-me-harbor/4f3a.jsonl --final",),
    )
    parser.add_argument("path", metavar="FILE", type=Path, help="the transcript")
    parser.add_argument(
        "--host", metavar="NAME", help=f"the host that wrote it: {HOSTS} (default: found from its content)"
    )
    parser.add_argument("--final", action="store_true", help="the session has ended: keep what is thin, too")
    options = parser.options(arguments)
    captured = open_memory(options, out).capture(
        options.path, host=options.host, final=options.final, dry_run=options.dry_run
    )
    where = f"  {captured['note']}" if captured["note"] else ""
    out.result(captured, f"{captured['status']}: {counted(captured['events'], 'new event')}{where}")
    return 0


def consolidate(arguments: list[str], out: Output) -> int:
    """Turn waiting notes into memories."""
    parser = command(
        "consolidate",
        "Turn waiting notes into memories. What is known already and what was forgotten is left out.",
        changes=True,
        examples=("lamina consolidate", "lamina consolidate --limit 5 --dry-run"),
    )
    parser.add_argument("--limit", type=positive, metavar="N", help="at most N notes")
    options = parser.options(arguments)
    done = open_memory(options, out).consolidate(limit=options.limit, dry_run=options.dry_run)
    verb = "would turn" if options.dry_run else "turned"
    made = counted(done["entries"], "memory", "memories")
    more = f"{done['known']} already known, {done['refused']} forgotten before"
    out.result(done, f"{verb} {counted(done['notes'], 'note')} into {made} ({more})")
    return 0
