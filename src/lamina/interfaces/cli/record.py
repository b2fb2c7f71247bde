"""`lamina record`: what a session did goes into the project's record of the day."""

from __future__ import annotations

from lamina.interfaces.cli import project
from lamina.interfaces.cli.arguments import command, open_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from lamina.interfaces.cli.output import Output

HELP = (
    "Append this session to the project's record of the day (memory/YYYY-MM-DD-<words>-memory.md): what was "
    "done, decided, learnt and left open, with evidence, and the commits of today. The body is Markdown with "
    'the labels **Context**, **Done**, **Decisions**, **Learnings**, **Open**, or JSON: {"topic", "context", '
    '"done": ["text" or {"text", "evidence"}], "decisions", "learnings", "open"}. Records are only appended '
    "to; secrets are replaced."
)


def run(name: str, arguments: list[str], out: Output) -> int:
    """Record a session in its project."""
    parser = command(
        name,
        HELP,
        changes=True,
        examples=(
            "lamina record --body session.md",
            "lamina record --note latest",
            "lamina record --topic 'release 2.1'    # only the commits of today",
        ),
    )
    parser.add_argument("--body", metavar="FILE", help="what to record, from a file or - (standard input)")
    parser.add_argument("--topic", metavar="TEXT", default="", help="what the session was about")
    parser.add_argument(
        "--note", metavar="NAME", help="record a captured session: its note's name, or latest"
    )
    parser.add_argument("--file", metavar="NAME", default="", help="the record of today to append to")
    parser.add_argument("--no-git", action="store_true", help="leave out the commits of today")
    project.add_place(parser)
    options = parser.options(arguments)
    project.either(body=options.body, note=options.note)
    done = open_memory(options, out).record(
        body=project.read_text(options.body) if options.body else None,
        topic=options.topic,
        note=options.note,
        file=options.file,
        project=options.project,
        memory_path=options.memory_path,
        commits=not options.no_git,
        dry_run=options.dry_run,
    )
    out.result(done, "\n".join(told(done)))
    return 0


def told(done: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines that tell what was recorded."""
    if done["status"] == "nothing":
        yield "nothing to record: give a body with --body, or commit something"
        return
    if done["status"] == "known":
        yield f"recorded already: {done['file']}"
        return
    counts = done["bullets"]
    said = [f"{number} {name}" for name, number in counts.items() if number]
    if done["commits"]:
        said.append("1 commit" if done["commits"] == 1 else f"{done['commits']} commits")
    verb = "would record" if done["status"] == "planned" else "recorded"
    yield f"{verb} {', '.join(said)} in {done['file']}"
    if done["redacted"]:
        secrets = "1 secret was" if done["redacted"] == 1 else f"{done['redacted']} secrets were"
        yield f"   {secrets} replaced"
    if done["status"] == "written":
        yield "   `lamina digest` takes it into the project's digest"
