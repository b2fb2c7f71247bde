"""Commands that store one thing: remember, decision, codebase, state, working."""

from __future__ import annotations

from lamina.errors import UsageError
from lamina.interfaces.cli.arguments import Parser, command, no_store, open_memory, text_or_stdin, words_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from lamina.interfaces.cli.output import Output
    from lamina.pipeline.remember import Outcome


def run(name: str, arguments: list[str], out: Output) -> int:
    """Run one of the writing commands."""
    handlers = {
        "remember": remember,
        "decision": decision,
        "codebase": codebase,
        "state": state,
        "working": working,
    }
    return handlers[name](arguments, out)


def remember(arguments: list[str], out: Output) -> int:
    """Store one memory."""
    parser = command("remember", "Store one memory. Never store something only to fill a gap.", changes=True)
    parser.add_argument("text", nargs="+", help="what to remember; - reads standard input")
    parser.add_argument("--layer", default="semantic", help="the kind of memory (default semantic)")
    parser.add_argument("--scope", help="global or workspace:KEY (default: this workspace)")
    parser.add_argument("--topic", help="the topic's title (default: from the heading)")
    parser.add_argument("--heading", help="the entry's heading (default: the first sentence)")
    add_entry_fields(parser)
    parser.add_argument("--until", metavar="DAY", help="the day on which it stops being true, YYYY-MM-DD")
    parser.add_argument("--volatility", choices=("stable", "normal", "volatile"), help="how fast it ages")
    options = parser.parse_args(words_first(parser, arguments))
    outcome = open_memory(options).remember(
        joined(options.text),
        layer=options.layer,
        scope=options.scope,
        topic=options.topic,
        heading=options.heading,
        importance=options.importance,
        source=options.source,
        until=options.until,
        volatility=options.volatility,
        dry_run=options.dry_run,
    )
    return report(outcome, options, out)


def decision(arguments: list[str], out: Output) -> int:
    """Store a settled choice and why it won."""
    parser = command("decision", "Store a settled choice and why it won.", changes=True)
    parser.add_argument("decision", nargs="+", help="the choice in one sentence; - reads standard input")
    parser.add_argument("--rationale", required=True, help="why it won")
    parser.add_argument("--context", default="", help="what made the choice necessary")
    parser.add_argument(
        "--alternative", action="append", default=[], help="what was turned down (may repeat)"
    )
    parser.add_argument("--consequences", default="", help="what follows from it")
    parser.add_argument("--scope", help="global or workspace:KEY (default: this workspace)")
    parser.add_argument("--topic", help="the topic's title (default: a topic of its own)")
    add_entry_fields(parser)
    options = parser.parse_args(words_first(parser, arguments))
    outcome = open_memory(options).decision(
        joined(options.decision),
        rationale=options.rationale,
        context=options.context,
        alternatives=options.alternative,
        consequences=options.consequences,
        scope=options.scope,
        topic=options.topic,
        importance=options.importance,
        source=options.source,
        dry_run=options.dry_run,
    )
    return report(outcome, options, out)


def codebase(arguments: list[str], out: Output) -> int:
    """Store what a part of the repository is; a newer description replaces the older one."""
    parser = command("codebase", "Store what a part of the repository is.", changes=True)
    parser.add_argument("topic", help="the path or the subsystem")
    parser.add_argument("text", nargs="+", help="what it is; - reads standard input")
    add_entry_fields(parser)
    options = parser.parse_args(words_first(parser, arguments))
    outcome = open_memory(options).codebase(
        options.topic,
        joined(options.text),
        importance=options.importance,
        source=options.source,
        dry_run=options.dry_run,
    )
    return report(outcome, options, out)


def state(arguments: list[str], out: Output) -> int:
    """Show the repository's state, or replace one section of it."""
    parser = command("state", "Show the repository's state, or replace one section of it.", changes=True)
    parser.add_argument("section", nargs="?", help="the section to replace")
    parser.add_argument("text", nargs="*", help="its new text; - reads standard input")
    options = parser.parse_args(words_first(parser, arguments))
    memory = open_memory(options)
    if options.section is None:
        if not memory.exists:
            out.note(no_store(memory))
        shown = memory.state()
        out.result(
            shown, "\n\n".join(f"## {s['title']} [{s['grade']}]\n{s['text']}" for s in shown["sections"])
        )
        return 0
    if not options.text:
        raise UsageError("state wants the section's new text", "lamina state SECTION TEXT")
    changed = memory.set_state(options.section, joined(options.text), dry_run=options.dry_run)
    out.result(
        changed,
        f"{'would write' if options.dry_run else 'wrote'} section {options.section!r} to {changed['file']}",
    )
    return 0


def working(arguments: list[str], out: Output) -> int:
    """Show what the agent is in the middle of, or update it."""
    parser = command("working", "Show what the agent is in the middle of, or update it.", changes=True)
    parser.add_argument("section", nargs="?", help="Task, Next steps, Plan or Blocked by")
    parser.add_argument("text", nargs="*", help="its new text; - reads standard input")
    parser.add_argument("--activity", help="add one note to the recent activity")
    parser.add_argument("--clear-activity", action="store_true", help="empty the recent activity")
    options = parser.parse_args(words_first(parser, arguments))
    memory = open_memory(options)
    if options.section is None and options.activity is None and not options.clear_activity:
        if not memory.exists:
            out.note(no_store(memory))
        shown = memory.working()
        out.result(shown, shown["text"] or "not started: nothing is written down for this workspace")
        return 0
    if options.section is not None and not options.text:
        raise UsageError("working wants the section's new text", "lamina working SECTION TEXT")
    changed = memory.set_working(
        section=options.section,
        text=joined(options.text) if options.text else "",
        activity=options.activity,
        clear_activity=options.clear_activity,
        dry_run=options.dry_run,
    )
    out.result(changed, f"{'would write' if options.dry_run else 'wrote'} {changed['file']}")
    return 0


def add_entry_fields(parser: Parser) -> None:
    """Add the fields that every stored entry may have."""
    parser.add_argument("--importance", default="3", help="1 to 5, or low, normal, high (default 3)")
    parser.add_argument("--source", help="where it comes from (default: user)")


def joined(words: list[str]) -> str:
    """Return the words as one text, or standard input for a lone `-`."""
    text = text_or_stdin(" ".join(words))
    if not text.strip():
        raise UsageError("there is no text to store", "give the text, or - and text on standard input")
    return text


def report(outcome: Outcome, options: Namespace, out: Output) -> int:
    """Print what became of one write; a refused one exits with 3."""
    said = {
        "written": f"{'would store' if options.dry_run else 'stored'} {outcome.id}  {outcome.file}:{outcome.line}",
        "known": f"already known as {outcome.id}  {outcome.file}:{outcome.line}",
        "refused": f"refused: {outcome.reason}",
    }[outcome.status]
    out.result(outcome.as_json(), said if outcome.status != "refused" else "")
    if outcome.status == "refused":
        out.note(said)
        return 3
    if outcome.similar and not out.json:
        out.note(f"similar: {', '.join(outcome.similar)}")
    return 0
