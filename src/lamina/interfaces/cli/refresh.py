"""`lamina refresh`: check what may no longer hold."""

from __future__ import annotations

from lamina.interfaces.cli.arguments import command, open_memory, positive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from lamina.interfaces.cli.output import Output


def run(name: str, arguments: list[str], out: Output) -> int:
    """Check stale memories against what their repositories say."""
    parser = command(
        name,
        "Check memories that are stale or expired: a model is shown each with what the repository "
        "of its project says today (tracked files and commits, without secrets), and confirms, corrects "
        "or ends it. "
        "Without evidence nothing changes, and what you stored yourself is never overruled. "
        "--dry-run asks no model: it shows what is stale and the evidence found.",
        changes=True,
        examples=("lamina refresh --dry-run", "lamina refresh --limit 5"),
    )
    parser.add_argument("--limit", type=positive, metavar="N", help="at most N memories (default 20)")
    options = parser.options(arguments)
    done = open_memory(options, out).refresh(limit=options.limit, dry_run=options.dry_run)
    code: int = done.pop("exit_code")
    told = list(listed(done, out)) if options.dry_run else list(summed_up(done))
    out.result(done, "\n".join(told))
    if done["waits"] and not out.json:
        out.note(f"lamina: {done['waits']}" + (f"\n  {done['hint']}" if done["hint"] else ""))
    return code


def listed(done: Mapping[str, Any], out: Output) -> Iterator[str]:
    """Yield the lines that show what is stale, with the evidence."""
    if not done["entries"]:
        yield "nothing is stale"
    for each in done["entries"]:
        age = "" if each["age_days"] is None else f" ({each['age_days']} d)"
        where = f"   {each['id']} · {each['freshness']}{age} · {each['file']}:{each['line']}"
        yield from (out.style(each["heading"], "bold"), out.style(where, "dim"))
        yield from (f"   {line}" for line in each["evidence"] or ["no evidence found"])
    if done["stale"] > len(done["entries"]):
        yield f"{done['stale'] - len(done['entries'])} more; --limit shows them"


def summed_up(done: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines that tell what a pass did."""
    if not done["stale"]:
        yield "nothing is stale"
        return
    counts = ", ".join(f"{len(done[name])} {name}" for name in ("kept", "updated", "superseded"))
    yield f"looked at {len(done['entries'])} of {done['stale']} stale memories: {counts}"
    for name in ("kept", "updated", "superseded"):
        yield from (f"   {name} {id_}" for id_ in done[name])
    if done["candidates"]:
        yield f"for you to decide: {', '.join(done['candidates'])}"
    if done["unproven"]:
        yield f"{done['unproven']} had no evidence in a repository on this machine"
    yield from (f"not followed for {id_}: {why}" for id_, why in done["rejected"].items())
    if done["parseFailed"]:
        yield "a reply could not be read; logs/refresh-last.txt holds it"
