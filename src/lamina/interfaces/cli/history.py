"""`lamina history`: take the commits of the project into memory."""

from __future__ import annotations

from lamina.interfaces.cli.arguments import command, open_memory, positive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from lamina.interfaces.cli.output import Output


def run(name: str, arguments: list[str], out: Output) -> int:
    """Take in new commits and tell how many came from where."""
    parser = command(
        name,
        "Take the commits of this project, and of every other repository that memory knows on this machine, "
        "into memory: one entry a commit with its message and the files that it changed, for `lamina search "
        "--layer history`. No model is asked, secrets are taken out, and the repositories are only read. "
        "Only new commits are looked at, the oldest first; `lamina tick` does the same every hour.",
        changes=True,
        examples=("lamina history --dry-run", "lamina history --limit 1000"),
    )
    parser.add_argument("--limit", type=positive, metavar="N", help="at most N commits (default 200)")
    options = parser.options(arguments)
    done = open_memory(options, out).history(limit=options.limit, dry_run=options.dry_run)
    out.result(done, "\n".join(told(done, dry_run=options.dry_run)))
    return 0


def told(done: Mapping[str, Any], *, dry_run: bool) -> Iterator[str]:
    """Yield the lines that tell what a pass did, or would do."""
    if not done["repositories"]:
        yield "no repository is known yet; run this inside one"
        return
    verb = "would take in" if dry_run else "took in"
    yield f"{verb} {done['entries']} new commits" if done["entries"] else "no new commits"
    for each in done["repositories"]:
        said = [f"{each['commits']} new"] if each["commits"] else []
        said += (
            ["its past was rewritten, so the newest commits were all looked at"] if each["fellBack"] else []
        )
        said += [each["reason"]] if "reason" in each else []
        if said:
            yield f"   {each['folder']}: {'; '.join(said)}"
    if done["left"]:
        yield f"{done['left']} more wait for the next pass; --limit takes more at once"
