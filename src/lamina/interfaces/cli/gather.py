"""Commands that turn sessions into memory: import, capture, consolidate."""

from __future__ import annotations

import sys
from pathlib import Path

from lamina.interfaces.cli.arguments import command, open_memory, positive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from lamina.interfaces.cli.output import Output
    from lamina.memory import Memory

BAR = 20
FEW = 20  # sessions that a model reads without a person being asked
HOSTS = "claude-code, codex, gemini, qwen, opencode, copilot or dsh"
NONE_LEFT = (
    "no sessions found where Claude Code, Codex, Gemini CLI, Qwen Code, OpenCode, Copilot CLI and DSH leave "
    "them\n"
    "next: `lamina import PATH` reads transcripts that lie elsewhere"
)
NONE_THERE = "no transcript of an agent was found there"


def run(name: str, arguments: list[str], out: Output) -> int:
    """Run one of the gathering commands."""
    return {"import": importing, "capture": capture, "consolidate": consolidate}[name](arguments, out)


def importing(arguments: list[str], out: Output) -> int:
    """Read the sessions that agents left on this machine, or the given ones."""
    parser = command(
        "import",
        "Read the sessions that your agents left on this machine, or the given ones, and make memories of "
        "what lasts. Nothing leaves this machine unless you have named a model. It may be stopped at any "
        "time; the next run goes on from there. With --json, one line a session comes first and the summary "
        "last.",
        changes=True,
        examples=(
            "lamina import --dry-run",
            "lamina import",
            "lamina import ~/old-sessions --host codex",
            "lamina import --model ollama/qwen3 --dry-run",
        ),
    )
    parser.add_argument(
        "path",
        nargs="*",
        metavar="PATH",
        type=Path,
        help="transcripts or folders (default: every host's own place)",
    )
    parser.add_argument("--host", metavar="NAME", help=f"only this host: {HOSTS}")
    model_option(parser, "; a model that only the settings name is asked for 20 sessions at most")
    options = parser.options(arguments)
    memory = open_memory(options, out)
    if not options.dry_run and not agreed(memory, options, out):
        out.note("nothing was read")
        return 3
    out.progress("looking for sessions…")
    try:
        summary = memory.import_sessions(
            options.path,
            host=options.host,
            model=options.model,
            progress=teller(out),
            dry_run=options.dry_run,
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


def model_option(parser: Any, more: str = "") -> None:
    """Add the option that names a model for one command."""
    parser.add_argument(
        "--model",
        metavar="ROUTE",
        help="the model to ask, such as ollama/qwen3 or openai/gpt-5-mini; auto: those that your settings "
        f"permit; none: no model{more}",
    )


def agreed(memory: Memory, options: Any, out: Output) -> bool:
    """Tell what a model would cost before it is asked.

    Where many sessions are new, a person at a terminal is asked; without one, a model that only the settings
    name is left out.
    """
    if options.model == "none" or not memory.has_model(options.model):
        return True
    plan = memory.import_sessions(options.path, host=options.host, model=options.model, dry_run=True)
    guess = plan.get("estimate")
    if not guess or not guess["calls"]:
        return True
    out.note(estimated(guess))
    if guess["sessions"] <= FEW or not (out.live and sys.stdin.isatty()):
        return True
    if options.model:
        return input("go on? [y/N] ").strip().lower() in {"y", "yes"}
    if input("ask the model about all of them? [y/N] ").strip().lower() in {"y", "yes"}:
        options.model = "auto"
    return True


def estimated(guess: Mapping[str, Any]) -> str:
    """Return what a model would cost, for a person to read."""
    cost = "its price is not known" if guess["cost"] is None else f"about ${guess['cost']:.2f}"
    return (
        f"{counted(guess['sessions'], 'session')}: about {counted(guess['calls'], 'call')} to "
        f"{guess['model']}, "
        f"{guess['tokens_in']:,} tokens in and {guess['tokens_out']:,} out, {cost}"
    )


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
        if summary.get("estimate"):
            lines.append(f"with the model: {estimated(summary['estimate'])}")
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
    lines += for_the_model(summary.get("model", {}), summary["skipped"].get("waiting", 0))
    if summary["entries"]:
        lines.append("next: `lamina list`, `lamina search WORDS`, `lamina why ID`")
    return "\n".join(lines)


def for_the_model(model: Mapping[str, Any], sessions: int) -> list[str]:
    """Say what still waits for a model, and what was read without one though the settings name one."""
    lines = []
    if model.get("waits"):
        what = f"{counted(sessions, 'session')} wait" if sessions else "notes wait"
        lines.append(f"{what} for the model: {model['waits']}")
        lines.append("next: `lamina import` tries again, `lamina import --model none` goes on without it")
    lines += [f"not written: {reason}; then `lamina consolidate`" for reason in model.get("writeFailed", ())]
    if model.get("left_out"):
        lines.append(
            f"read without your model, because {model['left_out']} sessions are many; "
            "`lamina import --model auto` would have asked it"
        )
    if model.get("needs_review"):
        notes = counted(model["needs_review"], "note")
        lines.append(
            f"{notes} could not be made with the model: `lamina review` shows what was kept without it"
        )
    if model.get("candidates"):
        lines.append(
            f"{counted(model['candidates'], 'memory waits', 'memories wait')} for you: `lamina review`"
        )
    return lines


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
    model_option(parser)
    options = parser.options(arguments)
    captured = open_memory(options, out).capture(
        options.path,
        host=options.host,
        final=options.final,
        model=options.model,
        dry_run=options.dry_run,
    )
    where = f"  {captured['note']}" if captured["note"] else f"  {captured.get('waits', '')}".rstrip()
    out.result(captured, f"{captured['status']}: {counted(captured['events'], 'new event')}{where}")
    return 0


def consolidate(arguments: list[str], out: Output) -> int:
    """Turn waiting notes into memories."""
    parser = command(
        "consolidate",
        "Turn waiting notes into memories, with the model that your settings name or without one. What is "
        "known already and what was forgotten is left out, and so is what a model says and no note does.",
        changes=True,
        examples=(
            "lamina consolidate",
            "lamina consolidate --limit 5 --dry-run",
            "lamina consolidate --model none",
        ),
    )
    parser.add_argument("--limit", type=positive, metavar="N", help="at most N notes")
    model_option(parser)
    options = parser.options(arguments)
    done = open_memory(options, out).consolidate(
        limit=options.limit, model=options.model, dry_run=options.dry_run
    )
    out.result(done, consolidated(done, dry_run=options.dry_run))
    return 0


def consolidated(done: Mapping[str, Any], *, dry_run: bool) -> str:
    """Return what a consolidation did, for a person to read."""
    notes = counted(done["notes"], "note")
    if dry_run and done["calls"]:
        return f"would ask about {notes} in {counted(done['calls'], 'call')}, about {done['tokens']:,} tokens"
    verb = "would turn" if dry_run else "turned"
    made = counted(done["entries"], "memory", "memories")
    lines = [
        f"{verb} {notes} into {made} ({done['known']} already known, {done['refused']} forgotten before)"
    ]
    if done["updated"] or done["superseded"]:
        lines.append(
            f"{len(done['updated'])} updated, {len(done['superseded'])} superseded; the old text is kept"
        )
    if done["candidates"]:
        lines.append(
            f"{counted(done['candidates'], 'memory waits', 'memories wait')} for you: `lamina review`"
        )
    if done["rejected"]:
        why = ", ".join(f"{count} {reason}" for reason, count in done["rejected"].items())
        lines.append(f"left out of what the model said: {why}")
    if done["unattributed"]:
        lines.append(f"{counted(done['unattributed'], 'note')} not handled; asked about again next time")
    if done["parseFailed"]:
        lines.append("a reply could not be read: it is kept in logs/consolidate-failed-*.txt")
    lines += [f"not written: {reason}" for reason in done["writeFailed"]]
    if done["waits"]:
        lines.append(f"the rest waits: {done['waits']}")
    return "\n".join(lines)
