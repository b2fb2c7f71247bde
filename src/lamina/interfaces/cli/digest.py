"""`lamina digest`: what is durable in the daily records of a project goes into its digest."""

from __future__ import annotations

from lamina.interfaces.cli import project
from lamina.interfaces.cli.arguments import command, open_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from lamina.interfaces.cli.output import Output

HELP = (
    "Read the daily records of the project (memory/*-memory.md) and append what is new and durable to "
    "memory/digest.md, each line with its source. Records and older sections never change. Who chooses: "
    "the agent at hand (--plan shows the new sessions, --apply takes the choice), else a model that you "
    "permitted, else the labelled bullets are taken as they stand."
)


def run(name: str, arguments: list[str], out: Output) -> int:
    """Digest what is new in the records of a project."""
    parser = command(
        name,
        HELP,
        changes=True,
        examples=("lamina digest", "lamina digest --plan", "lamina digest --apply items.json"),
    )
    parser.add_argument("--plan", action="store_true", help="print the new sessions as JSON, write nothing")
    parser.add_argument(
        "--apply",
        metavar="FILE",
        help='take {"items": [{"kind", "text", "source", "id"?}], "nothing": [sources]} from a file or -',
    )
    parser.add_argument("--model", metavar="ROUTE", help="the model that chooses; none: no model")
    project.add_place(parser)
    project.add_core(parser)
    options = parser.options(arguments)
    project.either(plan=options.plan, apply=options.apply)
    project.either(model=options.model, apply=options.apply)
    memory = open_memory(options, out)
    place = {"project": options.project, "memory_path": options.memory_path}
    if options.plan:
        out.line(memory.digest_plan(**place))
        return 0
    given = project.read_json(options.apply) if options.apply else None
    done = memory.digest(
        **place,
        given=given,
        model=options.model,
        semantic_env=options.semantic_env,
        dry_run=options.dry_run,
    )
    out.result(done, "\n".join(told(done, dry_run=options.dry_run)))
    return 0


def told(done: Mapping[str, Any], *, dry_run: bool) -> Iterator[str]:
    """Yield the lines that tell what a run did."""
    if done["section"] is None:
        yield f"nothing to digest: {done['nothing']}"
        if done["written"] or done["sync"]["pending"]:
            yield project.core_line(done["sync"])
        yield from project.limits(done["limitations"])
        return
    verb = "would digest" if dry_run else "digested"
    days = done["from"] if done["from"] == done["to"] else f"{done['from']} to {done['to']}"
    count = "1 session" if done["sources"] == 1 else f"{done['sources']} sessions"
    yield f"{verb} {count} of {days} into {done['digest']}"
    for item in done["items"]:
        yield f"   {item['kind']:<9} {item['text']}"
    if not done["items"]:
        yield "   nothing durable was found"
    if done["known"]:
        yield f"   {done['known']} known already"
    if not dry_run:
        yield project.core_line(done["sync"])
    yield from project.limits(done["limitations"])
