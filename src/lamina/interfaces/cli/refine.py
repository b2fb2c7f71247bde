"""`lamina refine`: the digest of a project made shorter, by a plan that accounts for every item."""

from __future__ import annotations

import sys

from lamina.errors import UsageError
from lamina.interfaces.cli import project
from lamina.interfaces.cli.arguments import command, open_memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from lamina.interfaces.cli.output import Output

HELP = (
    "Rewrite the project's digest as one list for each kind: what says the same is merged, what is done or "
    "replaced is dropped, everything else is kept with its sources. --plan prints what becomes of each item, "
    "to be edited and given back with --apply; a plan that leaves out, changes or makes up anything is "
    "refused. Without one, a model that you permitted proposes, else only what needs no judgement is merged. "
    "The project's own digest is rewritten only after a yes."
)


def run(name: str, arguments: list[str], out: Output) -> int:
    """Refine a digest."""
    parser = command(
        name,
        HELP,
        changes=True,
        examples=(
            "lamina refine --plan > plan.json",
            "lamina refine --apply plan.json --yes",
            "lamina refine copy-of-digest.md",
        ),
    )
    parser.add_argument(
        "file", nargs="?", metavar="FILE", help="a copy to refine in place of the project's digest"
    )
    parser.add_argument("--digest", metavar="FILE", help="the same as FILE")
    parser.add_argument(
        "--plan", action="store_true", help="print the plan as JSON with its gates, write nothing"
    )
    parser.add_argument("--apply", metavar="FILE", help="the edited plan, from a file or -")
    parser.add_argument("--yes", action="store_true", help="you have approved that the digest is rewritten")
    parser.add_argument(
        "--force", action="store_true", help="also where nothing is new, or the digest is young"
    )
    parser.add_argument("--model", metavar="ROUTE", help="the model that proposes; none: no model")
    project.add_place(parser)
    project.add_core(parser)
    options = parser.options(arguments)
    if options.file and options.digest:
        raise UsageError("FILE and --digest say the same", "use one of them")
    project.either(plan=options.plan, apply=options.apply)
    project.either(model=options.model, apply=options.apply)
    memory = open_memory(options, out)
    place = {
        "file": options.file or options.digest,
        "project": options.project,
        "memory_path": options.memory_path,
    }
    if options.plan:
        out.line(memory.refine_plan(**place))
        return 0
    given = project.read_json(options.apply) if options.apply else None
    asks = not options.json and options.apply != "-" and sys.stdin.isatty() and sys.stderr.isatty()
    done = memory.refine(
        **place,
        given=given,
        model=options.model,
        semantic_env=options.semantic_env,
        approve=(lambda report: ask(report, out)) if asks and not options.yes else options.yes,
        force=options.force,
        dry_run=options.dry_run,
    )
    out.result(done, "\n".join(told(done, dry_run=options.dry_run)))
    return 0


def ask(report: Mapping[str, Any], out: Output) -> bool:
    """Show a person what would be done and ask whether to do it."""
    for line in told(report, dry_run=True):
        out.note(line)
    out.note("Rewrite the digest? The boundaries of its sections go; every source stays. [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def told(done: Mapping[str, Any], *, dry_run: bool) -> Iterator[str]:
    """Yield the lines that tell what a run did."""
    if done["retried"]:
        yield f"asked the semantic core again about {done['digest']}"
        yield project.core_line(done["sync"])
        yield from project.limits(done["limitations"])
        return
    words = done["words"]
    verb = "would refine" if dry_run else "refined"
    yield f"{verb} {done['digest']}: {words['before']} words, then {words['after']}"
    counts = (("kept", "kept"), ("merged", "merged"), ("resolved", "resolved"), ("dropped", "dropped"))
    said = [f"{done[key]} {name}" for key, name in counts if done[key] or key == "kept"]
    if done["conflicts"]:
        said.append("1 conflict" if done["conflicts"] == 1 else f"{done['conflicts']} conflicts")
    yield f"   {', '.join(said)}"
    for item in done["items"]:
        why = f"into {item['into']}" if item["into"] else item["reason"]
        yield f"   {item['action']:<6} {item['id']}  {why}"
    for pair in done["in_conflict"]:
        yield f"   conflict: {' and '.join(pair)}"
    for each in done["sensitive"]:
        yield f"   personal data? {each['id']}: {', '.join(each['found'])}"
    if not dry_run:
        yield project.core_line(done["sync"])
        yield f"   sha256 {done['sha256']['before'][:12]}… then {done['sha256']['after'][:12]}…"
    yield from project.limits(done["limitations"])
