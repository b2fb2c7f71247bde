"""Commands that store one thing: remember, decision, codebase, state, working."""

from __future__ import annotations

from lamina.errors import UsageError
from lamina.interfaces.cli.arguments import Parser, command, joined, open_memory, open_reading

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
    parser = command(
        "remember",
        "Store one memory, as it was said. Secrets in it are replaced. Storing nothing is a correct result: "
        "never store something only to fill a gap.",
        changes=True,
        examples=(
            'lamina remember "The staging port is 8081"',
            'lamina remember "Run the migrations before the tests" --layer procedural --topic Tests',
            'lamina remember "I prefer small commits" --scope global --layer learnings',
            "git log -1 --format=%B | lamina remember - --layer episodic",
        ),
    )
    parser.add_argument("text", nargs="+", metavar="TEXT", help="what to remember; - reads standard input")
    parser.add_argument(
        "--layer",
        default="semantic",
        help="semantic (facts, the default), episodic (what happened), procedural (how to), "
        "learnings (lessons), decisions, codebase",
    )
    add_place(parser, "from the heading")
    parser.add_argument("--heading", help="the entry's heading (default: the first sentence)")
    add_entry_fields(parser)
    parser.add_argument("--until", metavar="DAY", help="the last day on which it holds, YYYY-MM-DD")
    parser.add_argument("--volatility", choices=("stable", "normal", "volatile"), help="how fast it ages")
    options = parser.options(arguments)
    text = joined(options.text)
    outcome = open_memory(options, out).remember(
        text,
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
    parser = command(
        "decision",
        "Store a settled choice and why it won.",
        changes=True,
        examples=(
            (
                'lamina decision "Use SQLite for the queue" --rationale "one file is easy to back up" '
                '--alternative Redis --consequences "one writer at a time"'
            ),
        ),
    )
    parser.add_argument(
        "decision", nargs="+", metavar="DECISION", help="the choice in one sentence; - reads standard input"
    )
    parser.add_argument("--rationale", metavar="TEXT", required=True, help="why it won")
    parser.add_argument("--context", metavar="TEXT", default="", help="what made the choice necessary")
    parser.add_argument(
        "--alternative",
        metavar="TEXT",
        action="append",
        default=[],
        help="what was turned down (may be repeated)",
    )
    parser.add_argument("--consequences", metavar="TEXT", default="", help="what follows from it")
    add_place(parser, "a topic of its own")
    add_entry_fields(parser)
    options = parser.options(arguments)
    text = joined(options.decision)
    outcome = open_memory(options, out).decision(
        text,
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
    parser = command(
        "codebase",
        "Store what a part of the repository is. A newer description of the same topic supersedes the "
        "older one.",
        changes=True,
        examples=('lamina codebase src/queue "The job queue: one SQLite file, one worker thread"',),
    )
    parser.add_argument("topic", metavar="TOPIC", help="the path or the subsystem")
    parser.add_argument("text", nargs="+", metavar="TEXT", help="what it is")
    add_entry_fields(parser)
    options = parser.options(arguments)
    outcome = open_memory(options, out).codebase(
        options.topic,
        spoken(options.text),
        importance=options.importance,
        source=options.source,
        dry_run=options.dry_run,
    )
    return report(outcome, options, out)


def state(arguments: list[str], out: Output) -> int:
    """Show the repository's state, or replace one section of it."""
    parser = command(
        "state",
        "Show what the repository is right now, or replace one section of it. Each section says when it was "
        "verified; after three days it is stale.",
        changes=True,
        examples=("lamina state", 'lamina state Health "All tests pass on main"'),
    )
    parser.add_argument("section", nargs="?", metavar="SECTION", help="the section to replace")
    parser.add_argument("text", nargs="*", metavar="TEXT", help="its new text")
    options = parser.options(arguments)
    if options.section is None:
        shown = open_reading(options, out).state()
        lines = [f"## {each['title']} [{graded(each)}]\n{each['text']}" for each in shown["sections"]]
        out.result(shown, "\n\n".join(lines) or "nothing is written down about the state of this workspace")
        return 0
    if not options.text:
        raise UsageError("state wants the section's new text", "lamina state SECTION TEXT")
    memory = open_memory(options, out)
    changed = memory.set_state(options.section, spoken(options.text), dry_run=options.dry_run)
    verb = "would write" if options.dry_run else "wrote"
    out.result(changed, f"{verb} section {changed['section']!r} to {changed['file']}")
    return 0


def graded(section: dict[str, object]) -> str:
    """Return a section's grade as it is shown: `fresh`, `STALE 5d`, `UNVERIFIED`."""
    grade, days = str(section["grade"]), section["age_days"]
    shown = grade.upper() if grade in ("stale", "unverified") else grade
    return f"{shown} {days}d" if days else shown


def working(arguments: list[str], out: Output) -> int:
    """Show what the agent is in the middle of, or update it."""
    parser = command(
        "working",
        "Show what the agent is in the middle of here, or update it: the sections Task, Next steps, Plan and "
        "Blocked by are replaced, the recent activity is a short rolling log.",
        changes=True,
        examples=(
            "lamina working",
            'lamina working Task "Move the queue to SQLite"',
            'lamina working --activity "queue tests pass"',
        ),
    )
    parser.add_argument(
        "section",
        nargs="?",
        metavar="SECTION",
        help="Task, Next steps, Plan or Blocked by; empty text drops it",
    )
    parser.add_argument("text", nargs="*", metavar="TEXT", help="its new text")
    parser.add_argument("--activity", metavar="TEXT", help="add one note to the recent activity")
    parser.add_argument("--clear-activity", action="store_true", help="empty the recent activity")
    options = parser.options(arguments)
    if options.section is None and options.activity is None and not options.clear_activity:
        shown = open_reading(options, out).working()
        out.result(shown, shown["text"].rstrip() or "not started: nothing is written down for this workspace")
        return 0
    if options.section is not None and not options.text:
        raise UsageError("working wants the section's new text", "lamina working SECTION TEXT")
    changed = open_memory(options, out).set_working(
        section=options.section,
        text=" ".join(options.text),
        activity=options.activity,
        clear_activity=options.clear_activity,
        dry_run=options.dry_run,
    )
    out.result(changed, f"{'would write' if options.dry_run else 'wrote'} {changed['file']}")
    return 0


def add_place(parser: Parser, topic: str) -> None:
    """Add where a stored entry goes."""
    parser.add_argument(
        "--scope", help="global or workspace:KEY (default: this workspace, global outside of any)"
    )
    parser.add_argument("--topic", help=f"the topic's title (default: {topic})")


def add_entry_fields(parser: Parser) -> None:
    """Add the fields that every stored entry may have."""
    parser.add_argument(
        "--importance", metavar="N", default="3", help="1 to 5, or low, normal, high (default 3)"
    )
    parser.add_argument("--source", help="where it comes from (default: user)")


def spoken(words: list[str]) -> str:
    """Return the words as one text; these commands read no standard input."""
    text = " ".join(words)
    if not text.strip():
        raise UsageError("there is no text to store", "give the text")
    return text


def report(outcome: Outcome, options: Namespace, out: Output) -> int:
    """Print what became of one write; a refused one exits with 3."""
    place = f"{outcome.file}:{outcome.line}" if outcome.line else outcome.file
    said = {
        "written": f"{'would store' if options.dry_run else 'stored'} {outcome.id}  {place}",
        "known": f"already known{f' as {outcome.id}' if outcome.id else ''}  {place}",
        "refused": f"refused: {outcome.reason}",
    }[outcome.status]
    out.result(outcome.as_json(), said if outcome.status != "refused" else "")
    if outcome.status == "refused":
        if not out.json:
            out.note(f"lamina: {said}")
        return 3
    if outcome.similar and not out.json:
        out.note(f"similar: {', '.join(outcome.similar)}")
    return 0
